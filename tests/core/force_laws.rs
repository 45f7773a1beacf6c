//! The laws of the thesis against hand-computed values, and invariants of all laws: equal and
//! opposite pushes, no spring within the leeway, correct signs.

use approx::assert_relative_eq;
use bevy_rapier_molecules::compartment::{Leaflet, Placement, SphereShell, Surface};
use bevy_rapier_molecules::force::{
    Body, Projection, ProjectionSums, Push, ThesisSteps, thesis_reaction, thesis_spring,
};
use bevy_rapier_molecules::pose::Pose;
use glam::{Mat3, Quat, Vec3};

const STEPS: ThesisSteps = ThesisSteps {
    force: 0.5,
    torque: 0.25,
    spring_force: 0.1,
    spring_torque: 0.2,
};

fn shell() -> SphereShell {
    SphereShell::new(Vec3::ZERO, 5.0).unwrap()
}

fn placement(leaflet: Leaflet) -> Placement {
    Placement {
        leaflet,
        depth: 1.0,
        up: Vec3::Y,
        leeway: 0.5,
        tilt_leeway: 0.3,
    }
}

#[test]
fn reaction_equals_the_hand_computed_example() {
    // LHSA is at (1, 2, 0) from its center, RHSA 2 nm to the left of it: |difference|² = 4,
    // |local|² = 5, so strength = 1/9; direction = (1, 0, 0).
    // force = 0.5/9 x; torque = (1, 2, 0) × (1, 0, 0) · 0.25 = (0, 0, −2) · 0.25.
    let push = thesis_reaction(
        Vec3::new(2.0, 0.0, 0.0),
        Vec3::new(1.0, 2.0, 0.0),
        Vec3::Z,
        &STEPS,
    );
    assert_relative_eq!(push.linear.x, 0.5 / 9.0, epsilon = 1e-7);
    assert_eq!((push.linear.y, push.linear.z), (0.0, 0.0));
    assert_eq!(push.angular, Vec3::new(0.0, 0.0, -0.5));
}

#[test]
fn reaction_weakens_with_distance_and_with_the_lever() {
    let strength = |d: f32, l: f32| {
        thesis_reaction(Vec3::X * d, Vec3::Y * l, Vec3::Z, &STEPS)
            .linear
            .length()
    };
    assert!(strength(0.1, 1.0) > strength(0.2, 1.0));
    assert!(strength(0.1, 1.0) > strength(0.1, 2.0));
    // Equation 4.1 at d = 0.1, l = 1: 1 / 1.01.
    assert_relative_eq!(strength(0.1, 1.0), 0.5 / 1.01, epsilon = 1e-6);
}

#[test]
fn coincident_atoms_get_a_finite_push_along_the_centers() {
    let push = thesis_reaction(Vec3::ZERO, Vec3::X, Vec3::Z, &STEPS);
    assert_relative_eq!(push.linear.z, 0.5, epsilon = 1e-6);
    let push = thesis_reaction(Vec3::ZERO, Vec3::ZERO, Vec3::Z, &STEPS);
    assert!(push.linear.is_finite() && push.linear.z > 0.0);
}

#[test]
fn coincident_centers_have_opposite_hashed_directions() {
    let one = body(Vec3::ONE, 1.0);
    for (a, b) in [(0, 1), (3, 700), (5, 4)] {
        let direction = one.direction_from(&one, [a, b]);
        assert!(direction.is_normalized());
        assert_eq!(direction, -one.direction_from(&one, [b, a]));
    }
    let (first, second) = (
        one.direction_from(&one, [0, 1]),
        one.direction_from(&one, [0, 2]),
    );
    assert!(first.dot(second) < 0.99);
}

#[test]
fn spring_force_acts_towards_the_shell_and_only_outside_the_leeway() {
    let place = placement(Leaflet::Outer);
    // The target is 6 nm ± 0.5 nm.
    for (distance, expected) in [(7.0, -0.7), (6.4, 0.0), (6.0, 0.0), (5.6, 0.0), (5.0, 0.5)] {
        let pose = Pose::from_translation(Vec3::X * distance);
        let force = thesis_spring(&place.excess(&shell(), &pose), &STEPS).linear;
        assert_relative_eq!(force.x, expected, epsilon = 1e-6);
        assert_eq!((force.y, force.z), (0.0, 0.0));
    }
}

#[test]
fn spring_torque_decreases_the_tilt_and_the_printed_sign_increases_it() {
    let place = placement(Leaflet::Outer);
    // At x with up along y, the tilt is 90°. The target is x, and y × x = −z.
    let pose = Pose::from_translation(Vec3::X * 6.0);
    let torque = thesis_spring(&place.excess(&shell(), &pose), &STEPS).angular;
    let quarter = std::f32::consts::FRAC_PI_2;
    assert_relative_eq!(torque.z, -quarter * 0.2, epsilon = 1e-6);
    assert_eq!((torque.x, torque.y), (0.0, 0.0));

    let tilt_after = |angular: Vec3| {
        let push = Push {
            linear: Vec3::ZERO,
            angular,
        };
        place.deviation(&shell(), &push.apply(&pose)).tilt
    };
    assert!(tilt_after(torque) < quarter);
    assert!(tilt_after(-torque) > quarter, "as printed in Algorithm 4.5");
}

