//! Candidate pairs of spheres, grouped by pairs of molecules.

use std::sync::Arc;

use glam::Vec3;

use super::contact_reduction::ReducedPairs;
use super::{MovingBody, OwnerIndex};
use crate::search::{
    GridCell, Pair, PairBuffer, PairSearch, PairsByMolecules, RigidSpheres, SearchError,
    SearchTimes,
};
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

    /// Adds the group of the pairs between two molecules, which come after all others.
    pub(super) fn push(&mut self, molecules: [u32; 2], pairs: &[Pair], gaps: &[f32]) {
        let reduced = ReducedPairs::new(pairs, gaps);
        self.groups.push(PairGroup {
            a: OwnerIndex(molecules[0]),
            b: OwnerIndex(molecules[1]),
            first: self.kept.len() as u32,
            kept: reduced.pairs().len() as u32,
            overlaps: reduced.overlaps,
            penetration: reduced.penetration,
        });
        self.kept.extend_from_slice(reduced.pairs());
        self.candidates += pairs.len();
    }

    /// Adds the groups of `others`, which come after all others.
    pub(super) fn append(&mut self, others: &Self) {
        let first = self.kept.len() as u32;
        self.groups
            .extend(others.groups.iter().map(|group| PairGroup {
                first: group.first + first,
                ..*group
            }));
        self.kept.extend_from_slice(&others.kept);
        self.candidates += others.candidates;
    }

    /// The pairs kept of one of the groups.
    pub(super) fn kept_of(&self, group: &PairGroup) -> &[Pair] {
        &self.kept[group.first as usize..(group.first + group.kept) as usize]
    }
}

/// Finds the candidate pairs of rigid molecules, and returns only which molecules have some and
/// the few that the solver needs. A GPU implements it to avoid the readback of all pairs.
///
/// All implementations return what a [`PairGrouper`](super::PairGrouper) makes of the pairs of
/// a [`UniformGrid`](crate::search::UniformGrid).
pub trait GroupSearch: Send + Sync {
    /// Name for command lines and reports.
    fn name(&self) -> &'static str;

    /// Sets the spheres of each molecule, in its body frame.
    ///
    /// # Errors
    /// [`SearchError`] if they do not fit.
    fn set_molecules(&mut self, molecules: &[Arc<RigidSpheres>]) -> Result<(), SearchError>;

    /// Replaces `found` by the groups of all pairs closer than their radii plus `margin`, nm, with
    /// the molecules at the poses of `bodies`.
    ///
    /// # Errors
    /// As [`PairSearch::find_pairs`](crate::search::PairSearch::find_pairs); `found` is empty then.
    fn find_groups(
        &mut self,
        bodies: &[MovingBody],
        margin: f32,
        found: &mut PairGroups,
    ) -> Result<SearchTimes, SearchError>;

    /// See [`PairSearch::cell_around`](crate::search::PairSearch::cell_around).
    fn cell_around(&self, _point: Vec3) -> Option<GridCell> {
        None
    }
}

/// Groups the pairs of a [`PairSearch`] among all spheres: the reference for searches that group
/// on a device, and for [`MoleculeSearch`](crate::search::MoleculeSearch).
pub struct PairGrouper {
    search: Box<dyn PairSearch>,
    molecules: Vec<Arc<RigidSpheres>>,
    first_sphere: Vec<u32>,
    spheres: SphereSet,
    pairs: PairBuffer,
    by_molecules: PairsByMolecules,
}

impl PairGrouper {
    /// Groups the pairs of `search`.
    #[must_use]
    pub fn new(search: Box<dyn PairSearch>) -> Self {
        Self {
            search,
            molecules: Vec::new(),
            first_sphere: Vec::new(),
            spheres: SphereSet::new(),
            pairs: PairBuffer::new(),
            by_molecules: PairsByMolecules::default(),
        }
    }
}

impl GroupSearch for PairGrouper {
    fn name(&self) -> &'static str {
        self.search.name()
    }

    fn set_molecules(&mut self, molecules: &[Arc<RigidSpheres>]) -> Result<(), SearchError> {
        self.molecules = molecules.to_vec();
        let radii = molecules.iter().map(|spheres| spheres.radii());
        self.spheres.lay_out(radii, &mut self.first_sphere)?;
        Ok(())
    }

    fn find_groups(
        &mut self,
        bodies: &[MovingBody],
        margin: f32,
        found: &mut PairGroups,
    ) -> Result<SearchTimes, SearchError> {
        found.clear();
        let molecules = &self.molecules;
        self.spheres.place(&self.first_sphere, |owner| {
            (molecules[owner].centers(), bodies[owner].pose)
        });
        let spheres = &self.spheres;
        let times = self.search.find_pairs(spheres, margin, &mut self.pairs)?;
        self.by_molecules.visit(spheres, &self.pairs, |group| {
            found.push([group.a, group.b], group.pairs, group.gaps);
        });
        Ok(times)
    }

    fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.search.cell_around(point)
    }
}
