//! Molecules and their templates on the device.

use std::collections::HashMap;
use std::sync::Arc;

use glam::Vec3;

use super::levels::Sizes;
use super::types::GpuMoleculeEntry;
use crate::backend::DeviceError;
use crate::gpu::device::GpuDevice;
use crate::gpu::gpu_vec::GpuVec;
use crate::search::{CLUSTER, RigidSpheres};

/// Marks an unused place of a cluster; `NO_SPHERE` in WGSL.
const NO_SPHERE: u32 = u32::MAX;

/// The templates of all molecules in one buffer, in the layout of
/// `shaders/molecules/templates.wgsl`, and which molecule has which.
#[derive(Debug)]
pub(super) struct Templates {
    pub words: GpuVec<[u32; 4]>,
    pub molecules: GpuVec<GpuMoleculeEntry>,
    /// Largest distance of a surface from the origin of the body frame of each molecule, nm.
    pub radii: Vec<f32>,
    pub sizes: Sizes,
}

impl Templates {
    pub fn new(device: &GpuDevice, molecules: &[Arc<RigidSpheres>]) -> Result<Self, DeviceError> {
        let radii: Vec<f32> = molecules.iter().map(|one| one.bounding_radius()).collect();
        let sizes = Sizes::new(&radii);
        let mut starts: HashMap<*const RigidSpheres, u32> = HashMap::new();
        let mut words = Vec::new();
        let mut entries = Vec::with_capacity(molecules.len());
        let mut first_sphere: u64 = 0;
        for (molecule, &radius) in molecules.iter().zip(&radii) {
            let start = *starts.entry(Arc::as_ptr(molecule)).or_insert_with(|| {
                let start = words.len() as u32;
                append(molecule, &mut words);
                start
            });
            entries.push(GpuMoleculeEntry {
                template_start: start,
                first_sphere: first_sphere as u32,
                level: sizes.level(radius),
                radius,
            });
            first_sphere += molecule.len() as u64;
        }
        let fit = u64::from(u32::MAX);
        if first_sphere > fit {
            return Err(DeviceError::TooManySpheres {
                spheres: first_sphere,
                fit,
            });
        }
        Ok(Self {
            words: GpuVec::from_slice(device, "templates", &words)?,
            molecules: GpuVec::from_slice(device, "molecules", &entries)?,
            radii,
            sizes,
        })
    }
}

/// Appends a template.
fn append(spheres: &RigidSpheres, words: &mut Vec<[u32; 4]>) {
    let sphere = |center: Vec3, radius: f32| {
        let [x, y, z] = center.to_array();
        [x, y, z, radius].map(f32::to_bits)
    };
    let clusters = spheres.clusters();
    words.push([clusters.len() as u32, spheres.len() as u32, 0, 0]);
    words.extend(clusters.map(|(center, radius, _)| sphere(center, radius)));
    for (_, _, members) in spheres.clusters() {
        let mut places = [NO_SPHERE; CLUSTER];
        places[..members.len()].copy_from_slice(members);
        words.extend(places.as_chunks::<4>().0);
    }
    let all = spheres.centers().iter().zip(spheres.radii());
    words.extend(all.map(|(center, radius)| sphere(*center, *radius)));
}
