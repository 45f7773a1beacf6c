//! Reference energy: the sum over all pairs of atoms.

use glam::DVec3;

use super::pair_potential::{coulomb, product, switch};
use super::{EnergyConfig, ForceFieldMolecule, Interaction};
use crate::pose::Pose;

/// The interaction as the sum over all pairs of atoms in `f64`: the reference for
/// [`EnergyGrid`](super::EnergyGrid).
#[must_use]
pub fn direct_interaction(
    ligand: &ForceFieldMolecule,
    pose: &Pose,
    receptor: &ForceFieldMolecule,
    receptor_pose: &Pose,
    config: &EnergyConfig,
) -> Interaction {
    let (mut lennard_jones, mut electrostatic, mut solvation) = (0.0, 0.0, 0.0);
    let (mut force, mut torque) = (DVec3::ZERO, DVec3::ZERO);
    let others = world_positions(receptor, receptor_pose);
    let squared_cutoff = f64::from(config.cutoff).powi(2);
    for (index, position) in world_positions(ligand, pose).into_iter().enumerate() {
        let atom = ligand.lennard_jones[index];
        let charge = f64::from(ligand.charges()[index]);
        let mut atom_force = DVec3::ZERO;
        for (k, other) in others.iter().enumerate() {
            let offset = position - other;
            let s = offset.length_squared();
            if s >= squared_cutoff {
                continue;
            }
            let fade = switch(s, config);
            let charges = charge * f64::from(receptor.charges()[k]);
            let pair = atom.with(&receptor.lennard_jones[k], config);
            let vdw = product(pair.lennard_jones(s), fade);
            let unit_charges = product(coulomb(s), fade);
            let water = ligand.solvation[index].with(&receptor.solvation[k], s);
            let water = product(water, fade);
            lennard_jones += vdw.0;
            solvation += water.0;
            electrostatic += charges * unit_charges.0;
            // Derivatives are by the squared distance.
            atom_force -= offset * (2.0 * (vdw.1 + charges * unit_charges.1 + water.1));
        }
        force += atom_force;
        torque += (position - pose.position.as_dvec3()).cross(atom_force);
    }
    Interaction {
        lennard_jones,
        coulomb: electrostatic,
        solvation,
        force: force.as_vec3(),
        torque: torque.as_vec3(),
    }
}

/// Positions of the atoms in the world, nm.
fn world_positions(molecule: &ForceFieldMolecule, pose: &Pose) -> Vec<DVec3> {
    let rotation = pose.rotation.as_dquat().normalize();
    let positions = molecule.template().positions().iter();
    positions
        .map(|position| rotation * position.as_dvec3() + pose.position.as_dvec3())
        .collect()
}
