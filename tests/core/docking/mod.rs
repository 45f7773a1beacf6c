//! Docking by hand and by search: overlaps, motion until touch, sliding, pushing, freeing,
//! energies, sessions and their logs, against brute force in 64 bits and closed forms.

mod energy;
mod fixtures;
mod free;
mod hand;
mod interference;
mod path;
mod response;
mod search;
mod session;
mod slide;
mod touch;
