//! Few large spheres that stand for the many atoms of a molecule.
//!
//! Atoms in a body frame go in (nm), with a number or a tolerance and a seed; a [`ProxySet`]
//! comes out, in the same frame. Atoms that cannot be, none at all, or more than
//! [`MAX_CLUSTERED_ATOMS`] are a [`ProxyError`].
//!
//! Klein et al. (2017) let 17 spheres stand for a molecule, and Pauschenwein (2022, section
//! 6.1) names them as what would make large molecules cheap. Here:
//!
//! 1. the atoms' centers are put on a lattice, and clustered there by
//!    [k-means](ClusterEngine), with whole numbers only: the same seed gives the same
//!    clusters on every processor and every GPU;
//! 2. around each cluster goes the smallest ball that holds its atoms (K. Fischer and
//!    B. Gärtner, 2003);
//! 3. [`ProxyQuality`] says how much larger than the atoms the proxies are, and
//!    [`ProxySet::for_tolerance`] takes as many as it needs to stay within a tolerance.
//!
//! What is promised: every atom lies wholly inside of its proxy, so that molecules whose
//! proxies do not touch do not touch.

mod ball;
mod cache;
mod enclose;
mod engine;
mod file;
mod kmeans;
mod lattice;
mod measure;
mod set;
mod tolerance;

use ball::Ball;
pub use cache::{PROXY_SEED, ProxyCache};
use enclose::enclosing_ball;
pub use engine::{ClusterEngine, ClusterSum, OnProcessor, SEED_BLOCK};
pub use file::{ProxyFileError, proxy_file_of};
pub use lattice::{LATTICE_STEPS, LatticePoint};
pub use measure::ProxyQuality;
pub use set::{MAX_CLUSTERED_ATOMS, ProxyError, ProxySet};

/// Proxies of a molecule if nobody says otherwise: as many as Klein et al. take.
pub const DEFAULT_PROXIES: usize = 17;
