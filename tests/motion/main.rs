//! Collisions in time: none is missed, nothing is lost.

mod faults;
mod laws;
mod reference;
mod unknown_ways;
mod walls;