#[test]
fn the_inner_leaflet_points_inwards() {
    let place = placement(Leaflet::Inner);
    let pose = place.upright_pose(&shell(), Vec3::Z * 4.0, 1.2);
    let deviation = place.deviation(&shell(), &pose);
    assert!(deviation.tilt < 1e-3 && deviation.height.abs() < 1e-6);
    assert_relative_eq!((pose.rotation * place.up).z, -1.0, epsilon = 1e-6);
    let excess = place.excess(&shell(), &pose);
    assert_eq!(thesis_spring(&excess, &STEPS), Push::default());
}

#[test]
fn an_upside_down_molecule_turns_upright() {
    let place = placement(Leaflet::Outer);
    let mut pose = place.upright_pose(&shell(), Vec3::Y * 6.0, 0.0);
    pose.rotation = Quat::from_rotation_x(std::f32::consts::PI) * pose.rotation;
    for _ in 0..200 {
        let spring = thesis_spring(&place.excess(&shell(), &pose), &STEPS);
        pose = Push {
            linear: Vec3::ZERO,
            ..spring
        }
        .apply(&pose);
    }
    assert!(place.deviation(&shell(), &pose).tilt <= place.tilt_leeway);
}

fn body(center: Vec3, mass: f32) -> Body {
    Body {
        center,
        inverse_mass: 1.0 / mass,
        inverse_inertia: Mat3::from_diagonal(Vec3::new(0.5, 0.7, 0.9) / mass),
    }
}

#[test]
fn projection_separates_two_spheres_in_one_step() {
    // Head-on, without rotation: the shifts add up to the overlap, weighted by mass.
    let bodies = [body(Vec3::ZERO, 1.0), body(Vec3::X * 0.3, 3.0)];
    let parameters = Projection {
        relaxation: 1.0,
        ..Projection::default()
    };
    let points = [Vec3::ZERO, Vec3::X * 0.3];
    let mut one = ProjectionSums::default();
    one.add([&bodies[0], &bodies[1]], points, 0.4, Vec3::NEG_X * 2.0);
    let mut other = ProjectionSums::default();
    other.add(
        [&bodies[1], &bodies[0]],
        [points[1], points[0]],
        0.4,
        Vec3::X * 2.0,
    );
    let (one, other) = (one.push(&parameters), other.push(&parameters));
    assert_relative_eq!(one.linear.x, -0.075, epsilon = 1e-6);
    assert_relative_eq!(other.linear.x, 0.025, epsilon = 1e-6);
    assert_eq!(one.angular, Vec3::ZERO);
}

#[test]
fn projection_conserves_the_center_of_mass() {
    let bodies = [
        body(Vec3::new(0.1, 0.2, -0.3), 2.0),
        body(Vec3::new(0.9, -0.4, 0.2), 5.0),
    ];
    let points = [Vec3::new(0.5, 0.1, 0.0), Vec3::new(0.55, 0.0, 0.1)];
    let between = bodies[0].direction_from(&bodies[1], [0, 1]);
    let mut sums = [ProjectionSums::default(); 2];
    sums[0].add([&bodies[0], &bodies[1]], points, 0.4, between);
    sums[1].add(
        [&bodies[1], &bodies[0]],
        [points[1], points[0]],
        0.4,
        -between,
    );
    let [one, other] = sums.map(|sum| sum.push(&Projection::default()));
    // Mass times shift is equal and opposite.
    let residue = one.linear * 2.0 + other.linear * 5.0;
    assert!(residue.length() < 1e-6 * one.linear.length());
}

#[test]
fn projection_springs_act_only_outside_the_leeway() {
    let place = placement(Leaflet::Outer);
    let parameters = Projection::default();
    let upright = |distance: f32| {
        let pose = place.upright_pose(&shell(), Vec3::Z * distance, 0.4);
        parameters.spring(&place.excess(&shell(), &pose))
    };
    assert_eq!(upright(6.4).linear, Vec3::ZERO);
    assert!(upright(6.0).angular.length() < 1e-6);
    assert_relative_eq!(upright(7.5).linear.z, -parameters.spring, epsilon = 1e-5);
    assert_relative_eq!(
        upright(4.5).linear.z,
        1.0 * parameters.spring,
        epsilon = 1e-5
    );
}

#[test]
fn deviation_is_finite_at_the_center_of_the_shell() {
    let place = placement(Leaflet::Outer);
    let deviation = place.deviation(&shell(), &Pose::IDENTITY);
    assert!(deviation.normal.is_normalized() && deviation.height == -6.0);
    assert!(shell().area_at(-9.0) == 0.0);
}

#[test]
fn invalid_parameters_are_rejected_by_name() {
    let diverging = Projection {
        momentum: 1.0,
        ..Projection::default()
    };
    let message = diverging.check().unwrap_err().to_string();
    let expected = "the parameter momentum must be less than one, but is 1";
    assert_eq!(message, expected);
    let negative = ThesisSteps {
        torque: -1.0,
        ..STEPS
    };
    assert_eq!(negative.check().unwrap_err().name, "torque");
}

#[test]
fn missing_fields_of_the_projection_have_their_defaults() {
    let read: Projection = ron::from_str("(relaxation: 1.0)").unwrap();
    let expected = Projection {
        relaxation: 1.0,
        ..Projection::default()
    };
    assert_eq!(read, expected);
    assert!(read.check().is_ok());
}
