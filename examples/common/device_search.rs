//! A search on a GPU for `--backend`.

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::search::PairSearch;

use super::backend::say_fallback;

/// A search of a device, and the name of the device.
pub type DeviceSearch = (Box<dyn PairSearch>, String);

/// The search of a device and its name; none if the processor is to search.
#[cfg(feature = "gpu")]
pub fn for_backend(backend: Backend) -> Option<DeviceSearch> {
    use bevy_rapier_molecules::gpu::{GpuDevice, GpuGrid, GpuOptions};

    let device = match GpuDevice::for_backend(backend, &GpuOptions::default()) {
        Ok(device) => device?,
        Err(error) => {
            say_fallback(&error);
            return None;
        }
    };
    let name = device.summary().to_string();
    match GpuGrid::new(device) {
        Ok(grid) => Some((Box::new(grid), name)),
        Err(error) => {
            say_fallback(&error);
            None
        }
    }
}

/// The search of a device and its name: there is none in a program without the feature.
#[cfg(not(feature = "gpu"))]
pub fn for_backend(backend: Backend) -> Option<DeviceSearch> {
    if backend == Backend::Gpu {
        say_fallback(&"this program was built without the feature `gpu`");
    }
    None
}
