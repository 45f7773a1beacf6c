//! Johnson and Whalley (2002): cell lists under Brownian motion.
//!
//! Times are CPU times of one thread.

mod cells;
mod figure6;
mod protein_steps;
mod reactions;
mod scene;
mod subdivisions;

use crate::Options;
use crate::common::{Done, Run};

pub fn run(run: &mut Run, options: &Options) -> Done {
    std::fs::create_dir_all(&options.out)
        .map_err(|error| format!("{}: {error}", options.out.display()))?;
    scene::diffusion(run)?;
    figure6::run(run, &options.out)?;
    cells::run(run)?;
    subdivisions::run(run)?;
    protein_steps::run(run)?;
    reactions::run(run)
}
