//! What keys, mouse and gamepads do to the session, the view and the light.

use std::f32::consts::FRAC_PI_2;

use bevy::ecs::system::SystemParam;
use bevy::input::mouse::AccumulatedMouseMotion;
use bevy::prelude::*;
use bevy::window::PrimaryWindow;
use bevy_rapier_molecules::docking::controls::{ControlInput, ControlSettings, arcball};
use bevy_rapier_molecules::docking::{ResponseMode, Role, SessionInput};

use super::common::orbit::Orbit;
use super::keyboard::{Hands, HandsPlugin};
use super::physics_push::Pushed;
use super::view::Eye;
use super::view_settings::{Moves, Switches, switch};
use super::window::Docked;

/// Motion for each pixel that the mouse moves, as a fraction of the view's distance.
const DRAG: f32 = 0.0012;

/// Turn for each pixel that the mouse moves, radian.
const DRAG_TURN: f32 = 0.006;

/// Radius of the ball that Shift and the mouse turn, in units of the window's height.
const BALL: f32 = 0.35;

/// Furthest from the horizon, radian.
const STEEPEST: f32 = FRAC_PI_2 - 0.05;

/// Factor of the radii for each press.
const RADII_STEP: f32 = 1.05;

/// Listens to keys and mouse.
pub struct ControlsPlugin;

impl Plugin for ControlsPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(HandsPlugin)
            .init_resource::<Dragged>()
            .add_systems(
                Update,
                (switch, change_session, drag, turn_by_hand, move_by_hand).chain(),
            );
    }
}

/// What is switched by one press and belongs to the session.
fn change_session(keys: Res<ButtonInput<KeyCode>>, mut docked: ResMut<Docked>) {
    for key in keys.get_just_pressed() {
        let settings = *docked.0.session.config();
        let input = match key {
            KeyCode::KeyM | KeyCode::KeyJ => SessionInput::SwitchMoved,
            KeyCode::KeyC => SessionInput::Collisions(!settings.collisions),
            KeyCode::Digit1 => SessionInput::Response(ResponseMode::Stop),
            KeyCode::Digit2 => SessionInput::Response(ResponseMode::Cue),
            KeyCode::Digit3 => SessionInput::Response(ResponseMode::Slide),
            KeyCode::Digit4 => SessionInput::Response(ResponseMode::Push),
            KeyCode::KeyP => SessionInput::Response(next_response(settings.response)),
            KeyCode::Equal | KeyCode::NumpadAdd => {
                SessionInput::Radii(settings.radius_scale * RADII_STEP)
            }
            KeyCode::Minus | KeyCode::NumpadSubtract => {
                SessionInput::Radii(settings.radius_scale / RADII_STEP)
            }
            KeyCode::KeyG => SessionInput::Guidance(!settings.guidance),
            KeyCode::KeyH => SessionInput::MoveToFreePose,
            _ => continue,
        };
        if docked.0.to_play.is_empty() {
            docked.0.change(&input);
        }
    }
}

fn next_response(now: ResponseMode) -> ResponseMode {
    match now {
        ResponseMode::Stop => ResponseMode::Cue,
        ResponseMode::Cue => ResponseMode::Slide,
        ResponseMode::Slide => ResponseMode::Push,
        ResponseMode::Push => ResponseMode::Stop,
    }
}

/// What the mouse drags in this frame: nm and radian, along and about right, up and near.
#[derive(Resource, Default)]
struct Dragged(ControlInput);

/// The ball that the mouse turns: in pixels, right and down.
struct Ball {
    center: Vec2,
    radius: f32,
    cursor: Vec2,
}

impl Ball {
    /// The turn of a drag that ends at the cursor.
    fn turn(&self, delta: Vec2) -> Vec3 {
        let place = |cursor: Vec2| (cursor - self.center) * Vec2::new(1.0, -1.0) / self.radius;
        arcball(place(self.cursor - delta), place(self.cursor))
    }
}

/// The mouse, and what it is over.
#[derive(SystemParam)]
struct Mouse<'w, 's> {
    buttons: Res<'w, ButtonInput<MouseButton>>,
    keys: Res<'w, ButtonInput<KeyCode>>,
    motion: Res<'w, AccumulatedMouseMotion>,
    windows: Query<'w, 's, &'static Window, With<PrimaryWindow>>,
    eyes: Query<'w, 's, (&'static Camera, &'static GlobalTransform), With<Eye>>,
}

