//! Pairs of spheres by pairs of molecules, as a search finds them that groups by itself.

use glam::Vec3;

use crate::search::{GridCell, Pair, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// The pairs between two molecules: owners `a` < `b`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairGroup {
    /// The owner with the smaller index.
    pub a: u32,
    /// The owner with the larger index.
    pub b: u32,
    /// Its first pair among those that are kept.
    pub first: u32,
    /// How many of its pairs are kept.
    pub kept: u32,
    /// How many of its pairs overlap.
    pub overlaps: u32,
    /// Deepest overlap, nm; negative is a gap.
    pub penetration: f32,
}

/// What a [`GroupSearch`] finds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairGroups {
    /// The groups, sorted by `a`, then `b`.
    pub groups: Vec<PairGroup>,
    /// The pairs that are kept for the solver, group after group: 16 of a group at most.
    pub kept: Vec<Pair>,
    /// Number of pairs, kept or not.
    pub candidates: usize,
}

impl PairGroups {
    /// Removes all groups and keeps the memory.
    pub fn clear(&mut self) {
        self.groups.clear();
        self.kept.clear();
        self.candidates = 0;
    }
}

/// Finds the pairs of a [`PairSearch`](crate::search::PairSearch), and tells only which
/// molecules have some and the few of them that the solver needs: for searches on a device
/// from which pairs are slow to fetch.
///
/// The groups, and the pairs that are kept, are those that the crowd itself makes of the
/// pairs of a [`UniformGrid`](crate::search::UniformGrid).
pub trait GroupSearch: Send + Sync {
    /// Name for command lines and reports.
    fn name(&self) -> &'static str;

    /// Groups every pair closer than its radii plus `margin` (nm). What `found` held
    /// before is dropped.
    ///
    /// # Errors
    /// As [`PairSearch::find_pairs`](crate::search::PairSearch::find_pairs); nothing is
    /// found then.
    fn find_groups(
        &mut self,
        spheres: &SphereSet,
        margin: f32,
        found: &mut PairGroups,
    ) -> Result<SearchTimes, SearchError>;

    /// See [`PairSearch::cell_around`](crate::search::PairSearch::cell_around).
    fn cell_around(&self, _point: Vec3) -> Option<GridCell> {
        None
    }
}
