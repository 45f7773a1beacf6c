//! Searches whose result is grouped by pairs of molecules.

use glam::Vec3;

use super::OwnerIndex;
use crate::search::{GridCell, Pair, SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// The candidate pairs between two molecules, owners `a` < `b`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct PairGroup {
    /// The owner with the smaller index.
    pub a: OwnerIndex,
    /// The owner with the larger index.
    pub b: OwnerIndex,
    /// Index of its first pair in [`PairGroups::kept`].
    pub first: u32,
    /// Number of pairs kept.
    pub kept: u32,
    /// Number of pairs that overlap, kept or not.
    pub overlaps: u32,
    /// Deepest overlap, nm; negative is a gap.
    pub penetration: f32,
}

/// Result of a [`GroupSearch`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct PairGroups {
    /// The groups, sorted by `a`, then `b`.
    pub groups: Vec<PairGroup>,
    /// The pairs kept for the solver, group after group: at most 16 per group.
    pub kept: Vec<Pair>,
    /// Number of candidate pairs, kept or not.
    pub candidates: usize,
}

impl PairGroups {
    /// Removes all groups and keeps the memory.
    pub fn clear(&mut self) {
        self.groups.clear();
        self.kept.clear();
        self.candidates = 0;
    }

    /// The pairs kept of one of the groups.
    pub(super) fn kept_of(&self, group: &PairGroup) -> &[Pair] {
        &self.kept[group.first as usize..(group.first + group.kept) as usize]
    }
}

/// Finds candidate pairs as a [`PairSearch`](crate::search::PairSearch) does, and returns only
/// which molecules have some and the few that the solver needs. A GPU implements it to avoid
/// the readback of all pairs.
///
/// All implementations return what a [`PairGrouper`](super::PairGrouper) makes of the pairs of
/// a [`UniformGrid`](crate::search::UniformGrid).
pub trait GroupSearch: Send + Sync {
    /// Name for command lines and reports.
    fn name(&self) -> &'static str;

    /// Replaces `found` by the groups of all pairs closer than their radii plus `margin`, nm.
    ///
    /// # Errors
    /// As [`PairSearch::find_pairs`](crate::search::PairSearch::find_pairs); `found` is empty then.
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
