//! All searches that there are, on whatever device they run.

use std::cell::RefCell;

use bevy_rapier_molecules::search::{BruteForce, PairSearch, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;

/// What a search promises beyond the contract.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Promise {
    /// Nothing: the same pairs.
    Pairs,
    /// The same pairs in the order of `UniformGrid`, index for index.
    Sequence,
}

/// A search, and what it promises.
type Searcher = (Box<dyn PairSearch>, Promise);

/// Most spheres that are searched by brute force on a device: a software adapter makes
/// some 50 million comparisons a second.
const MOST_FOR_BRUTE_FORCE: usize = 4000;

/// Width of cells that are wider than any pair needs, nm.
const WIDE_CELLS_NM: f32 = 1.0;

/// Calls `visit` with every search but the grid itself, until one fails. Searches are used
/// again and again, so that what one leaves behind would disturb the next.
///
/// Brute force, which promises nothing more, is left out if there are too many `spheres`.
pub fn with_searches<E>(
    spheres: &SphereSet,
    mut visit: impl FnMut(&mut dyn PairSearch, Promise) -> Result<(), E>,
) -> Result<(), E> {
    thread_local! {
        static SEARCHES: RefCell<Vec<Searcher>> = RefCell::new(others());
    }
    SEARCHES.with_borrow_mut(|searches| {
        for (search, promise) in searches {
            if *promise == Promise::Sequence || spheres.len() <= MOST_FOR_BRUTE_FORCE {
                visit(&mut **search, *promise)?;
            }
        }
        Ok(())
    })
}

/// Every search, new.
pub fn all() -> Vec<Box<dyn PairSearch>> {
    let mut searches: Vec<Box<dyn PairSearch>> =
        vec![Box::new(UniformGrid::new()), Box::new(BruteForce)];
    searches.extend(others().into_iter().map(|(search, _)| search));
    searches
}

/// Every search that is neither the grid nor the oracle.
fn others() -> Vec<Searcher> {
    #[cfg_attr(not(feature = "gpu"), expect(unused_mut, reason = "there is only one"))]
    let mut searches: Vec<Searcher> = vec![
        (Box::new(UniformGrid::scalar()), Promise::Sequence),
        (
            Box::new(UniformGrid::with_cells(WIDE_CELLS_NM)),
            Promise::Pairs,
        ),
    ];
    #[cfg(feature = "gpu")]
    if let Some(device) = crate::gpu_device::device() {
        use bevy_rapier_molecules::gpu::{GpuBruteForce, GpuGrid};
        let grid = GpuGrid::new(device.clone()).expect("kernels compile");
        let brute_force = GpuBruteForce::new(device).expect("kernels compile");
        searches.push((Box::new(grid), Promise::Sequence));
        searches.push((Box::new(brute_force), Promise::Pairs));
    }
    searches
}
