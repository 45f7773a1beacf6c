//! Docking by hand and by search: overlaps, motion until touch, sliding, pushing, freeing,
//! energies, sessions and their logs, against brute force in 64 bits and closed forms.

mod conservative_advancement;
mod controls;
mod energy;
mod fixtures;
mod free_pose;
mod overlap;
mod recorded_session;
mod response;
mod search;
mod session;
mod slide;
