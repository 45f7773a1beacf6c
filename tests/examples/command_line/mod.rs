//! The command lines of the examples: options, exit codes, reports and files.

mod all_examples;
mod broad_phase_race;
mod brownian_crowd;
mod cell;
mod circulating_particles;
mod clashes;
mod docking;
mod lipid_bilayer;
mod playground;
mod proxies;
mod run_example;
#[cfg(feature = "draw")]
mod screenshots;
