//! Keys that move and rotate while held.

use bevy::input::InputSystems;
use bevy::prelude::*;
use bevy_rapier_molecules::docking::controls::ControlInput;

/// Motion requested by held keys and gamepads in this frame.
#[derive(Resource, Default)]
pub struct HeldInput(pub ControlInput);

/// Handles the keyboard.
pub struct KeyboardPlugin;

impl Plugin for KeyboardPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<HeldInput>()
            .add_systems(PreUpdate, read_keys.after(InputSystems));
    }
}

pub fn read_keys(keys: Res<ButtonInput<KeyCode>>, mut held: ResMut<HeldInput>) {
    held.0 = ControlInput {
        translation: Vec3::new(
            axis(&keys, KeyCode::ArrowLeft, KeyCode::ArrowRight),
            axis(&keys, KeyCode::ArrowDown, KeyCode::ArrowUp),
            axis(&keys, KeyCode::PageUp, KeyCode::PageDown),
        ),
        rotation: Vec3::new(
            axis(&keys, KeyCode::KeyW, KeyCode::KeyS),
            axis(&keys, KeyCode::KeyA, KeyCode::KeyD),
            axis(&keys, KeyCode::KeyE, KeyCode::KeyQ),
        ),
    };
}

/// 1 if `positive` is held, −1 if `negative` is held.
pub fn axis(keys: &ButtonInput<KeyCode>, negative: KeyCode, positive: KeyCode) -> f32 {
    f32::from(i8::from(keys.pressed(positive)) - i8::from(keys.pressed(negative)))
}
