//! `--backend`: who does the work.

use std::fmt::Display;
use std::io::{self, Write};

use bevy_rapier_molecules::backend::Backend;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Reads the name of a backend.
pub fn parser() -> impl TypedValueParser<Value = Backend> {
    PossibleValuesParser::new(Backend::ALL.map(Backend::name))
        .try_map(|name| name.parse::<Backend>())
}

/// Says that the processor does what a GPU was to do.
pub fn say_fallback(reason: &dyn Display) {
    // A warning that cannot be shown is no reason to stop.
    let _ = writeln!(io::stderr(), "warning: on the CPU, since {reason}");
}
