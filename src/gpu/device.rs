//! The device with its queue, and how its errors are caught.
//!
//! wgpu reports most errors to a handler that panics by default. Everything here that can
//! fail therefore runs in error scopes and returns the error that they catch.

use std::collections::HashMap;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use super::adapter::{
    AdapterSummary, GpuOptions, check_limits, find_adapter, ready, wanted_limits,
};
use super::kernel::begin_pass;
use super::memory_budget::{Allocation, MemoryBudget};
use super::shader::Shader;
use crate::backend::{Backend, DeviceError};

/// Maximum time for another polling thread to deliver the result of a mapping, after the
/// device has finished its work.
const MAPPING_TIMEOUT: Duration = Duration::from_secs(10);

/// Reason of a loss that the driver does not explain.
const NO_RESPONSE: &str = "it no longer responds";

/// A GPU device with its queue, error scopes and memory accounting.
///
/// ```
/// use bevy_rapier_molecules::backend::DeviceError;
/// use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions, GpuVec};
///
/// let device = match GpuDevice::headless(&GpuOptions::default()) {
///     Ok(device) => device,
///     // Without an adapter, use the CPU.
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
    /// Why the device was lost.
    lost: Arc<OnceLock<String>>,
    /// The first error that no scope caught.
    stray: Arc<Mutex<Option<DeviceError>>>,
    memory: Arc<MemoryBudget>,
    work: [AtomicU64; Work::COUNT],
    /// Shader modules by name: one per source, shared by its entry points.
    modules: Mutex<HashMap<&'static str, wgpu::ShaderModule>>,
    /// Error scopes of two threads must not interleave.
    scopes: Mutex<()>,
}

/// Kinds of work that a [`GpuDevice`] counts.
#[derive(Clone, Copy, Debug)]
pub(super) enum Work {
    Waits,
    Submissions,
    BindGroups,
    BytesRead,
    BytesWritten,
}

impl Work {
    const COUNT: usize = 5;
}

/// Work of a [`GpuDevice`], counted since it was created.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct DeviceWork {
    /// Times that the CPU waited for the device.
    pub waits: u64,
    /// Submissions of commands.
    pub submissions: u64,
    /// Bind groups made.
    pub bind_groups: u64,
    /// Bytes read back.
    pub bytes_read: u64,
    /// Bytes written to buffers.
    pub bytes_written: u64,
}

impl std::ops::Sub for DeviceWork {
    type Output = Self;

