//! A relaxer for a [`Backend`].

use std::sync::Arc;

use super::GpuRelaxEngine;
use crate::backend::Backend;
use crate::crowd::Crowd;
use crate::gpu::{GpuDevice, GpuOptions};
use crate::relax::engine::RelaxEngine;
use crate::relax::{RelaxConfig, RelaxError, Relaxer};

impl Relaxer {
    /// A relaxer that iterates where `backend` says, on a device of its own.
    ///
    /// A GPU that cannot be had, or fails later, is no error: the processor does the work,
    /// and [`fell_back`](Self::fell_back) says why.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use bevy_rapier_molecules::prelude::*;
    ///
    /// # fn main() -> Result<(), Box<dyn std::error::Error>> {
    /// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
    /// let size = VesicleSize::Counts { outer: 60, inner: 6, radius: 3.2 };
    /// let vesicle = vesicle(Arc::new(lipid), &VesicleConfig { size, ..VesicleConfig::default() })?;
    /// let config = RelaxConfig::default();
    /// let mut relaxer = Relaxer::with_backend(vesicle.crowd, config, Backend::Auto)?;
    /// let before = relaxer.status().overlaps;
    /// let after = relaxer.step()?.overlaps;
    /// println!("{before} overlaps, then {after}, on {:?}", relaxer.adapter());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_backend(
        crowd: Crowd,
        config: RelaxConfig,
        backend: Backend,
    ) -> Result<Self, RelaxError> {
        match GpuDevice::for_backend(backend, &GpuOptions::default()) {
            Ok(None) => Self::new(crowd, config),
            Ok(Some(device)) => Self::on_device(crowd, config, &device),
            Err(error) => Self::with_engine(crowd, config, |_| Err(error)),
        }
    }

    /// As [`with_backend`](Self::with_backend), on a device that is there already.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn on_device(
        crowd: Crowd,
        config: RelaxConfig,
        device: &Arc<GpuDevice>,
    ) -> Result<Self, RelaxError> {
        Self::with_engine(crowd, config, |scene| {
            let engine = GpuRelaxEngine::new(Arc::clone(device), scene);
            Ok(Box::new(engine?) as Box<dyn RelaxEngine>)
        })
    }
}
