//! Springs bring molecules back without overshooting, and add no energy.

use bevy_rapier_molecules::compartment::{
    Confinement, Excess, ShapeCompartment, SphereShell, Surface,
};
use bevy_rapier_molecules::force::{
    Body, SpringLaw, ThesisSteps, Velocity, precession_damping_impulse, spring_impulse,
};
use bevy_rapier_molecules::pose::Pose;
use glam::{Mat3, Quat, Vec3};
use rand::RngExt;

use crate::common::carbons::rod;
use crate::compartment::fixtures::{in_cube, random, solid};
use crate::compartment::spring_world::{INERTIA, World, body, damped, placement};

/// Substeps and frequencies, up to one oscillation per substep and far beyond.
fn substeps_and_frequencies() -> Vec<(f32, f32)> {
    let mut pairs = Vec::new();
    for dt in [1.0 / 30.0, 1.0 / 60.0, 1.0 / 240.0, 1.0 / 1000.0] {
        for oscillations in [0.01, 0.1, 0.5, 1.0, 10.0, 1.0e6, 1.0e30] {
            pairs.push((dt, oscillations / dt));
        }
    }
    pairs
}

#[test]
fn a_molecule_at_rest_returns_without_overshooting() {
    for (dt, frequency) in substeps_and_frequencies() {
        for (leeway, start) in [(0.0, 2.0), (0.3, 1.3), (0.3, -1.3)] {
            let mut world = World::new(placement(leeway, 0.0), damped(frequency, 1.0), dt);
            world.pose.position = Vec3::Y * (6.0 + start);
            let mut last = world.height();
            let steps = (3.0 / (frequency.min(1.0 / dt) * dt)).ceil() as usize + 20;
            for _ in 0..steps {
                world.step();
                let height = world.height();
                // Towards the leeway, but not beyond it.
                let over = leeway - height * start.signum();
                assert!(
                    over <= 1.0e-3 * (start.abs() - leeway),
                    "{dt} {frequency}: {over}"
                );
                assert!(height.abs() <= last.abs() + 1.0e-5, "{dt} {frequency}");
                last = height;
            }
            assert!(
                (last.abs() - leeway).abs() < 1.0e-2 * start.abs(),
                "{dt} {frequency}: {last}"
            );
        }
    }
}

#[test]
fn a_tilted_molecule_turns_upright_without_overshooting() {
    // The last one is upside down.
    for start in [0.5, 2.0, 3.0, std::f32::consts::PI] {
        for (dt, frequency) in substeps_and_frequencies() {
            let mut world = World::new(placement(0.0, 0.2), damped(frequency, 1.0), dt);
            world.pose.rotation = Quat::from_rotation_z(start);
            let mut last = world.total_tilt();
            let steps = (3.0 / (frequency.min(1.0 / dt) * dt)).ceil() as usize + 20;
            for _ in 0..steps {
                world.step();
                let tilt = world.total_tilt();
                assert!(tilt <= last + 1.0e-4, "{start} {dt} {frequency}");
                assert!(
                    tilt > 0.2 - 1.0e-2 * start,
                    "{start} {dt} {frequency}: {tilt}"
                );
                last = tilt;
            }
            assert!(
                last < 0.2 + 1.0e-2 * start,
                "{start} {dt} {frequency}: {last}"
            );
        }
    }
}

#[test]
fn the_return_time_equals_theory() {
    // (1 + ωt) exp(−ωt) = 0.01 at ωt = 6.638.
    let frequency = 2.0;
    let mut world = World::new(placement(0.0, 0.0), damped(frequency, 1.0), 1.0 / 1000.0);
    world.pose.position = Vec3::Y * 7.0;
    world.pose.rotation = Quat::from_rotation_x(1.0);
    let (mut fall, mut turn) = (0.0, 0.0);
    for step in 1..2_000 {
        world.step();
        let time = step as f32 * world.dt;
        if fall == 0.0 && world.height() < 0.01 {
            fall = time;
        }
        if turn == 0.0 && world.total_tilt() < 0.01 {
            turn = time;
        }
    }
    let theory = 6.638 / (std::f32::consts::TAU * frequency);
    assert!((fall / theory - 1.0).abs() < 0.02, "{fall} {theory}");
    assert!((turn / theory - 1.0).abs() < 0.02, "{turn} {theory}");
}

