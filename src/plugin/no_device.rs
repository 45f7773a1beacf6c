//! The place of `device` in a build without the feature `gpu`: there is none.

use std::fmt;
use std::marker::PhantomData;

use bevy::ecs::system::SystemParam;

use super::backend::MoleculeAdapter;
use crate::backend::Backend;
use crate::dynamics::{ContactEngine, GroupSearch};
use crate::search::DeviceFault;

/// Why there is no device.
#[derive(Clone, Debug)]
pub(super) struct Trouble {
    pub fault: DeviceFault,
    pub message: String,
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

/// What a device would do.
#[expect(dead_code, reason = "there is no device that would do it")]
pub(super) enum DeviceWork {
    /// It finds the pairs.
    Search(Box<dyn GroupSearch>),
    /// It also solves the contacts.
    Contacts(Box<dyn ContactEngine>),
}

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
    ) -> Result<Option<MoleculeAdapter>, Trouble> {
        if wanted == Backend::Gpu {
            return Err(Trouble {
                fault: DeviceFault::Absent,
                message: "this program was built without the feature `gpu`".into(),
            });
        }
        Ok(None)
    }

    /// There is nothing to borrow.
    pub fn may_borrow(&self) -> bool {
        false
    }

    /// There is no one but the processor.
    pub fn work(&self, _search_only: bool) -> Option<Result<DeviceWork, Trouble>> {
        None
    }

    /// Nothing to let go of.
    pub fn clear(&mut self) {}
}
