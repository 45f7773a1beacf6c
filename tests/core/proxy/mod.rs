//! Proxies: every atom must be inside its proxy, the result must depend only on the seed, and
//! invalid input must be rejected.

mod containment;
mod fixtures;
mod proxy_files;
mod quality;
