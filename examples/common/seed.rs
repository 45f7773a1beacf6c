//! `--seed`: what is random, and yet the same every time.

use clap::Args;

/// The seed, unless told otherwise.
const SEED: u64 = 1;

/// Option of every example in which something is random.
#[derive(Args)]
pub struct SeedArguments {
    /// Seed of everything random; the same seed gives the same bits [default: 1].
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
}

impl SeedArguments {
    /// The seed: as given, else that of a preset, else the default.
    pub fn or(&self, preset: Option<u64>) -> u64 {
        self.seed.or(preset).unwrap_or(SEED)
    }
}
