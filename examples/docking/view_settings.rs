//! What is switched by one press and matters to the window only.

use bevy::app::AppExit;
use bevy::prelude::*;
use bevy_rapier_molecules::docking::Role;
use bevy_rapier_molecules::prelude::ColorMode;

use super::arguments::{Arguments, Stereo};

/// Radian of rocking for each press.
const ROCKING_STEP: f32 = 0.05;

/// Distance of the eyes for each press, in units of the view's distance.
const EYES_STEP: f32 = 0.01;

/// What hands move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moves {
    /// One of the molecules.
    Molecule,
    View,
    Light,
}

/// Everything that is switched and matters to the window only.
#[derive(Resource)]
pub struct Switches {
    pub moves: Moves,
    /// Whether motions are along the axes of the moved molecule, not of the screen.
    pub object_space: bool,
    /// Which molecule is seen through.
    pub transparent: Option<Role>,
    /// Whether overlapping atoms flash, and the background when a collision begins.
    pub flash: bool,
    /// Whether the terminal beeps at a collision.
    pub beep: bool,
    /// How far the view rocks to and fro, radian; 0 for not at all.
    pub rocking: f32,
    pub stereo: Stereo,
    /// Distance of the eyes in units of the view's distance.
    pub eyes: f32,
    /// Whether light comes from the camera rather than from where it was put.
    pub headlight: bool,
    /// Where the light is as the camera sees it: to the right and up, radian.
    pub light: Vec2,
    pub color: ColorMode,
    /// Whether checks are timed against brute force.
    pub brute_force: bool,
}

impl From<&Arguments> for Switches {
    fn from(arguments: &Arguments) -> Self {
        Self {
            moves: Moves::Molecule,
            object_space: false,
            transparent: arguments.transparent.then_some(Role::Receptor),
            flash: true,
            beep: false,
            rocking: 0.0,
            stereo: arguments.stereo,
            eyes: 0.06,
            headlight: false,
            light: Vec2::new(-0.54, 0.66),
            color: ColorMode::Group,
            brute_force: arguments.brute_force,
        }
    }
}

impl Switches {
    /// Begins to move something, or goes back to the molecule.
    fn toggle(&mut self, what: Moves) {
        let already = self.moves == what;
        self.moves = if already { Moves::Molecule } else { what };
    }

    fn press(&mut self, key: KeyCode) {
        match key {
            KeyCode::Tab | KeyCode::Space => self.toggle(Moves::View),
            KeyCode::KeyL => self.toggle(Moves::Light),
            KeyCode::KeyI => self.headlight = !self.headlight,
            KeyCode::KeyO => self.object_space = !self.object_space,
            KeyCode::KeyT => {
                self.transparent = match self.transparent {
                    None => Some(Role::Receptor),
                    Some(Role::Receptor) => Some(Role::Ligand),
                    Some(Role::Ligand) => None,
                };
            }
            KeyCode::KeyF => self.flash = !self.flash,
            KeyCode::KeyB => self.beep = !self.beep,
            KeyCode::KeyR => {
                let rocks = self.rocking > 0.0;
                self.rocking = if rocks { 0.0 } else { 2.0 * ROCKING_STEP };
            }
            KeyCode::Comma => self.rocking = (self.rocking - ROCKING_STEP).max(0.0),
            KeyCode::Period => self.rocking = (self.rocking + ROCKING_STEP).min(1.0),
            KeyCode::KeyX => self.stereo = self.stereo.next(),
            KeyCode::BracketLeft => self.eyes = (self.eyes - EYES_STEP).max(0.0),
            KeyCode::BracketRight => self.eyes = (self.eyes + EYES_STEP).min(0.3),
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

/// Listens to the keys of the switches.
pub fn switch(
    keys: Res<ButtonInput<KeyCode>>,
    mut switches: ResMut<Switches>,
    mut exits: MessageWriter<AppExit>,
) {
    for key in keys.get_just_pressed() {
        if *key == KeyCode::Escape {
            exits.write(AppExit::Success);
        }
        switches.press(*key);
    }
}
