//! Backends: the CPU, or compute shaders on a GPU.
//!
//! [`Backend`] is what a user requests. [`DeviceError`] says why a GPU cannot do the work.
//! A failing GPU is never fatal: the CPU continues from the last state read back, and the
//! error is recorded for reports.

use std::fmt;
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};

#[cfg(feature = "plugin")]
use bevy::reflect::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Where contacts are found and resolved.
///
/// ```
/// use bevy_rapier_molecules::prelude::Backend;
///
/// assert_eq!("gpu".parse::<Backend>(), Ok(Backend::Gpu));
/// let error = "tpu".parse::<Backend>().unwrap_err();
/// assert_eq!(error.to_string(), "unknown backend \"tpu\": expected auto, cpu or gpu");
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[cfg_attr(
    feature = "plugin",
    derive(Reflect),
    reflect(Clone, Debug, Default, PartialEq, Hash)
)]
#[non_exhaustive]
pub enum Backend {
    /// A hardware GPU if there is one, else the CPU. Software adapters are ignored, since
    /// the CPU code is faster than they are.
    #[default]
    Auto,
    /// The CPU.
    Cpu,
    /// A GPU, even one emulated in software.
    Gpu,
}

impl Backend {
    /// All backends.
    pub const ALL: [Self; 3] = [Self::Auto, Self::Cpu, Self::Gpu];

    /// Name for command lines and reports.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Cpu => "cpu",
            Self::Gpu => "gpu",
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No backend has this name.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("unknown backend {name:?}: expected auto, cpu or gpu")]
pub struct UnknownBackend {
    /// The unknown name.
    pub name: String,
}

impl FromStr for Backend {
    type Err = UnknownBackend;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|backend| backend.name() == name);
        known.ok_or_else(|| UnknownBackend { name: name.into() })
    }
}

/// Why a GPU cannot do its work.
///
/// None of these is a reason to stop: the CPU can do the same work from the same input.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[cfg_attr(feature = "plugin", derive(Reflect), reflect(Clone, Debug, PartialEq))]
#[non_exhaustive]
pub enum DeviceError {
    /// The crate was built without the feature `gpu`.
    #[error("this program was built without the feature `gpu` of bevy_rapier_molecules")]
    FeatureDisabled,
    /// There is no adapter of the requested kind.
    #[error("no GPU adapter found (install a driver, or use the CPU backend): {reason}")]
    NoAdapter {
        /// What wgpu reports.
        reason: String,
    },
    /// The adapter returned no device.
    #[error("the GPU adapter returned no device: {reason}")]
    NoDevice {
        /// What the driver reports.
        reason: String,
    },
    /// The adapter has a lower limit than the kernels need.
    #[error("the GPU adapter is too limited: {limit} is {available}, but {needed} is needed")]
    MissingLimit {
        /// Name of the limit.
        limit: &'static str,
        /// What the kernels need.
        needed: u64,
        /// What the adapter has.
        available: u64,
    },
    /// A buffer is larger than a shader can bind.
    #[error(
        "the GPU buffer `{buffer}` needs {bytes} bytes, but a shader can bind at most {limit}: {fits} elements fit"
    )]
    BindingTooLarge {
        /// Label of the buffer.
        buffer: &'static str,
        /// Bytes needed.
        bytes: u64,
        /// Maximum bytes.
        limit: u64,
        /// Number of elements that would fit.
        fits: u64,
    },
    /// There are more spheres than the buffers of a search can hold.
    #[error("{spheres} spheres are too many for this GPU: {fit} would fit; use the CPU backend")]
    TooManySpheres {
        /// Number of spheres.
        spheres: u64,
        /// Number of spheres that would fit.
        fit: u64,
    },
    /// There are more pairs than a 32-bit index can address.
    #[error("{pairs} pairs exceed a 32-bit index: search with a smaller margin")]
    TooManyPairs {
        /// Number of pairs.
        pairs: u64,
    },
    /// A molecule has a template index that is out of range.
    #[error("molecule {molecule} has template {template}, but there are only {count} templates")]
    UnknownTemplate {
        /// Index of the molecule.
        molecule: usize,
        /// The invalid template index.
        template: u32,
        /// Number of templates.
        count: usize,
    },
    /// The number of poses differs from the number of molecules.
    #[error("there are {poses} poses for {molecules} molecules: pass one pose per molecule")]
    PoseCountMismatch {
        /// Number of molecules.
        molecules: usize,
        /// Number of poses.
        poses: usize,
    },
    /// The kernels do not implement this, on any device.
    #[error("{feature} is not supported on the GPU: use the CPU backend")]
    Unsupported {
        /// What is not supported.
        feature: &'static str,
    },
    /// The device has no memory left.
    #[error("out of GPU memory: free some, or use the CPU backend")]
    OutOfMemory,
    /// The device is gone: unplugged, reset after a hang, or destroyed. A new one must be
    /// created.
    #[error("the GPU device was lost: {reason}")]
    Lost {
        /// What the driver reports.
        reason: String,
    },
    /// The device rejected the work: a bug in this crate or in the driver.
    #[error("the GPU device rejected the work: {message}")]
    Rejected {
        /// What the device reports.
        message: String,
    },
}

