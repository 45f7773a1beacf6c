//! Rapier's components on molecules: the same verdict in both contact models, and without a
//! collider. The table in the docs of the module `plugin` lists these tests.

use bevy::ecs::system::{SystemParam, SystemParamItem};
use bevy::prelude::*;
use bevy_rapier_molecules::plugin::{MoleculeSubstep, MoleculeWorld};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use bevy_rapier3d::rapier::geometry::{CollisionEventFlags, SolverFlags};

use super::test_app::*;

/// A contact model, with or without colliders.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Mode {
    Crowd,
    Solver,
    CrowdOnly,
}

const MODES: [Mode; 3] = [Mode::Crowd, Mode::Solver, Mode::CrowdOnly];

impl Mode {
    fn model(self) -> ContactModel {
        match self {
            Self::Solver => ContactModel::Solver,
            _ => ContactModel::Crowd,
        }
    }
}

/// What two molecules do that fly at each other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// They stop each other.
    Collide,
    /// They pass through each other, and that is reported.
    Report,
    /// They pass through each other as if they were alone.
    Pass,
}

/// Contacts that were reported.
#[derive(Resource, Default)]
struct Started(Vec<MoleculeContactStarted>);

#[derive(Resource, Default)]
struct RapierEvents {
    collisions: Vec<CollisionEvent>,
    forces: Vec<ContactForceEvent>,
}

fn record(app: &mut App) {
    app.init_resource::<Started>()
        .init_resource::<RapierEvents>()
        .add_systems(
            Last,
            |mut started: MessageReader<MoleculeContactStarted>,
             mut collisions: MessageReader<CollisionEvent>,
             mut forces: MessageReader<ContactForceEvent>,
             mut all: ResMut<Started>,
             mut events: ResMut<RapierEvents>| {
                all.0.extend(started.read());
                events.collisions.extend(collisions.read());
                events.forces.extend(forces.read());
            },
        );
}

/// A weightless app with two ubiquitins, 6 nm apart, that fly at each other at 10 nm/s each.
fn flying_pair(mut app: App, mode: Mode) -> (App, [Entity; 2]) {
    record(&mut app);
    weightless(&mut app);
    let template = add(&mut app, real("1ubq.cif"));
    let pair = [-1.0, 1.0].map(|side| {
        let molecule = spawn(&mut app, &template, Vec3::X * (3.0 * side));
        let mut entity = app.world_mut().entity_mut(molecule);
        entity.insert(Velocity::linear(Vec3::X * (-10.0 * side)));
        if mode == Mode::CrowdOnly {
            entity.insert(CrowdOnly);
        }
        molecule
    });
    (app, pair)
}

/// Lets the two fly for a second.
fn verdict_of(app: &mut App, [left, right]: [Entity; 2]) -> Verdict {
    run(app, 60);
    if position(app, left).x < position(app, right).x {
        return Verdict::Collide;
    }
    let started = &app.world().resource::<Started>().0;
    if started.is_empty() {
        Verdict::Pass
    } else {
        Verdict::Report
    }
}

/// The verdict in each mode if both molecules get the same components.
fn verdicts(components: impl Bundle + Clone) -> [Verdict; 3] {
    MODES.map(|mode| {
        let (mut app, pair) = flying_pair(app(mode.model()), mode);
        for molecule in pair {
            app.world_mut()
                .entity_mut(molecule)
                .insert(components.clone());
        }
        verdict_of(&mut app, pair)
    })
}

#[test]
fn molecules_collide_by_default() {
    assert_eq!(verdicts(()), [Verdict::Collide; 3]);
}

/// Components that change how molecules move or bounce, but not whether they collide.
#[test]
fn molecules_with_other_components_still_collide() {
    use Verdict::Collide;
    assert_eq!(verdicts(GravityScale(3.0)), [Collide; 3]);
    assert_eq!(verdicts(Ccd::enabled()), [Collide; 3]);
    assert_eq!(verdicts(Dominance::group(2)), [Collide; 3]);
    assert_eq!(verdicts(LockedAxes::ROTATION_LOCKED), [Collide; 3]);
    assert_eq!(verdicts(ContactForceEventThreshold(1.0)), [Collide; 3]);
    let surface = (Friction::coefficient(0.9), Restitution::coefficient(0.5));
    assert_eq!(verdicts(surface), [Collide; 3]);
    let mass = AdditionalMassProperties::MassProperties(MassProperties {
        mass: 5000.0,
        principal_inertia: Vec3::splat(5000.0),
        ..default()
    });
    assert_eq!(verdicts(mass), [Collide; 3]);
}

#[test]
fn joints_without_contacts_let_molecules_pass() {
    for (contacts_enabled, expected) in [(true, Verdict::Collide), (false, Verdict::Pass)] {
        let verdicts = MODES.map(|mode| {
            let (mut app, pair) = flying_pair(app(mode.model()), mode);
            let mut joint = RopeJointBuilder::new(50.0).build();
            joint.data.set_contacts_enabled(contacts_enabled);
            let joint = ImpulseJoint::new(pair[0], joint);
            app.world_mut().entity_mut(pair[1]).insert(joint);
            verdict_of(&mut app, pair)
        });
        assert_eq!(verdicts, [expected; 3], "{contacts_enabled}");
    }
}

