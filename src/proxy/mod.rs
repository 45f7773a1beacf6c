//! Proxies: few large spheres that approximate the atoms of a molecule.
//!
//! A [`ProxySet`] is computed from spheres in a body frame (nm), a number of proxies or a
//! tolerance, and a seed:
//!
//! 1. the centers of the atoms are rounded to a lattice and clustered by k-means in integer
//!    arithmetic ([`ClusterEngine`]), so that the same seed gives the same clusters on every CPU
//!    and GPU;
//! 2. each proxy is the smallest ball that encloses the atoms of a cluster (K. Fischer and
//!    B. Gärtner, 2003);
//! 3. [`ProxyQuality`] measures how much the proxies exceed the atoms, and
//!    [`ProxySet::for_tolerance`] finds the number of proxies for a tolerance.
//!
//! Every atom is completely inside its proxy: molecules whose proxies do not touch do not touch.
//!
//! Klein et al. (2017) approximate molecules by 17 spheres. Pauschenwein (2022, section 6.1)
//! proposes them to speed up the collision detection of large molecules.

mod cluster_engine;
mod enclosing_ball;
mod kmeans;
mod proxy_cache;
mod proxy_quality;
mod proxy_set;

pub use cluster_engine::{
    ClusterEngine, ClusterSum, CpuClusterEngine, LATTICE_STEPS, LatticePoint, SEED_BLOCK,
};
pub use proxy_cache::{PROXY_SEED, ProxyCache, ProxyFileError, proxy_file_path};
pub use proxy_quality::ProxyQuality;
pub use proxy_set::{MAX_CLUSTERED_ATOMS, ProxyError, ProxySet};

/// Default number of proxies of a molecule, as in Klein et al.
pub const DEFAULT_PROXIES: usize = 17;
