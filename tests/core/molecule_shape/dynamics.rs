//! Molecules come to rest in a plain Rapier world with gravity 9.81 nm/s².

use std::sync::Arc;

use bevy_rapier_molecules::rapier::{MoleculeDispatcher, MoleculePairFilter, MoleculeShape};
use glam::Vec3;
use rapier3d::parry::query::{DefaultQueryDispatcher, QueryDispatcher};
use rapier3d::parry::utils::Array2;
use rapier3d::prelude::*;

use crate::molecule_shape::fixtures::{
    dispatcher, from_file, random, rotation, ubiquitin, unit_vector,
};

/// Speed (nm/s) below which a molecule is at rest.
const AT_REST: f32 = 0.01;

struct World {
    pipeline: PhysicsPipeline,
    islands: IslandManager,
    broad_phase: DefaultBroadPhase,
    narrow_phase: NarrowPhase,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    impulse_joints: ImpulseJointSet,
    multibody_joints: MultibodyJointSet,
    ccd: CCDSolver,
    parameters: IntegrationParameters,
}

impl World {
    fn new() -> Self {
        Self::with_filter(MoleculePairFilter::default())
    }

    fn with_filter(filter: MoleculePairFilter) -> Self {
        let dispatcher = MoleculeDispatcher::new(filter).chain(DefaultQueryDispatcher);
        Self {
            pipeline: PhysicsPipeline::new(),
            islands: IslandManager::new(),
            broad_phase: DefaultBroadPhase::new(),
            narrow_phase: NarrowPhase::with_query_dispatcher(dispatcher),
            bodies: RigidBodySet::new(),
            colliders: ColliderSet::new(),
            impulse_joints: ImpulseJointSet::new(),
            multibody_joints: MultibodyJointSet::new(),
            ccd: CCDSolver::new(),
            parameters: IntegrationParameters {
                dt: 1.0 / 240.0,
                ..IntegrationParameters::default()
            },
        }
    }

    fn fixed(&mut self, collider: ColliderBuilder) {
        self.colliders.insert(collider);
    }

    fn add(&mut self, shape: &SharedShape, position: Vec3) -> RigidBodyHandle {
        let mass = shape.mass_properties(1.0);
        let body = RigidBodyBuilder::dynamic()
            .translation(position)
            .additional_mass_properties(mass);
        let handle = self.bodies.insert(body);
        let collider = ColliderBuilder::new(shape.clone()).density(0.0);
        self.colliders
            .insert_with_parent(collider, handle, &mut self.bodies);
        handle
    }

    fn run(&mut self, seconds: f32) {
        for _ in 0..(seconds / self.parameters.dt) as usize {
            self.pipeline.step(
                Vec3::NEG_Y * 9.81,
                &self.parameters,
                &mut self.islands,
                &mut self.broad_phase,
                &mut self.narrow_phase,
                &mut self.bodies,
                &mut self.colliders,
                &mut self.impulse_joints,
                &mut self.multibody_joints,
                &mut self.ccd,
                &(),
                &(),
            );
        }
    }

    /// Lowest point (nm) of any atom of a body.
    fn lowest(&self, handle: RigidBodyHandle, shape: &MoleculeShape) -> f32 {
        let pose = self.bodies[handle].position();
        let template = shape.template();
        let atoms = template.positions().iter().zip(template.radii());
        atoms
            .map(|(&center, radius)| (pose * center).y - radius)
            .fold(f32::MAX, f32::min)
    }

    /// Depth (nm) of the deepest overlap of any two bodies.
    fn deepest_overlap(&self, shape: &MoleculeShape) -> f32 {
        let poses: Vec<Pose> = self.bodies.iter().map(|(_, b)| *b.position()).collect();
        let mut deepest: f32 = 0.0;
        for (k, a) in poses.iter().enumerate() {
            for b in &poses[k + 1..] {
                let contact = dispatcher().contact(&a.inv_mul(b), shape, shape, 0.0);
                deepest = deepest.max(contact.unwrap().map_or(0.0, |contact| -contact.dist));
            }
        }
        deepest
    }

