//! Joints of crowds hold in a Rapier world.

use std::f32::consts::PI;

use bevy::ecs::entity::EntityHashMap;
use bevy::prelude::*;
use bevy_rapier_molecules::crowd::{CrowdJoint, JointExcess, JointLimits};
use bevy_rapier_molecules::fiber::{Fiber, FiberLink, FiberPath};
use bevy_rapier_molecules::periodic_box::PeriodicBox;
use bevy_rapier_molecules::plugin::{
    CrowdEntities, CrowdFromWorldError, MoleculeJoint, molecule_scene_filter,
};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::test_app::*;

/// Frames of the simulations: two seconds.
const FRAMES: usize = 120;

/// Number of links of a fiber.
const LINKS: usize = 12;

const LIMITS: JointLimits = JointLimits {
    min_gap: 0.0,
    gap: 0.05,
    bend: 0.5,
    twist: 0.4,
};

/// A ball with 1 nm diameter.
fn ball() -> FiberLink {
    FiberLink::rod("ball", 0.5, 1.0).unwrap()
}

/// A straight fiber of balls along x.
fn fiber() -> Crowd {
    let link = ball();
    let points = (0..=LINKS).map(|k| Vec3::X * (k as f32 * link.rise()));
    let path = FiberPath::new(points.collect(), false).unwrap();
    let mut crowd = Crowd::new();
    let fiber = Fiber {
        limits: LIMITS,
        ..Fiber::new(link, path)
    };
    fiber.add_to(&mut crowd).unwrap();
    crowd
}

/// How far the joints exceed their limits at most. Panics if a pose is not finite.
fn excess(app: &App, molecules: &[Entity]) -> JointExcess {
    let crowd = Crowd::from_world(app.world(), molecules).unwrap();
    let mut worst = JointExcess::default();
    for joint in crowd.joints() {
        let excess = crowd.state_of(joint).excess(&joint.limits);
        worst.gap = worst.gap.max(excess.gap);
        worst.bend = worst.bend.max(excess.bend);
        worst.twist = worst.twist.max(excess.twist.abs());
    }
    worst
}

#[track_caller]
fn assert_within(excess: JointExcess, gap: f32, angle: f32) {
    assert!(
        excess.gap < gap && excess.bend < angle && excess.twist < angle,
        "{excess:?}"
    );
}

/// Number of joints in Rapier.
fn rapier_joints(app: &mut App) -> usize {
    let world = app.world_mut();
    let mut joints = world.query::<&RapierContextJoints>();
    let joints = joints.iter(world);
    joints.map(|joints| joints.impulse_joints.len()).sum()
}

/// An app with a fiber whose first link is fixed.
fn hanging_fiber(model: ContactModel) -> (App, CrowdEntities) {
    let mut app = app(model);
    let entities = app.world_mut().spawn_crowd(&fiber()).unwrap();
    let first = entities.molecules[0];
    app.world_mut().entity_mut(first).insert(RigidBody::Fixed);
    (app, entities)
}

#[test]
fn a_hanging_fiber_stays_within_its_limits() {
    for (model, crowd_only) in [
        (ContactModel::Crowd, false),
        (ContactModel::Solver, false),
        (ContactModel::Crowd, true),
    ] {
        let (mut app, CrowdEntities { molecules, .. }) = hanging_fiber(model);
        if crowd_only {
            for &molecule in &molecules {
                app.world_mut().entity_mut(molecule).insert(CrowdOnly);
            }
        }
        let last = molecules[LINKS - 1];
        let mut lowest = 0.0_f32;
        let rise = ball().rise();
        for _ in 0..FRAMES {
            run(&mut app, 1);
            assert_within(excess(&app, &molecules), 0.02, 0.3);
            lowest = lowest.min(position(&app, last).y);
            for pair in molecules.windows(2) {
                let [one, other] = [pair[0], pair[1]].map(|link| position(&app, link));
                let distance = one.distance(other);
                assert!((0.95..rise + 0.07).contains(&distance), "{distance} nm");
            }
        }
        // From 11 nm aside of the fixed link to below it.
        assert!(lowest < -9.0, "{lowest} nm");
        assert_eq!(rapier_joints(&mut app), LINKS - 1);
    }
}

