//! The GPU device of tests.
//!
//! Without an adapter tests are skipped, or fail if the environment variable `REQUIRE_GPU` is 1.

use std::sync::{Arc, OnceLock};

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};

/// The shared device; `None` if there is no adapter and `REQUIRE_GPU` is not set.
#[track_caller]
pub fn device() -> Option<Arc<GpuDevice>> {
    static DEVICE: OnceLock<Result<Arc<GpuDevice>, DeviceError>> = OnceLock::new();
    let device = DEVICE.get_or_init(|| GpuDevice::headless(&GpuOptions::default()).map(Arc::new));
    unless_required(device.clone())
}

/// Prints that a test is skipped, or panics if `REQUIRE_GPU=1`.
#[track_caller]
#[expect(clippy::print_stderr, reason = "skipped tests must be visible")]
pub fn unless_required<T>(device: Result<T, DeviceError>) -> Option<T> {
    match device {
        Ok(device) => Some(device),
        Err(error) => {
            let required = std::env::var("REQUIRE_GPU").is_ok_and(|value| value == "1");
            assert!(!required, "REQUIRE_GPU=1, but {error}");
            eprintln!("skipped: {error}");
            None
        }
    }
}
