//! The examples, from the command line and without their windows, and what the benches share.

#[path = "../common/mod.rs"]
mod common;

mod bench_harness;
mod command_lines;
mod editor;
