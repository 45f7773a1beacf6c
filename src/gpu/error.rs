//! What can go wrong on a device.

use thiserror::Error;

use crate::search::DeviceFault;

/// Why something could not be done on the GPU.
///
/// None of these is a reason to stop: whoever gets one does the work on the processor.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum GpuError {
    /// There is no adapter of the kind that was asked for.
    #[error("no graphics adapter (install a driver, or work on the processor): {reason}")]
    NoAdapter {
        /// What the search for one says.
        reason: String,
    },
    /// The adapter gave no device.
    #[error("the graphics adapter gives no device: {reason}")]
    NoDevice {
        /// What the driver says.
        reason: String,
    },
    /// The adapter cannot do as much as the kernels need.
    #[error("the graphics adapter is too small: {what} must be {needed}, and is {available}")]
    MissingLimit {
        /// Name of the limit.
        what: &'static str,
        /// What the kernels need.
        needed: u64,
        /// What the adapter has.
        available: u64,
    },
    /// An array is larger than a shader may see at once.
    #[error(
        "the array `{what}` would have {bytes} bytes, and a shader sees at most {limit}: {fits} elements fit"
    )]
    BindingTooLarge {
        /// Label of the array.
        what: &'static str,
        /// Bytes that it would have.
        bytes: u64,
        /// Most bytes that it may have.
        limit: u64,
        /// How many elements would fit.
        fits: u64,
    },
    /// There are more spheres than the arrays of a search can hold.
    #[error(
        "{spheres} spheres are too many for this graphics adapter: {fit} would fit; the processor takes more"
    )]
    TooManySpheres {
        /// Number of spheres.
        spheres: u64,
        /// How many would fit.
        fit: u64,
    },
    /// There are more pairs than 32 bits can number.
    #[error("{pairs} pairs are too many to number with 32 bits: search with a smaller margin")]
    TooManyPairs {
        /// Number of pairs.
        pairs: u64,
    },
    /// A molecule names a template that is not in the list.
    #[error("molecule {molecule} has template {template}, but there are {count}, counted from 0")]
    NoSuchTemplate {
        /// Index of the molecule.
        molecule: usize,
        /// Template that it names.
        template: u32,
        /// Number of templates.
        count: usize,
    },
    /// There are not as many poses as molecules.
    #[error("{poses} poses do not belong to {molecules} molecules: each needs one")]
    WrongPoses {
        /// Number of molecules.
        molecules: usize,
        /// Number of poses.
        poses: usize,
    },
    /// The kernels cannot do what was asked for, on any device.
    #[error("the graphics kernels have no {what}: the processor has")]
    Unsupported {
        /// What they do not have.
        what: &'static str,
    },
    /// The device has no memory left.
    #[error("out of graphics memory: free some, or work on the processor")]
    OutOfMemory,
    /// The device is gone: unplugged, reset after a hang, or destroyed.
    #[error("the graphics device was lost, and a new one must be made: {reason}")]
    DeviceLost {
        /// What the driver says.
        reason: String,
    },
    /// The device refused the work: a fault of this crate, or of the driver.
    #[error("the graphics device refused the work: {message}")]
    Refused {
        /// What it says.
        message: String,
    },
}

impl GpuError {
    /// The same in the words of a [`PairSearch`](crate::search::PairSearch), which knows
    /// nothing of GPUs.
    #[must_use]
    pub fn as_fault(&self) -> DeviceFault {
        match *self {
            Self::NoAdapter { .. } | Self::NoDevice { .. } | Self::MissingLimit { .. } => {
                DeviceFault::Absent
            }
            Self::TooManySpheres { spheres, fit } => DeviceFault::TooManySpheres { spheres, fit },
            Self::TooManyPairs { .. } | Self::BindingTooLarge { .. } | Self::OutOfMemory => {
                DeviceFault::OutOfMemory
            }
            Self::DeviceLost { .. } => DeviceFault::Lost,
            Self::NoSuchTemplate { .. }
            | Self::WrongPoses { .. }
            | Self::Refused { .. }
            | Self::Unsupported { .. } => DeviceFault::Refused,
        }
    }
}