#[test]
fn collision_groups_keep_molecules_apart() {
    let apart = CollisionGroups::new(Group::GROUP_1, Group::GROUP_2);
    assert_eq!(verdicts(apart), [Verdict::Pass; 3]);
    let together = CollisionGroups::new(Group::GROUP_1, Group::GROUP_1);
    assert_eq!(verdicts(together), [Verdict::Collide; 3]);
}

#[test]
fn solver_groups_keep_molecules_from_pushing() {
    let apart = SolverGroups::new(Group::GROUP_1, Group::GROUP_2);
    assert_eq!(verdicts(apart), [Verdict::Report; 3]);
}

#[test]
fn sensors_are_reported_and_do_not_push() {
    assert_eq!(verdicts(Sensor), [Verdict::Report; 3]);
}

#[test]
fn disabled_colliders_pass() {
    assert_eq!(verdicts(ColliderDisabled), [Verdict::Pass; 3]);
}

#[test]
fn disabled_bodies_neither_move_nor_collide() {
    for mode in MODES {
        let (mut app, [left, right]) = flying_pair(app(mode.model()), mode);
        app.world_mut().entity_mut(right).insert(RigidBodyDisabled);
        run(&mut app, 60);
        assert_eq!(position(&app, right), Vec3::X * 3.0, "{mode:?}");
        assert!(position(&app, left).x > 6.0, "{mode:?}");
        assert!(app.world().resource::<Started>().0.is_empty(), "{mode:?}");
    }
}

/// Components that are removed, or change back, have no effect afterwards.
#[test]
fn removed_components_have_no_effect() {
    for mode in MODES {
        for change in [
            |mut entity: EntityWorldMut| {
                entity.insert(Sensor);
            },
            |mut entity: EntityWorldMut| {
                entity.insert(ColliderDisabled);
            },
            |mut entity: EntityWorldMut| {
                entity.insert(CollisionGroups::new(Group::GROUP_1, Group::GROUP_2));
            },
            |mut entity: EntityWorldMut| {
                entity.insert(SolverGroups::new(Group::GROUP_1, Group::GROUP_2));
            },
        ] {
            let (mut app, pair) = flying_pair(app(mode.model()), mode);
            for molecule in pair {
                change(app.world_mut().entity_mut(molecule));
            }
            run(&mut app, 2);
            for molecule in pair {
                app.world_mut().entity_mut(molecule).remove::<(
                    Sensor,
                    ColliderDisabled,
                    CollisionGroups,
                    SolverGroups,
                )>();
                // Rapier ignores the removal of groups, but not a change.
                if mode == Mode::Solver {
                    app.world_mut()
                        .entity_mut(molecule)
                        .insert((CollisionGroups::default(), SolverGroups::default()));
                }
            }
            assert_eq!(verdict_of(&mut app, pair), Verdict::Collide, "{mode:?}");
        }
    }
}

/// Hooks that decide by a marker component.
#[derive(SystemParam)]
struct Filters<'w, 's> {
    hidden: Query<'w, 's, (), With<Hidden>>,
    ghosts: Query<'w, 's, (), With<Ghost>>,
}

#[derive(Component)]
struct Hidden;

#[derive(Component)]
struct Ghost;

impl BevyPhysicsHooks for Filters<'_, '_> {
    fn filter_contact_pair(&self, context: PairFilterContextView) -> Option<SolverFlags> {
        let pair = [context.collider1(), context.collider2()];
        if pair.iter().any(|molecule| self.hidden.contains(*molecule)) {
            None
        } else if pair.iter().any(|molecule| self.ghosts.contains(*molecule)) {
            Some(SolverFlags::empty())
        } else {
            Some(SolverFlags::COMPUTE_IMPULSES)
        }
    }

    fn filter_intersection_pair(&self, context: PairFilterContextView) -> bool {
        !self.hidden.contains(context.collider1()) && !self.hidden.contains(context.collider2())
    }
}

fn app_with_hooks<Hooks>(mode: Mode) -> App
where
    Hooks: 'static + BevyPhysicsHooks,
    for<'w, 's> SystemParamItem<'w, 's, Hooks>: BevyPhysicsHooks,
{
    let mut app = App::new();
    app.add_plugins((
        MinimalPlugins,
        TransformPlugin,
        AssetPlugin::default(),
        RapierPhysicsPlugin::<Hooks>::default(),
        MoleculePlugins::default()
            .with_hooks::<Hooks>()
            .with_contacts(mode.model()),
    ));
    app.insert_resource(TimestepMode::Fixed {
        dt: FRAME,
        substeps: 4,
    });
    start(&mut app);
    app
}

