//! Collisions in time: none is missed, nothing is lost.

mod brownian;
mod faults;
mod laws;
mod molecules;
mod reference;
mod unknown_ways;
mod walls;
mod watch;
