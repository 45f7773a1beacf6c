//! Command-line options.

use bevy_rapier_molecules::prelude::ContactModel;
use clap::{Parser, ValueEnum};

use super::common::{EXIT_CODES, SceneArguments};

/// Default of `--steps`: ten seconds.
const DEFAULT_STEPS: u32 = 600;

/// The end of `--help`, before the exit codes.
const KEYS: &str = "\
Keys: C contacts by crowd or solver, Space pause, R restart, N drop another protein, \
T color collisions, Esc quit. Mouse: left grabs and throws, right turns, wheel zooms.

A step is 1/60 s. Lengths are in nanometers, masses in dalton.";

/// Drops proteins into a box with blocks, balls and a ramp; one hangs on a rope.
///
/// In the window you can grab and throw them. Without a window, a report describes the final
/// state. The backend finds the contacts of the crowd.
#[derive(Parser)]
#[command(after_help = format!("{KEYS}\n\n{EXIT_CODES}"))]
pub struct Arguments {
    /// Number of proteins.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 20,
        visible_alias = "molecules"
    )]
    #[arg(value_parser = clap::value_parser!(u32).range(1..=20_000))]
    pub proteins: u32,
    /// Contact model between proteins.
    #[arg(long, value_enum, default_value_t = Contacts::Crowd)]
    pub contacts: Contacts,
    /// Substeps per step; more make contacts stiffer.
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub substeps: u16,
    /// Number of steps without a window or before a screenshot.
    #[arg(long, value_name = "N", default_value_t = DEFAULT_STEPS)]
    pub steps: u32,
    /// Color collisions from the start.
    #[arg(long)]
    pub tint: bool,
    #[command(flatten)]
    pub scene: SceneArguments,
}

/// Names of the contact models.
#[derive(Clone, Copy, ValueEnum)]
pub enum Contacts {
    /// The search and the contact solver of this crate.
    Crowd,
    /// Rapier's narrow phase and solver.
    Solver,
}

impl From<Contacts> for ContactModel {
    fn from(contacts: Contacts) -> Self {
        match contacts {
            Contacts::Crowd => Self::Crowd,
            Contacts::Solver => Self::Solver,
        }
    }
}
