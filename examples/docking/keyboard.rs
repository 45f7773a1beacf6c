//! What is held down: keys that move and turn.

use bevy::input::InputSystems;
use bevy::prelude::*;
use bevy_rapier_molecules::docking::controls::ControlInput;

/// What hands want in this frame, whatever they hold.
#[derive(Resource, Default)]
pub struct Hands(pub ControlInput);

/// Reads the keys.
pub struct HandsPlugin;

impl Plugin for HandsPlugin {
    fn build(&self, app: &mut App) {
        app.init_resource::<Hands>()
            .add_systems(PreUpdate, read_keys.after(InputSystems));
    }
}

pub fn read_keys(keys: Res<ButtonInput<KeyCode>>, mut hands: ResMut<Hands>) {
    hands.0 = ControlInput {
        shift: Vec3::new(
            held(&keys, KeyCode::ArrowLeft, KeyCode::ArrowRight),
            held(&keys, KeyCode::ArrowDown, KeyCode::ArrowUp),
            held(&keys, KeyCode::PageUp, KeyCode::PageDown),
        ),
        // Twist turns about the vertical.
        turn: Vec3::new(
            held(&keys, KeyCode::KeyW, KeyCode::KeyS),
            held(&keys, KeyCode::KeyA, KeyCode::KeyD),
            held(&keys, KeyCode::KeyE, KeyCode::KeyQ),
        ),
    };
}

/// 1 if `more` is held, −1 if `less` is.
fn held(keys: &ButtonInput<KeyCode>, less: KeyCode, more: KeyCode) -> f32 {
    f32::from(i8::from(keys.pressed(more)) - i8::from(keys.pressed(less)))
}
