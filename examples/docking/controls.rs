//! Keyboard, mouse and gamepad control of the session, the camera and the light.

use std::f32::consts::FRAC_PI_2;

use bevy::ecs::system::SystemParam;
use bevy::input::mouse::AccumulatedMouseMotion;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_rapier_molecules::docking::controls::{ControlInput, ControlSettings, arcball};
use bevy_rapier_molecules::docking::{ResponseMode, SessionInput};

use super::common::orbit::Orbit;
use super::keyboard::{HeldInput, KeyboardPlugin, axis};
use super::physics_push::PushState;
use super::view::Eye;
use super::view_settings::{ControlTarget, ViewSettings, change_view_settings};
use super::window::Docked;

/// Translation per mouse pixel, relative to the camera distance.
const DRAG_TRANSLATION: f32 = 0.0012;

/// Rotation per mouse pixel, radian.
const DRAG_ROTATION: f32 = 0.006;

/// Radius of the arcball, relative to the height of the window.
const ARCBALL_RADIUS: f32 = 0.35;

/// Maximum angle above and below the horizon, radian.
const MAX_PITCH: f32 = FRAC_PI_2 - 0.05;

/// Factor on the radii per key press.
const RADII_STEP: f32 = 1.05;

/// Mouse buttons that move something.
const DRAG_BUTTONS: [MouseButton; 3] = [MouseButton::Left, MouseButton::Middle, MouseButton::Right];

/// Handles keyboard and mouse.
pub struct ControlsPlugin;

impl Plugin for ControlsPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(KeyboardPlugin)
            .init_resource::<MouseDrag>()
            .add_systems(
                Update,
                (
                    change_view_settings,
                    change_session,
                    drag,
                    turn_view,
                    move_molecule,
                    turn_bond,
                )
                    .chain(),
            );
    }
}

/// Keys that change the session.
fn change_session(keys: Res<ButtonInput<KeyCode>>, mut docked: ResMut<Docked>) {
    for key in keys.get_just_pressed() {
        let config = *docked.0.session.config();
        let input = match key {
            KeyCode::KeyM | KeyCode::KeyJ => SessionInput::SwitchMoved,
            KeyCode::KeyC => SessionInput::Collisions(!config.collisions),
            KeyCode::Digit1 => SessionInput::Response(ResponseMode::Stop),
            KeyCode::Digit2 => SessionInput::Response(ResponseMode::Cue),
            KeyCode::Digit3 => SessionInput::Response(ResponseMode::Slide),
            KeyCode::Digit4 => SessionInput::Response(ResponseMode::Push),
            KeyCode::KeyP => SessionInput::Response(next_response(config.response)),
            KeyCode::Equal | KeyCode::NumpadAdd => {
                SessionInput::Radii(config.radius_scale * RADII_STEP)
            }
            KeyCode::Minus | KeyCode::NumpadSubtract => {
                SessionInput::Radii(config.radius_scale / RADII_STEP)
            }
            KeyCode::KeyG => SessionInput::Guidance(!config.guidance),
            KeyCode::KeyH => SessionInput::MoveToFreePose,
            KeyCode::Digit0 => {
                let session = &docked.0.session;
                let bonds = session.bonds(config.moved).len();
                SessionInput::Torsions(config.moved, vec![0.0; bonds])
            }
            KeyCode::KeyN => {
                let shift = [KeyCode::ShiftLeft, KeyCode::ShiftRight];
                docked.0.select_bond(keys.any_pressed(shift));
                continue;
            }
            _ => continue,
        };
        if docked.0.to_play.is_empty() {
            docked.0.change(&input);
        }
    }
}

fn next_response(mode: ResponseMode) -> ResponseMode {
    match mode {
        ResponseMode::Stop => ResponseMode::Cue,
        ResponseMode::Cue => ResponseMode::Slide,
        ResponseMode::Slide => ResponseMode::Push,
        ResponseMode::Push => ResponseMode::Stop,
    }
}

/// Motion by the mouse in this frame, nm and radian, along and about right, up and near.
#[derive(Resource, Default)]
struct MouseDrag(ControlInput);

/// An arcball on the screen, in pixels.
struct Arcball {
    center: Vec2,
    radius: f32,
    cursor: Vec2,
}

impl Arcball {
    /// The rotation of a drag that ends at the cursor.
    fn rotation(&self, delta: Vec2) -> Vec3 {
        let on_ball = |cursor: Vec2| (cursor - self.center) * Vec2::new(1.0, -1.0) / self.radius;
        arcball(on_ball(self.cursor - delta), on_ball(self.cursor))
    }
}

/// The mouse, and the cameras below it.
#[derive(SystemParam)]
struct Mouse<'w, 's> {
    buttons: Res<'w, ButtonInput<MouseButton>>,
    keys: Res<'w, ButtonInput<KeyCode>>,
    motion: Res<'w, AccumulatedMouseMotion>,
    windows: Query<'w, 's, &'static Window, With<PrimaryWindow>>,
    eyes: Query<'w, 's, (&'static Camera, &'static GlobalTransform), With<Eye>>,
}

impl Mouse<'_, '_> {
    /// The arcball around a point in the world.
    fn arcball(&self, point: Vec3) -> Option<Arcball> {
        let window = self.windows.single().ok()?;
        let (camera, view) = self.eyes.iter().find(|(camera, _)| camera.is_active)?;
        Some(Arcball {
            center: camera.world_to_viewport(view, point).ok()?,
            radius: ARCBALL_RADIUS * window.height(),
            cursor: window.cursor_position()?,
        })
    }
}