    fn assert_at_rest(&self, handle: RigidBodyHandle) {
        let body = &self.bodies[handle];
        let (speed, angular) = (body.linvel().length(), body.angvel().length());
        assert!(speed < AT_REST, "moves at {speed} nm/s");
        assert!(angular < 10.0 * AT_REST, "rotates at {angular} rad/s");
    }
}

/// Asserts that a ubiquitin dropped from 1 nm rests on a floor with its top at height zero.
fn assert_rests_on(floor: ColliderBuilder) {
    let molecule = ubiquitin();
    let shape = SharedShape(Arc::new(molecule.clone()));
    let smallest = molecule
        .template()
        .radii()
        .iter()
        .copied()
        .fold(1.0, f32::min);
    let mut world = World::new();
    world.fixed(floor);
    let start = 1.0 - molecule.aabb().mins.y;
    let handle = world.add(&shape, Vec3::new(0.13, start, 0.07));
    world.run(5.0);
    let lowest = world.lowest(handle, &molecule);
    assert!(lowest > -0.2 * smallest, "sank to {lowest} nm");
    assert!(lowest < 0.02, "hovers at {lowest} nm");
    world.assert_at_rest(handle);
    world.run(1.0);
    world.assert_at_rest(handle);
}

fn flat_mesh(cells: i32, size: f32) -> (Vec<Vec3>, Vec<[u32; 3]>) {
    let (mut points, mut triangles) = (Vec::new(), Vec::new());
    let row = cells as u32 + 1;
    for (i, j) in (0..=cells).flat_map(|i| (0..=cells).map(move |j| (i, j))) {
        let position = Vec3::new((i - cells / 2) as f32, 0.0, (j - cells / 2) as f32);
        points.push(position * size);
        if i < cells && j < cells {
            let at = i as u32 * row + j as u32;
            triangles.extend([[at, at + 1, at + row], [at + 1, at + row + 1, at + row]]);
        }
    }
    (points, triangles)
}

#[test]
fn the_density_of_a_collider_is_in_units_of_the_template() {
    let molecule = ubiquitin();
    let template = molecule.template();
    for density in [1.0, 0.5] {
        let mut world = World::new();
        let handle = world.bodies.insert(RigidBodyBuilder::dynamic());
        let collider = ColliderBuilder::new(SharedShape::new(molecule.clone())).density(density);
        world
            .colliders
            .insert_with_parent(collider, handle, &mut world.bodies);
        world.run(0.1);
        let body = &world.bodies[handle];
        let expected = density * template.mass();
        assert!((body.mass() / expected - 1.0).abs() < 1.0e-5);
        let inertia = body.mass_properties().local_mprops.principal_inertia();
        let expected = density * template.principal_inertia();
        assert!((inertia / expected).abs_diff_eq(Vec3::ONE, 1.0e-4));
    }
}

#[test]
fn a_molecule_rests_on_a_cuboid() {
    assert_rests_on(ColliderBuilder::cuboid(20.0, 0.5, 20.0).translation(Vec3::NEG_Y * 0.5));
}

#[test]
fn a_molecule_rests_on_a_half_space() {
    assert_rests_on(ColliderBuilder::new(SharedShape::halfspace(Vec3::Y)));
}

#[test]
fn a_molecule_rests_on_a_coarse_mesh() {
    let (points, triangles) = flat_mesh(4, 5.0);
    assert_rests_on(ColliderBuilder::trimesh(points, triangles).unwrap());
}

#[test]
fn a_molecule_rests_on_a_mesh_finer_than_itself() {
    let (points, triangles) = flat_mesh(40, 0.5);
    assert_rests_on(ColliderBuilder::trimesh(points, triangles).unwrap());
}

