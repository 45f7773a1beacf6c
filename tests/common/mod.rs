//! Helpers that several test binaries share.

#![allow(
    dead_code,
    unused_imports,
    reason = "each test binary uses some of the helpers"
)]

pub mod carbons;
#[cfg(feature = "gpu")]
pub mod gpu_device;
pub mod revolution;
pub mod shader_layout;
pub mod small_world;
pub mod thread_pool;
