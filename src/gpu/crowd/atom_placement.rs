//! The molecules of a crowd on the device: templates there once, poses in each substep.

use std::collections::HashMap;
use std::sync::Arc;

use glam::Vec3;

use crate::backend::DeviceError;
use crate::dynamics::{MemberSpheres, MovingBody};
use crate::gpu::atoms::{GpuAtoms, GpuPose};
use crate::gpu::device::GpuDevice;
use crate::molecule::BodySpheres;
use crate::search::SearchError;
use crate::search::uniform_grid::ReachPlan;
use crate::spheres::{SphereError, SphereExtent};

/// Atoms that follow their molecules.
#[derive(Debug)]
pub(super) struct AtomPlacement {
    atoms: GpuAtoms,
    /// How far the spheres of each molecule are from its origin at most, nm.
    reaches: Vec<f32>,
    /// Smallest and largest radius, nm.
    radii: [f32; 2],
    poses: Vec<GpuPose>,
}

impl AtomPlacement {
    pub fn new(device: &GpuDevice, molecules: &[Arc<MemberSpheres>]) -> Result<Self, DeviceError> {
        let mut kinds: HashMap<*const MemberSpheres, u32> = HashMap::new();
        let mut templates = Vec::new();
        let mut numbers = Vec::with_capacity(molecules.len());
        for molecule in molecules {
            let number = *kinds.entry(Arc::as_ptr(molecule)).or_insert_with(|| {
                templates.push(&**molecule);
                templates.len() as u32 - 1
            });
            numbers.push(number);
        }
        let reach = |spheres: &&MemberSpheres| {
            let lengths = spheres.centers.iter().map(|center| center.length());
            lengths.fold(0.0, f32::max)
        };
        let reach_of: Vec<f32> = templates.iter().map(reach).collect();
        let radii = templates.iter().flat_map(|spheres| &spheres.radii);
        let radii = radii.fold([f32::INFINITY, 0.0], |[low, high], radius| {
            [radius.min(low), radius.max(high)]
        });
        let templates: Vec<BodySpheres<'_>> =
            templates.into_iter().map(BodySpheres::from).collect();
        let reaches = numbers.iter().map(|kind| reach_of[*kind as usize]);
        Ok(Self {
            atoms: GpuAtoms::new(device, &templates, &numbers)?,
            reaches: reaches.collect(),
            radii,
            poses: Vec::new(),
        })
    }

    /// What is searched when the molecules are where `bodies` are; `None` if no pair is
    /// possible.
    pub fn plan(
        &self,
        bodies: &[MovingBody],
        margin: f32,
    ) -> Result<Option<ReachPlan>, SearchError> {
        let bounds = bodies.iter().zip(&self.reaches);
        let [low, high] = bounds.fold(
            [Vec3::INFINITY, Vec3::NEG_INFINITY],
            |[low, high], (body, reach)| {
                let place = body.pose.position;
                [low.min(place - *reach), high.max(place + *reach)]
            },
        );
        let count = self.atoms.spheres().len();
        if count > 0 && !(low.is_finite() && high.is_finite()) {
            let center = if low.is_finite() { high } else { low };
            return Err(SphereError::BadCenter { index: 0, center }.into());
        }
        let extent = SphereExtent::within([low, high], self.radii);
        ReachPlan::within(extent, count, margin)
    }

    /// Sends the poses.
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

    pub fn atoms(&self) -> &GpuAtoms {
        &self.atoms
    }
}
