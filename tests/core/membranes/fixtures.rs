//! Species, surfaces and configs.

use std::path::PathBuf;
use std::sync::Arc;

use bevy_rapier_molecules::compartment::{FlatPatch, Surface};
use bevy_rapier_molecules::membrane::{
    MemberKind, Membrane, MembraneConfig, MembraneProtein, Species,
};
use bevy_rapier_molecules::molecule::{Atom, Element, MoleculeTemplate, Residue};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::prelude::*;
use glam::{Vec2, Vec3};

/// Edge of the z axis of a periodic box, nm.
pub const BOX_HEIGHT: f32 = 14.0;

pub fn asset(path: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("assets")
        .join(path)
}

pub fn lipid(name: &str, area: f32) -> Species {
    let path = asset(&format!("lipids/{name}_conformers.pdb"));
    Species::load(name, &[path], &LoadOptions::default(), area).unwrap()
}

pub fn popc() -> Species {
    lipid("popc", 0.65)
}

/// A rod of carbons with an oxygen as its head, along z.
pub fn rod(name: &str, carbons: usize, area: f32) -> Species {
    let atom = |element, z| Atom {
        position: Vec3::Z * z,
        radius: 0.15,
        element,
        name: "A".into(),
        residue: 0,
    };
    let mut atoms: Vec<Atom> = (0..carbons)
        .map(|index| atom(Element::C, 0.15 * index as f32))
        .collect();
    atoms.push(atom(Element::O, 0.15 * carbons as f32));
    let template = MoleculeTemplate::new(name, atoms, vec![Residue::default()]).unwrap();
    Species::new(name, vec![Arc::new(template)], area).unwrap()
}

/// A barrel of carbons about z with a pore: rings 0.2 nm apart over a height of 3 nm.
pub fn barrel(radius: f32) -> MembraneProtein {
    let around = (radius * 40.0) as u32;
    let mut atoms = Vec::new();
    for ring in 0..16 {
        for index in 0..around {
            let turn = Vec2::from_angle(std::f32::consts::TAU * index as f32 / around as f32);
            atoms.push(Atom {
                position: (turn * radius).extend(0.2 * ring as f32),
                radius: 0.2,
                element: Element::C,
                name: "C".into(),
                residue: 0,
            });
        }
    }
    let barrel = MoleculeTemplate::new("barrel", atoms, vec![Residue::default()]).unwrap();
    MembraneProtein::with_axis("barrel", Arc::new(barrel), Vec3::Z, 0.0).unwrap()
}

/// The porin, upright.
pub fn porin() -> MembraneProtein {
    let porin = load(asset("molecules/2por.pdb"), &LoadOptions::default()).unwrap();
    let up = Vec3::new(-0.69, 0.62, 0.36);
    MembraneProtein::with_axis("porin", Arc::new(porin), up, 0.3).unwrap()
}

/// An empty membrane along a flat square in a periodic box.
pub fn flat(edge: f32) -> MembraneConfig {
    let patch = FlatPatch::new(Vec2::splat(edge), 0.5 * BOX_HEIGHT).unwrap();
    let periodic = PeriodicBox::new(Vec3::new(edge, edge, BOX_HEIGHT)).unwrap();
    MembraneConfig {
        periodic_box: Some(periodic),
        ..MembraneConfig::new(Arc::new(patch))
    }
}

pub fn along(surface: impl Surface + 'static) -> MembraneConfig {
    MembraneConfig::new(Arc::new(surface))
}

pub fn sphere(radius: f32) -> MembraneConfig {
    along(SphereShell::new(Vec3::ZERO, radius).unwrap())
}

/// Species of the members of a leaflet.
pub fn species_of(membrane: &Membrane, leaflet: Leaflet) -> Vec<u32> {
    let range = match leaflet {
        Leaflet::Outer => membrane.outer.clone(),
        Leaflet::Inner => membrane.inner.clone(),
    };
    membrane.kinds[range]
        .iter()
        .map(|kind| match *kind {
            MemberKind::Lipid {
                species,
                leaflet: side,
            } if side == leaflet => species,
            other => panic!("{other:?} in the {leaflet:?} leaflet"),
        })
        .collect()
}
