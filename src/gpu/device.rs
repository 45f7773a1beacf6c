//! Device and queue, and how their errors are caught.
//!
//! wgpu reports most errors not to the caller but to a handler, whose default is to
//! panic. Everything here that may fail runs inside error scopes instead and returns
//! what they caught.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::adapter::{
    AdapterSummary, GpuOptions, check_limits, find_adapter, ready, wanted_limits,
};
use super::error::GpuError;
use super::memory::{Memory, Share};

/// A device to compute on, with its queue.
pub struct GpuDevice {
    device: wgpu::Device,
    queue: wgpu::Queue,
    summary: AdapterSummary,
    limits: wgpu::Limits,
    /// Why the device was lost; empty while it was not.
    lost: Arc<OnceLock<String>>,
    memory: Arc<Memory>,
    /// Error scopes of two threads must not interleave.
    scopes: Mutex<()>,
}

impl fmt::Debug for GpuDevice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("GpuDevice")
            .field("summary", &self.summary)
            .field("lost", &self.lost.get())
            .finish_non_exhaustive()
    }
}

impl GpuDevice {
    /// A device of its own, without a window.
    ///
    /// # Errors
    /// [`GpuError`] if there is no adapter, or it cannot do what the kernels need.
    pub fn headless(options: &GpuOptions) -> Result<Self, GpuError> {
        let adapter = find_adapter(options)?;
        let mut available = adapter.limits();
        if let Some(at_most) = &options.at_most {
            available = available.or_worse_values_from(at_most);
        }
        check_limits(&available)?;
        let timestamps = adapter.features() & wgpu::Features::TIMESTAMP_QUERY;
        let (device, queue) = ready(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("molecules"),
            required_features: timestamps,
            required_limits: wanted_limits(&available),
            ..Default::default()
        }))
        .ok_or_else(|| no_device("the driver does not answer"))?
        .map_err(|error| no_device(&error.to_string()))?;
        let lost = Arc::new(OnceLock::new());
        let reason = Arc::clone(&lost);
        device.set_device_lost_callback(move |_, message| {
            // A device is lost once; a second message would only repeat it.
            let _ = reason.set(message);
        });
        Ok(Self {
            limits: device.limits().or_worse_values_from(&available),
            summary: AdapterSummary::new(adapter.get_info()),
            device,
            queue,
            lost,
            memory: Memory::new(options.memory_bytes),
            scopes: Mutex::new(()),
        })
    }

    /// Wraps a device that somebody else, such as a renderer, made and lends.
    ///
    /// Its handlers are left alone. Errors are caught with scopes, which wgpu keeps apart
    /// by thread only with its feature `std`: if other threads open scopes on this device
    /// at the same time, turn that on.
    ///
    /// # Errors
    /// [`GpuError::MissingLimit`] if the device was made without what the kernels need.
    pub fn borrowed(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self, GpuError> {
        let limits = device.limits();
        check_limits(&limits)?;
        Ok(Self {
            summary: AdapterSummary::new(device.adapter_info()),
            limits,
            device,
            queue,
            lost: Arc::new(OnceLock::new()),
            memory: Memory::new(None),
            scopes: Mutex::new(()),
        })
    }

    /// Which adapter it is.
    #[must_use]
    pub fn summary(&self) -> &AdapterSummary {
        &self.summary
    }

    /// What the device can do, or is allowed to.
    #[must_use]
    pub fn limits(&self) -> &wgpu::Limits {
        &self.limits
    }

    /// The wgpu device.
    #[must_use]
    pub fn raw(&self) -> &wgpu::Device {
        &self.device
    }

    /// The wgpu queue.
    #[must_use]
    pub fn queue(&self) -> &wgpu::Queue {
        &self.queue
    }

    /// Whether passes can be timed on the device.
    #[must_use]
    pub fn has_timestamps(&self) -> bool {
        self.device
            .features()
            .contains(wgpu::Features::TIMESTAMP_QUERY)
    }

    /// Most bytes of an array that a shader sees.
    #[must_use]
    pub fn largest_array(&self) -> u64 {
        let limits = &self.limits;
        limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size)
    }

    /// Bytes that all arrays together take now.
    #[must_use]
    pub fn memory_in_use(&self) -> u64 {
        self.memory.used()
    }

    /// Makes a buffer, and counts it while it lives.
    pub(super) fn allocate(
        &self,
        label: &'static str,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<(wgpu::Buffer, Share), GpuError> {
        let share = self.memory.take(size).ok_or(GpuError::OutOfMemory)?;
        let buffer = self.guarded(|| {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage,
                mapped_at_creation: false,
            })
        })?;
        Ok((buffer, share))
    }

    /// An encoder to record passes into.
    #[must_use]
    pub fn encoder(&self, label: &str) -> wgpu::CommandEncoder {
        let label = Some(label);
        self.device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label })
    }

    /// Runs `work`, which talks to the device, and returns the error that it caused.
    ///
    /// Must not be nested.
    ///
    /// # Errors
    /// The first [`GpuError`] that the device reports meanwhile.
    pub fn guarded<T>(&self, work: impl FnOnce() -> T) -> Result<T, GpuError> {
        let _alone = self.alone();
        let filters = [
            wgpu::ErrorFilter::OutOfMemory,
            wgpu::ErrorFilter::Internal,
            wgpu::ErrorFilter::Validation,
        ];
        let scopes = filters.map(|filter| self.device.push_error_scope(filter));
        let result = work();
        let mut caught = None;
        for scope in scopes.into_iter().rev() {
            caught = ready(scope.pop()).flatten().or(caught);
        }
        let Some(error) = caught else {
            return match self.lost.get() {
                None => Ok(result),
                Some(reason) => Err(lost(reason)),
            };
        };
        // What was made on a lost device is invalid, and complains about that instead.
        if self.is_gone() {
            return Err(self.lose("it does not answer any more"));
        }
        Err(classify(error))
    }

    /// Ends recording and hands the commands to the device, without waiting.
    ///
    /// # Errors
    /// [`GpuError`] if something was recorded wrongly, or the device is lost.
    pub fn submit(&self, encoder: wgpu::CommandEncoder) -> Result<(), GpuError> {
        self.guarded(|| {
            self.queue.submit([encoder.finish()]);
        })
    }

    /// Waits until the device has done everything that was submitted.
    ///
    /// # Errors
    /// [`GpuError::DeviceLost`] if it never will.
    pub fn wait(&self) -> Result<(), GpuError> {
        let waited = poll(&self.device, wgpu::PollType::wait_indefinitely());
        if waited && self.lost.get().is_none() {
            Ok(())
        } else {
            Err(self.lose("it does not answer any more"))
        }
    }

    /// Remembers that the device is lost, and why unless that is known already.
    pub(super) fn lose(&self, reason: &str) -> GpuError {
        lost(self.lost.get_or_init(|| reason.to_owned()))
    }

    /// Only one thread at a time may have error scopes open. What the lock protects has
    /// no state that a panic could spoil.
    fn alone(&self) -> MutexGuard<'_, ()> {
        self.scopes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Whether the device is lost, found out by asking it for something small.
    ///
    /// A borrowed device tells its owner and not us when it is lost, and errors of that
    /// kind reach no scope: what fails without an error fails because of it.
    fn is_gone(&self) -> bool {
        if self.lost.get().is_some() {
            return true;
        }
        let filters = [
            wgpu::ErrorFilter::OutOfMemory,
            wgpu::ErrorFilter::Validation,
        ];
        let [memory, validation] = filters.map(|filter| self.device.push_error_scope(filter));
        let probe = self.device.create_buffer(&wgpu::BufferDescriptor {
            label: Some("probe"),
            size: 4,
            usage: wgpu::BufferUsages::MAP_READ | wgpu::BufferUsages::COPY_DST,
            mapped_at_creation: false,
        });
        let mapped = Arc::new(OnceLock::new());
        let answer = Arc::clone(&mapped);
        probe
            .slice(..)
            .map_async(wgpu::MapMode::Read, move |result| {
                // Called once.
                let _ = answer.set(result.is_ok());
            });
        let polled = poll(&self.device, wgpu::PollType::wait_indefinitely());
        // What could not be made, without a word, is invalid when it is mapped.
        drop(ready(validation.pop()));
        // No memory for four bytes is a nuisance, but the device is there.
        let no_memory = ready(memory.pop()).flatten().is_some();
        !polled || (mapped.get() != Some(&true) && !no_memory)
    }
}

/// Polls; false if the device is lost.
///
/// wgpu panics in here, and only here, when a device is lost while it is waited for.
pub(super) fn poll(device: &wgpu::Device, how: wgpu::PollType) -> bool {
    catch_unwind(AssertUnwindSafe(|| device.poll(how))).is_ok_and(|polled| polled.is_ok())
}

fn lost(reason: &str) -> GpuError {
    GpuError::DeviceLost {
        reason: reason.to_owned(),
    }
}

fn classify(error: wgpu::Error) -> GpuError {
    match error {
        wgpu::Error::OutOfMemory { .. } => GpuError::OutOfMemory,
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            GpuError::Refused {
                message: description,
            }
        }
    }
}

fn no_device(reason: &str) -> GpuError {
    GpuError::NoDevice {
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drivers that hand out more memory than there is cannot be made to say this.
    #[test]
    fn a_driver_without_memory_is_understood() {
        let source = Box::new(GpuError::OutOfMemory);
        let error = wgpu::Error::OutOfMemory { source };
        assert_eq!(classify(error), GpuError::OutOfMemory);
    }
}
