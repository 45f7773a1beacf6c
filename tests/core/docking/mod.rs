//! Interactive docking, energies, search and session logs, against brute force in `f64` and
//! closed forms.

mod conservative_advancement;
mod controls;
mod energy;
mod fixtures;
mod free_pose;
mod group;
mod overlap;
mod recorded_session;
mod response;
mod search;
mod session;
mod slide;
mod torsions;
