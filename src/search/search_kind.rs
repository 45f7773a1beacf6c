//! Searches by name, and which to take.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::boxes::{BoxGrid, BoxSearch, BruteForceBoxes, SpheresInBoxes};
use super::{
    BruteForce, HashGrid, LinearKdTree, PairSearch, SweepAndPrune, TwoLevelGrid, UniformGrid,
    VerletGrid,
};
use crate::spheres::SphereSet;

/// Most spheres for which comparing all is quickest: at 128 the grid has caught up.
const FEW: usize = 128;

/// A largest radius this many times the mean one makes the cells of a uniform grid too
/// large for the others: among 10,000 spheres the box grid has caught up then.
const GIANT: f64 = 4.0;

/// Fewest spheres of a molecule, on the average, for which molecules come first.
const MANY_PER_MOLECULE: usize = 8;

/// There is no search of that name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("there is no search called {name:?}; there are {}", names())]
pub struct UnknownSearch {
    /// The name that was given.
    pub name: String,
}

/// A kind of search, for command lines, editors and reports.
///
/// These are the ones that compete. [`AutoGrid`](super::AutoGrid), which takes the grid that
/// fits, and [`HierarchicalGrid`](super::HierarchicalGrid), one of those it takes, go without
/// a kind.
///
/// Default: [`UniformGrid`](Self::UniformGrid).
///
/// ```
/// use bevy_rapier_molecules::search::{PairSearch, SearchKind};
/// use bevy_rapier_molecules::spheres::SphereSet;
/// use glam::Vec3;
///
/// let mut spheres = SphereSet::new();
/// for k in 0..1000 {
///     spheres.push(Vec3::X * 0.3 * k as f32, 0.17, k)?;
/// }
/// assert_eq!(SearchKind::recommend(&spheres), SearchKind::UniformGrid);
/// for kind in SearchKind::ALL {
///     assert_eq!(kind.search().count_pairs(&spheres, 0.0)?, 999, "{kind}");
/// }
/// assert_eq!("kd-tree-2".parse(), Ok(SearchKind::KdTree2));
/// assert!("octree".parse::<SearchKind>().is_err());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum SearchKind {
    /// Every sphere against every other: [`BruteForce`].
    BruteForce,
    /// Counting-sorted grid: [`UniformGrid`].
    #[default]
    UniformGrid,
    /// Boxes of molecules before their atoms: [`TwoLevelGrid`].
    TwoLevelGrid,
    /// Grid that is searched only when something has moved: [`VerletGrid`].
    VerletGrid,
    /// Cells in a hash table: [`HashGrid`].
    HashGrid,
    /// Grid over boxes, giants apart: [`BoxGrid`].
    BoxGrid,
    /// Linear kd-tree that meets pairs several times: [`LinearKdTree`].
    #[serde(rename = "kd-tree-1")]
    KdTree1,
    /// Linear kd-tree with unique pairs: [`LinearKdTree`].
    #[serde(rename = "kd-tree-2")]
    KdTree2,
    /// Sorted end points, kept from step to step: [`SweepAndPrune`].
    SweepAndPrune,
}

