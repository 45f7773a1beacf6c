//! A gamepad: sticks move and turn, triggers lead in and out, and a button does what a key
//! does.

use bevy::input::InputSystems;
use bevy::input::gamepad::{Gamepad, GamepadButton};
use bevy::prelude::*;
use bevy_rapier_molecules::docking::controls::GamepadState;

use super::keyboard::{Hands, read_keys};

/// What is shown of it on the screen.
pub const HELP: &str = "\
gamepad: left stick moves, triggers in and out, right stick turns, shoulders roll   Start quits\n\
A view or object   X other molecule   Y next response   B collisions   Select stereo   sticks: axes, free pose";

/// Buttons, and the keys that do the same.
const BUTTONS: [(GamepadButton, KeyCode); 8] = [
    (GamepadButton::South, KeyCode::Tab),
    (GamepadButton::West, KeyCode::KeyM),
    (GamepadButton::North, KeyCode::KeyP),
    (GamepadButton::East, KeyCode::KeyC),
    (GamepadButton::LeftThumb, KeyCode::KeyO),
    (GamepadButton::RightThumb, KeyCode::KeyH),
    (GamepadButton::Select, KeyCode::KeyX),
    (GamepadButton::Start, KeyCode::Escape),
];

/// Listens to all gamepads at once.
pub struct GamepadPlugin;

impl Plugin for GamepadPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            PreUpdate,
            (press_keys, reach)
                .chain()
                .after(InputSystems)
                .after(read_keys),
        );
    }
}

/// Presses the keys that belong to the buttons.
fn press_keys(pads: Query<&Gamepad>, mut keys: ResMut<ButtonInput<KeyCode>>) {
    for pad in &pads {
        for (button, key) in BUTTONS {
            if pad.just_pressed(button) {
                keys.press(key);
            }
            if pad.just_released(button) {
                keys.release(key);
            }
        }
    }
}

fn reach(pads: Query<&Gamepad>, mut hands: ResMut<Hands>) {
    for pad in &pads {
        hands.0 += read(pad).reach();
    }
}

fn read(pad: &Gamepad) -> GamepadState {
    let trigger = |button: GamepadButton| pad.get(button).unwrap_or(0.0);
    let shoulder = |button: GamepadButton| f32::from(u8::from(pad.pressed(button)));
    GamepadState {
        left: pad.left_stick(),
        right: pad.right_stick(),
        away: trigger(GamepadButton::LeftTrigger2),
        near: trigger(GamepadButton::RightTrigger2),
        roll: shoulder(GamepadButton::LeftTrigger) - shoulder(GamepadButton::RightTrigger),
    }
}
