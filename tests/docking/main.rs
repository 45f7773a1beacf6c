//! Docking by hand: overlaps, motion until touch, sliding, and freeing, against brute force
//! in 64 bits and closed forms.

mod fixtures;
mod free;
mod interference;
mod slide;
mod touch;
