//! Molecules of carbon atoms and crowds of them.

use std::sync::Arc;

use bevy_rapier_molecules::crowd::{Crowd, CrowdMember};
use bevy_rapier_molecules::molecule::{Atom, Element, MoleculeTemplate, Residue};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;

/// A carbon atom; position and radius in nm.
pub fn carbon(position: Vec3, radius: f32) -> Atom {
    Atom {
        position,
        radius,
        element: Element::C,
        name: "C".into(),
        residue: 0,
    }
}

/// A molecule with one residue.
pub fn template(atoms: Vec<Atom>) -> Arc<MoleculeTemplate> {
    Arc::new(MoleculeTemplate::new("test", atoms, vec![Residue::default()]).unwrap())
}

/// A rod of carbon atoms along x, 0.12 nm apart, with radius 0.1 nm.
pub fn rod(atoms: usize) -> Arc<MoleculeTemplate> {
    let atoms = (0..atoms).map(|k| carbon(Vec3::X * 0.12 * k as f32, 0.1));
    template(atoms.collect())
}

/// Molecules without a compartment.
pub fn free_crowd(template: Arc<MoleculeTemplate>, positions: &[Vec3]) -> Crowd {
    let mut crowd = Crowd::new();
    let template = crowd.add_template(template);
    for &position in positions {
        let member = CrowdMember {
            template,
            pose: Pose::from_translation(position),
            ..CrowdMember::default()
        };
        crowd.add_member(member).unwrap();
    }
    crowd
}
