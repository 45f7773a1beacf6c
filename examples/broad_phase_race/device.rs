//! A contestant on a GPU, if there is one.

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::search::PairSearch;

use crate::backend::say_fallback;

/// The grid of a device for `backend`; none if only the processor races.
#[cfg(feature = "gpu")]
pub fn grid(backend: Backend) -> Option<Box<dyn PairSearch>> {
    use bevy_rapier_molecules::gpu::{GpuDevice, GpuGrid, GpuOptions};

    let device = GpuDevice::for_backend(backend, &GpuOptions::default());
    let grid = device.and_then(|device| device.map(GpuGrid::new).transpose());
    match grid {
        Ok(grid) => grid.map(|grid| Box::new(grid) as Box<dyn PairSearch>),
        Err(error) => {
            say_fallback(&error);
            None
        }
    }
}

/// The grid of a device: there is none in a program without the feature.
#[cfg(not(feature = "gpu"))]
pub fn grid(backend: Backend) -> Option<Box<dyn PairSearch>> {
    if backend == Backend::Gpu {
        say_fallback(&"this program was built without the feature `gpu`");
    }
    None
}