impl DeviceError {
    /// Whether a smaller scene might fit.
    #[must_use]
    pub fn is_out_of_space(&self) -> bool {
        matches!(
            self,
            Self::BindingTooLarge { .. }
                | Self::TooManySpheres { .. }
                | Self::TooManyPairs { .. }
                | Self::OutOfMemory
        )
    }

    /// Whether the device is gone for good.
    #[must_use]
    pub fn is_lost(&self) -> bool {
        matches!(self, Self::Lost { .. })
    }
}

/// Work that a device does until it fails, after which the CPU does it.
///
/// The fallback of the relaxer and of the crowd's contacts: both ask [`as_mut`](Self::as_mut)
/// for the device first, and [`fail`](Self::fail) hands them what can be rescued from it and
/// records the error for reports.
pub(crate) struct Offload<W> {
    work: Option<W>,
    error: Option<DeviceError>,
}

impl<W> Offload<W> {
    /// Nothing is offloaded.
    pub fn none() -> Self {
        Self {
            work: None,
            error: None,
        }
    }

    /// Starts work on a device. Forgets the error of an earlier one.
    pub fn start(&mut self, work: W) {
        *self = Self {
            work: Some(work),
            error: None,
        };
    }

    /// The work on the device; none if the CPU does it.
    pub fn as_ref(&self) -> Option<&W> {
        self.work.as_ref()
    }

    /// As [`as_ref`](Self::as_ref), mutable.
    pub fn as_mut(&mut self) -> Option<&mut W> {
        self.work.as_mut()
    }

    /// Hands the work over to the CPU although nothing failed.
    pub fn stop(&mut self) -> Option<W> {
        self.work.take()
    }

    /// Hands the work over to the CPU after an error, which is recorded.
    pub fn fail(&mut self, error: DeviceError) -> Option<W> {
        self.error = Some(error);
        self.work.take()
    }

    /// The error after which the CPU took over.
    pub fn error(&self) -> Option<&DeviceError> {
        self.error.as_ref()
    }

    /// Takes the error after which the CPU took over.
    pub fn take_error(&mut self) -> Option<DeviceError> {
        self.error.take()
    }
}

impl<W> Default for Offload<W> {
    fn default() -> Self {
        Self::none()
    }
}

/// A solver on a device, behind a lock so that results can be read back through `&self`.
///
/// Device solvers report failures as errors and stay usable after a panic elsewhere, so
/// poisoning is ignored.
pub(crate) struct DeviceCell<S: ?Sized>(Mutex<Box<S>>);

impl<S: ?Sized> DeviceCell<S> {
    pub fn new(solver: Box<S>) -> Self {
        Self(Mutex::new(solver))
    }

    pub fn get_mut(&mut self) -> &mut S {
        self.0.get_mut().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn lock(&self) -> MutexGuard<'_, Box<S>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn backend_names_round_trip_and_unknown_names_are_errors() {
        for backend in Backend::ALL {
            assert_eq!(backend.to_string().parse(), Ok(backend));
        }
        let error = "cuda".parse::<Backend>().unwrap_err();
        assert!(error.to_string().contains("\"cuda\""));
    }

    #[test]
    fn a_failed_device_hands_its_work_over_and_is_recorded() {
        let mut offload = Offload::none();
        assert!(offload.as_ref().is_none());
        offload.start("work");
        assert_eq!(offload.fail(DeviceError::OutOfMemory), Some("work"));
        assert!(offload.as_mut().is_none());
        assert_eq!(offload.error(), Some(&DeviceError::OutOfMemory));
        offload.start("more work");
        assert_eq!(offload.error(), None, "an earlier device does not count");
        assert_eq!(offload.stop(), Some("more work"));
        assert_eq!(offload.take_error(), None);
    }
}
