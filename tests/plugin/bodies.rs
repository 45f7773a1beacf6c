//! Molecules fall, land, and meet each other and the ordinary world, in both models.

use bevy::prelude::*;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::common::*;

#[test]
fn a_molecule_falls_under_gravity() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let mut app = app(model);
        let template = add(&mut app, bar());
        let molecule = spawn(&mut app, &template, Vec3::Y * 5.0);
        run(&mut app, 61);
        let fallen = 5.0 - position(&app, molecule).y;
        assert!((4.0..5.5).contains(&fallen), "{model:?}: {fallen}");
    }
}

#[test]
fn a_molecule_lands_on_a_floor_and_rests() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let mut app = app(model);
        spawn_floor(&mut app);
        let template = add(&mut app, real("1ubq.cif"));
        let molecule = spawn(&mut app, &template, Vec3::Y * 4.0);
        run(&mut app, 300);
        let speed = velocity(&app, molecule).length();
        let height = position(&app, molecule).y;
        assert!(speed < 0.05, "{model:?}: {speed}");
        assert!((0.8..2.5).contains(&height), "{model:?}: {height}");
    }
}

#[test]
fn two_molecules_collide_and_momentum_is_kept() {
    for model in [ContactModel::Crowd, ContactModel::Solver] {
        let mut app = app(model);
        weightless(&mut app);
        let template = add(&mut app, real("1ubq.cif"));
        let left = spawn(&mut app, &template, Vec3::X * -3.0);
        let right = spawn(&mut app, &template, Vec3::X * 3.0);
        for (molecule, speed) in [(left, 4.0), (right, -4.0)] {
            app.world_mut()
                .entity_mut(molecule)
                .insert(Velocity::linear(Vec3::X * speed));
        }
        run(&mut app, 120);
        let (left, right) = (velocity(&app, left), velocity(&app, right));
        assert!(left.x < 1.0 && right.x > -1.0, "{model:?}: {left} {right}");
        assert!(
            (left + right).length() < 8.0e-5 * 8.0,
            "{model:?}: {left} {right}"
        );
    }
}
