//! Surfaces of molecules: material, collision filter, contact spring.

use bevy_rapier_molecules::dynamics::{ContactMaterial, InteractionGroups, Softness};

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
    assert!(all.may_touch(all) && all.may_touch(picky) && picky.may_touch(all));
    assert!(!picky.may_touch(other) && !other.may_touch(picky) && !picky.may_touch(picky));
}

#[test]
fn invalid_materials_are_rejected() {
    let valid = ContactMaterial::default();
    assert!(valid.check().is_ok());
    let changes: [fn(&mut ContactMaterial); 4] = [
        |material| material.restitution = 1.5,
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
