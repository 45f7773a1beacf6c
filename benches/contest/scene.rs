//! POPC vesicles of any size at the same density.

use std::sync::Arc;

use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;

use super::TOLERANCE_NM;
use crate::common::molecules::{popc, vesicle_of};

/// Fewest lipids of a vesicle that is still much larger than its lipids are long.
/// Smaller scenes are cut out of one of this size.
const FEWEST_LIPIDS: usize = 1000;

/// The same atoms in the memory layout that each contestant starts from.
pub struct Scene {
    /// For our searches; all radii are half the tolerance.
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
        let vesicle = vesicle_of(&lipid, lipids.max(FEWEST_LIPIDS) as u32);
        let mut poses: Vec<Pose> = vesicle.crowd.instances().map(|(_, pose)| pose).collect();
        keep_a_cap(&mut poses, lipids);

        let atoms = poses.iter().enumerate().flat_map(|(owner, pose)| {
            let positions = lipid.positions().iter();
            positions.map(move |&position| (owner as u32, pose.transform_point(position)))
        });
        Self::new(atoms)
    }

    /// The mirror image: as many pairs, but everything is elsewhere.
    ///
    /// Atoms move between two searches of a simulation. A benchmark that repeats the
    /// same scene would reward remembering where they were.
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
fn keep_a_cap(poses: &mut Vec<Pose>, count: usize) {
    let mut heights: Vec<f32> = poses
        .iter()
        .map(|pose| pose.position.normalize().y)
        .collect();
    heights.sort_unstable_by(|a, b| b.total_cmp(a));
    let lowest = heights[count.min(heights.len()) - 1];
    poses.retain(|pose| pose.position.normalize().y >= lowest);
}
