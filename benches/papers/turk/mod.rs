//! Turk (1989): the full and the hashed grid of *bump*, its static check, and its motion until
//! contact.
//!
//! The molecules are those of this crate without hydrogens, with the radii of the paper; the
//! receptor and the ligand of its timings are dihydrofolate reductase and trimethoprim, too.

mod cell_lists;
mod check;
mod density;
mod molecules;
mod path;
mod scene;
mod timing;

use crate::Options;
use crate::common::{Done, Run};

pub fn run(run: &mut Run, _: &Options) -> Done {
    density::run(run)?;
    timing::run(run)?;
    path::run(run)
}
