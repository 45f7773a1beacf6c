//! All searches that there are, on whatever device they run.

use std::cell::RefCell;

use bevy_rapier_molecules::rapier::RapierBvh;
use bevy_rapier_molecules::search::boxes::{BoxGrid, BruteForceBoxes, SpheresInBoxes};
use bevy_rapier_molecules::search::{
    AutoGrid, BruteForce, HashGrid, HierarchicalGrid, LinearKdTree, PairSearch, SweepAndPrune,
    TwoLevelGrid, UniformGrid, VerletGrid,
};
use bevy_rapier_molecules::spheres::SphereSet;

/// What a search promises beyond the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Nothing: the same pairs.
    Pairs,
    /// The pairs of `UniformGrid` to the last bit, in an order of its own.
    SamePairs,
    /// As above, in the order of `HierarchicalGrid`, index for index.
    Hierarchy,
    /// The same pairs in the order of `UniformGrid`, index for index.
    Sequence,
}

/// Who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Field {
    /// Every search.
    Everyone,
    /// The uniform grid in all its forms, and brute force.
    Grids,
}

/// A search, what it promises, and how many spheres it is good for.
struct Searcher {
    search: Box<dyn PairSearch>,
    promise: Promise,
    most: usize,
    field: Field,
}

impl Searcher {
    fn new(search: impl PairSearch + 'static, promise: Promise, most: usize) -> Self {
        Self {
            search: Box::new(search),
            promise,
            most,
            field: Field::Grids,
        }
    }

    /// One of the family that is not a uniform grid.
    fn other(search: impl PairSearch + 'static, most: usize) -> Self {
        Self {
            field: Field::Everyone,
            ..Self::new(search, Promise::Pairs, most)
        }
    }
}

/// Most spheres that are searched by brute force on a device: a software adapter makes
/// some 50 million comparisons a second.
const MOST_FOR_BRUTE_FORCE: usize = 4000;

/// Most spheres for sweep and prune, which takes long where a scene has nothing to do with
/// the one before, and for Rapier's tree, which is slow to build.
const MOST_FOR_SLOW_ONES: usize = 2000;

/// Most spheres for searches that are quick and promise no sequence.
const MOST_FOR_QUICK_ONES: usize = 20_000;

/// Of scenes with so few spheres the hierarchy on the device sees every eighth: it binds its
/// arrays anew in each search, which takes longer than a small search itself.
const FEW_FOR_DEVICE_HIERARCHY: usize = 200;

/// Whether a search takes part in a scene of so many spheres.
fn takes_part(one: &Searcher, spheres: usize) -> bool {
    if one.search.name() == "gpu-hierarchical-grid" {
        return spheres >= FEW_FOR_DEVICE_HIERARCHY || spheres.is_multiple_of(8);
    }
    spheres <= one.most
}

/// Width of cells that are wider than any pair needs, nm.
const WIDE_CELLS_NM: f32 = 1.0;

/// Calls `visit` with every search but the grid itself, until one fails. Searches are used
/// again and again, so that what one leaves behind would disturb the next.
///
/// Searches that promise no sequence are left out if there are too many `spheres`.
pub fn with_searches<E>(
    field: Field,
    spheres: &SphereSet,
    mut visit: impl FnMut(&mut dyn PairSearch, Promise) -> Result<(), E>,
) -> Result<(), E> {
    thread_local! {
        static SEARCHES: RefCell<Vec<Searcher>> = RefCell::new(others());
    }
    SEARCHES.with_borrow_mut(|searches| {
        for one in searches {
            let asked = field == Field::Everyone || one.field == Field::Grids;
            if asked && takes_part(one, spheres.len()) {
                visit(&mut *one.search, one.promise)?;
            }
        }
        Ok(())
    })
}

/// Every search, new.
pub fn all() -> Vec<Box<dyn PairSearch>> {
    let mut searches: Vec<Box<dyn PairSearch>> =
        vec![Box::new(UniformGrid::new()), Box::new(BruteForce)];
    searches.extend(others().into_iter().map(|one| one.search));
    searches
}

/// Every search that is neither the grid nor the oracle.
fn others() -> Vec<Searcher> {
    let every = usize::MAX;
    let (quick, slow, brute) = (
        MOST_FOR_QUICK_ONES,
        MOST_FOR_SLOW_ONES,
        MOST_FOR_BRUTE_FORCE,
    );
    #[cfg_attr(not(feature = "gpu"), expect(unused_mut, reason = "nothing is added"))]
    let mut searches = vec![
        Searcher::new(UniformGrid::scalar(), Promise::Sequence, every),
        Searcher::new(
            UniformGrid::with_cell_width(WIDE_CELLS_NM).unwrap(),
            Promise::SamePairs,
            every,
        ),
        Searcher::new(TwoLevelGrid::new(), Promise::Sequence, every),
        Searcher::new(HierarchicalGrid::new(), Promise::Hierarchy, every),
        Searcher::new(HierarchicalGrid::scalar(), Promise::Hierarchy, every),
        Searcher::new(AutoGrid::new(), Promise::SamePairs, every),
        Searcher::other(HashGrid::new(), quick),
        Searcher::other(VerletGrid::new(), quick),
        Searcher::other(SpheresInBoxes::new(BoxGrid::new()), quick),
        Searcher::other(SpheresInBoxes::new(LinearKdTree::new()), quick),
        Searcher::other(SpheresInBoxes::new(LinearKdTree::with_duplicates()), quick),
        Searcher::other(SpheresInBoxes::new(BruteForceBoxes), brute),
        Searcher::other(SpheresInBoxes::new(SweepAndPrune::new()), slow),
        Searcher::other(SpheresInBoxes::new(RapierBvh::new()), slow),
    ];
    #[cfg(feature = "gpu")]
    if let Some(device) = crate::common::gpu_device::device() {
        use bevy_rapier_molecules::gpu::{GpuBruteForce, GpuGrid, GpuHierarchicalGrid};
        let grid = GpuGrid::new(device.clone()).expect("kernels compile");
        let hierarchy = GpuHierarchicalGrid::new(device.clone()).expect("kernels compile");
        let brute_force = GpuBruteForce::new(device).expect("kernels compile");
        searches.push(Searcher::new(grid, Promise::Sequence, every));
        searches.push(Searcher::new(hierarchy, Promise::Hierarchy, every));
        searches.push(Searcher::new(brute_force, Promise::Pairs, brute));
    }
    searches
}
