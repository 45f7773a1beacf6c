//! A search on a GPU for `--backend`.

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::search::PairSearch;

use crate::common::Device;
use crate::fallback;

/// The search of a GPU, or none if the processor is to search; and who searches.
#[cfg(feature = "gpu")]
pub fn for_backend(backend: Backend) -> (Option<Box<dyn PairSearch>>, Device) {
    use bevy_rapier_molecules::backend::DeviceError;
    use bevy_rapier_molecules::gpu::{GpuDevice, GpuGrid, GpuOptions};

    let on_gpu = || -> Result<_, DeviceError> {
        let Some(device) = GpuDevice::for_backend(backend, &GpuOptions::default())? else {
            return Ok(None);
        };
        let adapter = device.summary().to_string();
        Ok(Some((GpuGrid::new(device)?, adapter)))
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
        Err(error) => (None, fallback::processor(&error)),
    }
}

/// No search: there is none in a program without the feature.
#[cfg(not(feature = "gpu"))]
pub fn for_backend(backend: Backend) -> (Option<Box<dyn PairSearch>>, Device) {
    let device = match backend {
        Backend::Gpu => fallback::processor(&"this program was built without the feature `gpu`"),
        _ => Device::default(),
    };
    (None, device)
}
