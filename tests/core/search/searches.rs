//! All searches, on the CPU and the GPU.

use std::cell::RefCell;

use bevy_rapier_molecules::rapier::RapierBvh;
use bevy_rapier_molecules::search::boxes::{BoxGrid, SpheresInBoxes};
use bevy_rapier_molecules::search::{
    AutoGrid, BruteForce, HashGrid, HierarchicalGrid, LinearKdTree, PairSearch, SweepAndPrune,
    UniformGrid,
};
use bevy_rapier_molecules::spheres::SphereSet;

/// What a search guarantees beyond the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Guarantee {
    /// The pairs of the contract.
    Contract,
    /// The pairs of `UniformGrid`, bit for bit, in its own order.
    UniformPairs,
    /// The pairs and the order of `HierarchicalGrid`.
    HierarchicalOrder,
    /// The pairs and the order of `UniformGrid`.
    UniformOrder,
}

/// Which searches to test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Selection {
    /// All searches.
    All,
    /// The grids for spheres, and brute force.
    Grids,
}

/// A search, its guarantee, and the largest number of spheres to test it with.
struct TestedSearch {
    search: Box<dyn PairSearch>,
    guarantee: Guarantee,
    max_spheres: usize,
    selection: Selection,
}

impl TestedSearch {
    fn new(search: impl PairSearch + 'static, guarantee: Guarantee, max_spheres: usize) -> Self {
        Self {
            search: Box::new(search),
            guarantee,
            max_spheres,
            selection: Selection::Grids,
        }
    }

    /// A search other than the grids for spheres.
    fn other(search: impl PairSearch + 'static, max_spheres: usize) -> Self {
        Self {
            selection: Selection::All,
            ..Self::new(search, Guarantee::Contract, max_spheres)
        }
    }
}

/// Largest number of spheres for brute force on a device: a software adapter does about 50
/// million comparisons per second.
const MAX_FOR_BRUTE_FORCE: usize = 4000;

/// Largest number of spheres for sweep and prune, which is slow if consecutive scenes differ, and
/// for Rapier's tree, which is slow to build.
const MAX_FOR_SLOW_SEARCHES: usize = 2000;

/// Largest number of spheres for fast searches that do not guarantee an order.
const MAX_FOR_FAST_SEARCHES: usize = 20_000;

/// The hierarchy on the device is tested with every eighth scene of fewer spheres: it rebinds its
/// arrays in each search, which takes longer than a small search.
const MIN_FOR_DEVICE_HIERARCHY: usize = 200;

/// Whether a search is tested with a scene of this number of spheres.
fn is_tested(one: &TestedSearch, spheres: usize) -> bool {
    if one.search.name() == "gpu-hierarchical-grid" {
        return spheres >= MIN_FOR_DEVICE_HIERARCHY || spheres.is_multiple_of(8);
    }
    spheres <= one.max_spheres
}

/// Width of cells that are wider than the reach of all pairs, nm.
const WIDE_CELLS_NM: f32 = 1.0;

/// Calls `visit` with every search except `UniformGrid`, until one fails. Searches are reused, so
/// that errors in their retained state show up.
///
/// Searches that do not guarantee an order are skipped if there are too many `spheres`.
pub fn with_searches<E>(
    selection: Selection,
    spheres: &SphereSet,
    mut visit: impl FnMut(&mut dyn PairSearch, Guarantee) -> Result<(), E>,
) -> Result<(), E> {
    thread_local! {
        static SEARCHES: RefCell<Vec<TestedSearch>> = RefCell::new(others());
    }
    SEARCHES.with_borrow_mut(|searches| {
        for one in searches {
            let selected = selection == Selection::All || one.selection == Selection::Grids;
            if selected && is_tested(one, spheres.len()) {
                visit(&mut *one.search, one.guarantee)?;
            }
        }
        Ok(())
    })
}

/// A new instance of every search.
pub fn all() -> Vec<Box<dyn PairSearch>> {
    let mut searches: Vec<Box<dyn PairSearch>> =
        vec![Box::new(UniformGrid::new()), Box::new(BruteForce)];
    searches.extend(others().into_iter().map(|one| one.search));
    searches
}

/// Every search except `UniformGrid` and `BruteForce`.
fn others() -> Vec<TestedSearch> {
    let unlimited = usize::MAX;
    let (fast, slow, brute) = (
        MAX_FOR_FAST_SEARCHES,
        MAX_FOR_SLOW_SEARCHES,
        MAX_FOR_BRUTE_FORCE,
    );
    #[cfg_attr(not(feature = "gpu"), expect(unused_mut, reason = "nothing is added"))]
    let mut searches = vec![
        TestedSearch::new(UniformGrid::scalar(), Guarantee::UniformOrder, unlimited),
        TestedSearch::new(
            UniformGrid::with_cell_width(WIDE_CELLS_NM).unwrap(),
            Guarantee::UniformPairs,
            unlimited,
        ),
        TestedSearch::new(
            HierarchicalGrid::new(),
            Guarantee::HierarchicalOrder,
            unlimited,
        ),
        TestedSearch::new(
            HierarchicalGrid::scalar(),
            Guarantee::HierarchicalOrder,
            unlimited,
        ),
        TestedSearch::new(AutoGrid::new(), Guarantee::UniformPairs, unlimited),
        TestedSearch::other(HashGrid::new(), fast),
        TestedSearch::other(SpheresInBoxes::new(BoxGrid::new()), fast),
        TestedSearch::other(SpheresInBoxes::new(LinearKdTree::new()), fast),
        TestedSearch::other(SpheresInBoxes::new(LinearKdTree::with_duplicates()), fast),
        TestedSearch::other(SpheresInBoxes::new(BruteForce), brute),
        TestedSearch::other(SpheresInBoxes::new(SweepAndPrune::new()), slow),
        TestedSearch::other(SpheresInBoxes::new(RapierBvh::new()), slow),
    ];
    #[cfg(feature = "gpu")]
    if let Some(device) = crate::common::gpu_device::device() {
        use bevy_rapier_molecules::gpu::{GpuBruteForce, GpuUniformGrid};
        let grid = GpuUniformGrid::new(device.clone()).expect("kernels compile");
        let brute_force = GpuBruteForce::new(device).expect("kernels compile");
        searches.push(TestedSearch::new(grid, Guarantee::UniformOrder, unlimited));
        searches.push(TestedSearch::new(brute_force, Guarantee::Contract, brute));
    }
    searches
}