#[test]
fn hooks_filter_pairs_of_molecules() {
    let verdicts = |prepare: fn(EntityWorldMut)| {
        MODES.map(|mode| {
            let (mut app, pair) = flying_pair(app_with_hooks::<Filters>(mode), mode);
            prepare(app.world_mut().entity_mut(pair[1]));
            verdict_of(&mut app, pair)
        })
    };
    use Verdict::{Collide, Pass, Report};
    let plain = verdicts(|mut entity| {
        entity.insert(ActiveHooks::FILTER_CONTACT_PAIRS);
    });
    assert_eq!(plain, [Collide; 3]);
    // Molecules without a collider have no hooks.
    let hidden = verdicts(|mut entity| {
        entity.insert((ActiveHooks::FILTER_CONTACT_PAIRS, Hidden));
    });
    assert_eq!(hidden, [Pass, Pass, Collide]);
    let ghosts = verdicts(|mut entity| {
        entity.insert((ActiveHooks::FILTER_CONTACT_PAIRS, Ghost));
    });
    assert_eq!(ghosts, [Report, Report, Collide]);
    let not_asked = verdicts(|mut entity| {
        entity.insert(Hidden);
    });
    assert_eq!(not_asked, [Collide; 3]);
    let sensors = verdicts(|mut entity| {
        entity.insert((ActiveHooks::FILTER_INTERSECTION_PAIR, Hidden, Sensor));
    });
    assert_eq!(sensors, [Pass, Pass, Report]);
}

#[test]
fn collision_types_select_pairs_by_their_bodies() {
    use Verdict::{Pass, Report};
    assert_eq!(verdicts(ActiveCollisionTypes::empty()), [Pass; 3]);
    let kinematic = RigidBody::KinematicVelocityBased;
    assert_eq!(verdicts(kinematic), [Pass; 3]);
    let types = ActiveCollisionTypes::default() | ActiveCollisionTypes::KINEMATIC_KINEMATIC;
    assert_eq!(verdicts((kinematic, types)), [Report; 3]);
}

#[test]
fn a_dominating_molecule_goes_on_as_if_alone() {
    for mode in MODES {
        let (mut app, [left, right]) = flying_pair(app(mode.model()), mode);
        let mut entity = app.world_mut().entity_mut(right);
        entity.insert(Dominance::group(1));
        run(&mut app, 40);
        let (left, right) = (velocity(&app, left).x, velocity(&app, right).x);
        assert!((right + 10.0).abs() < 1.0e-3, "{mode:?}: {right}");
        assert!(left < 0.0, "{mode:?}: {left}");
    }
}

#[test]
fn locked_axes_keep_a_molecule_in_place() {
    for mode in MODES {
        let (mut app, [left, right]) = flying_pair(app(mode.model()), mode);
        let mut entity = app.world_mut().entity_mut(right);
        let locked = LockedAxes::TRANSLATION_LOCKED | LockedAxes::ROTATION_LOCKED;
        entity.insert((locked, Velocity::zero()));
        run(&mut app, 60);
        let moved = position(&app, right) - Vec3::X * 3.0;
        assert!(moved.length() < 1.0e-3, "{mode:?}: {moved}");
        assert!(position(&app, left).x < 2.0, "{mode:?}");
    }
}

/// A molecule whose fall is locked does not press on the one below, as gravity would make it.
#[test]
fn gravity_does_not_act_along_locked_axes() {
    for mode in MODES {
        let mut app = app(mode.model());
        let template = add(&mut app, bar());
        let mut spawn_at = |y: f32, components: (LockedAxes, GravityScale)| {
            let molecule = spawn(&mut app, &template, Vec3::Y * y);
            let mut entity = app.world_mut().entity_mut(molecule);
            entity.insert(components);
            if mode == Mode::CrowdOnly {
                entity.insert(CrowdOnly);
            }
            molecule
        };
        let above = spawn_at(0.2, (LockedAxes::TRANSLATION_LOCKED_Y, GravityScale(100.0)));
        let below = spawn_at(0.0, (LockedAxes::empty(), GravityScale(0.0)));
        run(&mut app, 30);
        let (above, below) = (position(&app, above).y, position(&app, below).y);
        assert_eq!(above, 0.2, "{mode:?}");
        assert!(below.abs() < 2.0e-3, "{mode:?}: {below}");
    }
}

#[test]
fn gravity_scales_apply() {
    for mode in MODES {
        let mut app = app(mode.model());
        let template = add(&mut app, bar());
        let fallen = [0.0, 1.0, 2.0].map(|scale| {
            let molecule = spawn(&mut app, &template, Vec3::X * (10.0 * scale));
            let mut entity = app.world_mut().entity_mut(molecule);
            entity.insert(GravityScale(scale));
            if mode == Mode::CrowdOnly {
                entity.insert(CrowdOnly);
            }
            molecule
        });
        run(&mut app, 30);
        let [none, one, two] = fallen.map(|molecule| position(&app, molecule).y);
        assert_eq!(none, 0.0, "{mode:?}");
        assert!(one < -1.0 && (two - 2.0 * one).abs() < 0.01, "{mode:?}");
    }
}

