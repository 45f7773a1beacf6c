//! Kernels against their CPU references, WGSL structs against their Rust mirrors, and device
//! errors.
//!
//! Tests that need an adapter are skipped without one, or fail if the environment variable
//! `REQUIRE_GPU` is 1. wgpu's bounds checks stay enabled.

#![cfg(feature = "gpu")]

mod atom_spheres;
mod brownian;
#[path = "../common/mod.rs"]
mod common;
mod counting_sort;
mod crowd;
mod crowd_failures;
mod crowd_reference;
mod determinism;
mod device_errors;
mod group_search;
mod kmeans;
mod pass_timer;
mod prefix_sum;
mod radix_sort;
mod relaxer;
mod relaxer_fallback;
mod shaders;
