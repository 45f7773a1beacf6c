//! Snapshots of the physics world: the steps after a restored one are the same bit for bit.

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{PhysicsSnapshot, SnapshotError};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::test_app::*;

/// A pile of bars and proteins with a ball, a joint, and molecules that diffuse or have a bound.
fn pile(model: ContactModel) -> (App, Vec<Entity>) {
    let mut app = app(model);
    spawn_floor(&mut app);
    let templates = [add(&mut app, bar()), add(&mut app, real("1ubq.cif"))];
    let mut bodies = Vec::new();
    for k in 0..18_u32 {
        let position = Vec3::new(
            (k % 3) as f32 * 0.8,
            0.3 + (k / 6) as f32 * 0.9,
            (k / 3 % 2) as f32 * 0.9,
        );
        let template = &templates[usize::from(k % 6 == 0)];
        let molecule = spawn(&mut app, template, position);
        let mut entity = app.world_mut().entity_mut(molecule);
        entity.insert(Restitution::coefficient(0.1 * (k % 4) as f32));
        if k % 5 == 1 {
            entity.insert(AccelerationBound::default());
        }
        bodies.push(molecule);
    }
    let far = spawn(&mut app, &templates[0], Vec3::new(5.0, 5.0, 5.0));
    app.world_mut()
        .entity_mut(far)
        .insert(BrownianMotion::default());
    bodies.push(far);
    let joint = RopeJointBuilder::new(1.0);
    app.world_mut()
        .entity_mut(bodies[3])
        .insert(ImpulseJoint::new(bodies[4], joint));
    let ball = (
        RigidBody::Dynamic,
        Collider::ball(0.4),
        ColliderMassProperties::Mass(500.0),
        Velocity::default(),
        Transform::from_xyz(0.8, 4.0, 0.4),
    );
    bodies.push(app.world_mut().spawn(ball).id());
    (app, bodies)
}

/// All bits of the poses and velocities.
fn bits(app: &App, bodies: &[Entity]) -> Vec<u32> {
    let of = |body: &Entity| {
        let body = app.world().entity(*body);
        let transform = body.get::<Transform>().unwrap();
        let velocity = body.get::<Velocity>().unwrap();
        let vectors = [transform.translation, velocity.linear, velocity.angular];
        let vectors = vectors.into_iter().flat_map(|vector| vector.to_array());
        vectors
            .chain(transform.rotation.to_array())
            .map(f32::to_bits)
    };
    bodies.iter().flat_map(of).collect()
}

#[test]
fn a_hundred_steps_after_a_restored_snapshot_are_the_same_bit_for_bit() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let (mut app, bodies) = pile(model);
        run(&mut app, 40);
        let snapshot = PhysicsSnapshot::take(app.world_mut());
        let at_snapshot = bits(&app, &bodies);
        let mut steps = || {
            let step = |_| {
                run(&mut app, 1);
                bits(&app, &bodies)
            };
            let steps: Vec<_> = (0..100).map(step).collect();
            snapshot.restore(app.world_mut()).unwrap();
            assert_eq!(bits(&app, &bodies), at_snapshot, "{model:?}");
            steps
        };
        let first = steps();
        assert_ne!(first[0], first[99]);
        for _ in 0..2 {
            let again = steps();
            let differing = first.iter().zip(&again).position(|(one, two)| one != two);
            assert_eq!(differing, None, "{model:?}");
        }
    }
}

#[test]
fn a_snapshot_of_other_entities_is_rejected_and_changes_nothing() {
    let (mut app, bodies) = pile(ContactModel::Crowd);
    run(&mut app, 20);
    let snapshot = PhysicsSnapshot::take(app.world_mut());
    app.world_mut().entity_mut(bodies[2]).despawn();
    run(&mut app, 2);
    let remaining: Vec<_> = bodies
        .iter()
        .copied()
        .filter(|body| *body != bodies[2])
        .collect();
    let before = bits(&app, &remaining);
    let error = snapshot.restore(app.world_mut());
    assert!(matches!(error, Err(SnapshotError::EntitiesChanged { .. })));
    assert_eq!(bits(&app, &remaining), before);
}
