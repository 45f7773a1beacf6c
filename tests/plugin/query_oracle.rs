//! Brute force for scene queries: a loop over all atoms in double precision.

use bevy::ecs::system::SystemState;
use bevy::math::DVec3;
use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{MoleculeAtom, MoleculeHit};
use bevy_rapier_molecules::prelude::*;
use rand::{Rng, RngExt};
use rand_pcg::Pcg64;

use super::test_app::*;

pub const TOLERANCE: f64 = 1.0e-4;

/// An atom in the world frame.
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

pub fn rotation(random: &mut impl Rng) -> Quat {
    Quat::from_euler(
        EulerRot::XYZ,
        random.random_range(-3.0..3.0),
        random.random_range(-1.5..1.5),
        random.random_range(-3.0..3.0),
    )
}

/// Twenty bars and ubiquitins, half of them without a collider, some static.
pub fn scene(random: &mut Pcg64) -> (App, Vec<Entity>) {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let templates = [bar(), real("1ubq.cif")].map(|template| add(&mut app, template));
    let mut molecules = Vec::new();
    for k in 0..20 {
        let transform =
            Transform::from_translation(point(random, 7.0)).with_rotation(rotation(random));
        let mut molecule = app
            .world_mut()
            .spawn((Molecule(templates[k % 2].clone()), transform));
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

/// Runs a query.
pub fn query<T>(app: &mut App, query: impl FnOnce(&MoleculeQueries) -> T) -> T {
    let world = app.world_mut();
    let mut state = SystemState::<MoleculeQueries>::new(world);
    query(&state.get(world).unwrap())
}

/// The atoms of all molecules, from their transforms.
pub fn world_atoms(app: &mut App) -> Vec<WorldAtom> {
    let world = app.world_mut();
    let mut molecules = world.query::<(Entity, &Molecule, &Transform)>();
    let assets = world.resource::<Assets<MoleculeTemplate>>();
    let mut found = Vec::new();
    for (molecule, Molecule(handle), transform) in molecules.iter(world) {
        let template = assets.get(handle).unwrap();
        for atom in 0..template.atom_count() {
            let rotated = transform.rotation.as_dquat() * template.positions()[atom].as_dvec3();
            found.push(WorldAtom {
                molecule,
                atom,
                center: rotated + transform.translation.as_dvec3(),
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

    /// Distance at which a ray hits the sphere enlarged by `margin`, and how far the ray is
    /// from grazing it.
    pub fn hit_by_ray(&self, origin: DVec3, direction: DVec3, margin: f64) -> (Option<f64>, f64) {
        let (arm, radius) = (self.center - origin, self.radius + margin);
        if arm.length() <= radius {
            return (Some(0.0), 1.0);
        }
        let along = arm.dot(direction);
        let aside = (arm - direction * along).length();
        let half = (radius * radius - aside * aside).max(0.0).sqrt();
        let hits = aside < radius && along > 0.0;
        (hits.then_some(along - half), (aside - radius).abs())
    }
}

/// Compares the first hit of a moving ball, or of a ray with radius 0, with all atoms. Returns
/// whether there is a hit.
pub fn check_hit(
    all: &[WorldAtom],
    hit: Option<MoleculeHit>,
    (origin, direction, ball): (Vec3, Vec3, f32),
    max_distance: f64,
) -> bool {
    let direction = direction.as_dvec3().normalize();
    let cast = |atom: &WorldAtom| atom.hit_by_ray(origin.as_dvec3(), direction, f64::from(ball));
    let first = all
        .iter()
        .filter_map(|atom| cast(atom).0)
        .filter(|distance| *distance <= max_distance)
        .min_by(f64::total_cmp);
    let (Some(first), Some(hit)) = (first, hit) else {
        let grazes = all.iter().any(|atom| cast(atom).1 < 1.0e-5);
        assert!(
            grazes || first.is_none() && hit.is_none(),
            "{first:?} and {hit:?}"
        );
        return false;
    };
    let atom = all.iter().find(|atom| atom.is(hit)).unwrap();
    assert!(
        (f64::from(hit.distance) - first).abs() < TOLERANCE,
        "{hit:?}"
    );
    let own = cast(atom).0.expect("the atom is on the path");
    assert!((own - first).abs() < TOLERANCE, "wrong atom: {hit:?}");
    assert!((hit.normal.length() - 1.0).abs() < 1.0e-4);
    if first > 0.0 {
        let on_surface = atom.center + hit.normal.as_dvec3() * atom.radius;
        assert!(hit.point.as_dvec3().distance(on_surface) < TOLERANCE);
        let middle = origin.as_dvec3() + direction * first;
        let gap = middle.distance(hit.point.as_dvec3()) - f64::from(ball);
        assert!(gap.abs() < TOLERANCE, "{gap}: {hit:?}");
    }
    true
}
