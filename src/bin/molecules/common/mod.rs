//! Shared by the commands, and file by file by the examples: options, errors and exit codes,
//! progress, files to write.

#![allow(
    dead_code,
    unused_imports,
    reason = "the examples need more of this module than the commands"
)]

pub mod clash_search;
mod common_arguments;
mod exit;
mod interrupt;
mod load_warnings;
mod memory;
mod progress;
pub mod recipe_arguments;
pub mod relax_arguments;
mod relaxation;
mod remaining_time;
pub mod scene_input;
pub mod scene_output;
mod target;

pub use common_arguments::CommonArguments;
pub use exit::{AnyError, EXIT_CODES, INVALID_INPUT, STOPPED, finish};
pub use interrupt::stop_on_interrupt;
pub use load_warnings::print_load_warnings;
pub use memory::{Bytes, peak_memory_bytes};
pub use progress::Progress;
pub use relaxation::{rehearse_export, show_relaxation};
pub use remaining_time::RemainingTime;
pub use target::check_target;
