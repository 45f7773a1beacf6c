//! What happens if a GPU is asked for that there is not.

use std::fmt::Display;
use std::io::{self, Write};

use crate::common::Device;

/// The processor, which does what a GPU was to do: says so on standard error.
pub fn processor(reason: &dyn Display) -> Device {
    // A warning that cannot be shown is no reason to stop.
    let _ = writeln!(io::stderr(), "warning: on the processor, since {reason}");
    Device {
        fell_back: Some(reason.to_string()),
        ..Device::default()
    }
}
