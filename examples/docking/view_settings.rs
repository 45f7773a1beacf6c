//! Settings of the window that keys change.

use bevy::app::AppExit;
use bevy::prelude::*;
use bevy_rapier_molecules::docking::Role;
use bevy_rapier_molecules::prelude::ColorMode;

use super::arguments::{Arguments, Stereo};
use super::window::Docked;

/// Change of the rocking amplitude per key press, radian.
const ROCKING_STEP: f32 = 0.05;

/// Change of the eye distance per key press, relative to the camera distance.
const EYE_DISTANCE_STEP: f32 = 0.01;

/// What the controls move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ControlTarget {
    /// The active molecule.
    Molecule,
    /// The camera.
    Camera,
    /// The light.
    Light,
}

/// Settings of the window.
#[derive(Resource)]
pub struct ViewSettings {
    pub target: ControlTarget,
    /// Whether motions are along the axes of the molecule instead of the screen.
    pub object_space: bool,
    /// The transparent molecule.
    pub transparent: Option<Role>,
    /// Whether overlapping atoms and the background flash.
    pub flash: bool,
    /// Whether the terminal bell rings at a collision.
    pub beep: bool,
    /// Amplitude of the rocking, radian.
    pub rocking: f32,
    pub stereo: Stereo,
    /// Eye distance relative to the camera distance.
    pub eye_distance: f32,
    /// Whether the light is at the camera.
    pub headlight: bool,
    /// Direction of the light relative to the camera: right and up, radian.
    pub light: Vec2,
    pub color: ColorMode,
    /// Whether overlap checks are compared with brute force.
    pub brute_force: bool,
}

impl From<&Arguments> for ViewSettings {
    fn from(arguments: &Arguments) -> Self {
        Self {
            target: ControlTarget::Molecule,
            object_space: false,
            transparent: arguments.transparent.then_some(Role::Receptor),
            flash: true,
            beep: false,
            rocking: 0.0,
            stereo: arguments.stereo,
            eye_distance: 0.06,
            headlight: false,
            light: Vec2::new(-0.54, 0.66),
            color: ColorMode::Group,
            brute_force: arguments.brute_force,
        }
    }
}

impl ViewSettings {
    /// Switches the controls to a target, or back to the molecule.
    fn toggle(&mut self, target: ControlTarget) {
        let is_active = self.target == target;
        self.target = if is_active {
            ControlTarget::Molecule
        } else {
            target
        };
    }

    /// Reacts to a key. `last` is the last ligand.
    fn press(&mut self, key: KeyCode, last: Role) {
        match key {
            KeyCode::Tab | KeyCode::Space => self.toggle(ControlTarget::Camera),
            KeyCode::KeyL => self.toggle(ControlTarget::Light),
            KeyCode::KeyI => self.headlight = !self.headlight,
            KeyCode::KeyO => self.object_space = !self.object_space,
            KeyCode::KeyT => {
                self.transparent = match self.transparent {
                    None => Some(Role::Receptor),
                    Some(role) if role == last => None,
                    Some(role) => Some(Role::of(role.index() + 1)),
                };
            }
            KeyCode::KeyF => self.flash = !self.flash,
            KeyCode::KeyB => self.beep = !self.beep,
            KeyCode::KeyR => {
                let is_rocking = self.rocking > 0.0;
                self.rocking = if is_rocking { 0.0 } else { 2.0 * ROCKING_STEP };
            }
            KeyCode::Comma => self.rocking = (self.rocking - ROCKING_STEP).max(0.0),
            KeyCode::Period => self.rocking = (self.rocking + ROCKING_STEP).min(1.0),
            KeyCode::KeyX => self.stereo = self.stereo.next(),
            KeyCode::BracketLeft => {
                self.eye_distance = (self.eye_distance - EYE_DISTANCE_STEP).max(0.0);
            }
            KeyCode::BracketRight => {
                self.eye_distance = (self.eye_distance + EYE_DISTANCE_STEP).min(0.3);
            }
            KeyCode::KeyK => {
                self.color = match self.color {
                    ColorMode::Group => ColorMode::Element,
                    ColorMode::Element => ColorMode::Chain,
                    _ => ColorMode::Group,
                };
            }
            _ => {}
        }
    }
}

/// Handles the keys of the window.
pub fn change_view_settings(
    keys: Res<ButtonInput<KeyCode>>,
    docked: Res<Docked>,
    mut settings: ResMut<ViewSettings>,
    mut exits: MessageWriter<AppExit>,
) {
    for key in keys.get_just_pressed() {
        if *key == KeyCode::Escape {
            exits.write(AppExit::Success);
        }
        let last = docked.0.session.roles().next_back();
        settings.press(*key, last.unwrap_or(Role::LIGAND));
    }
}
