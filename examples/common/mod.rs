//! Shared by all examples: command-line options, reports, exit codes and progress; with the
//! feature `draw` also windows, screenshots, cameras and panels.
//!
//! Files that the program `molecules` needs, too, are in `src/bin/molecules/common`.

#![allow(
    dead_code,
    unused_imports,
    reason = "each example uses a part of this module"
)]

#[cfg(feature = "draw")]
pub mod app;
mod arguments;
#[path = "../../src/bin/molecules/common/common_arguments.rs"]
mod common_arguments;
mod device;
#[path = "../../src/bin/molecules/common/exit.rs"]
mod exit;
#[path = "../../src/bin/molecules/common/interrupt.rs"]
mod interrupt;
#[path = "../../src/bin/molecules/common/load_warnings.rs"]
mod load_warnings;
#[path = "../../src/bin/molecules/common/memory.rs"]
mod memory;
#[cfg(feature = "draw")]
pub mod orbit;
#[cfg(feature = "draw")]
pub mod panels;
#[path = "../../src/bin/molecules/common/progress.rs"]
mod progress;
#[path = "../../src/bin/molecules/common/relaxation.rs"]
mod relaxation;
#[path = "../../src/bin/molecules/common/remaining_time.rs"]
mod remaining_time;
mod report;
#[cfg(feature = "recipe")]
#[path = "../../src/bin/molecules/common/scene_output.rs"]
pub mod scene_output;
pub mod screen;
#[cfg(feature = "draw")]
pub mod stage;
#[path = "../../src/bin/molecules/common/target.rs"]
mod target;
#[cfg(feature = "draw")]
pub mod view_area;

pub use arguments::{BackendArguments, SceneArguments, ScreenshotArguments, SeedArguments};
pub use common_arguments::CommonArguments;
pub use device::{Device, fall_back_to_cpu, search_for_backend};
pub use exit::{AnyError, EXIT_CODES, INVALID_INPUT, STOPPED, finish};
pub use interrupt::stop_on_interrupt;
pub use load_warnings::print_load_warnings;
pub use memory::{Bytes, peak_memory_bytes};
pub use progress::Progress;
pub use relaxation::{rehearse_export, show_relaxation};
pub use remaining_time::RemainingTime;
pub use report::{Head, round};
pub use screen::{Screen, Screenshot};
pub use target::check_target;
