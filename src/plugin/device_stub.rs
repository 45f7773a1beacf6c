//! Replacement for `device` in builds without the feature `gpu`.

use std::marker::PhantomData;

use bevy::ecs::system::SystemParam;

use super::backend::MoleculeBackend;
use crate::backend::{Backend, DeviceError};
use crate::dynamics::CrowdContacts;

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

    pub fn clear(&mut self) {}
}

impl MoleculeBackend {
    /// Changes nothing.
    pub(super) fn install_device(&self, _: &mut CrowdContacts) -> Result<bool, DeviceError> {
        Ok(false)
    }
}
