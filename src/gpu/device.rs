//! Device and queue, and how their errors are caught.
//!
//! wgpu reports most errors not to the caller but to a handler, whose default is to
//! panic. Everything here that may fail runs inside error scopes instead and returns
//! what they caught.

use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::adapter::{
    AdapterSummary, GpuOptions, check_limits, find_adapter, ready, wanted_limits,
};
use super::memory::{Memory, Share};
use crate::backend::DeviceError;

/// How long another thread may take to pass on that memory is mapped, when the device has
/// long done its work.
const ANSWER_TIME: Duration = Duration::from_secs(10);

/// A device to compute on, with its queue.
///
/// ```
/// use bevy_rapier_molecules::backend::DeviceError;
/// use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions, GpuVec};
///
/// let device = match GpuDevice::headless(&GpuOptions::default()) {
///     Ok(device) => device,
///     // No adapter is no reason to stop: the processor does the same.
///     Err(error) => {
///         println!("{error}");
///         return Ok(());
///     }
/// };
/// println!("{}", device.summary());
/// let array = GpuVec::from_slice(&device, "numbers", &[1_u32, 2, 3])?;
/// assert_eq!(array.read(&device)?, [1, 2, 3]);
/// # Ok::<(), DeviceError>(())
/// ```
pub struct GpuDevice {
    device: wgpu::Device,
    queue: wgpu::Queue,
    summary: AdapterSummary,
    limits: wgpu::Limits,
    /// Why the device was lost; empty while it was not.
    lost: Arc<OnceLock<String>>,
    /// The first error that no scope caught.
    stray: Arc<Mutex<Option<DeviceError>>>,
    memory: Arc<Memory>,
    /// Bytes that have come back.
    read: AtomicU64,
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
    /// [`DeviceError`] if there is no adapter, or it cannot do what the kernels need.
    pub fn headless(options: &GpuOptions) -> Result<Self, DeviceError> {
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
        let stray = Arc::new(Mutex::new(None));
        let first = Arc::clone(&stray);
        // Nothing should get here, and if it does it must not panic, as wgpu would.
        device.on_uncaptured_error(Arc::new(move |error| {
            locked(&first).get_or_insert(classify(error));
        }));
        Ok(Self {
            limits: device.limits().or_worse_values_from(&available),
            summary: AdapterSummary::new(adapter.get_info()),
            device,
            queue,
            lost,
            stray,
            memory: Memory::new(options.memory_bytes),
            read: AtomicU64::new(0),
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
    /// [`DeviceError::MissingLimit`] if the device was made without what the kernels need.
    pub fn borrowed(device: wgpu::Device, queue: wgpu::Queue) -> Result<Self, DeviceError> {
        let limits = device.limits();
        check_limits(&limits)?;
        Ok(Self {
            summary: AdapterSummary::new(device.adapter_info()),
            limits,
            device,
            queue,
            lost: Arc::new(OnceLock::new()),
            stray: Arc::default(),
            memory: Memory::new(None),
            read: AtomicU64::new(0),
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

    /// Bytes that have come back from the device since it was made, all arrays together.
    #[must_use]
    pub fn bytes_read(&self) -> u64 {
        self.read.load(Ordering::Relaxed)
    }

    /// Counts bytes that have come back.
    pub(super) fn count_read(&self, bytes: u64) {
        self.read.fetch_add(bytes, Ordering::Relaxed);
    }

    /// Makes a buffer, and counts it while it lives.
    pub(super) fn allocate(
        &self,
        label: &'static str,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<(wgpu::Buffer, Share), DeviceError> {
        let share = self.memory.take(size).ok_or(DeviceError::OutOfMemory)?;
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
    /// Must not be nested, or the inner call waits for the outer one forever: `work` must
    /// not grow, write or read a [`GpuVec`](super::GpuVec), make a plan or
    /// [`submit`](Self::submit), which are guarded already.
    ///
    /// # Errors
    /// The first [`DeviceError`] that the device reports meanwhile.
    pub fn guarded<T>(&self, work: impl FnOnce() -> T) -> Result<T, DeviceError> {
        // Only one thread at a time may have error scopes open.
        let _alone = locked(&self.scopes);
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
        let caught = caught.map(classify).or_else(|| locked(&self.stray).take());
        // What was made on a lost device is invalid, and complains about that instead.
        let gone = self.lost.get().is_some() || (caught.is_some() && self.is_gone());
        match caught {
            _ if gone => Err(self.lose("it does not answer any more")),
            Some(error) => Err(error),
            None => Ok(result),
        }
    }

    /// Ends recording and hands the commands to the device, without waiting.
    ///
    /// # Errors
    /// [`DeviceError`] if something was recorded wrongly, or the device is lost.
    pub fn submit(&self, encoder: wgpu::CommandEncoder) -> Result<(), DeviceError> {
        self.guarded(|| {
            self.queue.submit([encoder.finish()]);
        })
    }

    /// Waits until the device has done everything that was submitted.
    ///
    /// # Errors
    /// [`DeviceError::Lost`] if it never will.
    pub fn wait(&self) -> Result<(), DeviceError> {
        if poll(&self.device) && self.lost.get().is_none() {
            Ok(())
        } else {
            Err(self.lose("it does not answer any more"))
        }
    }

    /// Remembers that the device is lost, and why unless that is known already.
    pub(super) fn lose(&self, reason: &str) -> DeviceError {
        lost(self.lost.get_or_init(|| reason.to_owned()))
    }

    /// Whether the device is lost, found out by asking it for something small.
    ///
    /// A borrowed device tells its owner and not us when it is lost, and errors of that
    /// kind reach no scope: what fails without an error fails because of it.
    fn is_gone(&self) -> bool {
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
        let mapped = Mapping::begin(&probe.slice(..)).finish(&self.device);
        // What could not be made, without a word, is invalid when it is mapped.
        drop(ready(validation.pop()));
        // No memory for four bytes is a nuisance, but the device is there.
        let no_memory = ready(memory.pop()).flatten().is_some();
        !mapped && !no_memory
    }
}

/// Memory that is being mapped, to be read.
pub(super) struct Mapping(Receiver<bool>);

impl Mapping {
    pub(super) fn begin(slice: &wgpu::BufferSlice<'_>) -> Self {
        let (sender, receiver) = channel();
        slice.map_async(wgpu::MapMode::Read, move |result| {
            // Nobody listens any more if the wait was given up.
            let _ = sender.send(result.is_ok());
        });
        Self(receiver)
    }

    /// Waits for it; false if that failed.
    pub(super) fn finish(self, device: &wgpu::Device) -> bool {
        // Another thread that polls may have taken the answer along, and be about to give
        // it.
        poll(device) && self.0.recv_timeout(ANSWER_TIME) == Ok(true)
    }
}

/// Waits for everything that was submitted; false if the device is lost.
///
/// wgpu panics in here, and only here, when a device is lost while it is waited for.
fn poll(device: &wgpu::Device) -> bool {
    let wait = || device.poll(wgpu::PollType::wait_indefinitely());
    catch_unwind(AssertUnwindSafe(wait)).is_ok_and(|polled| polled.is_ok())
}

/// Nothing that is locked here has a state that a panic could spoil.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn lost(reason: &str) -> DeviceError {
    DeviceError::Lost {
        reason: reason.to_owned(),
    }
}

fn classify(error: wgpu::Error) -> DeviceError {
    match error {
        wgpu::Error::OutOfMemory { .. } => DeviceError::OutOfMemory,
        wgpu::Error::Validation { description, .. } | wgpu::Error::Internal { description, .. } => {
            DeviceError::Rejected {
                message: description,
            }
        }
    }
}

fn no_device(reason: &str) -> DeviceError {
    DeviceError::NoDevice {
        reason: reason.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Drivers that hand out more memory than there is cannot be made to say this.
    #[test]
    fn a_driver_without_memory_is_understood() {
        let source = Box::new(DeviceError::OutOfMemory);
        let error = wgpu::Error::OutOfMemory { source };
        assert_eq!(classify(error), DeviceError::OutOfMemory);
    }
}
