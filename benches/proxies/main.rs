//! Proxy spheres: searches over mixed sphere sizes, contacts by atoms and by proxies, and
//! coarse-to-fine relaxation.
//!
//! Rounds are interleaved and the best round is reported.

#[path = "../common/mod.rs"]
mod common;
mod crowd;
mod mixed;
mod relax;
mod sizes;

use std::process::ExitCode;

use bevy_rapier_molecules::search::{HierarchicalGrid, PairBuffer, PairSearch, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;
use common::Part;
use common::interleave::{Rounds, interleave, ms};

/// Spheres in `mixed` and `sizes`.
const SPHERES: u32 = 100_000;

/// Their volume divided by that of the box, close to the densest of Kim, Guibas and Shin.
const FILL: f32 = 0.4;

/// Rounds.
const GRID_ROUNDS: usize = 3;

fn main() -> ExitCode {
    let about = "Proxy spheres and mixed sphere sizes";
    let parts = [
        Part::new(
            "mixed",
            "uniform against hierarchical grid, radii from 0.1 to 10",
            mixed::run,
        ),
        Part::new(
            "sizes",
            "the same for increasing ratios of the radii",
            sizes::run,
        ),
        Part::new(
            "crowd",
            "1,000 hemoglobins by atoms, by proxies, and by proxies then atoms",
            crowd::run,
        ),
        Part::new("relax", "coarse-to-fine relaxation", relax::run),
    ];
    common::run("proxies", about, &parts)
}

/// A uniform and a hierarchical grid.
#[derive(Default)]
struct Grids {
    uniform: UniformGrid,
    hierarchy: HierarchicalGrid,
    /// Pairs found by each.
    found: [PairBuffer; 2],
}

impl Grids {
    /// Best round of each, ms.
    fn race(&mut self, rounds: usize, spheres: &SphereSet) -> [f64; 2] {
        let [one, several] = &mut self.found;
        let mut competitors: [(&mut dyn PairSearch, _); 2] =
            [(&mut self.uniform, one), (&mut self.hierarchy, several)];
        let samples = interleave(
            Rounds::exactly(rounds),
            &mut competitors,
            |_, (search, pairs)| {
                let times = search.find_pairs(spheres, 0.0, pairs);
                times.expect("the spheres are finite")
            },
        );
        [ms(samples[0].best()), ms(samples[1].best())]
    }
}
