//! POPC vesicles of any size at the same density.

use std::sync::Arc;

use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;

use super::TOLERANCE_NM;
use crate::common::molecules::{popc, vesicle_of};

/// Smallest vesicle that is much larger than a lipid is long, lipids. Smaller scenes are cut
/// out of a vesicle of this size.
const MIN_LIPIDS: usize = 1000;

/// The same atoms in the memory layout of each search.
pub struct Scene {
    /// For this crate; all radii are half the tolerance.
    pub spheres: SphereSet,
    /// Centers, nm.
    pub points: Vec<[f32; 3]>,
    /// Molecule of each atom.
    pub owners: Vec<u32>,
    /// Molecule and center of each atom.
    pub particles: Vec<(u32, [f32; 3])>,
}

impl Scene {
    /// About `atoms` atoms of a vesicle, lipids in random order.
    pub fn vesicle(atoms: usize) -> Self {
        let lipid = Arc::new(popc());
        let lipids = (atoms / lipid.atom_count()).max(1);
        let vesicle = vesicle_of(&lipid, lipids.max(MIN_LIPIDS) as u32);
        let mut poses: Vec<Pose> = vesicle.crowd.instances().map(|(_, pose)| pose).collect();
        keep_polar_cap(&mut poses, lipids);

        let atoms = poses.iter().enumerate().flat_map(|(owner, pose)| {
            let positions = lipid.positions().iter();
            positions.map(move |&position| (owner as u32, pose.transform_point(position)))
        });
        Self::new(atoms)
    }

    /// The mirror image, with the same number of pairs.
    ///
    /// Atoms move between two searches of a simulation. Repeating the same scene would
    /// reward caching.
    pub fn mirrored(&self) -> Self {
        let atoms = self.particles.iter();
        Self::new(atoms.map(|&(owner, [x, y, z])| (owner, Vec3::new(-x, y, z))))
    }

    fn new(atoms: impl Iterator<Item = (u32, Vec3)>) -> Self {
        let mut scene = Self {
            spheres: SphereSet::new(),
            points: Vec::new(),
            owners: Vec::new(),
            particles: Vec::new(),
        };
        for (owner, center) in atoms {
            scene
                .spheres
                .push(center, TOLERANCE_NM / 2.0, owner)
                .expect("a vesicle is finite");
            scene.points.push(center.to_array());
            scene.owners.push(owner);
            scene.particles.push((owner, center.to_array()));
        }
        scene
    }

    /// Number of atoms.
    pub fn len(&self) -> usize {
        self.points.len()
    }
}

/// Keeps the `count` poses nearest to the north pole, in their order.
fn keep_polar_cap(poses: &mut Vec<Pose>, count: usize) {
    let mut heights: Vec<f32> = poses
        .iter()
        .map(|pose| pose.position.normalize().y)
        .collect();
    heights.sort_unstable_by(|a, b| b.total_cmp(a));
    let lowest = heights[count.min(heights.len()) - 1];
    poses.retain(|pose| pose.position.normalize().y >= lowest);
}