    fn sub(self, earlier: Self) -> Self {
        Self {
            waits: self.waits - earlier.waits,
            submissions: self.submissions - earlier.submissions,
            bind_groups: self.bind_groups - earlier.bind_groups,
            bytes_read: self.bytes_read - earlier.bytes_read,
            bytes_written: self.bytes_written - earlier.bytes_written,
        }
    }
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
    /// Creates a device without a window.
    ///
    /// # Errors
    /// [`DeviceError`] if there is no adapter, or its limits are too low.
    pub fn headless(options: &GpuOptions) -> Result<Self, DeviceError> {
        let adapter = find_adapter(options)?;
        let mut available = adapter.limits();
        if let Some(max_limits) = &options.max_limits {
            available = available.or_worse_values_from(max_limits);
        }
        check_limits(&available)?;
        let timestamps = adapter.features() & wgpu::Features::TIMESTAMP_QUERY;
        let (device, queue) = ready(adapter.request_device(&wgpu::DeviceDescriptor {
            label: Some("molecules"),
            required_features: timestamps,
            required_limits: wanted_limits(&available),
            ..Default::default()
        }))
        .ok_or_else(|| no_device("the driver does not respond"))?
        .map_err(|error| no_device(&error.to_string()))?;
        let lost = Arc::new(OnceLock::new());
        let reason = Arc::clone(&lost);
        device.set_device_lost_callback(move |_, message| {
            // Only the first loss counts.
            let _ = reason.set(message);
        });
        let stray = Arc::new(Mutex::new(None));
        let first = Arc::clone(&stray);
        // No error should get here; if one does, it must not panic as wgpu would.
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
            memory: MemoryBudget::new(options.memory_bytes),
            work: Default::default(),
            modules: Mutex::default(),
            scopes: Mutex::new(()),
        })
    }

    /// The device for `backend`: `None` for the CPU, and if [`Backend::Auto`] finds no hardware
    /// GPU.
    ///
    /// # Errors
    /// [`DeviceError`] if the backend is [`Backend::Gpu`] and there is no usable GPU.
    pub fn for_backend(
        backend: Backend,
        options: &GpuOptions,
    ) -> Result<Option<Arc<Self>>, DeviceError> {
        match backend {
            Backend::Cpu => Ok(None),
            Backend::Gpu => Self::headless(options).map(|device| Some(Arc::new(device))),
            Backend::Auto => {
                let hardware = GpuOptions {
                    allow_software: false,
                    ..options.clone()
                };
                Ok(Self::headless(&hardware).ok().map(Arc::new))
            }
        }
    }

    /// Wraps a device that its owner, such as a renderer, keeps using.
    ///
    /// Its error handlers are not replaced. Errors are caught with scopes, which wgpu keeps
    /// per thread only with its feature `std`: enable it if other threads open error scopes on
    /// this device.
    ///
    /// # Errors
    /// [`DeviceError::MissingLimit`] if the limits of the device are too low.
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
            memory: MemoryBudget::new(None),
            work: Default::default(),
            modules: Mutex::default(),
            scopes: Mutex::new(()),
        })
    }

    /// The adapter.
    #[must_use]
    pub fn summary(&self) -> &AdapterSummary {
        &self.summary
    }

    /// Limits of the device, reduced by those of [`GpuOptions`].
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

    /// Whether the device can time passes.
    #[must_use]
    pub fn has_timestamps(&self) -> bool {
        self.device
            .features()
            .contains(wgpu::Features::TIMESTAMP_QUERY)
    }

    /// Maximum size of a storage buffer, bytes.
    #[must_use]
    pub fn max_storage_bytes(&self) -> u64 {
        let limits = &self.limits;
        limits
            .max_storage_buffer_binding_size
            .min(limits.max_buffer_size)
    }

    /// Bytes that all buffers currently take.
    #[must_use]
    pub fn memory_in_use(&self) -> u64 {
        self.memory.used()
    }

    /// Work done so far by all users of this device.
    #[must_use]
    pub fn work(&self) -> DeviceWork {
        let count = |work: Work| self.work[work as usize].load(Ordering::Relaxed);
        DeviceWork {
            waits: count(Work::Waits),
            submissions: count(Work::Submissions),
            bind_groups: count(Work::BindGroups),
            bytes_read: count(Work::BytesRead),
            bytes_written: count(Work::BytesWritten),
        }
    }

    /// Counts work.
    pub(super) fn count(&self, work: Work, amount: u64) {
        self.work[work as usize].fetch_add(amount, Ordering::Relaxed);
    }

    /// Number of shader modules compiled so far: one per source.
    #[must_use]
    pub fn shader_module_count(&self) -> usize {
        locked(&self.modules).len()
    }

    /// The module of a shader, compiled on first use.
    pub(super) fn shader_module(&self, shader: &Shader) -> Result<wgpu::ShaderModule, DeviceError> {
        if let Some(module) = locked(&self.modules).get(shader.name) {
            return Ok(module.clone());
        }
        let module = self.guarded(|| {
            self.device
                .create_shader_module(wgpu::ShaderModuleDescriptor {
                    label: Some(shader.name),
                    source: wgpu::ShaderSource::Wgsl(shader.source()),
                })
        })?;
        locked(&self.modules).insert(shader.name, module.clone());
        Ok(module)
    }

    /// Creates a buffer that counts as allocated while it lives.
    pub(super) fn allocate(
        &self,
        label: &'static str,
        size: u64,
        usage: wgpu::BufferUsages,
    ) -> Result<(wgpu::Buffer, Allocation), DeviceError> {
        let allocation = self.memory.allocate(size).ok_or(DeviceError::OutOfMemory)?;
        let buffer = self.guarded(|| {
            self.device.create_buffer(&wgpu::BufferDescriptor {
                label: Some(label),
                size,
                usage,
                mapped_at_creation: false,
            })
        })?;
        Ok((buffer, allocation))
    }

    /// Creates a command encoder.
    #[must_use]
    pub fn encoder(&self, label: &str) -> wgpu::CommandEncoder {
        let label = Some(label);
        self.device
            .create_command_encoder(&wgpu::CommandEncoderDescriptor { label })
    }

    /// Runs `work` in error scopes and returns the error that it caused.
    ///
    /// Calls must not be nested, or the inner one deadlocks: `work` must not grow, write or
    /// read a [`GpuVec`](super::GpuVec), create a plan or [`submit`](Self::submit), which are
    /// guarded already.
    ///
    /// # Errors
    /// The first [`DeviceError`] that the device reports during `work`.
    pub fn guarded<T>(&self, work: impl FnOnce() -> T) -> Result<T, DeviceError> {
        // One thread at a time may have error scopes open.
        let _lock = locked(&self.scopes);
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
        // Objects created on a lost device are invalid and cause other errors.
        let lost = self.lost.get().is_some() || (caught.is_some() && self.probe_lost());
        match caught {
            _ if lost => Err(self.mark_lost()),
            Some(error) => Err(error),
            None => Ok(result),
        }
    }

    /// Records one pass and submits it without waiting.
    pub(super) fn run(
        &self,
        label: &str,
        record: impl FnOnce(&mut wgpu::ComputePass<'_>),
    ) -> Result<(), DeviceError> {
        let mut encoder = self.encoder(label);
        record(&mut begin_pass(&mut encoder, label));
        self.submit(encoder)
    }

    /// Submits the recorded commands without waiting.
    ///
    /// # Errors
    /// [`DeviceError`] if a command is invalid or the device is lost.
    pub fn submit(&self, encoder: wgpu::CommandEncoder) -> Result<(), DeviceError> {
        self.count(Work::Submissions, 1);
        self.guarded(|| {
            self.queue.submit([encoder.finish()]);
        })
    }

    /// Waits until the device has finished all submitted work.
    ///
    /// # Errors
    /// [`DeviceError::Lost`] if the device is lost.
    pub fn wait(&self) -> Result<(), DeviceError> {
        self.count(Work::Waits, 1);
        if poll(&self.device) && self.lost.get().is_none() {
            Ok(())
        } else {
            Err(self.mark_lost())
        }
    }

    /// Marks the device as lost and returns the error.
    pub(super) fn mark_lost(&self) -> DeviceError {
        let reason = self.lost.get_or_init(|| NO_RESPONSE.to_owned()).clone();
        DeviceError::Lost { reason }
    }

    /// Whether the device is lost, tested by mapping a small buffer.
    ///
    /// The loss of a borrowed device is reported to its owner only, and reaches no error scope:
    /// a mapping that fails without an error means that the device is lost.
    fn probe_lost(&self) -> bool {
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
        // A buffer that could not be created fails validation when it is mapped.
        drop(ready(validation.pop()));
        // Out of memory does not mean lost.
        let no_memory = ready(memory.pop()).flatten().is_some();
        !mapped && !no_memory
    }
}