/// Kinematic molecules push others and are not pushed, by their velocity or by their transform.
#[test]
fn kinematic_molecules_push_others() {
    for mode in MODES {
        for body in [
            RigidBody::KinematicVelocityBased,
            RigidBody::KinematicPositionBased,
        ] {
            let (mut app, [left, right]) = flying_pair(app(mode.model()), mode);
            app.world_mut()
                .entity_mut(left)
                .insert(Velocity::zero())
                .get_mut::<Transform>()
                .unwrap()
                .translation
                .x = 0.0;
            app.world_mut().entity_mut(right).insert(body);
            for frame in 1..=40 {
                if body == RigidBody::KinematicPositionBased {
                    let mut entity = app.world_mut().entity_mut(right);
                    let x = 3.0 - 10.0 * FRAME * frame as f32;
                    entity.get_mut::<Transform>().unwrap().translation.x = x;
                }
                run(&mut app, 1);
            }
            let at = position(&app, right).x;
            assert!((at + 11.0 / 3.0).abs() < 0.2, "{mode:?} {body:?}: {at}");
            let pushed = position(&app, left).x;
            assert!(pushed < at - 1.0, "{mode:?} {body:?}: {pushed} {at}");
        }
    }
}

#[test]
fn jointed_molecules_collide_unless_contacts_are_disabled() {
    for mode in MODES {
        for contacts_enabled in [true, false] {
            let mut app = app(mode.model());
            record(&mut app);
            weightless(&mut app);
            let template = add(&mut app, bar());
            let pair = [0.0, 0.15].map(|y| {
                let molecule = spawn(&mut app, &template, Vec3::Y * y);
                if mode == Mode::CrowdOnly {
                    app.world_mut().entity_mut(molecule).insert(CrowdOnly);
                }
                molecule
            });
            let mut joint = RopeJointBuilder::new(5.0).build();
            joint.data.set_contacts_enabled(contacts_enabled);
            let joint = ImpulseJoint::new(pair[0], joint);
            app.world_mut().entity_mut(pair[1]).insert(joint);
            run(&mut app, 30);
            let [low, high] = pair.map(|molecule| position(&app, molecule).y);
            let separated = high - low > 0.19;
            assert_eq!(separated, contacts_enabled, "{mode:?}: {low} {high}");
        }
    }
}

/// Speed of the right molecule after a head-on collision of balls, nm/s.
fn bounce(mode: Mode, restitution: [Option<Restitution>; 2]) -> f32 {
    let mut app = app(mode.model());
    weightless(&mut app);
    let template = add(&mut app, carbons(&[Vec3::ZERO]));
    let pair = [-1.0, 1.0].map(|side| {
        let molecule = spawn(&mut app, &template, Vec3::X * side);
        let mut entity = app.world_mut().entity_mut(molecule);
        entity.insert(Velocity::linear(Vec3::X * (-6.0 * side)));
        if mode == Mode::CrowdOnly {
            entity.insert(CrowdOnly);
        }
        molecule
    });
    for (molecule, restitution) in pair.into_iter().zip(restitution) {
        if let Some(restitution) = restitution {
            app.world_mut().entity_mut(molecule).insert(restitution);
        }
    }
    run(&mut app, 40);
    velocity(&app, pair[1]).x
}

#[test]
fn restitution_is_combined_by_its_rule() {
    let elastic = |combine_rule| {
        Some(Restitution {
            coefficient: 1.0,
            combine_rule,
        })
    };
    for mode in MODES {
        for (restitution, expected) in [
            ([None, None], 0.0),
            ([elastic(CoefficientCombineRule::Average), None], 3.0),
            ([elastic(CoefficientCombineRule::Max), None], 6.0),
            (
                [
                    elastic(CoefficientCombineRule::Min),
                    Some(Restitution::coefficient(0.5)),
                ],
                3.0,
            ),
            (
                [
                    elastic(CoefficientCombineRule::Multiply),
                    Some(Restitution::coefficient(0.5)),
                ],
                3.0,
            ),
        ] {
            let speed = bounce(mode, restitution);
            assert!(
                (speed - expected).abs() < 0.5,
                "{mode:?} {restitution:?}: {speed}"
            );
        }
    }
}

/// A sled on a large plate of carbons, both without a floor: friction stops it.
#[test]
fn friction_is_combined_by_its_rule() {
    let sled = |mode: Mode, friction: Friction| {
        let mut app = app(mode.model());
        let mut row = Vec::new();
        for x in -20..=120 {
            row.extend((-6..=6).map(|z| Vec3::new(0.05 * x as f32, 0.0, 0.05 * z as f32)));
        }
        let plate = add(&mut app, carbons(&row));
        let corners = [(-1.0, -1.0), (-1.0, 1.0), (1.0, -1.0), (1.0, 1.0)];
        let corners = corners.map(|(x, z)| Vec3::new(x, 0.0, z) * 0.15);
        let sled = add(&mut app, carbons(&corners));
        let plate = spawn(&mut app, &plate, Vec3::X * 2.5);
        let sled = spawn(&mut app, &sled, Vec3::Y * 0.195);
        app.world_mut()
            .entity_mut(plate)
            .insert((StaticMolecule, Friction::coefficient(0.5)));
        app.world_mut()
            .entity_mut(sled)
            .insert((friction, Velocity::linear(Vec3::X * 1.5)));
        if mode == Mode::CrowdOnly {
            for molecule in [plate, sled] {
                app.world_mut().entity_mut(molecule).insert(CrowdOnly);
            }
        }
        run(&mut app, 40);
        velocity(&app, sled).x
    };
    for mode in MODES {
        let smooth = Friction {
            coefficient: 0.0,
            combine_rule: CoefficientCombineRule::Multiply,
        };
        let rough = Friction {
            coefficient: 2.0,
            combine_rule: CoefficientCombineRule::Max,
        };
        let (slides, stops) = (sled(mode, smooth), sled(mode, rough));
        assert!(slides > 0.8, "{mode:?}: {slides}");
        assert!(stops < 0.5 * slides, "{mode:?}: {stops}");
    }
}

