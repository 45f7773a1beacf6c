//! Gamepads: sticks and triggers move the molecule, buttons press keys.

use bevy::input::InputSystems;
use bevy::input::gamepad::{Gamepad, GamepadButton};
use bevy::prelude::*;
use bevy_rapier_molecules::docking::controls::GamepadState;

use super::keyboard::{HeldInput, read_keys};

/// Help text of the overlay.
pub const HELP: &str = "\
gamepad: left stick moves, triggers change depth, right stick rotates, shoulders roll   Start quits\n\
A camera or molecule   X next molecule   Y response   B collisions   Select stereo   press sticks: axes, free pose";

/// Buttons and their keys.
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

/// Handles all gamepads.
pub struct GamepadPlugin;

impl Plugin for GamepadPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(
            PreUpdate,
            (press_keys, add_input)
                .chain()
                .after(InputSystems)
                .after(read_keys),
        );
    }
}

/// Presses the keys of the buttons.
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

fn add_input(pads: Query<&Gamepad>, mut held: ResMut<HeldInput>) {
    for pad in &pads {
        held.0 += read(pad).control_input();
    }
}

fn read(pad: &Gamepad) -> GamepadState {
    let trigger = |button: GamepadButton| pad.get(button).unwrap_or(0.0);
    let shoulder = |button: GamepadButton| f32::from(u8::from(pad.pressed(button)));
    GamepadState {
        left_stick: pad.left_stick(),
        right_stick: pad.right_stick(),
        left_trigger: trigger(GamepadButton::LeftTrigger2),
        right_trigger: trigger(GamepadButton::RightTrigger2),
        roll: shoulder(GamepadButton::LeftTrigger) - shoulder(GamepadButton::RightTrigger),
    }
}
