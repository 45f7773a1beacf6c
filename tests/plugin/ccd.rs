//! `Ccd`: fast molecules do not pass through thin ones, in both contact models.

use bevy::prelude::*;
use bevy_rapier_molecules::molecule::{Atom, Element, Residue};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;

/// Speed of the molecule, nm/s: 0.83 nm per frame.
const SPEED: f32 = 50.0;

/// A sheet of carbon atoms, 5 nm wide and 0.3 nm thick, perpendicular to x.
fn sheet() -> MoleculeTemplate {
    let place = |k: i32| 0.2 * (k as f32 - 12.5);
    let atoms = (0..26 * 26).map(|k| Atom {
        position: Vec3::new(0.0, place(k % 26), place(k / 26)),
        radius: 0.15,
        element: Element::C,
        name: "C".into(),
        residue: 0,
    });
    MoleculeTemplate::new("sheet", atoms.collect(), vec![Residue::default()]).unwrap()
}

/// How far a molecule gets past a sheet that it flies at from `distance` nm, nm.
fn passed_by(model: ContactModel, file: &str, ccd: bool, fixed: bool, distance: f32) -> f32 {
    let mut app = app(model);
    weightless(&mut app);
    app.insert_resource(TimestepMode::Fixed {
        dt: FRAME,
        substeps: 1,
    });
    let distance = 0.2 + distance + real(file).bounding_radius();
    let templates = [real(file), sheet()].map(|template| add(&mut app, template));
    let target = spawn(&mut app, &templates[1], Vec3::ZERO);
    if fixed {
        app.world_mut().entity_mut(target).insert(RigidBody::Fixed);
    }
    let molecule = spawn(&mut app, &templates[0], Vec3::X * -distance);
    app.world_mut()
        .entity_mut(molecule)
        .insert((Ccd { enabled: ccd }, Velocity::linear(Vec3::X * SPEED)));
    let mut furthest = f32::NEG_INFINITY;
    for _ in 0..12 {
        run(&mut app, 1);
        let sheet = *app.world().get::<Transform>(target).unwrap();
        let normal = sheet.rotation * Vec3::X;
        let passed = normal.dot(position(&app, molecule) - sheet.translation);
        furthest = furthest.max(passed);
    }
    furthest
}

/// What flies at the sheet: a protein, and a molecule of eight atoms.
const FILES: [&str; 2] = ["1ubq.cif", "p_xylene.pdb"];

#[test]
fn a_fast_molecule_with_ccd_does_not_pass_a_thin_one() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        for (file, fixed) in [
            (FILES[0], true),
            (FILES[0], false),
            (FILES[1], true),
            (FILES[1], false),
        ] {
            for phase in 0..4 {
                let passed = passed_by(model, file, true, fixed, 0.2 * phase as f32);
                assert!(
                    passed < -0.2,
                    "{passed} nm: {model:?} {file} {fixed} {phase}"
                );
            }
        }
    }
}

#[test]
fn without_ccd_a_small_molecule_passes() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let passes = |phase: i32| passed_by(model, FILES[1], false, true, 0.1 * phase as f32) > 3.0;
        assert!((0..8).any(passes), "{model:?}");
    }
}
