//! Replacement for `device` in builds without the feature `gpu`.

use std::marker::PhantomData;

use bevy::ecs::system::SystemParam;

use super::backend::DeviceWork;
use crate::backend::{Backend, DeviceError};

/// Never has a device.
#[derive(Debug, Default)]
pub(super) struct DeviceSlot;

/// Never has a device.
#[derive(SystemParam)]
pub(super) struct RendererDevice<'w> {
    marker: PhantomData<&'w ()>,
}

impl RendererDevice<'_> {
    pub fn is_new(&self) -> bool {
        false
    }
}

impl DeviceSlot {
    /// Fails if a GPU is requested.
    pub fn choose(
        &mut self,
        requested: Backend,
        _renderer: &RendererDevice,
    ) -> Result<Option<String>, DeviceError> {
        match requested {
            Backend::Gpu => Err(DeviceError::FeatureDisabled),
            _ => Ok(None),
        }
    }

    pub fn uses_renderer(&self) -> bool {
        false
    }

    pub fn work(&self, _search_only: bool) -> Option<Result<DeviceWork, DeviceError>> {
        None
    }

    pub fn clear(&mut self) {}
}
