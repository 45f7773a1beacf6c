//! Johnson and Whalley (2002).

mod protein_steps;
mod reactions;

use crate::Options;
use crate::common::{Done, Run};

pub fn run(run: &mut Run, _: &Options) -> Done {
    protein_steps::run(run)?;
    reactions::run(run)
}
