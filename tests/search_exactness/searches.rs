//! All searches that there are, on whatever device they run.

use std::cell::RefCell;

use bevy_rapier_molecules::rapier::RapierBvh;
use bevy_rapier_molecules::search::boxes::{BoxGrid, BruteForceBoxes, SpheresInBoxes};
use bevy_rapier_molecules::search::{
    BruteForce, HashGrid, LinearKdTree, PairSearch, SweepAndPrune, TwoLevelGrid, UniformGrid,
    VerletGrid,
};
use bevy_rapier_molecules::spheres::SphereSet;

/// What a search promises beyond the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Nothing: the same pairs.
    Pairs,
    /// The same pairs in the order of `UniformGrid`, index for index.
    Sequence,
}

/// A search, what it promises, and how many spheres it is good for.
struct Searcher {
    search: Box<dyn PairSearch>,
    promise: Promise,
    most: usize,
}

impl Searcher {
    fn new(search: impl PairSearch + 'static, promise: Promise, most: usize) -> Self {
        Self {
            search: Box::new(search),
            promise,
            most,
        }
    }
}

/// Most spheres that are searched by brute force on a device: a software adapter makes
/// some 50 million comparisons a second. Sweep and prune takes as long where a scene has
/// nothing to do with the one before, and Rapier's tree is slow to build.
const MOST_FOR_SLOW_ONES: usize = 4000;

/// Most spheres for searches that are quick and promise no sequence.
const MOST_FOR_QUICK_ONES: usize = 20_000;

/// Calls `visit` with every search but the grid itself, until one fails. Searches are used
/// again and again, so that what one leaves behind would disturb the next.
///
/// Searches that promise no sequence are left out if there are too many `spheres`.
pub fn with_searches<E>(
    spheres: &SphereSet,
    mut visit: impl FnMut(&mut dyn PairSearch, Promise) -> Result<(), E>,
) -> Result<(), E> {
    thread_local! {
        static SEARCHES: RefCell<Vec<Searcher>> = RefCell::new(others());
    }
    SEARCHES.with_borrow_mut(|searches| {
        for one in searches {
            if spheres.len() <= one.most {
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
    let (quick, slow) = (MOST_FOR_QUICK_ONES, MOST_FOR_SLOW_ONES);
    #[cfg_attr(not(feature = "gpu"), expect(unused_mut, reason = "nothing is added"))]
    let mut searches = vec![
        Searcher::new(UniformGrid::scalar(), Promise::Sequence, every),
        Searcher::new(TwoLevelGrid::new(), Promise::Sequence, every),
        Searcher::new(HashGrid::new(), Promise::Pairs, quick),
        Searcher::new(VerletGrid::new(), Promise::Pairs, quick),
        Searcher::new(SpheresInBoxes::new(BoxGrid::new()), Promise::Pairs, quick),
        Searcher::new(
            SpheresInBoxes::new(LinearKdTree::new()),
            Promise::Pairs,
            quick,
        ),
        Searcher::new(
            SpheresInBoxes::new(LinearKdTree::with_duplicates()),
            Promise::Pairs,
            quick,
        ),
        Searcher::new(SpheresInBoxes::new(BruteForceBoxes), Promise::Pairs, slow),
        Searcher::new(
            SpheresInBoxes::new(SweepAndPrune::new()),
            Promise::Pairs,
            slow,
        ),
        Searcher::new(SpheresInBoxes::new(RapierBvh::new()), Promise::Pairs, slow),
    ];
    #[cfg(feature = "gpu")]
    if let Some(device) = crate::gpu_device::device() {
        use bevy_rapier_molecules::gpu::{GpuBruteForce, GpuGrid};
        let grid = GpuGrid::new(device.clone()).expect("kernels compile");
        let brute_force = GpuBruteForce::new(device).expect("kernels compile");
        searches.push(Searcher::new(grid, Promise::Sequence, every));
        searches.push(Searcher::new(brute_force, Promise::Pairs, slow));
    }
    searches
}
