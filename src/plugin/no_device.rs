//! The place of `device` in a build without the feature `gpu`: there is none.

use std::marker::PhantomData;

use bevy::ecs::system::SystemParam;

use super::backend::{DeviceWork, MoleculeAdapter};
use crate::backend::Backend;
use crate::backend::DeviceError;

/// No device.
#[derive(Debug, Default)]
pub(super) struct DeviceSlot;

/// Nobody to lend one.
#[derive(SystemParam)]
pub(super) struct Lender<'w> {
    nothing: PhantomData<&'w ()>,
}

impl Lender<'_> {
    /// Nothing ever is.
    pub fn is_new(&self) -> bool {
        false
    }
}

impl DeviceSlot {
    /// The processor, whoever is wanted.
    pub fn choose(
        &mut self,
        wanted: Backend,
        _lender: &Lender,
    ) -> Result<Option<MoleculeAdapter>, DeviceError> {
        if wanted == Backend::Gpu {
            return Err(DeviceError::FeatureDisabled);
        }
        Ok(None)
    }

    /// There is nothing to borrow.
    pub fn may_borrow(&self) -> bool {
        false
    }

    /// There is no one but the processor.
    pub fn work(&self, _search_only: bool) -> Option<Result<DeviceWork, DeviceError>> {
        None
    }

    /// Nothing to let go of.
    pub fn clear(&mut self) {}
}