/// Whether the user moves a molecule, the camera or the light.
#[derive(SystemParam)]
pub struct UserMotion<'w> {
    held: Res<'w, HeldInput>,
    buttons: Res<'w, ButtonInput<MouseButton>>,
}

impl UserMotion<'_> {
    /// Held mouse buttons count even while the mouse rests.
    pub fn is_active(&self) -> bool {
        !self.held.0.is_zero() || self.buttons.any_pressed(DRAG_BUTTONS)
    }
}

/// Left button: translates, with Ctrl in depth, with Shift rotates by an arcball. Middle button:
/// horizontal motion twists about the vertical, vertical motion rolls.
fn drag(
    mouse: Mouse,
    settings: Res<ViewSettings>,
    docked: Res<Docked>,
    orbits: Query<&Orbit>,
    mut dragged: ResMut<MouseDrag>,
) {
    let delta = mouse.motion.delta;
    let scale = DRAG_TRANSLATION * orbits.iter().next().map_or(0.0, |orbit| orbit.distance);
    let (mut translation, mut rotation) = (Vec3::ZERO, Vec3::ZERO);
    if mouse.buttons.pressed(MouseButton::Middle) {
        rotation = Vec3::new(0.0, delta.x, -delta.y) * DRAG_ROTATION;
    } else if mouse.buttons.pressed(MouseButton::Left) {
        let keys = &mouse.keys;
        if settings.target != ControlTarget::Molecule {
            rotation = Vec3::new(delta.y, delta.x, 0.0) * DRAG_ROTATION;
        } else if keys.any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]) {
            let session = &docked.0.session;
            let ball = mouse.arcball(session.pose(session.config().moved).position);
            rotation = ball.map_or(Vec3::ZERO, |ball| ball.rotation(delta));
        } else if keys.any_pressed([KeyCode::ControlLeft, KeyCode::ControlRight]) {
            translation = Vec3::Z * delta.y * scale;
        } else {
            translation = Vec3::new(delta.x, -delta.y, 0.0) * scale;
        }
    }
    dragged.0 = ControlInput {
        translation,
        rotation,
    };
}

/// Rotates the camera or the light.
fn turn_view(
    time: Res<Time>,
    (held, dragged): (Res<HeldInput>, Res<MouseDrag>),
    mut settings: ResMut<ViewSettings>,
    mut orbits: Query<&mut Orbit>,
) {
    let (held, dragged) = (held.0, dragged.0);
    if settings.target == ControlTarget::Molecule || held.is_zero() && dragged.is_zero() {
        return;
    }
    let motion = ControlSettings::default().motion(&held, Quat::IDENTITY, time.delta_secs());
    let rotation = motion.rotation + dragged.rotation;
    let right = motion.translation.x + rotation.y;
    if settings.target == ControlTarget::Light {
        let up = settings.light.y + motion.translation.y - rotation.x;
        settings.light.x += right;
        settings.light.y = up.clamp(-MAX_PITCH, MAX_PITCH);
        return;
    }
    for mut orbit in &mut orbits {
        orbit.yaw -= right;
        let up = orbit.pitch + motion.translation.y + rotation.x;
        orbit.pitch = up.clamp(-MAX_PITCH, MAX_PITCH);
    }
}

/// Moves the active molecule in the session, or its rigid body.
fn move_molecule(
    time: Res<Time>,
    (held, dragged): (Res<HeldInput>, Res<MouseDrag>),
    settings: Res<ViewSettings>,
    mut docked: ResMut<Docked>,
    mut push: ResMut<PushState>,
    views: Query<&Transform, With<Orbit>>,
) {
    let (held, dragged) = (held.0, dragged.0);
    push.driven = None;
    let is_idle = held.is_zero() && dragged.is_zero();
    if is_idle || settings.target != ControlTarget::Molecule || !docked.0.to_play.is_empty() {
        return;
    }
    let session = &docked.0.session;
    let moved = session.config().moved;
    let screen = views
        .iter()
        .next()
        .map_or(Quat::IDENTITY, |view| view.rotation);
    let axes = if settings.object_space {
        session.pose(moved).rotation
    } else {
        screen
    };
    let controls = ControlSettings::default();
    let dt = time.delta_secs().min(controls.max_frame);
    let mut motion = controls.motion(&held, axes, dt);
    motion.translation += axes * dragged.translation;
    motion.rotation += axes * dragged.rotation;
    if docked.0.pushes_bodies() {
        let radius = session.template(moved).bounding_radius();
        push.driven = Some((moved, controls.velocity(&motion, dt, radius)));
    } else {
        docked.0.input(&SessionInput::Move(motion));
    }
}

/// Turns the selected bond of the active ligand while a key is held.
fn turn_bond(time: Res<Time>, keys: Res<ButtonInput<KeyCode>>, mut docked: ResMut<Docked>) {
    let speed = axis(&keys, KeyCode::KeyY, KeyCode::KeyU);
    let dock = &docked.0;
    let Some(bond) = dock.selected_bond() else {
        return;
    };
    if speed == 0.0 || !dock.to_play.is_empty() {
        return;
    }
    let controls = ControlSettings::default();
    let dt = time.delta_secs().min(controls.max_frame);
    let angle = speed * controls.angular_speed * dt;
    let bond = bond as u32;
    docked.0.input(&SessionInput::Turn { bond, angle });
}