impl SearchKind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::BruteForce,
        Self::UniformGrid,
        Self::TwoLevelGrid,
        Self::VerletGrid,
        Self::HashGrid,
        Self::BoxGrid,
        Self::KdTree1,
        Self::KdTree2,
        Self::SweepAndPrune,
    ];

    /// What it is called, as [`PairSearch::name`] says.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::BruteForce => "brute-force",
            Self::UniformGrid => "uniform-grid",
            Self::TwoLevelGrid => "two-level-grid",
            Self::VerletGrid => "verlet-grid",
            Self::HashGrid => "hash-grid",
            Self::BoxGrid => "box-grid",
            Self::KdTree1 => "kd-tree-1",
            Self::KdTree2 => "kd-tree-2",
            Self::SweepAndPrune => "sweep-and-prune",
        }
    }

    /// A new search of spheres.
    #[must_use]
    pub fn search(self) -> Box<dyn PairSearch> {
        match self {
            Self::BruteForce => Box::new(BruteForce),
            Self::UniformGrid => Box::new(UniformGrid::new()),
            Self::TwoLevelGrid => Box::new(TwoLevelGrid::new()),
            Self::VerletGrid => Box::new(VerletGrid::new()),
            Self::HashGrid => Box::new(HashGrid::new()),
            Self::BoxGrid => Box::new(SpheresInBoxes::new(BoxGrid::new())),
            Self::KdTree1 => Box::new(SpheresInBoxes::new(LinearKdTree::with_duplicates())),
            Self::KdTree2 => Box::new(SpheresInBoxes::new(LinearKdTree::new())),
            Self::SweepAndPrune => Box::new(SpheresInBoxes::new(SweepAndPrune::new())),
        }
    }

    /// A new search of boxes; none if this kind is one for spheres only.
    #[must_use]
    pub fn box_search(self) -> Option<Box<dyn BoxSearch>> {
        Some(match self {
            Self::BruteForce => Box::new(BruteForceBoxes),
            Self::BoxGrid => Box::new(BoxGrid::new()),
            Self::KdTree1 => Box::new(LinearKdTree::with_duplicates()),
            Self::KdTree2 => Box::new(LinearKdTree::new()),
            Self::SweepAndPrune => Box::new(SweepAndPrune::new()),
            Self::UniformGrid | Self::TwoLevelGrid | Self::VerletGrid | Self::HashGrid => {
                return None;
            }
        })
    }

    /// The kind that is likely to be quickest for spheres like these, all of them in motion.
    ///
    /// From measurements (example `broad_phase_race crossovers`): a handful is quickest compared
    /// by brute force; a giant among small ones wants its own treatment; molecules of many
    /// spheres come first as molecules, which costs little where it does not pay; for all
    /// else there is the uniform grid. What is at rest most of the time may be better off
    /// with [`SweepAndPrune`](Self::SweepAndPrune), which a set of spheres cannot tell.
    #[must_use]
    pub fn recommend(spheres: &SphereSet) -> Self {
        let count = spheres.len();
        if count <= FEW {
            return Self::BruteForce;
        }
        let (sum, largest) = spheres
            .radius
            .iter()
            .fold((0.0, 0.0), |(sum, largest), &r| {
                (sum + f64::from(r), f64::from(r).max(largest))
            });
        if largest > GIANT * sum / count as f64 {
            return Self::BoxGrid;
        }
        let molecules = spheres.owner.chunk_by(|one, other| one == other).count();
        if count >= MANY_PER_MOLECULE * molecules && molecules > 1 {
            return Self::TwoLevelGrid;
        }
        Self::UniformGrid
    }
}

fn names() -> String {
    SearchKind::ALL.map(SearchKind::name).join(", ")
}

impl fmt::Display for SearchKind {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

impl FromStr for SearchKind {
    type Err = UnknownSearch;

    fn from_str(name: &str) -> Result<Self, UnknownSearch> {
        let found = Self::ALL.into_iter().find(|kind| kind.name() == name);
        found.ok_or_else(|| UnknownSearch {
            name: name.to_owned(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::Vec3;

    #[test]
    fn every_kind_is_found_by_the_name_of_its_search() {
        for kind in SearchKind::ALL {
            assert_eq!(kind.search().name(), kind.name());
            assert_eq!(kind.name().parse(), Ok(kind));
            if let Some(search) = kind.box_search() {
                assert_eq!(search.name(), kind.name());
            }
            let json = serde_json::to_string(&kind).unwrap();
            assert_eq!(json, format!("{:?}", kind.name()));
        }
        let error = "octree".parse::<SearchKind>().unwrap_err();
        assert!(error.to_string().contains("octree") && error.to_string().contains("kd-tree-2"));
    }

    #[test]
    fn the_recommendation_follows_number_sizes_and_molecules() {
        let set = |count: u32, per_molecule: u32, largest: f32| {
            let mut spheres = SphereSet::new();
            for k in 0..count {
                let radius = if k == 0 { largest } else { 0.1 };
                spheres
                    .push(Vec3::X * k as f32, radius, k / per_molecule)
                    .unwrap();
            }
            SearchKind::recommend(&spheres)
        };
        assert_eq!(
            SearchKind::recommend(&SphereSet::new()),
            SearchKind::BruteForce
        );
        assert_eq!(set(10, 1, 5.0), SearchKind::BruteForce);
        assert_eq!(set(1000, 1, 0.1), SearchKind::UniformGrid);
        assert_eq!(set(1000, 1, 5.0), SearchKind::BoxGrid);
        assert_eq!(set(1000, 100, 0.15), SearchKind::TwoLevelGrid);
    }
}
