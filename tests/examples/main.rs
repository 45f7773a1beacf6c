//! The examples: their command lines, the editor of `lipid_bilayer` without its window, and the
//! bench harness.

/// The bench harness. Its macros refer to it as `crate::common`.
#[path = "../../benches/common/mod.rs"]
mod common;
#[path = "../common/mod.rs"]
mod test_common;

mod bench_harness;
mod command_line;
mod lipid_bilayer_editor;
#[path = "../../examples/docking/rocking.rs"]
mod rocking;
mod rocking_of_the_view;
