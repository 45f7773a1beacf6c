//! The atoms of a crowd on the device: templates are sent once, poses in each substep.

use std::collections::HashMap;
use std::sync::Arc;

use glam::Vec3;

use crate::backend::DeviceError;
use crate::dynamics::MovingBody;
use crate::gpu::atom_spheres::{GpuAtomSpheres, GpuPose};
use crate::gpu::device::GpuDevice;
use crate::molecule::BodySpheres;
use crate::search::RigidSpheres;
use crate::search::SearchError;
use crate::search::uniform_grid::ReachPlan;
use crate::spheres::{SphereError, SphereExtent};

/// Atoms that follow their molecules.
#[derive(Debug)]
pub(super) struct AtomPlacement {
    atoms: GpuAtomSpheres,
    /// Maximum distance of a sphere center of each molecule from its origin, nm.
    reaches: Vec<f32>,
    /// Minimum and maximum radius, nm.
    radii: [f32; 2],
    poses: Vec<GpuPose>,
}

impl AtomPlacement {
    pub fn new(device: &GpuDevice, molecules: &[Arc<RigidSpheres>]) -> Result<Self, DeviceError> {
        let mut indices: HashMap<*const RigidSpheres, u32> = HashMap::new();
        let mut templates = Vec::new();
        let mut template_of = Vec::with_capacity(molecules.len());
        for molecule in molecules {
            let index = *indices.entry(Arc::as_ptr(molecule)).or_insert_with(|| {
                templates.push(&**molecule);
                templates.len() as u32 - 1
            });
            template_of.push(index);
        }
        let reach = |spheres: &&RigidSpheres| {
            let lengths = spheres.centers().iter().map(|center| center.length());
            lengths.fold(0.0, f32::max)
        };
        let reaches: Vec<f32> = templates.iter().map(reach).collect();
        let reaches = template_of.iter().map(|index| reaches[*index as usize]);
        let reaches = reaches.collect();
        let radii = templates.iter().flat_map(|spheres| spheres.radii());
        let radii = radii.fold([f32::INFINITY, 0.0], |[min, max], radius| {
            [radius.min(min), radius.max(max)]
        });
        let templates: Vec<_> = templates.into_iter().map(BodySpheres::from).collect();
        Ok(Self {
            atoms: GpuAtomSpheres::new(device, &templates, &template_of)?,
            reaches,
            radii,
            poses: Vec::new(),
        })
    }

    /// Plans a search with the molecules at the poses of `bodies`; none if no pair is possible.
    pub fn plan(
        &self,
        bodies: &[MovingBody],
        margin: f32,
    ) -> Result<Option<ReachPlan>, SearchError> {
        let bounds = bodies.iter().zip(&self.reaches);
        let [low, high] = bounds.fold(
            [Vec3::INFINITY, Vec3::NEG_INFINITY],
            |[low, high], (body, reach)| {
                let position = body.pose.position;
                [low.min(position - *reach), high.max(position + *reach)]
            },
        );
        let count = self.atoms.spheres().len();
        if count > 0 && !(low.is_finite() && high.is_finite()) {
            let center = if low.is_finite() { high } else { low };
            return Err(SphereError::BadCenter { index: 0, center }.into());
        }
        let extent = SphereExtent {
            low,
            high,
            smallest_radius: self.radii[0],
            largest_radius: self.radii[1],
        };
        ReachPlan::within(extent, count, margin)
    }

    pub fn move_to(
        &mut self,
        device: &GpuDevice,
        bodies: &[MovingBody],
    ) -> Result<(), DeviceError> {
        self.poses.clear();
        self.poses
            .extend(bodies.iter().map(|body| GpuPose::from(body.pose)));
        self.atoms.set_poses(device, &self.poses)
    }

    pub fn atoms(&self) -> &GpuAtomSpheres {
        &self.atoms
    }
}
