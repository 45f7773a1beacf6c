//! `--backend`: who does the work.

use bevy_rapier_molecules::backend::Backend;
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

/// Option of every example in which a GPU may do some of the work.
#[derive(Args)]
pub struct BackendArguments {
    /// Who does the work: a GPU if there is a real one, the processor, or any GPU, even one
    /// in software [default: auto].
    #[arg(long, value_name = "WHERE", value_parser = parser())]
    pub backend: Option<Backend>,
}

/// Reads the name of a backend.
fn parser() -> impl TypedValueParser<Value = Backend> {
    PossibleValuesParser::new(Backend::ALL.map(Backend::name))
        .try_map(|name| name.parse::<Backend>())
}