#[test]
fn joints_are_despawned_with_a_link() {
    let removals: [fn(&mut World, Entity); 2] = [
        |world, link| {
            world.despawn(link);
        },
        |world, link| {
            world.entity_mut(link).remove::<RigidBody>();
        },
    ];
    for remove in removals {
        let (
            mut app,
            CrowdEntities {
                molecules, joints, ..
            },
        ) = hanging_fiber(ContactModel::Crowd);
        run(&mut app, 2);
        assert_eq!(joints.len(), LINKS - 1);
        remove(app.world_mut(), molecules[5]);
        run(&mut app, 1);
        let exists = |joint: &Entity| app.world().get_entity(*joint).is_ok();
        let left: Vec<usize> = (0..joints.len()).filter(|k| exists(&joints[*k])).collect();
        assert_eq!(left, [0, 1, 2, 3, 6, 7, 8, 9, 10]);
        run(&mut app, FRAMES / 2);
        assert_eq!(rapier_joints(&mut app), left.len());
        // The rest falls as far as it can in half a second.
        let fallen = position(&app, molecules[LINKS - 1]).y;
        assert!(fallen < -4.0, "{fallen} nm");
        let held = position(&app, molecules[4]);
        assert!(held.length() < 5.5, "{held} nm");
    }
}

#[test]
fn a_push_of_one_end_moves_the_other() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let CrowdEntities { molecules, .. } = app.world_mut().spawn_crowd(&fiber()).unwrap();
    let [first, last] = [molecules[0], molecules[LINKS - 1]];
    let start = position(&app, first);
    let velocity = Velocity {
        linear: Vec3::new(20.0, 7.0, -5.0),
        angular: Vec3::new(3.0, -2.0, 1.0),
    };
    app.world_mut().entity_mut(last).insert(velocity);
    for _ in 0..FRAMES {
        run(&mut app, 1);
        assert_within(excess(&app, &molecules), 0.02, 0.3);
    }
    let moved = position(&app, first).distance(start);
    assert!(moved > 1.0, "{moved} nm");
    // Momentum is conserved.
    let sum: Vec3 = molecules
        .iter()
        .map(|link| super::test_app::velocity(&app, *link))
        .sum();
    let lost = (sum - velocity.linear).length();
    assert!(lost < 0.2, "{lost} nm/s");
}

/// Pairs of balls, each with other limits, are pushed apart at random. Limits hold, and angles
/// without limit become large.
#[test]
fn each_kind_of_limit_holds_alone_and_with_others() {
    let mut crowd = Crowd::new();
    let link = ball();
    let template = crowd.add_template(link.template().clone());
    let [start, end] = link.ends();
    for (k, (gap, bend, twist)) in limits().enumerate() {
        for side in 0..2 {
            let position = Vec3::new(20.0 * k as f32, 0.0, 1.02 * side as f32);
            crowd
                .add_member(CrowdMember {
                    template,
                    pose: Pose::from_translation(position),
                    ..CrowdMember::default()
                })
                .unwrap();
        }
        crowd
            .add_joint(CrowdJoint {
                members: [2 * k as u32, 2 * k as u32 + 1],
                frames: [end, start],
                limits: JointLimits {
                    gap,
                    bend,
                    twist,
                    ..JointLimits::default()
                },
            })
            .unwrap();
    }
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let CrowdEntities { molecules, .. } = app.world_mut().spawn_crowd(&crowd).unwrap();
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let mut draw =
        |size: f32| Vec3::from_array(std::array::from_fn(|_| random.random_range(-size..size)));
    for &molecule in &molecules {
        let (linear, angular) = (draw(2.0), draw(6.0));
        let velocity = Velocity { linear, angular };
        app.world_mut().entity_mut(molecule).insert(velocity);
    }
    let mut largest = vec![[0.0_f32; 3]; crowd.joints().len()];
    for _ in 0..FRAMES {
        run(&mut app, 1);
        let crowd = Crowd::from_world(app.world(), &molecules).unwrap();
        for (joint, largest) in crowd.joints().iter().zip(&mut largest) {
            let state = crowd.state_of(joint);
            let values = [state.gap, state.bend, state.twist.abs()];
            *largest = std::array::from_fn(|k| largest[k].max(values[k]));
        }
    }
    for ((gap, bend, twist), found) in limits().zip(&largest) {
        let limits = [gap, bend, twist].into_iter().zip(found);
        let slack = [0.02, 0.05, 0.05];
        for ((limit, found), slack) in limits.zip(slack) {
            assert!(
                *found < limit + slack,
                "{found} > {limit} of {gap}, {bend}, {twist}"
            );
        }
    }
    let bends = largest.iter().map(|found| found[1]);
    assert!(bends.fold(0.0, f32::max) > 0.6, "free angles are used");
}