#[test]
fn a_molecule_rests_on_three_others() {
    let molecule = ubiquitin();
    let shape = SharedShape(Arc::new(molecule.clone()));
    let mut world = World::new();
    world.fixed(ColliderBuilder::cuboid(20.0, 0.5, 20.0).translation(Vec3::NEG_Y * 0.5));
    let low = 0.1 - molecule.aabb().mins.y;
    let width = molecule.aabb().extents().max_element();
    let mut handles = Vec::new();
    for k in 0..3 {
        let angle = std::f32::consts::TAU * k as f32 / 3.0;
        let position = Vec3::new(angle.cos(), 0.0, angle.sin()) * 0.6 * width;
        handles.push(world.add(&shape, position + Vec3::Y * low));
    }
    world.run(3.0);
    handles.push(world.add(&shape, Vec3::new(0.1, low + width + 0.3, 0.0)));
    world.run(8.0);
    for &handle in &handles {
        assert!(world.lowest(handle, &molecule) > -0.02);
        world.assert_at_rest(handle);
    }
    let overlap = world.deepest_overlap(&molecule);
    assert!(overlap < 0.02, "overlap of {overlap} nm");
}

/// Asserts that a ubiquitin shot at a wall in the plane of height zero stays above it.
///
/// Rapier applies continuous collision detection to all fast bodies and fixed colliders. The
/// fastest body moves by more than its radius per step.
fn assert_stopped_by(wall: ColliderBuilder) {
    let molecule = ubiquitin();
    let shape = SharedShape(Arc::new(molecule.clone()));
    for speed in [20.0, 60.0, 150.0] {
        let mut world = World::new();
        world.parameters.dt = 1.0 / 60.0;
        world.fixed(wall.clone());
        let handle = world.add(&shape, Vec3::Y * 8.0);
        let body = &mut world.bodies[handle];
        body.set_linvel(Vec3::NEG_Y * speed, true);
        body.set_angvel(Vec3::new(3.0, 0.0, 1.0), true);
        world.run(2.0);
        let lowest = world.lowest(handle, &molecule);
        assert!(lowest > -0.02, "at {lowest} nm after {speed} nm/s");
    }
}

#[test]
fn a_fast_molecule_does_not_tunnel_through_a_thin_wall() {
    assert_stopped_by(ColliderBuilder::cuboid(20.0, 0.01, 20.0));
}

#[test]
fn a_fast_molecule_does_not_tunnel_through_a_mesh() {
    let (points, triangles) = flat_mesh(8, 5.0);
    assert_stopped_by(ColliderBuilder::trimesh(points, triangles).unwrap());
}

#[test]
fn a_fast_molecule_does_not_tunnel_through_a_half_space() {
    assert_stopped_by(ColliderBuilder::new(SharedShape::halfspace(Vec3::Y)));
}

#[test]
fn a_fast_molecule_does_not_tunnel_through_a_height_field() {
    let heights = Array2::repeat(9, 9, 0.0);
    assert_stopped_by(ColliderBuilder::heightfield(
        heights,
        Vec3::new(40.0, 1.0, 40.0),
    ));
}

#[test]
fn simulations_are_bit_for_bit_reproducible() {
    let shape = SharedShape(Arc::new(from_file("assets/molecules/popc.pdb")));
    let run = || {
        let mut world = World::new();
        world.fixed(ColliderBuilder::new(SharedShape::halfspace(Vec3::Y)));
        for k in 0..6 {
            let height = 2.0 + 0.6 * k as f32;
            world.add(&shape, Vec3::new(0.1 * (k % 3) as f32, height, 0.0));
        }
        world.run(1.0);
        let poses: Vec<Pose> = world.bodies.iter().map(|(_, b)| *b.position()).collect();
        poses
    };
    let (first, second) = (run(), run());
    for (a, b) in first.iter().zip(&second) {
        assert_eq!((a.translation, a.rotation), (b.translation, b.rotation));
    }
}