#[test]
fn materials_of_the_app_are_never_overwritten() {
    let mut app = app(ContactModel::Crowd);
    let template = add(&mut app, bar());
    let molecule = spawn(&mut app, &template, Vec3::ZERO);
    let friction = Friction {
        coefficient: 0.7,
        combine_rule: CoefficientCombineRule::Min,
    };
    let restitution = Restitution {
        coefficient: 0.3,
        combine_rule: CoefficientCombineRule::Max,
    };
    app.world_mut().entity_mut(molecule).insert((
        friction,
        restitution,
        MoleculeMaterial::default(),
    ));
    run(&mut app, 3);
    let entity = app.world().entity(molecule);
    assert_eq!(entity.get::<Friction>(), Some(&friction));
    assert_eq!(entity.get::<Restitution>(), Some(&restitution));
    app.world_mut().entity_mut(molecule).remove::<Molecule>();
    run(&mut app, 1);
    assert_eq!(app.world().get::<Friction>(molecule), Some(&friction));
}

#[test]
fn collision_events_and_colliding_entities_work_as_for_colliders() {
    for mode in MODES {
        let (mut app, [left, right]) = flying_pair(app(mode.model()), mode);
        app.world_mut().entity_mut(left).insert((
            ActiveEvents::COLLISION_EVENTS,
            CollidingEntities::default(),
            Restitution {
                coefficient: 1.0,
                combine_rule: CoefficientCombineRule::Max,
            },
        ));
        let mut touched = false;
        for _ in 0..60 {
            run(&mut app, 1);
            let entities = app.world().get::<CollidingEntities>(left).unwrap();
            touched |= entities.contains(right);
        }
        let events = &app.world().resource::<RapierEvents>().collisions;
        let pair = |one: Entity, other: Entity| (one.min(other), one.max(other));
        let started = events.iter().filter(|event| {
            matches!(event, CollisionEvent::Started(a, b, flags)
                if pair(*a, *b) == pair(left, right) && flags.is_empty())
        });
        let stopped = events.iter().filter(|event| {
            matches!(event, CollisionEvent::Stopped(a, b, _) if pair(*a, *b) == pair(left, right))
        });
        let (started, stopped) = (started.count(), stopped.count());
        assert!(started > 0 && started == stopped, "{mode:?}: {events:?}");
        assert!(touched || started > 1, "{mode:?}");
        let entities = app.world().get::<CollidingEntities>(left).unwrap();
        assert!(entities.is_empty(), "{mode:?}");
    }
}

#[test]
fn sensors_and_removed_molecules_flag_their_collision_events() {
    for mode in MODES {
        let (mut app, [left, right]) = flying_pair(app(mode.model()), mode);
        app.world_mut()
            .entity_mut(left)
            .insert((ActiveEvents::COLLISION_EVENTS, Sensor));
        // They overlap after 0.3 s.
        run(&mut app, 18);
        app.world_mut().entity_mut(right).despawn();
        run(&mut app, 2);
        let events = &app.world().resource::<RapierEvents>().collisions;
        let flags: Vec<_> = events
            .iter()
            .map(|event| match event {
                CollisionEvent::Started(_, _, flags) => (true, *flags),
                CollisionEvent::Stopped(_, _, flags) => (false, *flags),
            })
            .collect();
        assert_eq!(flags.len(), 2, "{mode:?}: {events:?}");
        assert_eq!(flags[0], (true, CollisionEventFlags::SENSOR), "{mode:?}");
        assert!(!flags[1].0, "{mode:?}");
        assert!(
            flags[1].1.contains(CollisionEventFlags::REMOVED),
            "{mode:?}"
        );
    }
}

