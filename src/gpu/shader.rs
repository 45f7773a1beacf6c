//! Sources of the shaders, with the constants that Rust and WGSL share.
//!
//! A number that both languages need lives here; WGSL receives it in a block of
//! constants in front of every source.

use std::borrow::Cow;
use std::fmt::Write;

/// Threads of a workgroup, in every kernel: what WebGPU guarantees.
pub(super) const GROUP_THREADS: u32 = 256;

/// Values that a thread of the prefix sum adds up by itself.
const SCAN_ITEMS: u32 = 4;

/// Values that a workgroup of the prefix sum takes.
pub(super) const SCAN_BLOCK: u32 = GROUP_THREADS * SCAN_ITEMS;

/// Threads that share one partial sum within a workgroup: the square root of
/// [`GROUP_THREADS`], so that both halves of the sum are equally long.
const SCAN_TEAM: u32 = 16;

/// Words of workgroup memory that the largest kernel uses.
pub(super) const GROUP_WORDS: u32 = 2 * GROUP_THREADS;

/// A module of WGSL: one or more files of `shaders/`, of which the last has the kernels.
#[derive(Clone, Copy, Debug)]
pub struct Shader {
    /// Name of the last file, without its ending.
    pub name: &'static str,
    /// Content of the files.
    parts: &'static [&'static str],
}

impl Shader {
    /// The whole source: constants, then the files.
    #[must_use]
    pub fn source(&self) -> Cow<'static, str> {
        let mut source = constants();
        for part in self.parts {
            source.push_str(part);
        }
        source.into()
    }
}

/// How large dispatches are folded.
const DISPATCH: &str = include_str!("../../shaders/dispatch.wgsl");

/// Prefix sum.
pub(super) const SCAN: Shader = Shader {
    name: "scan",
    parts: &[DISPATCH, include_str!("../../shaders/scan.wgsl")],
};

/// All modules, for tests that need no device.
pub const SHADERS: &[Shader] = &[SCAN];

/// The constants as WGSL declares them.
fn constants() -> String {
    let mut block = String::new();
    for (name, value) in [
        ("GROUP_THREADS", GROUP_THREADS),
        ("SCAN_ITEMS", SCAN_ITEMS),
        ("SCAN_BLOCK", SCAN_BLOCK),
        ("SCAN_TEAM", SCAN_TEAM),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(block, "const {name}: u32 = {value}u;");
    }
    block
}
