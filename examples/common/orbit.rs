//! An orbit camera: the mouse turns it, the wheel zooms.

use std::f32::consts::FRAC_PI_2;

use bevy::input::mouse::{AccumulatedMouseMotion, AccumulatedMouseScroll, MouseScrollUnit};
use bevy::prelude::*;

/// Rotation per pixel of mouse motion, rad.
const TURN_PER_PIXEL: f32 = 0.006;

/// Factor of the distance per line of the wheel.
const ZOOM_PER_LINE: f32 = 0.9;

/// Touchpad pixels that count as one line of the wheel.
const PIXELS_PER_LINE: f32 = 40.0;

/// Max angle above and below the horizon, rad.
const MAX_PITCH: f32 = FRAC_PI_2 - 0.05;

/// Min and max distance from the focus, nm.
const DISTANCES: [f32; 2] = [2.0, 20_000.0];

/// Moves entities with an [`Orbit`].
pub struct OrbitPlugin {
    /// Mouse buttons that turn the camera.
    pub buttons: &'static [MouseButton],
}

/// The system that reads the mouse. Give it a run condition to ignore the mouse.
#[derive(SystemSet, Clone, Debug, PartialEq, Eq, Hash)]
pub struct OrbitInput;

#[derive(Resource)]
struct OrbitButtons(&'static [MouseButton]);

impl Plugin for OrbitPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(OrbitButtons(self.buttons)).add_systems(
            PostUpdate,
            (read_mouse.in_set(OrbitInput), update_transforms)
                .chain()
                .before(TransformSystems::Propagate),
        );
    }
}

/// Places a camera on a sphere around a point.
#[derive(Component)]
pub struct Orbit {
    /// Center of the sphere, nm.
    pub focus: Vec3,
    /// Radius of the sphere, nm.
    pub distance: f32,
    /// Angle about the vertical axis, rad. At 0 the camera looks along −z.
    pub yaw: f32,
    /// Angle above the horizon, rad.
    pub pitch: f32,
}

impl Orbit {
    fn transform(&self) -> Transform {
        let rotation = Quat::from_euler(EulerRot::YXZ, self.yaw, -self.pitch, 0.0);
        let position = self.focus + rotation * Vec3::Z * self.distance;
        Transform::from_translation(position).with_rotation(rotation)
    }
}

fn read_mouse(
    mut orbits: Query<&mut Orbit>,
    orbit_buttons: Res<OrbitButtons>,
    buttons: Res<ButtonInput<MouseButton>>,
    motion: Res<AccumulatedMouseMotion>,
    scroll: Res<AccumulatedMouseScroll>,
) {
    for mut orbit in &mut orbits {
        if buttons.any_pressed(orbit_buttons.0.iter().copied()) {
            orbit.yaw -= motion.delta.x * TURN_PER_PIXEL;
            orbit.pitch =
                (orbit.pitch + motion.delta.y * TURN_PER_PIXEL).clamp(-MAX_PITCH, MAX_PITCH);
        }
        let lines = match scroll.unit {
            MouseScrollUnit::Line => scroll.delta.y,
            MouseScrollUnit::Pixel => scroll.delta.y / PIXELS_PER_LINE,
        };
        let [min, max] = DISTANCES;
        orbit.distance = (orbit.distance * ZOOM_PER_LINE.powf(lines)).clamp(min, max);
    }
}

fn update_transforms(mut orbits: Query<(&Orbit, &mut Transform)>) {
    for (orbit, mut transform) in &mut orbits {
        *transform = orbit.transform();
    }
}
