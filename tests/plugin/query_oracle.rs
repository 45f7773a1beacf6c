//! What scene queries are compared with: a loop over all atoms, in 64 bits.

use bevy::ecs::system::SystemState;
use bevy::math::DVec3;
use bevy::prelude::*;
use bevy_rapier_molecules::prelude::*;
use rand::{Rng, RngExt};
use rand_pcg::Pcg64;

use super::test_app::*;

pub const TOLERANCE: f64 = 1.0e-4;

/// Every atom of a scene, in the world.
#[derive(Clone, Copy, Debug)]
pub struct WorldAtom {
    pub molecule: Entity,
    pub atom: usize,
    pub center: DVec3,
    pub radius: f64,
}

pub fn point(random: &mut impl Rng, side: f32) -> Vec3 {
    Vec3::from_array([(); 3].map(|()| random.random_range(-side..side)))
}

pub fn turn(random: &mut impl Rng) -> Quat {
    Quat::from_euler(
        EulerRot::XYZ,
        random.random_range(-3.0..3.0),
        random.random_range(-1.5..1.5),
        random.random_range(-3.0..3.0),
    )
}

/// Twenty molecules, bars and ubiquitins, every other without a collider, some static.
pub fn scene(random: &mut Pcg64) -> (App, Vec<Entity>) {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let templates = [bar(), real("1ubq.cif")].map(|template| add(&mut app, template));
    let mut molecules = Vec::new();
    for k in 0..20 {
        let place = Transform::from_translation(point(random, 7.0)).with_rotation(turn(random));
        let mut molecule = app
            .world_mut()
            .spawn((Molecule(templates[k % 2].clone()), place));
        if k % 4 < 2 {
            molecule.insert(CrowdOnly);
        }
        if k % 5 == 0 {
            molecule.insert(StaticMolecule);
        }
        molecules.push(molecule.id());
    }
    run(&mut app, 2);
    (app, molecules)
}

pub fn ask<T>(app: &mut App, question: impl FnOnce(&MoleculeQueries) -> T) -> T {
    let world = app.world_mut();
    let mut state = SystemState::<MoleculeQueries>::new(world);
    question(&state.get(world).unwrap())
}

/// The atoms of all molecules by their transforms.
pub fn spheres(app: &mut App) -> Vec<WorldAtom> {
    let world = app.world_mut();
    let mut molecules = world.query::<(Entity, &Molecule, &Transform)>();
    let assets = world.resource::<Assets<MoleculeTemplate>>();
    let mut found = Vec::new();
    for (molecule, Molecule(handle), transform) in molecules.iter(world) {
        let template = assets.get(handle).unwrap();
        for atom in 0..template.atom_count() {
            let turned = transform.rotation.as_dquat() * template.positions()[atom].as_dvec3();
            found.push(WorldAtom {
                molecule,
                atom,
                center: turned + transform.translation.as_dvec3(),
                radius: f64::from(template.radii()[atom]),
            });
        }
    }
    found
}

impl WorldAtom {
    pub fn is(&self, atom: impl Into<MoleculeAtom>) -> bool {
        MoleculeAtom::from((self.molecule, self.atom)) == atom.into()
    }

    /// Way to the sphere grown by `more`, and how far the ray is from grazing it.
    pub fn meet(&self, origin: DVec3, direction: DVec3, more: f64) -> (Option<f64>, f64) {
        let (arm, radius) = (self.center - origin, self.radius + more);
        if arm.length() <= radius {
            return (Some(0.0), 1.0);
        }
        let along = arm.dot(direction);
        let aside = (arm - direction * along).length();
        let half = (radius * radius - aside * aside).max(0.0).sqrt();
        let meets = aside < radius && along > 0.0;
        (meets.then_some(along - half), (aside - radius).abs())
    }
}

/// Checks the first meeting of a ball, or with radius 0 a ray, against all atoms.
pub fn check_way(
    all: &[WorldAtom],
    hit: Option<MoleculeHit>,
    (origin, direction, ball): (Vec3, Vec3, f32),
    most: f64,
) -> bool {
    let direction = direction.as_dvec3().normalize();
    let meet = |sphere: &WorldAtom| sphere.meet(origin.as_dvec3(), direction, f64::from(ball));
    let first = all
        .iter()
        .filter_map(|sphere| meet(sphere).0)
        .filter(|way| *way <= most)
        .min_by(f64::total_cmp);
    let (Some(first), Some(hit)) = (first, hit) else {
        let grazes = all.iter().any(|sphere| meet(sphere).1 < 1.0e-5);
        assert!(
            grazes || first.is_none() && hit.is_none(),
            "{first:?} and {hit:?}"
        );
        return false;
    };
    let sphere = all.iter().find(|sphere| sphere.is(hit)).unwrap();
    assert!(
        (f64::from(hit.distance) - first).abs() < TOLERANCE,
        "{hit:?}"
    );
    let own = meet(sphere).0.expect("the atom is on the way");
    assert!((own - first).abs() < TOLERANCE, "another atom: {hit:?}");
    assert!((hit.normal.length() - 1.0).abs() < 1.0e-4);
    if first > 0.0 {
        let on_surface = sphere.center + hit.normal.as_dvec3() * sphere.radius;
        assert!(hit.point.as_dvec3().distance(on_surface) < TOLERANCE);
        let middle = origin.as_dvec3() + direction * first;
        let gap = middle.distance(hit.point.as_dvec3()) - f64::from(ball);
        assert!(gap.abs() < TOLERANCE, "{gap}: {hit:?}");
    }
    true
}
