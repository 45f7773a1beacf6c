//! A camera that turns about a point: a mouse button, and the wheel.

use std::f32::consts::FRAC_PI_2;

use bevy::input::mouse::{AccumulatedMouseMotion, AccumulatedMouseScroll, MouseScrollUnit};
use bevy::prelude::*;

/// Turn for each pixel that the mouse moves, radian.
const TURN: f32 = 0.006;

/// Factor of the distance for each line that the wheel turns.
const ZOOM: f32 = 0.9;

/// Pixels of a touchpad that make a line of the wheel.
const PIXELS_PER_LINE: f32 = 40.0;

/// Furthest from the horizon, radian.
const STEEPEST: f32 = FRAC_PI_2 - 0.05;

/// Nearest and furthest from the focus, nm.
const DISTANCES: [f32; 2] = [2.0, 20_000.0];

/// Turns the camera with these buttons of the mouse.
pub struct OrbitPlugin {
    pub buttons: &'static [MouseButton],
}

/// Systems that listen to the mouse: an app may keep them from it.
#[derive(SystemSet, Clone, Debug, PartialEq, Eq, Hash)]
pub struct OrbitInput;

#[derive(Resource)]
struct Buttons(&'static [MouseButton]);

impl Plugin for OrbitPlugin {
    fn build(&self, app: &mut App) {
        app.insert_resource(Buttons(self.buttons)).add_systems(
            PostUpdate,
            (turn.in_set(OrbitInput), place)
                .chain()
                .before(TransformSystems::Propagate),
        );
    }
}

/// Where a camera is: about a point, at a distance (nm), at angles (radian).
#[derive(Component)]
pub struct Orbit {
    pub focus: Vec3,
    pub distance: f32,
    /// About the vertical; 0 looks along −z.
    pub yaw: f32,
    /// Above the horizon.
    pub pitch: f32,
}

impl Orbit {
    fn transform(&self) -> Transform {
        let rotation = Quat::from_euler(EulerRot::YXZ, self.yaw, -self.pitch, 0.0);
        let position = self.focus + rotation * Vec3::Z * self.distance;
        Transform::from_translation(position).with_rotation(rotation)
    }
}

fn turn(
    mut cameras: Query<&mut Orbit>,
    wanted: Res<Buttons>,
    buttons: Res<ButtonInput<MouseButton>>,
    motion: Res<AccumulatedMouseMotion>,
    scroll: Res<AccumulatedMouseScroll>,
) {
    for mut orbit in &mut cameras {
        if buttons.any_pressed(wanted.0.iter().copied()) {
            orbit.yaw -= motion.delta.x * TURN;
            orbit.pitch = (orbit.pitch + motion.delta.y * TURN).clamp(-STEEPEST, STEEPEST);
        }
        let lines = match scroll.unit {
            MouseScrollUnit::Line => scroll.delta.y,
            MouseScrollUnit::Pixel => scroll.delta.y / PIXELS_PER_LINE,
        };
        let [nearest, furthest] = DISTANCES;
        orbit.distance = (orbit.distance * ZOOM.powf(lines)).clamp(nearest, furthest);
    }
}

fn place(mut cameras: Query<(&Orbit, &mut Transform)>) {
    for (orbit, mut transform) in &mut cameras {
        *transform = orbit.transform();
    }
}