/// Limits of gap, bend and twist: none, some and none at all. Without a limit of the bend, that of
/// the twist has no meaning at a bend of π.
fn limits() -> impl Iterator<Item = (f32, f32, f32)> {
    let gaps = [0.0, 0.1].into_iter();
    let gaps_and_bends = gaps.flat_map(|gap| [0.0, 0.3, PI].map(|bend| (gap, bend)));
    let all = gaps_and_bends.flat_map(|(gap, bend)| [0.0, 0.3, PI].map(|twist| (gap, bend, twist)));
    all.filter(|(_, bend, twist)| *bend < PI || *twist == PI)
}

#[test]
fn joints_come_back() {
    let crowd = fiber();
    let mut app = app(ContactModel::Crowd);
    let entities = app.world_mut().spawn_crowd(&crowd).unwrap();
    let back = |app: &App, molecules: &[Entity]| Crowd::from_world(app.world(), molecules);
    let all = back(&app, &entities.molecules).unwrap();
    assert_eq!(all.joints(), crowd.joints());
    // Only those between the molecules.
    let some = [4, 3, 7].map(|link| entities.molecules[link]);
    let some = back(&app, &some).unwrap();
    assert_eq!(some.joints().len(), 1);
    assert_eq!(some.joints()[0].members, [1, 0]);
    // An invalid one does not reach Rapier.
    let [a, b] = [0, 5].map(|link| entities.molecules[link]);
    let limits = JointLimits {
        gap: f32::NAN,
        ..LIMITS
    };
    let frames = [Pose::IDENTITY; 2];
    let invalid = MoleculeJoint {
        a,
        b,
        frames,
        limits,
    };
    let joint = app.world_mut().spawn(invalid).id();
    run(&mut app, 2);
    assert!(position(&app, a).is_finite());
    assert_eq!(rapier_joints(&mut app), LINKS - 1);
    let error = back(&app, &entities.molecules).unwrap_err();
    assert!(matches!(error, CrowdFromWorldError::BadJoint { joint: found, .. } if found == joint));
    assert_eq!(
        error.to_string(),
        format!("joint {joint}: the gap of a joint must be finite and not negative, but is NaN")
    );
}

#[test]
fn a_joint_without_its_component_breaks() {
    let (mut app, entities) = hanging_fiber(ContactModel::Crowd);
    run(&mut app, 2);
    let mut joint = app.world_mut().entity_mut(entities.joints[3]);
    joint.remove::<MoleculeJoint>();
    assert!(!joint.contains::<ImpulseJoint>());
    run(&mut app, 2);
    assert_eq!(rapier_joints(&mut app), LINKS - 2);
    let crowd = Crowd::from_world(app.world(), &entities.molecules).unwrap();
    assert_eq!(crowd.joints().len(), LINKS - 2);
}

#[test]
fn joints_across_a_face_of_the_box_are_left_out() {
    let mut crowd = fiber();
    let ring = CrowdJoint {
        members: [LINKS as u32 - 1, 0],
        ..crowd.joints()[0]
    };
    crowd.add_joint(ring).unwrap();
    let size = Vec3::new(LINKS as f32 * ball().rise(), 30.0, 30.0);
    crowd.set_periodic_box(Some(PeriodicBox::new(size).unwrap()));
    assert!(crowd.state_of(&ring).gap < 1.0e-3);
    let mut app = app(ContactModel::Crowd);
    let entities = app.world_mut().spawn_crowd(&crowd).unwrap();
    assert_eq!(entities.joints.len(), LINKS - 1);
    run(&mut app, 2);
    assert_eq!(rapier_joints(&mut app), LINKS - 1);
}

/// A Brownian step moves a molecule without regard to its joints, and Rapier pulls it back with a
/// limited speed: links of 1 nm are up to about 1 nm apart (0.96 nm measured), but do not part.
#[test]
fn joints_pull_diffusing_molecules_back() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let CrowdEntities { molecules, .. } = app.world_mut().spawn_crowd(&fiber()).unwrap();
    for &molecule in &molecules {
        let brownian = BrownianMotion {
            radius: Some(2.0),
            ..default()
        };
        app.world_mut().entity_mut(molecule).insert(brownian);
    }
    let start = position(&app, molecules[0]);
    let mut worst = JointExcess::default();
    for _ in 0..FRAMES {
        run(&mut app, 1);
        let now = excess(&app, &molecules);
        worst.gap = worst.gap.max(now.gap);
        worst.bend = worst.bend.max(now.bend);
        worst.twist = worst.twist.max(now.twist);
    }
    let moved = position(&app, molecules[0]).distance(start);
    assert!(moved > 0.05, "{moved} nm");
    assert_within(worst, 1.5, 1.0);
}