#[test]
fn an_undamped_spring_oscillates_with_its_frequency() {
    let mut world = World::new(placement(0.0, 0.0), damped(2.0, 0.0), 1.0e-4);
    world.pose.position = Vec3::Y * 6.5;
    let mut crossings = Vec::new();
    for step in 0..20_000 {
        let previous = world.height();
        world.step();
        if previous * world.height() < 0.0 {
            crossings.push(step as f32 * world.dt);
        }
    }
    // Two crossings per period, four per second.
    let period = 2.0 * (crossings[4] - crossings[0]) / 4.0;
    assert!((period - 0.5).abs() < 0.01, "{crossings:?}");
}

#[test]
fn nothing_acts_within_the_leeway() {
    let mut random = random(31);
    for law in [
        damped(10.0, 1.0),
        SpringLaw::Thesis {
            force: 50.0,
            torque: 50.0,
        },
    ] {
        let mut world = World::new(placement(0.5, 0.3), law, 1.0 / 60.0);
        for _ in 0..1_000 {
            world.pose = Pose::new(
                Vec3::Y * (6.0 + random.random_range(-0.49..0.49)),
                Quat::from_rotation_z(random.random_range(-0.29..0.29)),
            );
            world.velocity = Velocity {
                linear: in_cube(50.0, &mut random),
                angular: in_cube(50.0, &mut random),
            };
            assert!(world.step().is_zero());
        }
    }
}

#[test]
fn impulses_are_along_the_normal_and_about_the_upright_axis() {
    let mut random = random(32);
    let mut world = World::new(placement(0.1, 0.1), damped(5.0, 1.0), 1.0 / 60.0);
    for _ in 0..1_000 {
        let rotation = Quat::from_scaled_axis(in_cube(2.0, &mut random));
        world.pose = Pose::new(in_cube(9.0, &mut random), rotation);
        world.velocity = Velocity {
            linear: in_cube(9.0, &mut random),
            angular: in_cube(9.0, &mut random),
        };
        let excess = world.excess();
        let impulse = world.step();
        let scale = 1.0e-5 * (impulse.linear.length() + impulse.angular.length());
        assert!(impulse.linear.cross(excess.normal).length() <= scale);
        assert!(impulse.angular.cross(excess.axis).length() <= scale);
    }
}

#[test]
fn energy_never_grows_while_the_spring_acts() {
    let mut random = random(33);
    for (dt, frequency) in substeps_and_frequencies() {
        if frequency * dt > 1.0 {
            continue;
        }
        for damping_ratio in [0.0, 0.3, 1.0, 3.0] {
            // No leeway, and motion along one line and about one axis.
            let mut world = World::new(placement(0.0, 0.0), damped(frequency, damping_ratio), dt);
            world.pose.position = Vec3::Y * (6.0 + random.random_range(-1.0..1.0));
            world.pose.rotation = Quat::from_rotation_x(random.random_range(-1.0..1.0));
            world.velocity.linear = Vec3::Y * random.random_range(-1.0..1.0) * frequency;
            world.velocity.angular = Vec3::X * random.random_range(-1.0..1.0) * frequency;
            let mut last = world.kinetic_energy() + world.spring_energy(frequency);
            let rounding = 1.0e-6 * last;
            for _ in 0..200 {
                world.step();
                let energy = world.kinetic_energy() + world.spring_energy(frequency);
                assert!(
                    energy <= last * 1.001 + rounding,
                    "{dt} {frequency}: {last} {energy}"
                );
                last = energy;
            }
        }
    }
}

#[test]
fn crossing_the_leeway_adds_no_energy() {
    for (dt, frequency) in substeps_and_frequencies() {
        let mut world = World::new(placement(0.5, 0.5), damped(frequency, 1.0), dt);
        world.velocity.linear = Vec3::Y * 10.0;
        let initial = world.kinetic_energy();
        for _ in 0..2_000 {
            world.step();
            assert!(
                world.kinetic_energy() <= initial * 1.0001,
                "{dt} {frequency}"
            );
        }
        assert!(world.height().abs() < 12.0);
    }
}

