//! The device that tests run on; shared by the test programs.
//!
//! Without an adapter tests say that they are skipped; with `REQUIRE_GPU=1` in the
//! environment they fail instead.

use std::sync::{Arc, OnceLock};

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};

/// The device, made once; none if there is no adapter and that is allowed.
#[track_caller]
pub fn device() -> Option<Arc<GpuDevice>> {
    static DEVICE: OnceLock<Result<Arc<GpuDevice>, DeviceError>> = OnceLock::new();
    let device = DEVICE.get_or_init(|| GpuDevice::headless(&GpuOptions::default()).map(Arc::new));
    unless_required(device.clone())
}

/// Says that a test is skipped, or fails it if `REQUIRE_GPU=1`.
#[track_caller]
#[expect(clippy::print_stderr, reason = "a skipped test must say so")]
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
