//! The device that contacts are found on: the app's, the renderer's or one of our own.

use std::sync::Arc;

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
#[cfg(feature = "render")]
use bevy::render::renderer::{RenderDevice, RenderQueue};

use super::backend::{DeviceWork, MoleculeAdapter, MoleculeBackend};
use crate::backend::Backend;
use crate::backend::DeviceError;
use crate::gpu::{AdapterSummary, GpuContactSolver, GpuDevice, GpuGroups, GpuOptions};

impl From<&AdapterSummary> for MoleculeAdapter {
    fn from(summary: &AdapterSummary) -> Self {
        Self {
            name: summary.name.clone(),
            description: summary.to_string(),
            software: summary.is_software(),
        }
    }
}

/// The device in use, and where others would come from.
#[derive(Debug, Default)]
pub(super) struct DeviceSlot {
    options: GpuOptions,
    /// What the app lends.
    lent: Option<Arc<GpuDevice>>,
    device: Option<Arc<GpuDevice>>,
}

/// The renderer, which may lend its device.
#[derive(SystemParam)]
pub(super) struct Lender<'w> {
    #[cfg(feature = "render")]
    device: Option<Res<'w, RenderDevice>>,
    #[cfg(feature = "render")]
    queue: Option<Res<'w, RenderQueue>>,
    #[cfg(not(feature = "render"))]
    nothing: std::marker::PhantomData<&'w ()>,
}

impl Lender<'_> {
    /// Whether the renderer has a device that it did not have when this was last asked.
    pub fn is_new(&self) -> bool {
        #[cfg(feature = "render")]
        return self.device.as_ref().is_some_and(DetectChanges::is_changed);
        #[cfg(not(feature = "render"))]
        false
    }

    /// The renderer's device, if there is one.
    fn borrow(&self) -> Option<Result<GpuDevice, DeviceError>> {
        #[cfg(feature = "render")]
        if let (Some(device), Some(queue)) = (&self.device, &self.queue) {
            let queue: &wgpu::Queue = &queue.0;
            return Some(GpuDevice::borrowed(
                device.wgpu_device().clone(),
                queue.clone(),
            ));
        }
        None
    }
}

impl DeviceSlot {
    /// Takes the device that `wanted` asks for; none if the processor is to do it.
    pub fn choose(
        &mut self,
        wanted: Backend,
        lender: &Lender,
    ) -> Result<Option<MoleculeAdapter>, DeviceError> {
        self.device = None;
        if wanted == Backend::Cpu {
            return Ok(None);
        }
        let offered = match &self.lent {
            Some(device) => Some(Ok(Arc::clone(device))),
            None => lender.borrow().map(|device| device.map(Arc::new)),
        };
        let device = match offered {
            Some(device) => Some(device?),
            None => GpuDevice::for_backend(wanted, &self.options)?,
        };
        let real = |device: &Arc<GpuDevice>| !device.summary().is_software();
        self.device = device.filter(|device| wanted == Backend::Gpu || real(device));
        let device = self.device.as_ref();
        Ok(device.map(|device| device.summary().into()))
    }

    /// Whether a device that the renderer has would be used.
    pub fn may_borrow(&self) -> bool {
        self.lent.is_none()
    }

    /// What finds contacts on the device, if there is one, and solves them unless it is to
    /// search only.
    pub fn work(&self, search_only: bool) -> Option<Result<DeviceWork, DeviceError>> {
        let device = Arc::clone(self.device.as_ref()?);
        let work = if search_only {
            GpuGroups::new(device).map(|search| DeviceWork::Search(Box::new(search)))
        } else {
            GpuContactSolver::new(device).map(|engine| DeviceWork::Contacts(Box::new(engine)))
        };
        Some(work)
    }

    /// Lets go of the device, which is lost.
    pub fn clear(&mut self) {
        let lost = self.device.take();
        if let (Some(lost), Some(lent)) = (&lost, &self.lent)
            && Arc::ptr_eq(lost, lent)
        {
            self.lent = None;
        }
    }
}

/// With the feature `gpu`.
impl MoleculeBackend {
    /// The device that contacts are found on, if it is a GPU that does it.
    #[must_use]
    pub fn device(&self) -> Option<&Arc<GpuDevice>> {
        self.slot.device.as_ref()
    }

    /// Lends a device, which is used from the next frame on in place of the renderer's or
    /// one of our own, if a GPU is [wanted](Self::wanted).
    pub fn lend_device(&mut self, device: Arc<GpuDevice>) {
        self.slot.lent = Some(device);
        self.retry();
    }

    /// How a device of our own is chosen where nobody lends one, and how much of it is
    /// used. Takes effect in the next frame.
    pub fn set_options(&mut self, options: GpuOptions) {
        self.slot.options = options;
        self.retry();
    }
}
