//! The pairs of a search over all spheres, grouped by molecules.

use glam::Vec3;
use rayon::prelude::*;

use super::FoundPairs;
use crate::search::{Pair, PairBuffer};
use crate::spheres::SphereSet;

/// Groups the pairs that a [`PairSearch`](crate::search::PairSearch) found by molecules.
#[derive(Default)]
pub(crate) struct PairsByMolecules {
    /// All pairs, sorted by molecules.
    sorted: Vec<OwnedPair>,
    /// Those of one group.
    pairs: Vec<Pair>,
    gaps: Vec<f32>,
    centers: Vec<[Vec3; 2]>,
}

/// A pair of spheres, and what it is sorted by.
#[derive(Clone, Copy)]
struct OwnedPair {
    /// The two molecules, as a [`Pair::key`].
    molecules: u64,
    pair: Pair,
}

impl PairsByMolecules {
    /// Passes the `pairs` of `spheres` to `receive`, molecules by molecules, sorted.
    pub fn visit(
        &mut self,
        spheres: &SphereSet,
        pairs: &PairBuffer,
        mut receive: impl FnMut(&FoundPairs<'_>),
    ) {
        self.sorted.clear();
        self.sorted.extend(pairs.iter().map(|pair| {
            let [a, b] = [pair.a, pair.b].map(|sphere| spheres.owner(sphere as usize));
            let molecules = Pair { a, b }.key();
            OwnedPair { molecules, pair }
        }));
        self.sorted
            .par_sort_unstable_by_key(|one| (one.molecules, one.pair));
        for group in self
            .sorted
            .chunk_by(|one, other| one.molecules == other.molecules)
        {
            self.pairs.clear();
            self.gaps.clear();
            self.centers.clear();
            for &OwnedPair { pair, .. } in group {
                self.pairs.push(pair);
                self.gaps.push(pair.gap(spheres));
                let centers = [pair.a, pair.b].map(|sphere| spheres.center(sphere as usize));
                self.centers.push(centers);
            }
            let Pair { a, b } = Pair::from_key(group[0].molecules);
            receive(&FoundPairs {
                a,
                b,
                shift: Vec3::ZERO,
                pairs: &self.pairs,
                gaps: &self.gaps,
                centers: &self.centers,
            });
        }
    }
}
