//! `--threads`: how many work.

use clap::Args;

use super::AnyError;

/// Option of every example.
#[derive(Args)]
pub struct ThreadArguments {
    /// Threads to use, 0 for one a core. The result does not depend on them.
    #[arg(long, value_name = "N", default_value_t = 0)]
    #[arg(value_parser = clap::value_parser!(u16).range(..=1024))]
    pub threads: u16,
}

impl ThreadArguments {
    /// Starts the threads. To be called once.
    pub fn start(&self) -> Result<(), AnyError> {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(self.threads.into());
        Ok(pool.build_global()?)
    }
}