#[test]
fn contact_force_events_respect_their_threshold() {
    for mode in MODES {
        let forces = |threshold: Option<f32>| {
            let (mut app, [left, _]) = flying_pair(app(mode.model()), mode);
            let mut entity = app.world_mut().entity_mut(left);
            entity.insert(ActiveEvents::CONTACT_FORCE_EVENTS);
            if let Some(threshold) = threshold {
                entity.insert(ContactForceEventThreshold(threshold));
            }
            run(&mut app, 60);
            app.world().resource::<RapierEvents>().forces.clone()
        };
        let all = forces(None);
        assert!(!all.is_empty(), "{mode:?}");
        let strongest = all.iter().map(|event| event.total_force_magnitude);
        let strongest = strongest.fold(0.0, f32::max);
        // Two ubiquitins of 8.6 kDa stop from 10 nm/s in substeps of 1/240 s.
        assert!(
            strongest > 1.0e6 && strongest < 1.0e8,
            "{mode:?}: {strongest}"
        );
        for event in &all {
            let force = event.total_force.length();
            assert!(force <= 1.001 * event.total_force_magnitude, "{mode:?}");
            assert!(event.max_force_magnitude <= event.total_force_magnitude);
            assert!(event.max_force_direction.is_normalized());
        }
        let some = forces(Some(0.5 * strongest));
        assert!(!some.is_empty() && some.len() <= all.len(), "{mode:?}");
        assert!(forces(Some(2.0 * strongest)).is_empty(), "{mode:?}");
    }
}

/// Components that Rapier applies to bodies act on molecules in both models.
#[test]
fn forces_impulses_and_damping_act_on_molecules() {
    for mode in MODES {
        let mut app = app(mode.model());
        weightless(&mut app);
        let template = add(&mut app, bar());
        let mut spawn_at = |y: f32| {
            let molecule = spawn(&mut app, &template, Vec3::Y * y);
            if mode == Mode::CrowdOnly {
                app.world_mut().entity_mut(molecule).insert(CrowdOnly);
            }
            molecule
        };
        let [pushed, kicked, damped] = [0.0, 2.0, 4.0].map(&mut spawn_at);
        run(&mut app, 2);
        let mass = mass_of(&app, pushed);
        let mut world = app.world_mut();
        let world = &mut world;
        world.entity_mut(pushed).insert(ExternalForce {
            force: Vec3::X * mass,
            torque: Vec3::ZERO,
        });
        world.entity_mut(kicked).insert(ExternalImpulse {
            impulse: Vec3::X * mass,
            torque_impulse: Vec3::ZERO,
        });
        world.entity_mut(damped).insert((
            Damping {
                linear_damping: 5.0,
                angular_damping: 0.0,
            },
            Velocity::linear(Vec3::X),
        ));
        run(&mut app, 60);
        let [pushed, kicked, damped] =
            [pushed, kicked, damped].map(|molecule| velocity(&app, molecule).x);
        assert!((pushed - 1.0).abs() < 0.05, "{mode:?}: {pushed}");
        assert!((kicked - 1.0).abs() < 0.05, "{mode:?}: {kicked}");
        assert!(damped < 0.05, "{mode:?}: {damped}");
    }
}

/// A sleeping neighbor of a molecule that becomes a sensor loses its support.
#[test]
fn molecules_wake_when_the_rules_of_a_neighbor_change() {
    for mode in [Mode::Crowd, Mode::CrowdOnly] {
        let mut app = app(mode.model());
        let template = add(&mut app, bar());
        let [low, high] = [0.0, 0.2].map(|y| {
            let molecule = spawn(&mut app, &template, Vec3::Y * y);
            if mode == Mode::CrowdOnly {
                app.world_mut().entity_mut(molecule).insert(CrowdOnly);
            }
            molecule
        });
        app.world_mut().entity_mut(low).insert(StaticMolecule);
        app.world_mut()
            .entity_mut(high)
            .insert((LockedAxes::ROTATION_LOCKED, Sleeping::default()));
        run(&mut app, 240);
        let resting = position(&app, high).y;
        assert!(app.world().get::<Sleeping>(high).unwrap().sleeping);
        app.world_mut().entity_mut(low).insert(Sensor);
        run(&mut app, 30);
        assert!(position(&app, high).y < resting - 0.5, "{mode:?}");
    }
}

/// Contacts report the deepest point, the normal, the atoms and the impulse.
#[test]
fn contact_messages_describe_the_contact() {
    for mode in MODES {
        let mut app = app(mode.model());
        record(&mut app);
        weightless(&mut app);
        let template = add(&mut app, bar());
        // End to end: atom 6 of the left bar meets atom 0 of the right one.
        let [left, right] = [-0.6, 0.6].map(|x| {
            let molecule = spawn(&mut app, &template, Vec3::X * x);
            let mut entity = app.world_mut().entity_mut(molecule);
            entity.insert(Velocity::linear(Vec3::X * (-8.0 * x.signum())));
            if mode == Mode::CrowdOnly {
                entity.insert(CrowdOnly);
            }
            molecule
        });
        run(&mut app, 10);
        let started = &app.world().resource::<Started>().0;
        assert_eq!(started.len(), 1, "{mode:?}");
        let MoleculeContactStarted {
            molecule,
            other,
            contact,
        } = started[0];
        assert_eq!(molecule, left.min(right), "{mode:?}");
        assert_eq!(other, left.max(right), "{mode:?}");
        let contact = if molecule == left {
            contact
        } else {
            contact.reversed()
        };
        assert_eq!(contact.atoms, Some([6, 0]), "{mode:?}");
        assert!(contact.point.length() < 0.05, "{mode:?}: {contact:?}");
        assert!(contact.normal.abs_diff_eq(Vec3::X, 1.0e-3), "{mode:?}");
        assert!(contact.depth.abs() < 0.1, "{mode:?}: {contact:?}");
        assert!(contact.depth > 0.0 || contact.impulse > 0.0, "{mode:?}");
    }
}

