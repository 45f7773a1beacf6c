//! What hands do, and what becomes of it.

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
fn a_stick_that_is_almost_let_go_does_nothing_and_its_rim_is_full_speed() {
    for stick in [Vec2::ZERO, Vec2::new(0.1, -0.1), Vec2::splat(f32::NAN)] {
        assert_eq!(apply_dead_zone(stick), Vec2::ZERO, "{stick}");
    }
    for angle in 0..16 {
        let rim = Vec2::from_angle(angle as f32);
        assert!(apply_dead_zone(rim).distance(rim) < 1.0e-6);
        // Square sticks have corners, which are no faster.
        assert!(apply_dead_zone(rim * 1.4).length() < 1.0 + 1.0e-6);
        // No step at the edge of the dead zone, and faster and faster from there.
        assert!(apply_dead_zone(rim * 0.151).length() < 0.01);
        let speeds = [0.2, 0.5, 0.8].map(|part| apply_dead_zone(rim * part).length());
        assert!(speeds.is_sorted());
    }
}

#[test]
fn sticks_move_and_turn_and_triggers_lead_in_and_out() {
    let pad = GamepadState {
        left: Vec2::X,
        right: Vec2::Y,
        ..GamepadState::default()
    };
    let reach = pad.reach();
    assert_eq!(reach.shift, Vec3::X);
    assert_eq!(
        reach.turn,
        Vec3::NEG_X,
        "pushed away, it tips over backwards"
    );
    let pad = GamepadState {
        right: Vec2::X,
        ..GamepadState::default()
    };
    assert_eq!(pad.reach().turn, Vec3::Y, "about the vertical");
    for (away, near, depth) in [(1.0, 0.0, -1.0), (0.0, 1.0, 1.0), (1.0, 1.0, 0.0)] {
        let pad = GamepadState {
            away,
            near,
            ..GamepadState::default()
        };
        assert_eq!(pad.reach().shift, Vec3::Z * depth);
    }
    let pad = GamepadState {
        roll: -1.0,
        ..GamepadState::default()
    };
    assert_eq!(pad.reach().turn, Vec3::NEG_Z);
    assert!(GamepadState::default().reach().is_nothing());
}

#[test]
fn a_reach_is_along_the_axes_that_it_is_given_and_slow_frames_do_not_jump() {
    let hand = ControlSettings::default();
    let mut reach = ControlInput {
        shift: Vec3::X,
        ..ControlInput::default()
    };
    reach += ControlInput {
        turn: Vec3::Y,
        ..ControlInput::default()
    };
    let quarter = Quat::from_rotation_z(FRAC_PI_2);
    let motion = hand.motion(&reach, quarter, 0.05);
    assert!(close(motion.translation, Vec3::Y * 0.04));
    assert!(close(motion.rotation, Vec3::NEG_X * 0.06));
    let slow = hand.motion(&reach, quarter, 5.0);
    assert!(close(slow.translation, Vec3::Y * 0.08));
    assert_eq!(hand.motion(&reach, quarter, -1.0), RigidMotion::default());
}

#[test]
fn the_mouse_holds_the_ball_and_rolls_it_at_its_rim() {
    // In the middle: to the right turns about the vertical, down about the horizontal.
    let right = arcball(Vec2::ZERO, Vec2::X * 0.1);
    assert!(close(right, Vec3::Y * 0.1_f32.asin()));
    let down = arcball(Vec2::ZERO, Vec2::NEG_Y * 0.1);
    assert!(close(down, Vec3::X * 0.1_f32.asin()));
    // What was under the mouse is still there.
    let (from, to) = (Vec2::new(0.3, -0.2), Vec2::new(-0.1, 0.4));
    let on = |place: Vec2| place.extend((1.0 - place.length_squared()).sqrt());
    assert!(close(
        Quat::from_scaled_axis(arcball(from, to)) * on(from),
        on(to)
    ));
    // Far outside, along the rim: about the line of sight.
    let roll = arcball(Vec2::X * 4.0, Vec2::new(4.0, 0.4));
    assert!(
        roll.z > 0.09 && roll.truncate().length() < 0.3 * roll.z,
        "{roll}"
    );
    // No jump where the ball ends.
    let edge = std::f32::consts::FRAC_1_SQRT_2;
    assert!(arcball(Vec2::X * (edge - 1.0e-4), Vec2::X * (edge + 1.0e-4)).length() < 1.0e-3);
    assert_eq!(arcball(from, from), Vec3::ZERO);
    assert_eq!(arcball(from, Vec2::splat(f32::NAN)), Vec3::ZERO);
}

#[test]
fn a_body_takes_on_what_is_wanted_whatever_the_frames_and_never_too_fast() {
    let hand = ControlSettings::default();
    let wanted = hand.velocity(&RigidMotion::translation(Vec3::X * 0.01), 0.02, 0.4);
    assert!(close(wanted.translation, Vec3::X * 0.5));
    // A jerk of the mouse.
    let jerk = RigidMotion {
        translation: Vec3::X * 10.0,
        rotation: Vec3::Y * 10.0,
    };
    let fast = hand.velocity(&jerk, 0.02, 0.4);
    let speed = fast.translation.length() + fast.rotation.length() * 0.4;
    assert!((speed - hand.fastest).abs() < 1.0e-4, "{speed}");
    assert_eq!(hand.velocity(&jerk, 0.0, 0.4), RigidMotion::default());
    // One frame, or ten short ones.
    let once = hand.pull(&RigidMotion::default(), &wanted, 0.1);
    let mut often = RigidMotion::default();
    for _ in 0..10 {
        often = hand.pull(&often, &wanted, 0.01);
    }
    assert!(close(once.translation, often.translation));
    assert!(once.translation.x > 0.8 * wanted.translation.x);
}

#[test]
fn a_pad_moves_the_ligand_of_a_session() {
    let (ligand, receptor) = ligand_and_receptor();
    let mut session = Session::new(
        std::sync::Arc::clone(receptor.template()),
        std::sync::Arc::clone(ligand.template()),
    );
    let outside = bevy_rapier_molecules::pose::Pose::from_translation(
        session.pose(Role::Receptor).position + Vec3::X * 6.0,
    );
    session
        .apply(&SessionInput::Place(Role::Ligand, outside))
        .unwrap();
    let pad = GamepadState {
        left: Vec2::NEG_Y,
        ..GamepadState::default()
    };
    for _ in 0..10 {
        let motion = ControlSettings::default().motion(&pad.reach(), Quat::IDENTITY, 0.05);
        session.apply(&SessionInput::Move(motion)).unwrap();
    }
    let moved = session.pose(Role::Ligand).position - outside.position;
    assert!(close(moved, Vec3::NEG_Y * 0.4), "{moved}");
}
