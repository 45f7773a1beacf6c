//! What windows with one scene share: a camera that turns about it, a light that goes with
//! the camera, and a background.

#[path = "background.rs"]
mod background;
#[path = "orbit.rs"]
pub mod orbit;

use bevy::prelude::*;

pub use background::BACKGROUND;
use orbit::{Orbit, OrbitPlugin};

/// Light from everywhere, cd/m².
const AMBIENT: f32 = 500.0;

/// Light of the lamp beside the camera, lux.
const LAMP: f32 = 9_000.0;

/// Background, light, and the right button of the mouse.
pub struct StagePlugin;

impl Plugin for StagePlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(OrbitPlugin {
            buttons: &[MouseButton::Right],
        })
        .insert_resource(ClearColor(BACKGROUND))
        .insert_resource(GlobalAmbientLight {
            brightness: AMBIENT,
            ..default()
        });
    }
}

/// A camera, and a lamp beside it.
pub fn camera(orbit: Orbit) -> impl Bundle {
    (Camera3d::default(), Msaa::Off, orbit, children![lamp()])
}

/// A lamp above the left shoulder.
pub fn lamp() -> impl Bundle {
    (
        DirectionalLight {
            illuminance: LAMP,
            ..default()
        },
        Transform::from_xyz(-0.6, 0.9, 1.0).looking_at(Vec3::ZERO, Vec3::Y),
    )
}
