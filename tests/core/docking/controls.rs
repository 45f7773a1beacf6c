//! Input devices to motions.

use std::f32::consts::FRAC_PI_2;

use bevy_rapier_molecules::docking::controls::{
    ControlInput, ControlSettings, GamepadState, apply_dead_zone, arcball,
};
use bevy_rapier_molecules::docking::{RigidMotion, Role, Session, SessionInput};
use glam::{Quat, Vec2, Vec3};

use crate::docking::fixtures::ligand_and_receptor;

fn close(a: Vec3, b: Vec3) -> bool {
    a.distance(b) < 1.0e-5
}

#[test]
fn dead_zone_is_zero_and_the_rim_is_full_speed() {
    for stick in [Vec2::ZERO, Vec2::new(0.1, -0.1), Vec2::splat(f32::NAN)] {
        assert_eq!(apply_dead_zone(stick), Vec2::ZERO, "{stick}");
    }
    for angle in 0..16 {
        let rim = Vec2::from_angle(angle as f32);
        assert!(apply_dead_zone(rim).distance(rim) < 1.0e-6);
        // The corners of square sticks are not faster.
        assert!(apply_dead_zone(rim * 1.4).length() < 1.0 + 1.0e-6);
        // Continuous at the edge of the dead zone, and monotonic.
        assert!(apply_dead_zone(rim * 0.151).length() < 0.01);
        let speeds = [0.2, 0.5, 0.8].map(|part| apply_dead_zone(rim * part).length());
        assert!(speeds.is_sorted());
    }
}

#[test]
fn sticks_translate_and_rotate_and_triggers_change_depth() {
    let pad = GamepadState {
        left_stick: Vec2::X,
        right_stick: Vec2::Y,
        ..GamepadState::default()
    };
    let input = pad.control_input();
    assert_eq!(input.translation, Vec3::X);
    assert_eq!(
        input.rotation,
        Vec3::NEG_X,
        "a stick pushed forward tips away from the viewer"
    );
    let pad = GamepadState {
        right_stick: Vec2::X,
        ..GamepadState::default()
    };
    assert_eq!(pad.control_input().rotation, Vec3::Y, "about the vertical");
    for (left_trigger, right_trigger, depth) in [(1.0, 0.0, -1.0), (0.0, 1.0, 1.0), (1.0, 1.0, 0.0)]
    {
        let pad = GamepadState {
            left_trigger,
            right_trigger,
            ..GamepadState::default()
        };
        assert_eq!(pad.control_input().translation, Vec3::Z * depth);
    }
    let pad = GamepadState {
        roll: -1.0,
        ..GamepadState::default()
    };
    assert_eq!(pad.control_input().rotation, Vec3::NEG_Z);
    assert!(GamepadState::default().control_input().is_zero());
}

#[test]
fn motion_follows_the_axes_and_slow_frames_are_limited() {
    let settings = ControlSettings::default();
    let mut input = ControlInput {
        translation: Vec3::X,
        ..ControlInput::default()
    };
    input += ControlInput {
        rotation: Vec3::Y,
        ..ControlInput::default()
    };
    let quarter = Quat::from_rotation_z(FRAC_PI_2);
    let motion = settings.motion(&input, quarter, 0.05);
    assert!(close(motion.translation, Vec3::Y * 0.04));
    assert!(close(motion.rotation, Vec3::NEG_X * 0.06));
    let slow = settings.motion(&input, quarter, 5.0);
    assert!(close(slow.translation, Vec3::Y * 0.08));
    assert_eq!(
        settings.motion(&input, quarter, -1.0),
        RigidMotion::default()
    );
}

#[test]
fn arcball_rotates_inside_and_rolls_outside() {
    // At the center: right rotates about the vertical, down about the horizontal.
    let right = arcball(Vec2::ZERO, Vec2::X * 0.1);
    assert!(close(right, Vec3::Y * 0.1_f32.asin()));
    let down = arcball(Vec2::ZERO, Vec2::NEG_Y * 0.1);
    assert!(close(down, Vec3::X * 0.1_f32.asin()));
    // The point under the cursor stays there.
    let (from, to) = (Vec2::new(0.3, -0.2), Vec2::new(-0.1, 0.4));
    let on = |place: Vec2| place.extend((1.0 - place.length_squared()).sqrt());
    assert!(close(
        Quat::from_scaled_axis(arcball(from, to)) * on(from),
        on(to)
    ));
    // Far outside: about the line of sight.
    let roll = arcball(Vec2::X * 4.0, Vec2::new(4.0, 0.4));
    assert!(
        roll.z > 0.09 && roll.truncate().length() < 0.3 * roll.z,
        "{roll}"
    );
    // Continuous at the rim.
    let edge = std::f32::consts::FRAC_1_SQRT_2;
    assert!(arcball(Vec2::X * (edge - 1.0e-4), Vec2::X * (edge + 1.0e-4)).length() < 1.0e-3);
    assert_eq!(arcball(from, from), Vec3::ZERO);
    assert_eq!(arcball(from, Vec2::splat(f32::NAN)), Vec3::ZERO);
}

#[test]
fn velocity_approach_is_frame_rate_independent_and_limited() {
    let settings = ControlSettings::default();
    let target = settings.velocity(&RigidMotion::translation(Vec3::X * 0.01), 0.02, 0.4);
    assert!(close(target.translation, Vec3::X * 0.5));
    // A fast mouse movement.
    let jerk = RigidMotion {
        translation: Vec3::X * 10.0,
        rotation: Vec3::Y * 10.0,
    };
    let fast = settings.velocity(&jerk, 0.02, 0.4);
    let speed = fast.translation.length() + fast.rotation.length() * 0.4;
    assert!((speed - settings.max_speed).abs() < 1.0e-4, "{speed}");
    assert_eq!(settings.velocity(&jerk, 0.0, 0.4), RigidMotion::default());
    // One frame equals ten short ones.
    let once = settings.approach(&RigidMotion::default(), &target, 0.1);
    let mut often = RigidMotion::default();
    for _ in 0..10 {
        often = settings.approach(&often, &target, 0.01);
    }
    assert!(close(once.translation, often.translation));
    assert!(once.translation.x > 0.8 * target.translation.x);
}

#[test]
fn gamepad_moves_the_ligand_of_a_session() {
    let (ligand, receptor) = ligand_and_receptor();
    let mut session = Session::new(
        std::sync::Arc::clone(receptor.template()),
        std::sync::Arc::clone(ligand.template()),
    );
    let outside = bevy_rapier_molecules::pose::Pose::from_translation(
        session.pose(Role::Receptor).position + Vec3::X * 6.0,
    );
    session
        .apply(&SessionInput::Place(Role::LIGAND, outside))
        .unwrap();
    let pad = GamepadState {
        left_stick: Vec2::NEG_Y,
        ..GamepadState::default()
    };
    for _ in 0..10 {
        let motion = ControlSettings::default().motion(&pad.control_input(), Quat::IDENTITY, 0.05);
        session.apply(&SessionInput::Move(motion)).unwrap();
    }
    let moved = session.pose(Role::LIGAND).position - outside.position;
    assert!(close(moved, Vec3::NEG_Y * 0.4), "{moved}");
}
