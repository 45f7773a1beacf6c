//! The contract of a pair search, checked against brute force.
//!
//! Every search, `UniformGrid` and `HierarchicalGrid` in vector and in scalar code, the grids
//! on the GPU and brute force there, must find every pair of spheres of different owners with
//! `|cᵢ − cⱼ| < rᵢ + rⱼ + margin`, none else, and none twice, wherever the spheres are,
//! however large they are, and on however many threads. The order of the pairs depends
//! on the spheres only, and is the same for every grid of a kind.
//!
//! The searches compute in 32 bits, the oracle in 64: pairs whose distance is within a
//! few roundings of their reach (`oracle::BAND`) may go either way, nothing else may.

mod boxes;
mod degenerate;
mod faults;
mod oracle;
mod random;
mod refined;
mod searches;
mod sizes;
mod structures;
mod swept;
mod threads;