/// Pairs appear, change the number of their manifolds and disappear. In debug builds Rapier
/// validates its lists of them in every step.
#[test]
fn a_heap_of_lipids_comes_to_rest() {
    let molecule = from_file("assets/molecules/popc.pdb");
    let shape = SharedShape(Arc::new(molecule.clone()));
    let mut world = World::new();
    world.fixed(ColliderBuilder::new(SharedShape::halfspace(Vec3::Y)));
    let size = molecule.aabb().extents();
    let handles: Vec<_> = (0..18)
        .map(|k| {
            let [x, y, z] = [k % 2, k / 4, k / 2 % 2].map(|k| k as f32);
            let position = Vec3::new(x + 0.1 * y, y + 0.8, z - 0.1 * y);
            world.add(&shape, position * (size + 0.1))
        })
        .collect();
    world.run(10.0);
    for &handle in &handles {
        let lowest = world.lowest(handle, &molecule);
        assert!(lowest > -0.03, "sank to {lowest} nm");
        let speed = world.bodies[handle].linvel().length();
        assert!(speed < 0.1, "moves at {speed} nm/s");
    }
}

#[test]
fn excluded_molecules_fall_through_each_other() {
    let molecule = ubiquitin();
    let shape = SharedShape(Arc::new(molecule.clone()));
    let filter = MoleculePairFilter::default();
    let mut world = World::with_filter(filter.clone());
    world.fixed(ColliderBuilder::new(SharedShape::halfspace(Vec3::Y)));
    let size = molecule.aabb().extents().y;
    let lower = world.add(&shape, Vec3::Y * (0.6 * size));
    let upper = world.add(&shape, Vec3::Y * (1.7 * size));
    world.run(0.5);
    assert!(world.bodies[upper].translation().y > world.bodies[lower].translation().y);
    filter.set_excluded(true);
    for (_, collider) in world.colliders.iter_mut() {
        collider.set_shape(collider.shared_shape().clone());
    }
    for handle in [lower, upper] {
        world.bodies[handle].wake_up(true);
    }
    world.run(4.0);
    for handle in [lower, upper] {
        let lowest = world.lowest(handle, &molecule);
        assert!(lowest.abs() < 0.02, "not on the floor, but at {lowest} nm");
    }
    filter.set_excluded(false);
    world.run(0.1);
}

/// Eight proteins, the lowest of which overlap by half, fall on one heap.
#[test]
fn interpenetrating_proteins_separate() {
    let molecule = ubiquitin();
    let shape = SharedShape(Arc::new(molecule.clone()));
    for seed in [0, 3] {
        let mut random = random(seed);
        let mut world = World::new();
        world.fixed(ColliderBuilder::new(SharedShape::halfspace(Vec3::Y)));
        for k in 0..8 {
            let position = Vec3::new((k % 2) as f32 * 2.5, 3.0 + (k / 2) as f32 * 5.0, 0.0);
            let position = position + 0.5 * unit_vector(&mut random);
            let handle = world.add(&shape, position);
            let pose = Pose::from_parts(position, rotation(&mut random));
            world.bodies[handle].set_position(pose, true);
        }
        let before = world.deepest_overlap(&molecule);
        assert!(before > 0.1, "initial overlap of only {before} nm");
        world.run(6.0);
        let after = world.deepest_overlap(&molecule);
        assert!(after < 0.02, "overlap of {after} nm");
        for (handle, _) in world.bodies.iter() {
            let lowest = world.lowest(handle, &molecule);
            assert!(lowest > -0.02, "sank to {lowest} nm");
        }
    }
}

#[test]
fn a_molecule_does_not_sink_in_any_orientation() {
    let molecule = ubiquitin();
    let shape = SharedShape(Arc::new(molecule.clone()));
    for seed in 0..8 {
        let mut world = World::new();
        world.fixed(ColliderBuilder::cuboid(40.0, 0.5, 40.0).translation(Vec3::NEG_Y * 0.5));
        let handle = world.add(&shape, Vec3::ZERO);
        let turn = rotation(&mut random(seed));
        world.bodies[handle].set_position(Pose::from_parts(Vec3::Y * 3.2, turn), true);
        for _ in 0..30 {
            world.run(0.1);
            let lowest = world.lowest(handle, &molecule);
            assert!(lowest > -0.02, "sank to {lowest} nm with rotation {turn}");
        }
    }
}