#[derive(Resource, Default)]
struct Seen(Vec<(Entity, f32, f32)>);

/// The contacts of a pair that rests on another, in the substep.
#[test]
fn contacts_between_two_molecules_can_be_read() {
    for mode in MODES {
        let mut app = app(mode.model());
        let template = add(&mut app, bar());
        let [low, high] = [0.0, 0.19].map(|y| {
            let molecule = spawn(&mut app, &template, Vec3::Y * y);
            if mode == Mode::CrowdOnly {
                app.world_mut().entity_mut(molecule).insert(CrowdOnly);
            }
            molecule
        });
        app.world_mut().entity_mut(low).insert(StaticMolecule);
        app.world_mut()
            .entity_mut(high)
            .insert(LockedAxes::ROTATION_LOCKED);
        app.init_resource::<Seen>().add_systems(
            Last,
            move |touching: TouchingMolecules, mut seen: ResMut<Seen>| {
                let up = touching.contacts_between(low, high);
                let down = touching.contacts_between(high, low);
                assert_eq!(up.len(), down.len());
                for (one, other) in up.iter().zip(&down) {
                    assert_eq!(one.reversed(), *other);
                }
                if let Some(partner) = touching.partners(low).next() {
                    let normal = up.iter().map(|contact| contact.normal.y).sum::<f32>();
                    let impulse = up.iter().map(|contact| contact.impulse).sum();
                    seen.0.push((partner, normal, impulse));
                }
            },
        );
        run(&mut app, 120);
        let weight = mass_of(&app, high) * 9.81 * FRAME / 4.0;
        let seen = &app.world().resource::<Seen>().0;
        assert!(seen.len() > 10, "{mode:?}: {}", seen.len());
        let (partner, normal, impulse) = *seen.last().unwrap();
        assert_eq!(partner, high);
        assert!(normal > 0.9, "{mode:?}: {normal}");
        // Rapier's impulse is that of the last of its own substeps.
        let supported = impulse / weight;
        assert!(supported > 0.1 && supported < 1.5, "{mode:?}: {supported}");
    }
}

#[derive(Resource, Default)]
struct Triggered(Vec<(Entity, Entity)>);

#[test]
fn entity_events_are_triggered_only_for_molecules_that_ask() {
    let (mut app, [left, right]) = flying_pair(app(ContactModel::Crowd), Mode::Crowd);
    app.init_resource::<Triggered>().add_observer(
        |started: On<MoleculeContactStarted>, mut all: ResMut<Triggered>| {
            all.0.push((started.molecule, started.other));
        },
    );
    app.world_mut()
        .entity_mut(right)
        .insert(MoleculeEventsEnabled);
    run(&mut app, 60);
    assert!(!app.world().resource::<Started>().0.is_empty());
    let triggered = &app.world().resource::<Triggered>().0;
    assert!(!triggered.is_empty());
    assert!(triggered.iter().all(|pair| *pair == (right, left)));
}

/// Hooks run on the CPU, whatever backend is requested.
#[test]
fn contexts_with_hooks_use_the_cpu() {
    let (mut app, pair) = flying_pair(app_with_hooks::<Filters>(Mode::Crowd), Mode::Crowd);
    app.world_mut()
        .resource_mut::<bevy_rapier_molecules::plugin::MoleculeBackend>()
        .requested = Backend::Gpu;
    app.world_mut()
        .entity_mut(pair[0])
        .insert((ActiveHooks::FILTER_CONTACT_PAIRS, Hidden));
    assert_eq!(verdict_of(&mut app, pair), Verdict::Pass);
    let world = app.world_mut();
    let mut worlds = world.query::<&MoleculeWorld>();
    assert_eq!(worlds.single(world).unwrap().backend(), Backend::Cpu);
}

/// The schedule of substeps is public: a system in it sees the contacts of each.
#[test]
fn contacts_are_current_in_every_substep() {
    let (mut app, [left, right]) = flying_pair(app(ContactModel::Crowd), Mode::Crowd);
    app.init_resource::<Seen>().add_systems(
        MoleculeSubstep,
        (move |touching: TouchingMolecules, mut seen: ResMut<Seen>| {
            let contacts = touching.contacts_between(left, right);
            assert_eq!(contacts.is_empty(), !touching.contains(left, right));
            let depth = contacts.iter().map(|contact| contact.depth);
            let depth = depth.fold(f32::NEG_INFINITY, f32::max);
            if let Some(pair) = touching.iter().next() {
                seen.0.push((pair.a, depth, pair.penetration));
            }
        })
        .after(MoleculeSystems::Respond)
        .before(MoleculeSystems::Apply),
    );
    run(&mut app, 60);
    let seen = &app.world().resource::<Seen>().0;
    assert!(!seen.is_empty());
    for (_, depth, penetration) in seen {
        assert!(
            (depth - penetration).abs() < 1.0e-5,
            "{depth} {penetration}"
        );
    }
}

