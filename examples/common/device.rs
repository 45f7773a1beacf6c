//! The device that an example computes on, and the fallback to the CPU.

use std::fmt::Display;
use std::io::{self, Write};

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::search::PairSearch;
use serde::Serialize;

/// The device that did the work. Default: the CPU.
#[derive(Clone, Debug, Serialize)]
pub struct Device {
    /// `cpu` or `gpu`.
    pub backend: Backend,
    /// The graphics adapter; null on the CPU.
    pub adapter: Option<String>,
    /// Why the CPU replaced the requested GPU; null if it did not.
    pub fell_back: Option<String>,
}

impl Default for Device {
    fn default() -> Self {
        Self {
            backend: Backend::Cpu,
            adapter: None,
            fell_back: None,
        }
    }
}

/// The CPU instead of a requested GPU. Prints the reason as a warning.
pub fn fall_back_to_cpu(reason: &dyn Display) -> Device {
    // A warning that cannot be printed is no reason to stop.
    let _ = writeln!(io::stderr(), "warning: computing on the CPU: {reason}");
    Device {
        fell_back: Some(reason.to_string()),
        ..Device::default()
    }
}

/// The GPU's pair search, or `None` if the CPU searches; and the device.
#[cfg(feature = "gpu")]
pub fn search_for_backend(backend: Backend) -> (Option<Box<dyn PairSearch>>, Device) {
    use bevy_rapier_molecules::backend::DeviceError;
    use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions, GpuUniformGrid};

    let on_gpu = || -> Result<_, DeviceError> {
        let Some(device) = GpuDevice::for_backend(backend, &GpuOptions::default())? else {
            return Ok(None);
        };
        let adapter = device.summary().to_string();
        Ok(Some((GpuUniformGrid::new(device)?, adapter)))
    };
    match on_gpu() {
        Ok(Some((grid, adapter))) => {
            let device = Device {
                backend: Backend::Gpu,
                adapter: Some(adapter),
                fell_back: None,
            };
            (Some(Box::new(grid)), device)
        }
        Ok(None) => (None, Device::default()),
        Err(error) => (None, fall_back_to_cpu(&error)),
    }
}

/// `None` and the CPU: this build has no GPU search.
#[cfg(not(feature = "gpu"))]
pub fn search_for_backend(backend: Backend) -> (Option<Box<dyn PairSearch>>, Device) {
    let device = match backend {
        Backend::Gpu => fall_back_to_cpu(&"this program was built without the feature `gpu`"),
        _ => Device::default(),
    };
    (None, device)
}
