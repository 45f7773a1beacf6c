//! Backends of a crate that is built without the feature `gpu`.

use super::{RelaxConfig, RelaxError, Relaxer};
use crate::backend::Backend;
use crate::backend::DeviceError;
use crate::crowd::Crowd;

impl Relaxer {
    /// A relaxer that iterates where `backend` says. Built without the feature `gpu`, this
    /// is always the processor; [`fell_back`](Self::fell_back) says so if a GPU was asked
    /// for.
    ///
    /// # Errors
    /// As [`new`](Self::new).
    pub fn with_backend(
        crowd: Crowd,
        config: RelaxConfig,
        backend: Backend,
    ) -> Result<Self, RelaxError> {
        if backend != Backend::Gpu {
            return Self::new(crowd, config);
        }
        Self::with_engine(crowd, config, |_| Err(DeviceError::FeatureDisabled))
    }
}
