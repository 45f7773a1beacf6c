//! Choice of an adapter and check of its limits.

use std::fmt;
use std::task::{Context, Poll, Waker};

use super::shader_constants::{GROUP_THREADS, GROUP_WORDS};
use crate::backend::DeviceError;

/// Storage buffers that the largest kernel binds.
const MIN_STORAGE_BUFFERS: u32 = 8;

/// Workgroups per dimension of a dispatch: two dimensions have a thread for each of 2³²
/// elements.
const MIN_DISPATCH_GROUPS: u32 = 1 << 12;

/// Choice of an adapter, and limits on its use.
#[derive(Clone, Debug)]
pub struct GpuOptions {
    /// Whether to accept a software adapter, which is slower than the CPU code.
    ///
    /// Default: `true`.
    pub allow_software: bool,
    /// Graphics APIs to consider.
    ///
    /// Default: all of this platform.
    pub interfaces: wgpu::Backends,
    /// Maximum bytes of all buffers together; `None` leaves it to the driver.
    ///
    /// Default: none.
    pub memory_bytes: Option<u64>,
    /// Upper bound on the limits, for tests of small adapters.
    #[doc(hidden)]
    pub max_limits: Option<wgpu::Limits>,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self {
            allow_software: true,
            interfaces: wgpu::Backends::all(),
            memory_bytes: None,
            max_limits: None,
        }
    }
}

/// Description of an adapter, for logs and reports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdapterSummary {
    /// Name of the adapter.
    pub name: String,
    /// Discrete GPU, integrated GPU, software, …
    pub device_type: wgpu::DeviceType,
    /// Name and version of the driver.
    pub driver: String,
    /// The graphics API.
    pub interface: wgpu::Backend,
}

impl AdapterSummary {
    pub(super) fn new(info: wgpu::AdapterInfo) -> Self {
        let driver = format!("{} {}", info.driver, info.driver_info);
        Self {
            name: info.name,
            device_type: info.device_type,
            driver: driver.trim().to_owned(),
            interface: info.backend,
        }
    }

    /// Whether the adapter is emulated on the CPU.
    #[must_use]
    pub fn is_software(&self) -> bool {
        self.device_type == wgpu::DeviceType::Cpu
    }
}

impl fmt::Display for AdapterSummary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = match self.device_type {
            wgpu::DeviceType::DiscreteGpu => "discrete GPU",
            wgpu::DeviceType::IntegratedGpu => "integrated GPU",
            wgpu::DeviceType::VirtualGpu => "virtual GPU",
            wgpu::DeviceType::Cpu => "software",
            wgpu::DeviceType::Other => "other",
        };
        write!(
            f,
            "{} ({kind}, {}, {})",
            self.name, self.interface, self.driver
        )
    }
}

/// The fastest adapter; software last.
pub(super) fn find_adapter(options: &GpuOptions) -> Result<wgpu::Adapter, DeviceError> {
    let no_adapter = |reason: &str| DeviceError::NoAdapter {
        reason: reason.to_owned(),
    };
    let instance = wgpu::Instance::new(wgpu::InstanceDescriptor {
        backends: options.interfaces,
        ..wgpu::InstanceDescriptor::new_without_display_handle()
    });
    let adapter = ready(instance.request_adapter(&wgpu::RequestAdapterOptions {
        power_preference: wgpu::PowerPreference::HighPerformance,
        ..Default::default()
    }))
    .ok_or_else(|| no_adapter("the driver does not respond"))?
    .map_err(|error| no_adapter(&error.to_string()))?;
    let info = adapter.get_info();
    if info.device_type == wgpu::DeviceType::Cpu && !options.allow_software {
        let reason = format!(
            "{} is a software adapter, which is slower than the CPU code",
            info.name
        );
        return Err(no_adapter(&reason));
    }
    Ok(adapter)
}

/// The default limits, with the maximum that is available for buffers and bindings.
pub(super) fn wanted_limits(available: &wgpu::Limits) -> wgpu::Limits {
    wgpu::Limits {
        max_buffer_size: available.max_buffer_size,
        max_storage_buffer_binding_size: available.max_storage_buffer_binding_size,
        max_storage_buffers_per_shader_stage: available.max_storage_buffers_per_shader_stage,
        ..wgpu::Limits::default().or_worse_values_from(available)
    }
}

/// Checks that the kernels can run.
pub(super) fn check_limits(limits: &wgpu::Limits) -> Result<(), DeviceError> {
    let needs = [
        (
            "storage buffers per shader stage",
            MIN_STORAGE_BUFFERS,
            limits.max_storage_buffers_per_shader_stage,
        ),
        (
            "threads per workgroup",
            GROUP_THREADS,
            limits
                .max_compute_invocations_per_workgroup
                .min(limits.max_compute_workgroup_size_x),
        ),
        (
            "bytes of workgroup memory",
            GROUP_WORDS * 4,
            limits.max_compute_workgroup_storage_size,
        ),
        (
            "workgroups per dimension of a dispatch",
            MIN_DISPATCH_GROUPS,
            limits.max_compute_workgroups_per_dimension,
        ),
    ];
    for (limit, needed, available) in needs {
        if available < needed {
            return Err(DeviceError::MissingLimit {
                limit,
                needed: needed.into(),
                available: available.into(),
            });
        }
    }
    Ok(())
}

/// The value of a future that is ready. On native platforms, futures of wgpu are.
pub(super) fn ready<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = std::pin::pin!(future);
    match future
        .as_mut()
        .poll(&mut Context::from_waker(Waker::noop()))
    {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}
