//! Kernels against their CPU twins, shaders against their Rust mirrors, and what happens
//! when a device fails.
//!
//! Without an adapter the tests that need one say that they are skipped; with
//! `REQUIRE_GPU=1` in the environment they fail instead. Shaders run with wgpu's bounds
//! checks.

#![cfg(feature = "gpu")]

mod common;
mod failures;
mod scan;
mod shaders;
