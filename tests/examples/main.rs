//! The examples, from the command line and without their windows, and the bench harness.

/// The bench harness. Its macros refer to it as `crate::common`.
#[path = "../../benches/common/mod.rs"]
mod common;
#[path = "../common/mod.rs"]
mod test_common;

mod bench_harness;
mod command_lines;
mod editor;
