//! The sum over all pairs: the oracle.

use glam::DVec3;

use super::pair_potential::{coulomb, product, step};
use super::{EnergyConfig, ForceFieldMolecule, Interaction};
use crate::pose::Pose;

/// What a receptor does to a ligand, summed over all pairs of atoms in 64 bits.
#[must_use]
pub fn direct_interaction(
    ligand: &ForceFieldMolecule,
    pose: &Pose,
    receptor: &ForceFieldMolecule,
    receptor_pose: &Pose,
    config: &EnergyConfig,
) -> Interaction {
    let (mut lennard_jones, mut electric, mut water) = (0.0, 0.0, 0.0);
    let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
    let others = places(receptor, receptor_pose);
    let reach = f64::from(config.cutoff).powi(2);
    for (index, place) in places(ligand, pose).into_iter().enumerate() {
        let (kind, charge) = (ligand.kinds()[index], f64::from(ligand.charges()[index]));
        let mut pull = DVec3::ZERO;
        for (k, other) in others.iter().enumerate() {
            let apart = place - other;
            let s = apart.length_squared();
            if s >= reach {
                continue;
            }
            let fade = step(s, config);
            let charges = charge * f64::from(receptor.charges()[k]);
            let law = kind.with(&receptor.kinds()[k], config);
            let near = product(law.lennard_jones(s), fade);
            let far = product(coulomb(s), fade);
            let solvation = ligand.solvation()[index].with(&receptor.solvation()[k], s);
            let solvation = product(solvation, fade);
            lennard_jones += near.0;
            water += solvation.0;
            electric += charges * far.0;
            // The slope is over the square of the distance.
            pull -= apart * (2.0 * (near.1 + charges * far.1 + solvation.1));
        }
        force += pull;
        torque += (place - pose.position.as_dvec3()).cross(pull);
    }
    Interaction {
        lennard_jones,
        coulomb: electric,
        solvation: water,
        force: force.as_vec3(),
        torque: torque.as_vec3(),
    }
}

/// Atoms in the world, nm.
fn places(molecule: &ForceFieldMolecule, pose: &Pose) -> Vec<DVec3> {
    let rotation = pose.rotation.as_dquat().normalize();
    let positions = molecule.template().positions().iter();
    positions
        .map(|position| rotation * position.as_dvec3() + pose.position.as_dvec3())
        .collect()
}
