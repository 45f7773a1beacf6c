//! The command line.

use std::path::PathBuf;

use bevy_rapier_molecules::docking::ResponseMode;
use bevy_rapier_molecules::molecule::DEFAULT_RADIUS_SCALE;
use clap::{Parser, ValueEnum};

use super::common;
use super::common::SceneArguments;

/// Docks ligands to a receptor interactively, from a log, or by a search.
///
/// --seed affects --search only. --backend affects the response `push` in the window only.
#[derive(Parser)]
#[command(after_help = common::EXIT_CODES)]
pub struct Arguments {
    /// Receptor file: .pdb, .ent, .cif, .mmcif or .bcif, plain or gzipped [default: T4
    /// lysozyme L99A].
    pub receptor: Option<PathBuf>,
    /// Ligand file [default: p-xylene].
    #[arg(requires = "receptor")]
    pub ligand: Option<PathBuf>,
    /// Files of more ligands.
    #[arg(requires = "ligand")]
    pub more: Vec<PathBuf>,
    /// Collision response.
    #[arg(long, value_enum, default_value_t = Mode::Slide)]
    pub response: Mode,
    /// Start poses of the ligands.
    #[arg(long, value_enum, default_value_t = Start::Outside)]
    pub start: Start,
    /// Turn a rotatable bond of the first ligand from its file, in degrees. May be repeated. The
    /// report lists the bonds.
    #[arg(long, value_name = "BOND=ANGLE", value_parser = parse_torsion)]
    pub torsion: Vec<(usize, f32)>,
    /// Radii of the atoms in units of their van der Waals radii.
    #[arg(long, value_name = "X", default_value_t = DEFAULT_RADIUS_SCALE)]
    #[arg(allow_negative_numbers = true)]
    pub radius_scale: f32,
    /// Compare the duration of overlap checks with brute force.
    #[arg(short, long)]
    pub brute_force: bool,
    /// Record the session to a file.
    #[arg(long, value_name = "FILE", conflicts_with = "play")]
    pub log: Option<PathBuf>,
    /// Replay a recorded session.
    #[arg(long, value_name = "FILE")]
    pub play: Option<PathBuf>,
    /// Search the pose of lowest energy and start there.
    #[arg(long, conflicts_with = "play")]
    pub search: bool,
    /// Stereo mode.
    #[arg(long, value_enum, default_value_t = Stereo::Off)]
    pub stereo: Stereo,
    /// Make the receptor transparent.
    #[arg(long)]
    pub transparent: bool,
    /// Number of steps without a window or before a screenshot: inputs of --play [default: all].
    #[arg(long, value_name = "N", requires = "play")]
    pub steps: Option<usize>,
    #[command(flatten)]
    pub scene: SceneArguments,
}

/// Collision response.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Mode {
    /// Stop at the first contact.
    Stop,
    /// Pass through and mark overlapping atoms in red.
    Cue,
    /// Slide along the surface.
    Slide,
    /// Push other molecules away: as rigid bodies in the window, by sliding otherwise.
    Push,
}

/// Parses the index of a bond and an angle in degrees.
fn parse_torsion(text: &str) -> Result<(usize, f32), String> {
    let parsed = text.split_once('=').and_then(|(bond, angle)| {
        let angle: f32 = angle.parse().ok()?;
        Some((bond.parse().ok()?, angle)).filter(|_| angle.is_finite())
    });
    parsed.ok_or_else(|| "expected the index of a bond and an angle, such as 3=120".to_owned())
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

/// Start poses of the ligands.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Start {
    /// Beside the receptor.
    Outside,
    /// At the poses of their files.
    File,
}

/// Stereo mode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Stereo {
    /// No stereo.
    Off,
    /// Side by side, with the left image for the left eye.
    Parallel,
    /// Side by side, with the left image for the right eye.
    Crossed,
    /// Both images in one, for red and cyan glasses.
    Anaglyph,
}

impl Stereo {
    /// The next mode.
    pub fn next(self) -> Self {
        match self {
            Self::Off => Self::Parallel,
            Self::Parallel => Self::Crossed,
            Self::Crossed => Self::Anaglyph,
            Self::Anaglyph => Self::Off,
        }
    }
}