/// A mapping for reading that is under way.
pub(super) struct Mapping(Receiver<bool>);

impl Mapping {
    pub(super) fn begin(slice: &wgpu::BufferSlice<'_>) -> Self {
        let (sender, receiver) = channel();
        slice.map_async(wgpu::MapMode::Read, move |result| {
            // The receiver is gone after a timeout.
            let _ = sender.send(result.is_ok());
        });
        Self(receiver)
    }

    /// Waits for the mapping; false if it failed.
    pub(super) fn finish(self, device: &wgpu::Device) -> bool {
        // Another polling thread may deliver the result a little later.
        poll(device) && self.0.recv_timeout(MAPPING_TIMEOUT) == Ok(true)
    }
}

/// Waits for all submitted work; false if the device is lost.
///
/// wgpu panics in `poll` if the device is lost meanwhile.
fn poll(device: &wgpu::Device) -> bool {
    let wait = || device.poll(wgpu::PollType::wait_indefinitely());
    catch_unwind(AssertUnwindSafe(wait)).is_ok_and(|polled| polled.is_ok())
}

/// Locks and ignores poisoning: no panic can leave the values invalid.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
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

    /// Drivers that overcommit memory never report this in practice.
    #[test]
    fn out_of_memory_is_recognized() {
        let source = Box::new(DeviceError::OutOfMemory);
        let error = wgpu::Error::OutOfMemory { source };
        assert_eq!(classify(error), DeviceError::OutOfMemory);
    }
}
