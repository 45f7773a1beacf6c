//! `Ccd`: fast molecules do not pass through thin ones, in both contact models and without colliders.

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

/// What flies at a sheet.
#[derive(Clone, Copy)]
struct Shot {
    model: ContactModel,
    /// Whether the molecules have no collider.
    crowd_only: bool,
    ccd: bool,
    /// Whether the sheet is fixed.
    fixed: bool,
    /// Distance at the start, nm.
    distance: f32,
}

impl Shot {
    /// How far `molecule` gets past the sheet, nm.
    fn passed_by(self, molecule: MoleculeTemplate) -> f32 {
        let mut app = app(self.model);
        weightless(&mut app);
        app.insert_resource(TimestepMode::Fixed {
            dt: FRAME,
            substeps: 1,
        });
        let start = self.distance + 0.2 + molecule.bounding_radius();
        let templates = [molecule, sheet()].map(|template| add(&mut app, template));
        let target = spawn(&mut app, &templates[1], Vec3::ZERO);
        if self.fixed {
            app.world_mut().entity_mut(target).insert(RigidBody::Fixed);
        }
        let molecule = spawn(&mut app, &templates[0], Vec3::X * -start);
        app.world_mut()
            .entity_mut(molecule)
            .insert((Ccd { enabled: self.ccd }, Velocity::linear(Vec3::X * SPEED)));
        if self.crowd_only {
            for molecule in [target, molecule] {
                app.world_mut().entity_mut(molecule).insert(CrowdOnly);
            }
        }
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
}

/// Two atoms side by side: thin enough to jump from one side of the sheet to the other.
fn dimer() -> MoleculeTemplate {
    carbons(&[Vec3::Y * -0.06, Vec3::Y * 0.06])
}

/// Contact models, and whether molecules have no collider.
const MODELS: [(ContactModel, bool); 3] = [
    (ContactModel::Crowd, false),
    (ContactModel::Crowd, true),
    (ContactModel::Solver, false),
];

#[test]
fn a_fast_molecule_with_ccd_does_not_pass_a_thin_one() {
    for ((model, crowd_only), fixed) in MODELS
        .into_iter()
        .flat_map(|model| [(model, true), (model, false)])
    {
        for molecule in [real("1ubq.cif"), real("p_xylene.pdb"), dimer()] {
            for phase in 0..4 {
                let shot = Shot {
                    model,
                    crowd_only,
                    ccd: true,
                    fixed,
                    distance: 1.0 + 0.2 * phase as f32,
                };
                let passed = shot.passed_by(molecule.clone());
                let atoms = molecule.atom_count();
                assert!(
                    passed < -0.15,
                    "{passed} nm: {model:?}, crowd only: {crowd_only}, {atoms} atoms, \
                     fixed: {fixed}, phase {phase}"
                );
            }
        }
    }
}

#[test]
fn without_ccd_a_thin_molecule_passes_in_the_crowd() {
    let passes = |phase: i32| {
        let shot = Shot {
            model: ContactModel::Crowd,
            crowd_only: false,
            ccd: false,
            fixed: true,
            distance: 1.0 + 0.1 * phase as f32,
        };
        shot.passed_by(dimer()) > 3.0
    };
    assert!((0..8).any(passes));
}
