//! What few large spheres save: searches of spheres of many sizes, contacts of molecules at
//! several levels of detail, relaxation from coarse to fine.
//!
//! Contestants take turns, and of each the best turn counts.

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
use common::turns::{Rounds, in_turns, ms};

/// Number of spheres that one grid and a hierarchy compete for.
const SPHERES: u32 = 100_000;

/// Volume of these in that of their box. Those of Kim, Guibas and Shin fill nearly half of
/// theirs.
const FILL: f32 = 0.4;

/// Rounds of their contest.
const GRID_ROUNDS: usize = 3;

fn main() -> ExitCode {
    let about = "What few large spheres save";
    let parts = [
        Part::new(
            "mixed",
            "one grid against a hierarchy, radii from 0.1 to 10",
            mixed::run,
        ),
        Part::new(
            "sizes",
            "the same, for more and more spread sizes",
            sizes::run,
        ),
        Part::new(
            "crowd",
            "1,000 hemoglobins by atoms, by proxies, and by proxies first",
            crowd::run,
        ),
        Part::new("relax", "relaxation from coarse to fine", relax::run),
    ];
    common::run("proxies", about, &parts)
}

/// One grid against a hierarchy of grids.
#[derive(Default)]
struct Grids {
    uniform: UniformGrid,
    hierarchy: HierarchicalGrid,
    /// What each found.
    found: [PairBuffer; 2],
}

impl Grids {
    /// The best round of each, ms.
    fn race(&mut self, rounds: usize, spheres: &SphereSet) -> [f64; 2] {
        let [one, several] = &mut self.found;
        let mut contestants: [(&mut dyn PairSearch, _); 2] =
            [(&mut self.uniform, one), (&mut self.hierarchy, several)];
        let laps = in_turns(
            Rounds::exactly(rounds),
            &mut contestants,
            |_, (search, pairs)| {
                let times = search.find_pairs(spheres, 0.0, pairs);
                times.expect("the spheres are finite")
            },
        );
        [ms(laps[0].best()), ms(laps[1].best())]
    }
}
