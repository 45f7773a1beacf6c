//! Simulated gamepad events in the docking example.

use bevy::input::InputPlugin;
use bevy::input::gamepad::{
    GamepadConnection, GamepadConnectionEvent, RawGamepadAxisChangedEvent,
    RawGamepadButtonChangedEvent, RawGamepadEvent,
};
use bevy::prelude::*;
use bevy_rapier_molecules::docking::controls::ControlInput;

use self::keyboard::{HeldInput, KeyboardPlugin};
use self::pad::{GamepadPlugin, HELP};

#[path = "../../examples/docking/keyboard.rs"]
mod keyboard;
#[path = "../../examples/docking/gamepad.rs"]
mod pad;

/// An app with a connected gamepad.
fn app() -> (App, Entity) {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, InputPlugin, KeyboardPlugin, GamepadPlugin));
    let pad = app.world_mut().spawn_empty().id();
    let connection = GamepadConnection::Connected {
        name: "test".into(),
        vendor_id: None,
        product_id: None,
    };
    app.world_mut()
        .write_message(GamepadConnectionEvent::new(pad, connection));
    app.update();
    (app, pad)
}

fn tilt(app: &mut App, pad: Entity, axis: GamepadAxis, value: f32) -> ControlInput {
    let event = RawGamepadAxisChangedEvent::new(pad, axis, value);
    app.world_mut().write_message(RawGamepadEvent::Axis(event));
    app.update();
    app.world().resource::<HeldInput>().0
}

fn press(app: &mut App, pad: Entity, button: GamepadButton, value: f32) -> ControlInput {
    let event = RawGamepadButtonChangedEvent::new(pad, button, value);
    app.world_mut()
        .write_message(RawGamepadEvent::Button(event));
    app.update();
    app.world().resource::<HeldInput>().0
}

#[test]
fn sticks_and_triggers_add_to_keys() {
    let (mut app, pad) = app();
    assert_eq!(
        tilt(&mut app, pad, GamepadAxis::LeftStickX, 0.1),
        ControlInput::default()
    );
    assert_eq!(
        tilt(&mut app, pad, GamepadAxis::LeftStickX, 1.0).translation,
        Vec3::X
    );
    let mut keys = app.world_mut().resource_mut::<ButtonInput<KeyCode>>();
    keys.press(KeyCode::ArrowUp);
    app.update();
    assert_eq!(
        app.world().resource::<HeldInput>().0.translation,
        Vec3::new(1.0, 1.0, 0.0)
    );
    let mut keys = app.world_mut().resource_mut::<ButtonInput<KeyCode>>();
    keys.release(KeyCode::ArrowUp);
    tilt(&mut app, pad, GamepadAxis::LeftStickX, 0.0);
    let twist = tilt(&mut app, pad, GamepadAxis::RightStickX, -1.0);
    assert_eq!(
        (twist.translation, twist.rotation),
        (Vec3::ZERO, Vec3::NEG_Y)
    );
    tilt(&mut app, pad, GamepadAxis::RightStickX, 0.0);
    let inwards = press(&mut app, pad, GamepadButton::LeftTrigger2, 1.0);
    assert_eq!(inwards.translation, Vec3::NEG_Z);
    press(&mut app, pad, GamepadButton::LeftTrigger2, 0.0);
    let roll = press(&mut app, pad, GamepadButton::LeftTrigger, 1.0);
    assert_eq!(roll.rotation, Vec3::Z);
    let none = press(&mut app, pad, GamepadButton::LeftTrigger, 0.0);
    assert!(none.is_zero());
}

#[test]
fn buttons_press_their_keys() {
    let (mut app, pad) = app();
    for (button, key) in [
        (GamepadButton::South, KeyCode::Tab),
        (GamepadButton::West, KeyCode::KeyM),
        (GamepadButton::North, KeyCode::KeyP),
    ] {
        let pressed = |app: &App| {
            let keys = app.world().resource::<ButtonInput<KeyCode>>();
            (keys.just_pressed(key), keys.pressed(key))
        };
        press(&mut app, pad, button, 1.0);
        assert_eq!(pressed(&app), (true, true), "{button:?}");
        app.update();
        assert_eq!(pressed(&app), (false, true), "{button:?}");
        press(&mut app, pad, button, 0.0);
        assert_eq!(pressed(&app), (false, false), "{button:?}");
    }
    assert!(HELP.lines().all(|line| line.len() < 120));
}

#[test]
fn disconnected_gamepad_is_released() {
    let (mut app, pad) = app();
    assert!(!tilt(&mut app, pad, GamepadAxis::LeftStickY, -1.0).is_zero());
    let gone = GamepadConnectionEvent::new(pad, GamepadConnection::Disconnected);
    app.world_mut().write_message(gone);
    app.update();
    app.update();
    assert!(app.world().resource::<HeldInput>().0.is_zero());
}
