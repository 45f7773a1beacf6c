//! Atoms of all molecules on the device: templates and poses there, spheres out.

use bytemuck::{Pod, Zeroable};
use glam::{Quat, Vec3};

use super::buffer::GpuVec;
use super::device::GpuDevice;
use super::kernel::{Kernel, uniform};
use super::search::spheres_that_fit;
use super::shader::TRANSFORM;
use crate::backend::DeviceError;
use crate::molecule::BodySpheres;
use crate::pose::Pose;

/// Where a molecule is; `Pose` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuPose {
    /// Center of mass, nm.
    pub position: [f32; 3],
    /// Not used.
    pub spare: f32,
    /// Rotation as a unit quaternion: x, y, z, w.
    pub rotation: [f32; 4],
}

impl From<Pose> for GpuPose {
    fn from(pose: Pose) -> Self {
        Self {
            position: pose.position.to_array(),
            spare: 0.0,
            rotation: pose.rotation.to_array(),
        }
    }
}

impl From<GpuPose> for Pose {
    fn from(pose: GpuPose) -> Self {
        Self::new(
            Vec3::from_array(pose.position),
            Quat::from_array(pose.rotation),
        )
    }
}

/// Where the atoms and the spheres of a molecule start; `AtomRange` in WGSL.
///
/// There is an entry more than there are molecules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuAtomRange {
    /// First of its atoms among those of all templates.
    pub first_atom: u32,
    /// First of its spheres.
    pub first_sphere: u32,
}

/// How much there is to transform; `TransformParams` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuTransformParams {
    /// Number of spheres.
    pub spheres: u32,
    /// Zero, which the compiler cannot know.
    pub zero: u32,
}

/// Templates, poses and spheres of a set of molecules on the device.
///
/// Templates go to the device once, and one pose for each molecule when it has moved: 32
/// bytes instead of sixteen for each atom. Kernels that move molecules write the poses in
/// place. The arithmetic is that of the processor, operation by operation, so that spheres
/// are the same to the last bit.
#[derive(Debug)]
pub struct GpuAtoms {
    transform: Kernel,
    bindings: wgpu::BindGroup,
    ranges: GpuVec<GpuAtomRange>,
    poses: GpuVec<GpuPose>,
    owners: GpuVec<u32>,
    spheres: GpuVec<[f32; 4]>,
}

impl GpuAtoms {
    /// Sends `templates` to the device, and makes room for molecules whose templates are
    /// `molecules`. Molecule `m` owns a contiguous range of spheres, in their order. Poses
    /// are zero until they are set.
    ///
    /// # Errors
    /// [`DeviceError::UnknownTemplate`] if a molecule names a template that is not there,
    /// [`DeviceError::TooManySpheres`] if they do not fit, with the number that would, and
    /// other [`DeviceError`]s if the device has no memory left or is lost.
    pub fn new(
        device: &GpuDevice,
        templates: &[BodySpheres<'_>],
        molecules: &[u32],
    ) -> Result<Self, DeviceError> {
        let mut atoms = Vec::new();
        // The first atom of each template, and how many it has.
        let mut kinds = Vec::with_capacity(templates.len());
        for template in templates {
            let first = atoms.len();
            let pairs = template.centers.iter().zip(template.radii);
            atoms.extend(pairs.map(|(center, &radius)| [center.x, center.y, center.z, radius]));
            kinds.push((first as u32, atoms.len() - first));
        }
        let kind_of = |(molecule, &template): (usize, &u32)| {
            let kind: Option<&(u32, usize)> = kinds.get(template as usize);
            kind.copied().ok_or(DeviceError::UnknownTemplate {
                molecule,
                template,
                count: templates.len(),
            })
        };
        let parts = molecules.iter().enumerate().map(kind_of);
        let parts: Vec<(u32, usize)> = parts.collect::<Result<_, _>>()?;
        let count: u64 = parts.iter().map(|(_, size)| *size as u64).sum();
        let fit = spheres_that_fit(device);
        if count.max(atoms.len() as u64) > fit {
            return Err(DeviceError::TooManySpheres {
                spheres: count.max(atoms.len() as u64),
                fit,
            });
        }
        let mut ranges = Vec::with_capacity(molecules.len() + 1);
        let mut owners = Vec::with_capacity(count as usize);
        for (owner, (first_atom, size)) in parts.into_iter().enumerate() {
            ranges.push(GpuAtomRange {
                first_atom,
                first_sphere: owners.len() as u32,
            });
            owners.resize(owners.len() + size, owner as u32);
        }
        ranges.push(GpuAtomRange {
            first_atom: 0,
            first_sphere: owners.len() as u32,
        });
        let atoms = GpuVec::from_slice(device, "template atoms", &atoms)?;
        let ranges = GpuVec::from_slice(device, "atom ranges", &ranges)?;
        let owners = GpuVec::from_slice(device, "owners", &owners)?;
        let mut poses = GpuVec::new(device, "poses", molecules.len())?;
        poses.resize(device, molecules.len())?;
        let mut spheres = GpuVec::new(device, "spheres", owners.len())?;
        spheres.resize(device, owners.len())?;
        let params = GpuTransformParams {
            spheres: owners.len() as u32,
            zero: 0,
        };
        let params = uniform(device, "transform", &params)?;
        let transform = Kernel::new(device, &TRANSFORM, "transform_atoms")?;
        let bindings = transform.bind(
            device,
            &[
                (0, &params),
                (1, atoms.buffer()),
                (2, ranges.buffer()),
                (3, poses.buffer()),
                (4, owners.buffer()),
                (5, spheres.buffer()),
            ],
        )?;
        Ok(Self {
            transform,
            bindings,
            ranges,
            poses,
            owners,
            spheres,
        })
    }

    /// Number of molecules.
    #[must_use]
    pub fn molecules(&self) -> u32 {
        self.poses.len() as u32
    }

    /// Sends poses to the device, one for each molecule.
    ///
    /// # Errors
    /// [`DeviceError::PoseCountMismatch`] if there are not as many poses as molecules, and other
    /// [`DeviceError`]s if the device is lost.
    pub fn set_poses(&mut self, device: &GpuDevice, poses: &[GpuPose]) -> Result<(), DeviceError> {
        if poses.len() != self.poses.len() {
            return Err(DeviceError::PoseCountMismatch {
                molecules: self.poses.len(),
                poses: poses.len(),
            });
        }
        self.poses.upload(device, poses).map(|_| ())
    }

    /// Records that all spheres are written from templates and poses.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let count = self.spheres.len() as u32;
        self.transform.record_threads(pass, &self.bindings, count);
    }

    /// Atoms and spheres of each molecule, and one entry more.
    #[must_use]
    pub fn ranges(&self) -> &GpuVec<GpuAtomRange> {
        &self.ranges
    }

    /// Pose of each molecule.
    #[must_use]
    pub fn poses(&self) -> &GpuVec<GpuPose> {
        &self.poses
    }

    /// Molecule of each sphere.
    #[must_use]
    pub fn owners(&self) -> &GpuVec<u32> {
        &self.owners
    }

    /// Center in the world and radius of each sphere, nm.
    #[must_use]
    pub fn spheres(&self) -> &GpuVec<[f32; 4]> {
        &self.spheres
    }
}
