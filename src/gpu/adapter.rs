//! Which adapter to use, and whether it can do what the kernels need.

use std::fmt;
use std::task::{Context, Poll, Waker};

use super::constants::{GROUP_THREADS, GROUP_WORDS};
use crate::backend::DeviceError;

/// Storage arrays that the largest kernel binds.
const STORAGE_BUFFERS: u32 = 8;

/// Workgroups along an axis of a dispatch: two axes of them have a thread for each of 2³²
/// elements.
const DISPATCH_GROUPS: u32 = 1 << 12;

/// How to choose an adapter, and how much of it to use.
#[derive(Clone, Debug)]
pub struct GpuOptions {
    /// Whether a software adapter will do. It is slower than the processor's own code.
    ///
    /// Default: yes.
    pub allow_software: bool,
    /// Which graphics interfaces to look at.
    ///
    /// Default: all that this platform has.
    pub interfaces: wgpu::Backends,
    /// Most bytes that all arrays together may take; none leaves it to the driver.
    ///
    /// Default: none.
    pub memory_bytes: Option<u64>,
    /// Limits to stay within, even if the adapter has more: for tests of what happens
    /// on smaller ones.
    #[doc(hidden)]
    pub at_most: Option<wgpu::Limits>,
}

impl Default for GpuOptions {
    fn default() -> Self {
        Self {
            allow_software: true,
            interfaces: wgpu::Backends::all(),
            memory_bytes: None,
            at_most: None,
        }
    }
}

/// Which adapter it is, for logs and reports.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct AdapterSummary {
    /// Name of the adapter.
    pub name: String,
    /// What it is: a discrete GPU, an integrated one, software, …
    pub device_type: wgpu::DeviceType,
    /// Name and version of the driver.
    pub driver: String,
    /// The graphics interface behind it.
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

    /// Whether the processor does the adapter's work.
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

/// The best adapter: fast GPUs before slow ones, software last.
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
    .ok_or_else(|| no_adapter("the driver does not answer"))?
    .map_err(|error| no_adapter(&error.to_string()))?;
    let info = adapter.get_info();
    if info.device_type == wgpu::DeviceType::Cpu && !options.allow_software {
        let reason = format!(
            "{} is software, which is slower than the processor's own code",
            info.name
        );
        return Err(no_adapter(&reason));
    }
    Ok(adapter)
}

/// The defaults, and for arrays and bindings all that there is.
pub(super) fn wanted_limits(available: &wgpu::Limits) -> wgpu::Limits {
    wgpu::Limits {
        max_buffer_size: available.max_buffer_size,
        max_storage_buffer_binding_size: available.max_storage_buffer_binding_size,
        max_storage_buffers_per_shader_stage: available.max_storage_buffers_per_shader_stage,
        ..wgpu::Limits::default().or_worse_values_from(available)
    }
}

/// Checks that the kernels can run at all.
pub(super) fn check_limits(limits: &wgpu::Limits) -> Result<(), DeviceError> {
    let needs = [
        (
            "storage buffers of a shader stage",
            STORAGE_BUFFERS,
            limits.max_storage_buffers_per_shader_stage,
        ),
        (
            "threads of a workgroup",
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
            "workgroups of a dispatch",
            DISPATCH_GROUPS,
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

/// What a future that never waits has to say. On native platforms those of wgpu are ready
/// at once; on the web they are not, and nothing can block there anyway.
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
