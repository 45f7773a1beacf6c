//! Where the work is done: by the processor, or by compute shaders on a GPU.
//!
//! [`Backend`] is what a user asks for; who does the work in the end, on which adapter, and why
//! it is not what was asked for, is said by whoever took it, such as a
//! `RelaxReport`.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use thiserror::Error;

/// Who finds and answers contacts.
///
/// ```
/// use bevy_rapier_molecules::prelude::Backend;
///
/// assert_eq!("gpu".parse::<Backend>(), Ok(Backend::Gpu));
/// let said = "tpu".parse::<Backend>().map_err(|error| error.to_string());
/// assert_eq!(said, Err("there is no backend \"tpu\": it is auto, cpu or gpu".to_owned()));
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Backend {
    /// A GPU if there is a real one, else the processor. A software adapter is not used:
    /// the processor's own code is faster than it.
    #[default]
    Auto,
    /// The processor.
    Cpu,
    /// A GPU, even one in software.
    Gpu,
}

impl Backend {
    /// All there are.
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
#[error("there is no backend {name:?}: it is auto, cpu or gpu")]
pub struct UnknownBackend {
    /// The name that was given.
    pub name: String,
}

impl FromStr for Backend {
    type Err = UnknownBackend;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        let known = Self::ALL.into_iter().find(|backend| backend.name() == name);
        known.ok_or_else(|| UnknownBackend { name: name.into() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_read_back_and_others_refused() {
        for backend in Backend::ALL {
            assert_eq!(backend.to_string().parse(), Ok(backend));
        }
        let error = "cuda".parse::<Backend>().unwrap_err();
        assert!(error.to_string().contains("\"cuda\""));
    }
}
