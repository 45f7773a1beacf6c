//! A full step of a physics world in a Bevy app: both contact models of this crate against
//! each other and against Rapier `Compound`s of balls.
//!
//! Rounds are interleaved, so that noise on the machine affects all worlds alike. `worlds` has
//! 746 lipids (99,964 atoms) and takes the best time of each step over rounds that start from
//! the same state; `overhead` measures what the plugin adds to Rapier's step for 29,850 lipids
//! without colliders. The other parts have a row per world: the best and the median of its
//! steps, the medians of their stages, and the counted work of the search.

#[path = "../common/mod.rs"]
mod common;
mod dense;
mod lipids;
mod pile;
#[path = "../../examples/playground/plan.rs"]
#[allow(dead_code, reason = "the playground uses more of its plan")]
mod plan;
mod searches;
mod spawning;
mod vesicle;
mod world;

use std::process::ExitCode;

use clap::Args;
use common::Part;

#[derive(Args)]
struct Options {
    /// Lipids in the compared worlds, separated by commas [default: 746].
    #[arg(long, value_name = "N", value_delimiter = ',')]
    lipids: Vec<u32>,
    /// Lattice constant of `dense` over the mean bounding radius of its proteins.
    #[arg(long, value_name = "RATIO", default_value_t = dense::SPACING)]
    spacing: f32,
}

fn main() -> ExitCode {
    let about = "Cost of a step of 1/60 s in a headless Bevy app";
    let parts = [
        Part::new(
            "worlds",
            "both contact models against Rapier's compounds of balls",
            lipids::worlds,
        ),
        Part::new(
            "overhead",
            "the stages of a step of 29,850 lipids without colliders",
            lipids::overhead,
        ),
        Part::new(
            "pile",
            "200 proteins in a pile, both contact models",
            pile::settled,
        ),
        Part::new(
            "falling",
            "1,000 falling proteins, both contact models",
            pile::falling,
        ),
        Part::new(
            "compounds",
            "500 proteins in a pile, against Rapier's compounds of balls",
            pile::compounds,
        ),
        Part::new(
            "dense",
            "10,000 proteins, about half of which touch others, and their memory",
            dense::run,
        ),
        Part::new(
            "spawning",
            "10,000 proteins, 100 of which are replaced in each frame",
            spawning::run,
        ),
        Part::new(
            "vesicle",
            "29,850 lipids held by springs, at rest and moving",
            vesicle::large,
        ),
        Part::new(
            "small-vesicle",
            "620 lipids held by springs, at rest and moving",
            vesicle::small,
        ),
        Part::new(
            "searches",
            "detection by molecules, against a grid over all atoms",
            searches::run,
        ),
    ];
    common::run("step", about, &parts)
}
