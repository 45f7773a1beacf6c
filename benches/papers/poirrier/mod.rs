//! Poirrier (2009): linear kd-trees on falling spheres. One thread, CPU times, as in the paper.

mod choice;
mod competitor;
mod figures;
mod measure;
mod settings;
mod splitting;
mod tables;

use bevy_rapier_molecules::scenes::{FallingConfig, FallingSpheres};
use bevy_rapier_molecules::search::{PairBuffer, PairSearch, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;

use crate::Options;
use crate::common::{Done, Run};

/// Results that may cross threads.
type Checked<T> = Result<T, String>;

/// The paper's early and late steps.
const EARLY: std::ops::RangeInclusive<u32> = 0..=10;
const LATE: std::ops::RangeInclusive<u32> = 50..=60;

/// Number of runs of which the paper states the mean.
const RUNS: u64 = 4;

pub fn run(run: &mut Run, options: &Options) -> Done {
    splitting::run(run)?;
    choice::run(run)?;
    settings::run(run)?;
    figures::run(run, options)?;
    tables::run(run, options)
}

/// Lets spheres fall up to step `last`. Calls `visit` in each step with the overlapping pairs,
/// before they are separated.
fn fall(
    config: &FallingConfig,
    last: u32,
    mut visit: impl FnMut(u32, &SphereSet, &PairBuffer) -> Checked<()>,
) -> Checked<()> {
    let mut falling = FallingSpheres::new(config).map_err(|error| error.to_string())?;
    let (mut grid, mut pairs) = (UniformGrid::new(), PairBuffer::new());
    for step in 0..=last {
        falling.advance();
        grid.find_pairs(falling.spheres(), 0.0, &mut pairs)
            .map_err(|error| error.to_string())?;
        visit(step, falling.spheres(), &pairs)?;
        falling.respond(&pairs);
    }
    Ok(())
}

/// Runs on one thread. Times of this thread are those of the searches.
fn on_one_thread<T: Send>(run: impl FnOnce() -> Checked<T> + Send) -> Checked<T> {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
    pool.map_err(|error| error.to_string())?.install(run)
}
