//! World-space spheres from templates and poses. CPU reference: `SphereSet::place`.

use bytemuck::{Pod, Zeroable};
use glam::{Quat, Vec3};

use super::device::GpuDevice;
use super::gpu_vec::GpuVec;
use super::kernel::{BoundKernel, uniform};
use super::search_buffers::max_spheres;
use super::shader::TRANSFORM;
use crate::backend::DeviceError;
use crate::molecule::BodySpheres;
use crate::pose::Pose;

/// Pose of a molecule; `Pose` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuPose {
    /// Center of mass, nm.
    pub position: [f32; 3],
    /// Padding.
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

/// Start of the atoms and spheres of a molecule; `AtomRange` in WGSL.
///
/// The array has one entry more than there are molecules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuAtomRange {
    /// First atom, among those of all templates.
    pub first_atom: u32,
    /// First sphere.
    pub first_sphere: u32,
}

/// Parameters of the transform; `TransformParams` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuTransformParams {
    /// Number of spheres.
    pub spheres: u32,
    /// Always 0, opaque to the shader compiler.
    pub zero: u32,
}

/// Templates, poses and spheres of a set of molecules on the device.
///
/// Templates are uploaded once, poses whenever molecules move: 32 bytes per molecule instead
/// of 16 per atom. Kernels that move molecules write the poses in place. Spheres are equal to
/// those of the CPU bit for bit.
#[derive(Debug)]
pub struct GpuAtomSpheres {
    transform: BoundKernel,
    ranges: GpuVec<GpuAtomRange>,
    poses: GpuVec<GpuPose>,
    owners: GpuVec<u32>,
    spheres: GpuVec<[f32; 4]>,
}

impl GpuAtomSpheres {
    /// Uploads `templates` and allocates the molecules, given by their template indices.
    /// Molecule `m` owns a contiguous range of spheres. Poses are zero until they are set.
    ///
    /// # Errors
    /// [`DeviceError::UnknownTemplate`] if a template index is out of range,
    /// [`DeviceError::TooManySpheres`] if the spheres do not fit, and others if the device has
    /// no memory left or is lost.
    pub fn new(
        device: &GpuDevice,
        templates: &[BodySpheres<'_>],
        molecules: &[u32],
    ) -> Result<Self, DeviceError> {
        let mut atoms = Vec::new();
        // First atom and atom count of each template.
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
        let fit = max_spheres(device);
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
        let poses = GpuVec::zeroed(device, "poses", molecules.len())?;
        let spheres = GpuVec::zeroed(device, "spheres", owners.len())?;
        let params = GpuTransformParams {
            spheres: owners.len() as u32,
            zero: 0,
        };
        let params = uniform(device, "transform", &params)?;
        let transform = BoundKernel::new(
            device,
            &TRANSFORM,
            "transform_atoms",
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

    /// Uploads one pose per molecule.
    ///
    /// # Errors
    /// [`DeviceError::PoseCountMismatch`] if the number of poses differs from the number of
    /// molecules, and others if the device is lost.
    pub fn set_poses(&mut self, device: &GpuDevice, poses: &[GpuPose]) -> Result<(), DeviceError> {
        if poses.len() != self.poses.len() {
            return Err(DeviceError::PoseCountMismatch {
                molecules: self.poses.len(),
                poses: poses.len(),
            });
        }
        self.poses.upload(device, poses).map(|_| ())
    }

    /// Records the transform of all atoms to their poses.
    pub fn record(&self, pass: &mut wgpu::ComputePass<'_>) {
        let count = self.spheres.len() as u32;
        self.transform.record_threads(pass, count);
    }

    /// Start of the atoms and spheres of each molecule, and one entry more.
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

    /// World-space center and radius of each sphere, nm.
    #[must_use]
    pub fn spheres(&self) -> &GpuVec<[f32; 4]> {
        &self.spheres
    }
}
