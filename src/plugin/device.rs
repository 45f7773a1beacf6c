//! The GPU device of the contact solver: the app's, the renderer's or a new one.

use std::sync::Arc;

use bevy::ecs::system::SystemParam;
use bevy::prelude::*;
#[cfg(feature = "render")]
use bevy::render::renderer::{RenderDevice, RenderQueue};

use super::backend::MoleculeBackend;
use crate::backend::{Backend, DeviceError};
use crate::dynamics::CrowdContacts;
use crate::gpu::{GpuContactSolver, GpuDevice, GpuGroupSearch, GpuOptions};

/// The device in use, and how to obtain another one.
#[derive(Debug, Default)]
pub(super) struct DeviceSlot {
    options: GpuOptions,
    /// The device that the app shares.
    shared: Option<Arc<GpuDevice>>,
    device: Option<Arc<GpuDevice>>,
}

/// The device of the renderer, if there is one.
#[derive(SystemParam)]
pub(super) struct RendererDevice<'w> {
    #[cfg(feature = "render")]
    device: Option<Res<'w, RenderDevice>>,
    #[cfg(feature = "render")]
    queue: Option<Res<'w, RenderQueue>>,
    #[cfg(not(feature = "render"))]
    marker: std::marker::PhantomData<&'w ()>,
}

impl RendererDevice<'_> {
    /// Whether the renderer has a new device since the system last ran.
    pub fn is_new(&self) -> bool {
        #[cfg(feature = "render")]
        return self.device.as_ref().is_some_and(DetectChanges::is_changed);
        #[cfg(not(feature = "render"))]
        false
    }

    fn get(&self) -> Option<Result<GpuDevice, DeviceError>> {
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
    /// Chooses a device for the requested backend. Returns a description of its adapter, or
    /// `None` for the CPU.
    pub fn choose(
        &mut self,
        requested: Backend,
        renderer: &RendererDevice,
    ) -> Result<Option<String>, DeviceError> {
        self.device = None;
        if requested == Backend::Cpu {
            return Ok(None);
        }
        let offered = match &self.shared {
            Some(device) => Some(Ok(Arc::clone(device))),
            None => renderer.get().map(|device| device.map(Arc::new)),
        };
        let device = match offered {
            Some(device) => Some(device?),
            None => GpuDevice::for_backend(requested, &self.options)?,
        };
        let is_hardware = |device: &Arc<GpuDevice>| !device.summary().is_software();
        self.device = device.filter(|device| requested == Backend::Gpu || is_hardware(device));
        let device = self.device.as_ref();
        Ok(device.map(|device| device.summary().to_string()))
    }

    /// Whether the device of the renderer would be used.
    pub fn uses_renderer(&self) -> bool {
        self.shared.is_none()
    }

    /// Drops a lost device.
    pub fn clear(&mut self) {
        let lost = self.device.take();
        if let (Some(lost), Some(shared)) = (&lost, &self.shared)
            && Arc::ptr_eq(lost, shared)
        {
            self.shared = None;
        }
    }
}

/// With the feature `gpu`.
impl MoleculeBackend {
    /// The device in use, if the backend is a GPU.
    #[must_use]
    pub fn device(&self) -> Option<&Arc<GpuDevice>> {
        self.slot.device.as_ref()
    }

    /// Shares a device with the app. From the next frame on, it is used instead of the
    /// device of the renderer or a new one, if a GPU is [requested](Self::requested).
    pub fn share_device(&mut self, device: Arc<GpuDevice>) {
        self.slot.shared = Some(device);
        self.retry();
    }

    /// Sets how a new device is chosen and how much of it is used. Takes effect in the next frame.
    pub fn set_options(&mut self, options: GpuOptions) {
        self.slot.options = options;
        self.retry();
    }

    /// Lets the device, if there is one, find or also solve contacts. Returns whether it does.
    pub(super) fn install_device(&self, contacts: &mut CrowdContacts) -> Result<bool, DeviceError> {
        let Some(device) = self.slot.device.clone() else {
            return Ok(false);
        };
        if self.search_only {
            contacts.set_group_search(Box::new(GpuGroupSearch::new(device)?));
        } else {
            let solver = GpuContactSolver::new(device)?;
            contacts.set_device_solver(Box::new(solver), !self.skip_touches);
        }
        Ok(true)
    }
}
