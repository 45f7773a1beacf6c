//! The command line.

use std::path::PathBuf;

use bevy_rapier_molecules::docking::ResponseMode;
use bevy_rapier_molecules::molecule::DEFAULT_RADIUS_SCALE;
use clap::{Parser, ValueEnum};

use super::common;
use super::common::SceneArguments;

/// Docks a ligand to a receptor by hand, from a log, or by a search.
///
/// Random is only what --search does. A GPU works in the window only, where it finds the
/// contacts of bodies that push each other.
#[derive(Parser)]
#[command(after_help = common::EXIT_CODES)]
pub struct Arguments {
    /// Molecule that is docked to: .pdb, .ent, .cif, .mmcif or .bcif, plain or gzipped
    /// [default: T4 lysozyme L99A].
    pub receptor: Option<PathBuf>,
    /// Molecule that is docked [default: p-xylene].
    #[arg(requires = "receptor")]
    pub ligand: Option<PathBuf>,
    /// What happens when molecules meet.
    #[arg(long, value_enum, default_value_t = Mode::Slide)]
    pub response: Mode,
    /// Where the ligand begins.
    #[arg(long, value_enum, default_value_t = Start::Outside)]
    pub start: Start,
    /// Radii of the atoms in units of their van der Waals radii.
    #[arg(long, value_name = "X", default_value_t = DEFAULT_RADIUS_SCALE)]
    #[arg(allow_negative_numbers = true)]
    pub radius_scale: f32,
    /// Time each check also by brute force.
    #[arg(short, long)]
    pub brute_force: bool,
    /// Record the session to this file.
    #[arg(long, value_name = "FILE", conflicts_with = "play")]
    pub log: Option<PathBuf>,
    /// Play a recorded session back.
    #[arg(long, value_name = "FILE")]
    pub play: Option<PathBuf>,
    /// Look for the place where the ligand belongs, and begin there.
    #[arg(long, conflicts_with = "play")]
    pub search: bool,
    /// How the molecules are seen by two eyes.
    #[arg(long, value_enum, default_value_t = Stereo::Off)]
    pub stereo: Stereo,
    /// Draw only every third pixel of the receptor, so that the ligand is seen inside.
    #[arg(long)]
    pub transparent: bool,
    /// Number of steps without a window or before a screenshot: inputs of --play [default: all].
    #[arg(long, value_name = "N", requires = "play")]
    pub steps: Option<usize>,
    #[command(flatten)]
    pub scene: SceneArguments,
}

/// What happens when molecules meet.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// The moved one stops where it touches.
    Stop,
    /// Nothing stops; atoms that overlap are red.
    Cue,
    /// The moved one goes on along the surface.
    Slide,
    /// The moved one pushes the other away: in the window as bodies, else step by step.
    Push,
}

impl From<Mode> for ResponseMode {
    fn from(mode: Mode) -> Self {
        match mode {
            Mode::Stop => Self::Stop,
            Mode::Cue => Self::Cue,
            Mode::Slide => Self::Slide,
            Mode::Push => Self::Push,
        }
    }
}

/// Where the ligand begins.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Start {
    /// Beside the receptor.
    Outside,
    /// Where its file has it.
    File,
}

/// How the molecules are seen by two eyes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stereo {
    /// One picture.
    Off,
    /// A picture for each eye, side by side: the left one for the left eye.
    Parallel,
    /// The same for who squints: the left one for the right eye.
    Crossed,
    /// Both in one picture, for red and cyan glasses.
    Anaglyph,
}

impl Stereo {
    /// The next one.
    pub fn next(self) -> Self {
        match self {
            Self::Off => Self::Parallel,
            Self::Parallel => Self::Crossed,
            Self::Crossed => Self::Anaglyph,
            Self::Anaglyph => Self::Off,
        }
    }
}
