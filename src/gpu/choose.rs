//! The device for a [`Backend`].

use std::sync::Arc;

use super::{GpuDevice, GpuOptions};
use crate::backend::Backend;
use crate::backend::DeviceError;

impl GpuDevice {
    /// A headless device for `backend`, or none if the processor is to do the work:
    /// because it was asked for, or because `Auto` found no real GPU.
    ///
    /// ```
    /// use bevy_rapier_molecules::backend::Backend;
    /// use bevy_rapier_molecules::backend::DeviceError;
    /// use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions};
    ///
    /// match GpuDevice::for_backend(Backend::Auto, &GpuOptions::default())? {
    ///     Some(device) => println!("on {}", device.summary()),
    ///     None => println!("on the processor"),
    /// }
    /// # Ok::<(), DeviceError>(())
    /// ```
    ///
    /// # Errors
    /// [`DeviceError`] if a GPU was asked for and there is none that can do the work.
    pub fn for_backend(
        backend: Backend,
        options: &GpuOptions,
    ) -> Result<Option<Arc<Self>>, DeviceError> {
        match backend {
            Backend::Cpu => Ok(None),
            Backend::Gpu => Self::headless(options).map(|device| Some(Arc::new(device))),
            Backend::Auto => {
                let real = GpuOptions {
                    allow_software: false,
                    ..options.clone()
                };
                Ok(Self::headless(&real).ok().map(Arc::new))
            }
        }
    }
}