impl Mouse<'_, '_> {
    /// A ball about a place in the world, as it is seen.
    fn ball(&self, place: Vec3) -> Option<Ball> {
        let window = self.windows.single().ok()?;
        let (camera, view) = self.eyes.iter().find(|(camera, _)| camera.is_active)?;
        Some(Ball {
            center: camera.world_to_viewport(view, place).ok()?,
            radius: BALL * window.height(),
            cursor: window.cursor_position()?,
        })
    }
}

/// Left button: moves, with Ctrl in depth, with Shift it turns a ball. Middle button: to the
/// side it twists about the vertical, to and fro it rolls.
fn drag(
    mouse: Mouse,
    switches: Res<Switches>,
    docked: Res<Docked>,
    orbits: Query<&Orbit>,
    mut dragged: ResMut<Dragged>,
) {
    let delta = mouse.motion.delta;
    let scale = DRAG * orbits.iter().next().map_or(0.0, |orbit| orbit.distance);
    let (mut shift, mut turn) = (Vec3::ZERO, Vec3::ZERO);
    if mouse.buttons.pressed(MouseButton::Middle) {
        turn = Vec3::new(0.0, delta.x, -delta.y) * DRAG_TURN;
    } else if mouse.buttons.pressed(MouseButton::Left) {
        let keys = &mouse.keys;
        if switches.moves != Moves::Molecule {
            turn = Vec3::new(delta.y, delta.x, 0.0) * DRAG_TURN;
        } else if keys.any_pressed([KeyCode::ShiftLeft, KeyCode::ShiftRight]) {
            let session = &docked.0.session;
            let ball = mouse.ball(session.pose(session.config().moved).position);
            turn = ball.map_or(Vec3::ZERO, |ball| ball.turn(delta));
        } else if keys.any_pressed([KeyCode::ControlLeft, KeyCode::ControlRight]) {
            shift = Vec3::Z * delta.y * scale;
        } else {
            shift = Vec3::new(delta.x, -delta.y, 0.0) * scale;
        }
    }
    dragged.0 = ControlInput { shift, turn };
}

/// Turns the view, or the light, by what all hands want together.
fn turn_by_hand(
    time: Res<Time>,
    (hands, dragged): (Res<Hands>, Res<Dragged>),
    mut switches: ResMut<Switches>,
    mut orbits: Query<&mut Orbit>,
) {
    let (held, dragged) = (hands.0, dragged.0);
    if switches.moves == Moves::Molecule || held.is_nothing() && dragged.is_nothing() {
        return;
    }
    let motion = ControlSettings::default().motion(&held, Quat::IDENTITY, time.delta_secs());
    let turn = motion.rotation + dragged.turn;
    let right = motion.translation.x + turn.y;
    if switches.moves == Moves::Light {
        let up = switches.light.y + motion.translation.y - turn.x;
        switches.light.x += right;
        switches.light.y = up.clamp(-STEEPEST, STEEPEST);
        return;
    }
    for mut orbit in &mut orbits {
        orbit.yaw -= right;
        let up = orbit.pitch + motion.translation.y + turn.x;
        orbit.pitch = up.clamp(-STEEPEST, STEEPEST);
    }
}

/// Moves a molecule by what all hands want together: in the session, or its body.
fn move_by_hand(
    time: Res<Time>,
    (hands, dragged): (Res<Hands>, Res<Dragged>),
    switches: Res<Switches>,
    mut docked: ResMut<Docked>,
    mut pushed: ResMut<Pushed>,
    views: Query<&Transform, With<Orbit>>,
) {
    let (held, dragged) = (hands.0, dragged.0);
    pushed.driven = None;
    let still = held.is_nothing() && dragged.is_nothing();
    if still || switches.moves != Moves::Molecule || !docked.0.to_play.is_empty() {
        return;
    }
    let session = &docked.0.session;
    let moved = session.config().moved;
    let screen = views
        .iter()
        .next()
        .map_or(Quat::IDENTITY, |view| view.rotation);
    let axes = if switches.object_space {
        session.pose(moved).rotation
    } else {
        screen
    };
    let hand = ControlSettings::default();
    let seconds = time.delta_secs().min(hand.longest_frame);
    let mut motion = hand.motion(&held, axes, seconds);
    motion.translation += axes * dragged.shift;
    motion.rotation += axes * dragged.turn;
    if docked.0.pushes_bodies() {
        let radius = session.template(moved).bounding_radius();
        pushed.driven = Some((moved, hand.velocity(&motion, seconds, radius)));
    } else {
        docked.0.input(&SessionInput::Move(motion));
    }
}

/// Name of a molecule for people.
pub fn name_of(part: Role) -> &'static str {
    match part {
        Role::Receptor => "receptor",
        Role::Ligand => "ligand",
    }
}
