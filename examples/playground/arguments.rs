//! Options of the command line.

use bevy_rapier_molecules::prelude::ContactModel;
use clap::{Parser, ValueEnum};

use super::common::EXIT_CODES;
use super::screen::SceneArguments;

/// Steps without a window, unless told otherwise: ten seconds.
const STEPS: u32 = 600;

/// What the end of `--help` says before the exit codes.
const KEYS: &str = "\
Keys: C contacts by crowd or solver, Space pause, R start again, N another protein, \
T color what collides, Esc quit. Mouse: left grabs and throws, right turns, wheel zooms.

A step is 1/60 s. One unit is a nanometer, masses are dalton.";

/// Drops proteins into a box with blocks, balls, a ramp and one of them on a rope.
///
/// With a window you can grab and throw them; without, a report says how they lie. Who does
/// the work finds the contacts of a crowd.
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
    /// How proteins meet each other.
    #[arg(long, value_enum, default_value_t = Contacts::Crowd)]
    pub contacts: Contacts,
    /// Substeps of a step; more make contacts stiffer.
    #[arg(long, value_name = "N", default_value_t = 4)]
    #[arg(value_parser = clap::value_parser!(u16).range(1..=1000))]
    pub substeps: u16,
    /// Steps without a window, or before a picture.
    #[arg(long, value_name = "N", default_value_t = STEPS)]
    pub steps: u32,
    /// Start with the colors of what collides.
    #[arg(long)]
    pub tint: bool,
    #[command(flatten)]
    pub scene: SceneArguments,
}

/// The contact models by name.
#[derive(Clone, Copy, ValueEnum)]
pub enum Contacts {
    /// By the search and the solver of this crate.
    Crowd,
    /// By Rapier's own.
    Solver,
}

impl From<Contacts> for ContactModel {
    fn from(contacts: Contacts) -> Self {
        match contacts {
            Contacts::Crowd => Self::Crowd,
            Contacts::Solver => Self::Rapier,
        }
    }
}