#[test]
fn implicit_steps_lose_energy_for_anisotropic_inertia() {
    // E(u', C + h u') ≤ E(u, C) for any inertia.
    let mut random = random(34);
    let (dt, frequency) = (1.0 / 60.0, 7.0);
    let law = damped(frequency, 1.0);
    for _ in 0..5_000 {
        let axes = Mat3::from_quat(Quat::from_scaled_axis(in_cube(3.0, &mut random)));
        let inverse = Vec3::from_array(std::array::from_fn(|_| random.random_range(0.01..2.0)));
        let inverse_inertia = axes * Mat3::from_diagonal(inverse) * axes.transpose();
        let body = Body {
            inverse_inertia,
            ..body()
        };
        let velocity = Velocity {
            linear: Vec3::ZERO,
            angular: in_cube(20.0, &mut random),
        };
        let up = in_cube(1.0, &mut random).normalize();
        let excess = Excess {
            normal: Vec3::Y,
            height: 0.0,
            arm: Vec3::Y,
            up,
            axis: up.any_orthonormal_vector(),
            tilt: random.random_range(0.0..1.0),
            total_tilt: 1.0,
        };
        let after = spring_impulse(&law, &body, &velocity, &excess, dt).apply(&body, &velocity);
        let damped =
            precession_damping_impulse(&law, &body, &after, &excess, dt).apply(&body, &after);
        let inertia = inverse_inertia.inverse();
        let mobility = excess.axis.dot(inverse_inertia * excess.axis);
        let omega = std::f32::consts::TAU * frequency;
        let energy = |angular: Vec3, tilt: f32| {
            0.5 * angular.dot(inertia * angular) + 0.5 * omega * omega * tilt * tilt / mobility
        };
        let tilt = excess.tilt - after.angular.dot(excess.axis) * dt;
        let (old, new) = (
            energy(velocity.angular, excess.tilt),
            energy(after.angular, tilt),
        );
        assert!(new <= old * 1.0001, "{old} {new}");
        assert!(energy(damped.angular, 0.0) <= energy(after.angular, 0.0) * 1.0001);
    }
}

#[test]
fn springs_of_volumes_keep_molecules_inside_or_outside() {
    for name in ["cuboid", "capsule", "mesh of a sphere", "concave mesh"] {
        let compartment = solid(name);
        let mut random = random(35);
        for _ in 0..50 {
            for confinement in [
                Confinement::Inside { distance: 0.3 },
                Confinement::Outside { distance: 0.5 },
            ] {
                let mut world = World::new(placement(0.0, 0.0), damped(4.0, 1.0), 1.0 / 60.0);
                world.compartment = Box::new(compartment.clone());
                world.confinement = confinement;
                world.pose.position = compartment.center() + in_cube(6.0, &mut random);
                for _ in 0..240 {
                    assert_eq!(world.step().angular, Vec3::ZERO);
                }
                let remaining = world.excess().height.abs();
                assert!(remaining < 0.02, "{name} {confinement:?}: {remaining}");
            }
        }
    }
}

#[test]
fn the_first_substep_of_the_thesis_law_equals_an_iteration() {
    let dt = 1.0 / 60.0;
    let steps = ThesisSteps::default();
    let law = SpringLaw::from_thesis(&steps, dt);
    let mut world = World::new(placement(0.1, 0.1), law, dt);
    world.pose = Pose::new(Vec3::Y * 8.0, Quat::from_rotation_x(1.0));
    let (height, tilt) = (world.height(), world.total_tilt());
    world.step();
    assert!((height - world.height() - 8.0 * steps.spring_force).abs() < 1.0e-5);
    assert!((tilt - world.total_tilt() - tilt * steps.spring_torque).abs() < 1.0e-4);
    // Too far in: outwards.
    world.pose = Pose::from_translation(Vec3::Y * 4.0);
    world.velocity = Velocity::default();
    world.step();
    assert!(world.height() > -2.0);
}

#[test]
fn the_thesis_law_with_external_damping_brings_a_molecule_back() {
    let mut world = World::new(
        placement(0.2, 0.2),
        SpringLaw::Thesis {
            force: 2.0,
            torque: 20.0,
        },
        1.0 / 60.0,
    );
    world.pose = Pose::new(Vec3::Y * 8.0, Quat::from_rotation_x(std::f32::consts::PI));
    for _ in 0..3_000 {
        world.step();
        world.velocity.linear *= 0.9;
        world.velocity.angular *= 0.9;
    }
    assert!(world.height().abs() < 0.25 && world.total_tilt() < 0.25);
}

