//! Kernels against their CPU twins, shaders against their Rust mirrors, and what happens
//! when a device fails.
//!
//! Without an adapter the tests that need one say that they are skipped; with
//! `REQUIRE_GPU=1` in the environment they fail instead. Shaders run with wgpu's bounds
//! checks.

#![cfg(feature = "gpu")]

mod atoms;
mod brownian;
#[path = "../carbons/mod.rs"]
mod carbons;
mod clusters;
mod crowd;
mod crowd_faults;
mod crowd_twin;
mod determinism;
mod failures;
#[path = "../gpu_device/mod.rs"]
mod gpu_device;
mod groups;
#[path = "../mirrors/mod.rs"]
mod mirrors;
mod radix;
mod relaxer;
mod relaxer_faults;
mod scan;
mod shaders;
#[allow(dead_code, reason = "other tests measure energies with it")]
#[path = "../crowd_contacts/small_world.rs"]
mod small_world;
mod sort;
mod timer;
