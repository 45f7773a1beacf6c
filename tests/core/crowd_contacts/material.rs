//! Surfaces of molecules: material, collision filters, contact spring.

use bevy_rapier_molecules::dynamics::{
    CombineRule, ContactMaterial, ContactSurface, CrowdTouch, InteractionGroups, MemberIndex,
    Softness,
};
use glam::Vec3;

use crate::common::small_world::{Molecule, SmallWorld, ball};

#[test]
fn both_molecules_must_accept_each_other() {
    let all = InteractionGroups::default();
    let picky = InteractionGroups {
        memberships: 1,
        filter: 2,
    };
    let other = InteractionGroups {
        memberships: 2,
        filter: 4,
    };
    assert!(all.test(all) && all.test(picky) && picky.test(all));
    assert!(!picky.test(other) && !other.test(picky) && !picky.test(picky));
}

#[test]
fn invalid_materials_are_rejected() {
    let valid = ContactMaterial::default();
    assert!(valid.check().is_ok());
    let changes: [fn(&mut ContactMaterial); 4] = [
        |material| material.restitution = -0.5,
        |material| material.friction = -0.1,
        |material| material.frequency_hz = 0.0,
        |material| material.damping_ratio = f32::NAN,
    ];
    for change in changes {
        let mut invalid = valid;
        change(&mut invalid);
        assert!(invalid.check().is_err(), "{invalid:?}");
    }
}

#[test]
fn an_overdamped_spring_returns_to_rest_without_overshooting() {
    let softness = Softness::new(&ContactMaterial::default(), 1.0 / 240.0);
    let (mut x, mut v) = (-0.1_f32, 0.0_f32);
    for _ in 0..240 {
        v -= softness.mass_scale * (v + softness.bias_rate * x);
        x += v / 240.0;
        assert!(x <= 0.0);
    }
    assert!(x > -1.0e-3, "{x}");
}

/// The rule that comes later in the list wins, as in Rapier.
#[test]
fn coefficients_are_combined_by_the_later_rule() {
    use CombineRule::{Average, Max, Min, Multiply};
    for (rules, expected) in [
        ([Average, Average], 0.5),
        ([Average, Min], 0.2),
        ([Min, Multiply], 0.16),
        ([Max, Multiply], 0.8),
    ] {
        let [one, other] =
            [(0.2, rules[0]), (0.8, rules[1])].map(|(value, rule)| ContactMaterial {
                friction: value,
                friction_rule: rule,
                restitution: value,
                restitution_rule: rule,
                ..ContactMaterial::default()
            });
        for combined in [one.combine(&other), other.combine(&one)] {
            assert!((combined.friction - expected).abs() < 1.0e-6, "{rules:?}");
            assert!(
                (combined.restitution - expected).abs() < 1.0e-6,
                "{rules:?}"
            );
        }
    }
}

/// A ball that moves towards one at rest.
fn approaching() -> SmallWorld {
    let molecules = vec![
        Molecule::new(&ball(), Vec3::ZERO),
        Molecule::new(&ball(), Vec3::X * 0.25).moving(Vec3::NEG_X * 5.0),
    ];
    SmallWorld::new(molecules, ContactMaterial::default())
}

fn run(world: &mut SmallWorld) -> bool {
    let mut touched = false;
    for _ in 0..40 {
        world.step(1.0 / 240.0);
        touched |= world.contacts.touches().iter().any(CrowdTouch::is_touching);
    }
    touched
}

#[test]
fn sensors_and_solver_groups_report_touches_without_pushing() {
    let apart = InteractionGroups {
        memberships: 1,
        filter: 2,
    };
    let sensor = ContactSurface {
        sensor: true,
        ..ContactSurface::default()
    };
    let solver_groups = ContactSurface {
        solver_groups: apart,
        ..ContactSurface::default()
    };
    for surface in [sensor, solver_groups] {
        let mut world = approaching();
        for member in [0, 1] {
            world.contacts.set_surface(MemberIndex(member), surface);
        }
        let momentum = world.molecules[1].momentum;
        assert!(run(&mut world), "{surface:?}");
        assert_eq!(world.molecules[1].momentum, momentum, "{surface:?}");
        assert!(world.molecules[1].position.x < -0.2, "{surface:?}");
    }
}

/// The dominating ball goes on as if it were alone, and pushes the other.
#[test]
fn a_dominating_molecule_is_not_pushed() {
    for dominating in [0, 1] {
        let mut world = approaching();
        world.molecules[dominating].dominance = 1;
        assert!(run(&mut world));
        let [resting, moving] = [0, 1].map(|k| world.molecules[k].velocity().x);
        if dominating == 0 {
            assert!(resting == 0.0 && moving > -0.1, "{resting} {moving}");
        } else {
            assert!(moving == -5.0 && resting < -4.9, "{resting} {moving}");
        }
    }
}