/// Hooks that remove all contacts from Rapier's solver.
#[derive(SystemParam)]
struct RemoveContacts<'w, 's>(Query<'w, 's, (), With<Ghost>>);

impl BevyPhysicsHooks for RemoveContacts<'_, '_> {
    fn modify_solver_contacts(&self, context: ContactModificationContextView) {
        if self.0.contains(context.collider1()) || self.0.contains(context.collider2()) {
            context.raw.solver_contacts.clear();
        }
    }
}

#[test]
fn contacts_are_modified_by_hooks_only_in_the_solver_model() {
    let verdicts = MODES.map(|mode| {
        let app = app_with_hooks::<RemoveContacts>(mode);
        let (mut app, pair) = flying_pair(app, mode);
        app.world_mut()
            .entity_mut(pair[0])
            .insert((ActiveHooks::MODIFY_SOLVER_CONTACTS, Ghost));
        verdict_of(&mut app, pair)
    });
    use Verdict::{Collide, Report};
    assert_eq!(verdicts, [Collide, Report, Collide]);
}

#[test]
fn contact_skins_apply_only_in_the_solver_model() {
    let gaps = MODES.map(|mode| {
        let mut app = app(mode.model());
        weightless(&mut app);
        let template = add(&mut app, bar());
        let [low, high] = [0.0, 0.3].map(|y| {
            let molecule = spawn(&mut app, &template, Vec3::Y * y);
            let mut entity = app.world_mut().entity_mut(molecule);
            entity.insert(ContactSkin(0.1));
            if mode == Mode::CrowdOnly {
                entity.insert(CrowdOnly);
            }
            molecule
        });
        run(&mut app, 60);
        position(&app, high).y - position(&app, low).y
    });
    assert!(gaps[0] == 0.3 && gaps[2] == 0.3, "{gaps:?}");
    assert!(gaps[1] > 0.31, "{gaps:?}");
}

/// A mass of the app replaces that of the molecule, or is added to it, as in Rapier.
#[test]
fn mass_properties_of_the_app_are_kept() {
    let own = MassProperties {
        mass: 7.0,
        principal_inertia: Vec3::ONE,
        ..default()
    };
    for mode in MODES {
        let mut app = app(mode.model());
        let templates = [add(&mut app, bar()), add(&mut app, carbons(&[Vec3::ZERO]))];
        let of_template = [bar().mass(), carbons(&[Vec3::ZERO]).mass()];
        let mut spawn_with = |mass: AdditionalMassProperties| {
            let molecule = spawn(&mut app, &templates[0], Vec3::ZERO);
            let mut entity = app.world_mut().entity_mut(molecule);
            entity.insert((mass, CollisionGroups::new(Group::NONE, Group::NONE)));
            if mode == Mode::CrowdOnly {
                entity.insert(CrowdOnly);
            }
            molecule
        };
        let replaced = spawn_with(AdditionalMassProperties::MassProperties(own));
        let added = spawn_with(AdditionalMassProperties::Mass(7.0));
        let own_collider = spawn(&mut app, &templates[0], Vec3::ZERO);
        app.world_mut()
            .entity_mut(own_collider)
            .insert(ColliderMassProperties::Mass(3.0));
        let mut check = |template: usize| {
            run(&mut app, 3);
            let masses = [replaced, added, own_collider].map(|molecule| mass_of(&app, molecule));
            // Without a collider, there is nothing to add to.
            let collider = if mode == Mode::CrowdOnly {
                0.0
            } else {
                of_template[template]
            };
            let expected = [7.0, collider + 7.0, 3.0];
            for (mass, expected) in masses.into_iter().zip(expected) {
                assert!((mass - expected).abs() < 1.0e-3, "{mode:?}: {masses:?}");
            }
            for molecule in [replaced, added, own_collider] {
                let template = templates[1].clone();
                app.world_mut()
                    .entity_mut(molecule)
                    .insert(Molecule(template));
            }
        };
        check(0);
        check(1);
    }
}

/// Each row of the table in the docs names tests that exist.
#[test]
fn the_table_of_components_names_existing_tests() {
    let docs = include_str!("../../src/plugin/mod.rs");
    let tests = [include_str!("rapier_components.rs"), include_str!("ccd.rs")];
    let rows: Vec<&str> = docs
        .lines()
        .skip_while(|line| !line.contains("| component | Crowd | Solver |"))
        .skip(2)
        .take_while(|line| line.starts_with("//! |"))
        .collect();
    assert!(rows.len() > 15, "{}", rows.len());
    for row in rows {
        let names = row.trim_end_matches(" |").rsplit('|').next().unwrap();
        for name in names.split(',') {
            let function = format!("fn {}()", name.trim().trim_matches('`'));
            let exists = tests.iter().any(|test| test.contains(&function));
            assert!(exists, "{function} of {row}");
        }
    }
}