#[test]
fn degenerate_input_gives_finite_impulses() {
    let shell = SphereShell::new(Vec3::ZERO, 5.0).unwrap();
    let cuboid = ShapeCompartment::cuboid(Vec3::ONE, Pose::IDENTITY).unwrap();
    let confinements = [
        Confinement::Surface(placement(0.0, 0.0)),
        Confinement::Inside { distance: 9.0 },
        Confinement::Outside { distance: 9.0 },
        Confinement::WholeInside { clearance: 9.0 },
        Confinement::WholeOutside { clearance: 9.0 },
    ];
    let laws = [
        damped(0.0, 0.0),
        damped(f32::MAX, f32::MAX),
        damped(2.0, 1.0),
        SpringLaw::Thesis {
            force: 1.0,
            torque: 1.0,
        },
    ];
    for compartment in [&shell as &dyn Surface, &cuboid] {
        for rotation in [Quat::IDENTITY, Quat::from_rotation_x(std::f32::consts::PI)] {
            let pose = Pose::new(Vec3::ZERO, rotation);
            for (confinement, law) in confinements.iter().flat_map(|b| laws.map(|law| (b, law))) {
                let excess = confinement.excess(compartment, &rod(1), &pose);
                for dt in [
                    0.0,
                    -1.0,
                    f32::NAN,
                    f32::INFINITY,
                    f32::MIN_POSITIVE,
                    1.0e-3,
                    1.0,
                ] {
                    for body in [body(), Body::default()] {
                        let velocity = Velocity {
                            linear: Vec3::ONE,
                            angular: Vec3::ONE,
                        };
                        let impulse = spring_impulse(&law, &body, &velocity, &excess, dt);
                        assert!(impulse.linear.is_finite(), "{law:?} {dt}");
                        assert!(impulse.angular.is_finite(), "{law:?} {dt}");
                        if body == Body::default() || dt.is_nan() || dt <= 0.0 {
                            assert!(impulse.is_zero());
                        }
                    }
                }
            }
        }
    }
}

#[test]
fn invalid_parameters_are_rejected_by_name() {
    assert!(SpringLaw::default().check().is_ok());
    for bad in [f32::NAN, f32::INFINITY, -1.0] {
        assert_eq!(damped(bad, 1.0).check().unwrap_err().name, "frequency_hz");
        assert_eq!(damped(1.0, bad).check().unwrap_err().name, "damping_ratio");
        let law = SpringLaw::Thesis {
            force: bad,
            torque: 1.0,
        };
        assert_eq!(law.check().unwrap_err().name, "force");
        let law = SpringLaw::Thesis {
            force: 1.0,
            torque: bad,
        };
        assert_eq!(law.check().unwrap_err().name, "torque");
    }
    assert!(
        SpringLaw::from_thesis(&ThesisSteps::default(), 0.0)
            .check()
            .is_err()
    );
}

#[test]
fn precession_damping_brings_a_precessing_molecule_back() {
    for rate in [1.0, 5.0, 20.0] {
        let tilt_after = |damps_precession: bool| {
            let mut world = World::new(placement(0.0, 0.3), damped(2.0, 1.0), 1.0 / 60.0);
            world.pose.rotation = Quat::from_rotation_z(1.0);
            world.velocity.angular = Vec3::X * rate;
            for _ in 0..600 {
                if damps_precession {
                    let excess = world.excess();
                    let impulse = precession_damping_impulse(
                        &world.law,
                        &body(),
                        &world.velocity,
                        &excess,
                        world.dt,
                    );
                    // The spin about the up vector is not damped.
                    assert!(impulse.angular.dot(excess.up).abs() <= 1.0e-3 * INERTIA);
                    world.velocity = impulse.apply(&body(), &world.velocity);
                }
                world.step();
            }
            world.total_tilt()
        };
        assert!(
            tilt_after(false) > 0.35 && tilt_after(true) < 0.31,
            "{rate}"
        );
    }
}
