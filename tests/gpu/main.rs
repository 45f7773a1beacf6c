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
mod determinism;
mod failures;
#[path = "../gpu_device/mod.rs"]
mod gpu_device;
mod groups;
mod radix;
mod relaxer;
mod scan;
mod shaders;
mod sort;
mod timer;
