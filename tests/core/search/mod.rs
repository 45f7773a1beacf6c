//! The contract of a pair search, checked against brute force.
//!
//! Every search on the CPU and the GPU, in vector and in scalar code, must find every pair of
//! spheres of different owners with `|cᵢ − cⱼ| < rᵢ + rⱼ + margin`, no other pair, and none
//! twice, for spheres of any position and size, on any number of threads. The order of the
//! pairs depends on the spheres only, and is the same for every grid of a kind.
//!
//! The searches compute in 32 bits, the reference in 64: pairs whose distance is within a few
//! roundings of their reach (`oracle::BAND`) may differ.

mod boxes;
mod contact_time;
mod degenerate;
mod invalid_input;
mod kinds;
mod molecule_changes;
mod molecules;
mod oracle;
mod periodic;
mod periodic_spheres;
mod random;
mod searches;
mod sizes;
mod structures;
mod swept;
mod threads;
mod time_of_impact;