#[test]
fn scenes_contain_joints() {
    let mut app = app(ContactModel::Crowd);
    weightless(&mut app);
    let crowd = fiber();
    let entities = app.world_mut().spawn_crowd(&crowd).unwrap();
    run(&mut app, 2);
    let registry = app.world().resource::<AppTypeRegistry>().clone();
    let saved = entities.molecules.iter().chain(&entities.joints).copied();
    let scene = DynamicWorldBuilder::from_world(app.world(), &registry.read())
        .with_component_filter(molecule_scene_filter())
        .extract_entities(saved)
        .build();
    for molecule in &entities.molecules {
        app.world_mut().despawn(*molecule);
    }
    run(&mut app, 1);
    assert_eq!(rapier_joints(&mut app), 0);
    let mut map = EntityHashMap::default();
    scene.write_to_world(app.world_mut(), &mut map).unwrap();
    run(&mut app, 2);
    assert_eq!(rapier_joints(&mut app), LINKS - 1);
    let molecules: Vec<Entity> = entities.molecules.iter().map(|old| map[old]).collect();
    let back = Crowd::from_world(app.world(), &molecules).unwrap();
    assert_eq!(back.joints(), crowd.joints());
}

#[test]
#[cfg(feature = "recipe")]
fn joints_of_recipes_follow_their_file() {
    use std::fs;

    use super::recipe_files::{app_in, empty_folder, forget_state, spawn_recipe, wait_until_done};

    let text = |links: usize, gap: usize| {
        let text = r#"{
            "name": "fiber",
            "format_version": "2.1",
            "bounding_box": [[-300, -300, -300], [300, 300, 300]],
            "objects": { "dna": {
                "type": "grow",
                "representations": { "atomic": { "id": "4c64" } }
            } },
            "composition": {
                "space": { "regions": { "interior": ["fiber"] } },
                "fiber": { "object": "dna", "count": 1 }
            },
            "bevy_rapier_molecules": {
                "objects": { "dna": { "fiber": { "persistence_length": 500, "max_gap": GAP } } },
                "composition": { "fiber": { "fiber": { "links": LINKS } } }
            }
        }"#;
        let text = text.replace("GAP", &gap.to_string());
        text.replace("LINKS", &links.to_string())
    };
    let folder = empty_folder("fiber");
    let file = folder.join("fiber.json");
    fs::write(&file, text(6, 3)).unwrap();
    let mut app = app_in(&folder);
    let recipe = spawn_recipe(&mut app, "fiber.json");
    wait_until_done(&mut app, recipe);
    let joints = |app: &mut App| {
        let world = app.world_mut();
        let mut joints: Vec<Entity> = world
            .query_filtered::<Entity, With<MoleculeJoint>>()
            .iter(world)
            .collect();
        joints.sort();
        joints
    };
    let rewrite = |app: &mut App, text: String| {
        fs::write(&file, text).unwrap();
        forget_state(app, recipe);
        app.world().resource::<AssetServer>().reload("fiber.json");
        wait_until_done(app, recipe);
    };
    run(&mut app, 2);
    let first = joints(&mut app);
    assert_eq!((first.len(), rapier_joints(&mut app)), (5, 5));
    // The app breaks one, and it stays broken.
    app.world_mut().despawn(first[2]);
    rewrite(&mut app, text(8, 3));
    run(&mut app, 2);
    let longer = joints(&mut app);
    assert_eq!((longer.len(), rapier_joints(&mut app)), (6, 6));
    let kept = first.iter().filter(|joint| longer.contains(joint));
    assert_eq!(kept.count(), 4);
    // Other limits are other joints.
    rewrite(&mut app, text(4, 5));
    run(&mut app, 2);
    let wider = joints(&mut app);
    assert_eq!((wider.len(), rapier_joints(&mut app)), (3, 3));
    assert!(!wider.iter().any(|joint| longer.contains(joint)));
    app.world_mut().entity_mut(recipe).remove::<PackedRecipe>();
    run(&mut app, 2);
    assert!(joints(&mut app).is_empty());
    assert_eq!(rapier_joints(&mut app), 0);
}
