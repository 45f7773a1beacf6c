//! Sources of the shaders, with the constants that Rust and WGSL share.
//!
//! A number that both languages need lives here; WGSL receives it in a block of
//! constants in front of every source.

use std::borrow::Cow;
use std::fmt::Write;

use crate::dynamics::digest;
use crate::search::uniform_grid::MAX_COMPARISONS;
use crate::search::uniform_grid::layout::PLAIN_SHIFT;
use crate::search::uniform_grid::walk::FOLLOWING_ROWS;

/// Threads of a workgroup, in every kernel: what WebGPU guarantees.
pub(super) const GROUP_THREADS: u32 = 256;

/// Values that a thread of the prefix sum adds up by itself.
const SCAN_ITEMS: u32 = 4;

/// Values that a workgroup of the prefix sum takes.
pub(super) const SCAN_BLOCK: u32 = GROUP_THREADS * SCAN_ITEMS;

/// Threads that share one partial sum within a workgroup: the square root of
/// [`GROUP_THREADS`], so that both halves of the sum are equally long.
const SCAN_TEAM: u32 = 16;

/// Words of workgroup memory that the largest kernel uses: three for each thread.
pub(super) const GROUP_WORDS: u32 = 3 * GROUP_THREADS;

/// Bits of a digit of the radix sort. Every thread of a group looks after one digit.
pub(super) const RADIX_BITS: u32 = 8;
const _: () = assert!(1 << RADIX_BITS == GROUP_THREADS);

/// Which of the measures of a search says how full its cells are.
pub(super) const CROWDING_SLOT: u32 = 0;

/// A distance along an axis, in nm, beyond any reach and with a square that 32 bits hold.
const FAR_NM: f32 = 1.0e18;

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

/// Counts the items of bins.
pub(super) const HISTOGRAM: Shader = Shader {
    name: "histogram",
    parts: &[DISPATCH, include_str!("../../shaders/histogram.wgsl")],
};

/// When bins are too full.
const CROWDING: &str = include_str!("../../shaders/crowding.wgsl");

/// Items to bins.
pub(super) const SORT: Shader = Shader {
    name: "sort",
    parts: &[DISPATCH, CROWDING, include_str!("../../shaders/sort.wgsl")],
};

/// Sums of 64 bits.
pub(super) const MEASURE: Shader = Shader {
    name: "measure",
    parts: &[
        DISPATCH,
        CROWDING,
        include_str!("../../shaders/measure.wgsl"),
    ],
};

/// Pairs of key and value by one digit.
pub(super) const RADIX: Shader = Shader {
    name: "radix",
    parts: &[DISPATCH, include_str!("../../shaders/radix.wgsl")],
};

/// Parameters of a search.
const SEARCH: &str = include_str!("../../shaders/search.wgsl");

/// When two spheres overlap.
const OVERLAP: &str = include_str!("../../shaders/overlap.wgsl");

/// The cell around a point.
const CELLS: &str = include_str!("../../shaders/cells.wgsl");

/// Spheres to cells.
pub(super) const BIN: Shader = Shader {
    name: "bin",
    parts: &[
        DISPATCH,
        SEARCH,
        CELLS,
        include_str!("../../shaders/bin.wgsl"),
    ],
};

/// Which part of a search is done at once.
const BATCH: &str = include_str!("../../shaders/batch.wgsl");

/// The walk over neighbouring cells.
const GRID_WALK: &str = include_str!("../../shaders/grid_walk.wgsl");

/// The walk over everything.
const BRUTE_FORCE_WALK: &str = include_str!("../../shaders/brute_force_walk.wgsl");

/// What becomes of the hits of a walk.
const COUNT_PAIRS: &str = include_str!("../../shaders/count_pairs.wgsl");

/// What becomes of the hits of a walk, the second time.
const WRITE_PAIRS: &str = include_str!("../../shaders/write_pairs.wgsl");

/// Pairs of each sphere of a grid.
pub(super) const GRID_COUNT: Shader = Shader {
    name: "grid_count",
    parts: &[
        DISPATCH,
        CROWDING,
        SEARCH,
        CELLS,
        OVERLAP,
        BATCH,
        GRID_WALK,
        COUNT_PAIRS,
    ],
};

/// The pairs of a grid.
pub(super) const GRID_WRITE: Shader = Shader {
    name: "grid_write",
    parts: &[
        DISPATCH,
        CROWDING,
        SEARCH,
        CELLS,
        OVERLAP,
        BATCH,
        GRID_WALK,
        WRITE_PAIRS,
    ],
};

/// Pairs of each sphere, by brute force.
pub(super) const BRUTE_FORCE_COUNT: Shader = Shader {
    name: "brute_force_count",
    parts: &[
        DISPATCH,
        SEARCH,
        OVERLAP,
        BATCH,
        BRUTE_FORCE_WALK,
        COUNT_PAIRS,
    ],
};

/// The pairs, by brute force.
pub(super) const BRUTE_FORCE_WRITE: Shader = Shader {
    name: "brute_force_write",
    parts: &[
        DISPATCH,
        SEARCH,
        OVERLAP,
        BATCH,
        BRUTE_FORCE_WALK,
        WRITE_PAIRS,
    ],
};

/// Pairs by molecules.
pub(super) const GROUPS: Shader = Shader {
    name: "groups",
    parts: &[DISPATCH, SEARCH, include_str!("../../shaders/groups.wgsl")],
};

/// All modules, for tests that need no device.
pub const SHADERS: &[Shader] = &[
    SCAN,
    HISTOGRAM,
    SORT,
    MEASURE,
    RADIX,
    BIN,
    GRID_COUNT,
    GRID_WRITE,
    BRUTE_FORCE_COUNT,
    BRUTE_FORCE_WRITE,
    GROUPS,
];

/// The constants as WGSL declares them.
fn constants() -> String {
    let mut block = String::new();
    for (name, value) in [
        ("GROUP_THREADS", GROUP_THREADS),
        ("SCAN_ITEMS", SCAN_ITEMS),
        ("SCAN_BLOCK", SCAN_BLOCK),
        ("SCAN_TEAM", SCAN_TEAM),
        ("RADIX_BITS", RADIX_BITS),
        ("CROWDING_SLOT", CROWDING_SLOT),
        ("MOST_COMPARISONS_LOW", MAX_COMPARISONS as u32),
        ("MOST_COMPARISONS_HIGH", (MAX_COMPARISONS >> 32) as u32),
        ("MOST_KEPT", digest::MOST as u32),
        ("SOME_PAIRS", digest::SOME),
        ("MANY_PAIRS", digest::MANY),
        ("HAND_SPREAD", digest::HAND_SPREAD),
        ("HAND_SHIFT", digest::HAND_SHIFT),
    ] {
        // Writing to a string cannot fail.
        let _ = writeln!(block, "const {name}: u32 = {value}u;");
    }
    for (name, value) in [("PLAIN_SHIFT", PLAIN_SHIFT), ("FAR_NM", FAR_NM)] {
        let _ = writeln!(block, "const {name}: f32 = {value:?}f;");
    }
    let rows = FOLLOWING_ROWS.map(|(y, z)| format!("vec2<i32>({y}, {z})"));
    let rows = rows.join(", ");
    let _ = writeln!(block, "const FOLLOWING_ROWS = array({rows});");
    block
}
