//! Kernels against their CPU twins, shaders against their Rust mirrors, and what happens
//! when a device fails.
//!
//! Without an adapter the tests that need one say that they are skipped; with
//! `REQUIRE_GPU=1` in the environment they fail instead. Shaders run with wgpu's bounds
//! checks.

#![cfg(feature = "gpu")]

mod atoms;
mod brownian;
mod clusters;
#[path = "../common/mod.rs"]
mod common;
mod crowd;
mod crowd_failures;
mod crowd_reference;
mod determinism;
mod failures;
mod groups;
mod radix;
mod relaxer;
mod relaxer_faults;
mod scan;
mod shaders;
mod sort;
mod timer;
