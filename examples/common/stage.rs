//! A scene with a dark background, an orbit camera and a headlight.

use bevy::prelude::*;

use super::orbit::{Orbit, OrbitPlugin};

/// Color of the background and of depth fog.
pub const BACKGROUND: Color = Color::srgb(0.055, 0.065, 0.085);

/// Ambient light, cd/m².
const AMBIENT: f32 = 500.0;

/// Illuminance of the headlight, lux.
const HEADLIGHT: f32 = 9_000.0;

/// Background, ambient light and orbit camera.
pub struct StagePlugin {
    /// Mouse buttons that turn the camera.
    pub buttons: &'static [MouseButton],
}

impl Plugin for StagePlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(OrbitPlugin {
            buttons: self.buttons,
        })
        .insert_resource(ClearColor(BACKGROUND))
        .insert_resource(GlobalAmbientLight {
            brightness: AMBIENT,
            ..default()
        });
    }
}

/// A camera with a headlight at its upper left.
pub fn camera(orbit: Orbit) -> impl Bundle {
    (
        Camera3d::default(),
        Msaa::Off,
        orbit,
        children![(
            DirectionalLight {
                illuminance: HEADLIGHT,
                ..default()
            },
            Transform::from_xyz(-0.6, 0.9, 1.0).looking_at(Vec3::ZERO, Vec3::Y),
        )],
    )
}
