//! Sources of the shaders, with the constants that Rust and WGSL share.
//!
//! A number that both languages need lives here; WGSL receives it in a block of
//! constants in front of every source.

use std::borrow::Cow;
use std::fmt::Write;

use crate::compartment::{HEIGHT_SLACK_NM, TILT_SLACK};
use crate::dynamics::digest;
use crate::force::{DIRECTION_HASH, MIN_SQUARES_NM2};
use crate::proxy::SEED_BLOCK;
use crate::relax::{MAX_PUSH_NM, MAX_TURN};
use crate::search::hierarchical_grid::levels::{MAX_LEVELS, OCTAVES};
use crate::search::uniform_grid::MAX_COMPARISONS;
use crate::search::uniform_grid::cells::FOLLOWING_ROWS;
use crate::search::uniform_grid::layout::PLAIN_SHIFT;

/// Threads of a workgroup, in every kernel: what WebGPU guarantees.
pub(super) const GROUP_THREADS: u32 = 256;

/// Values that a thread of the prefix sum adds up by itself.
const SCAN_ITEMS: u32 = 4;

/// Values that a workgroup of the prefix sum takes.
pub(super) const SCAN_BLOCK: u32 = GROUP_THREADS * SCAN_ITEMS;

/// Threads that share one partial sum within a workgroup: the square root of
/// [`GROUP_THREADS`], so that both halves of the sum are equally long.
const SCAN_TEAM: u32 = 16;

/// Words of workgroup memory that the largest kernel uses: eight for each thread.
pub(super) const GROUP_WORDS: u32 = 8 * GROUP_THREADS;

/// Threads that add up the contacts of one molecule: a lipid has some hundred atoms.
pub(super) const SUM_LANES: u32 = 32;
const _: () = assert!(SUM_LANES.is_power_of_two() && GROUP_THREADS.is_multiple_of(SUM_LANES));

/// Number of the projection law; the thesis's has another.
pub(super) const PROJECTION_LAW: u32 = 1;

/// Placement of a molecule that may be anywhere.
pub(super) const NO_PLACEMENT: u32 = u32::MAX;

/// Bits of a digit of the radix sort. Every thread of a group looks after one digit.
pub(super) const RADIX_BITS: u32 = 8;
const _: () = assert!(1 << RADIX_BITS == GROUP_THREADS);

/// Which of the measures of a search says how full its cells are.
pub(super) const CROWDING_SLOT: u32 = 0;

/// Spheres that brute force meets in one round of its loop.
const BRUTE_FORCE_STRIDE: u32 = 16;

/// Rounds after which lavapipe leaves a loop.
pub(super) const MOST_ROUNDS: u32 = 65_535;

/// Most spheres that brute force compares: all in one loop.
pub(super) const BRUTE_FORCE_SPHERES: u32 = MOST_ROUNDS * BRUTE_FORCE_STRIDE;

/// Words that the sums of a cluster take: two for each axis, the number of points, and one
/// that keeps clusters aligned.
pub(super) const CLUSTER_WORDS: u32 = 8;

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

/// Products that are rounded before they are added up.
const ROUNDED: &str = include_str!("../../shaders/rounded.wgsl");

/// Where a molecule is.
const POSE: &str = include_str!("../../shaders/pose.wgsl");

/// Which atoms and spheres a molecule has.
const ATOM_RANGE: &str = include_str!("../../shaders/atom_range.wgsl");

/// Atoms of templates to the poses of molecules.
pub(super) const TRANSFORM: Shader = Shader {
    name: "transform",
    parts: &[
        DISPATCH,
        ROUNDED,
        POSE,
        ATOM_RANGE,
        include_str!("../../shaders/transform.wgsl"),
    ],
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
        ROUNDED,
        SEARCH,
        CELLS,
        include_str!("../../shaders/bin.wgsl"),
    ],
};

/// Which part of a search is done at once.
const BATCH: &str = include_str!("../../shaders/batch.wgsl");

/// The walk over neighbouring cells of a grid.
const SHELL_WALK: &str = include_str!("../../shaders/shell_walk.wgsl");

/// The walk over one grid.
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
        ROUNDED,
        SEARCH,
        CELLS,
        OVERLAP,
        BATCH,
        SHELL_WALK,
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
        ROUNDED,
        SEARCH,
        CELLS,
        OVERLAP,
        BATCH,
        SHELL_WALK,
        GRID_WALK,
        WRITE_PAIRS,
    ],
};

/// Grids of several widths.
const LEVELS: &str = include_str!("../../shaders/levels.wgsl");

/// The walk over several grids.
const LEVEL_WALK: &str = include_str!("../../shaders/level_walk.wgsl");

/// Spheres to the cells of their levels.
pub(super) const LEVEL_BIN: Shader = Shader {
    name: "level_bin",
    parts: &[
        DISPATCH,
        ROUNDED,
        SEARCH,
        CELLS,
        LEVELS,
        include_str!("../../shaders/level_bin.wgsl"),
    ],
};

/// Pairs of each sphere of a hierarchy of grids.
pub(super) const LEVEL_COUNT: Shader = Shader {
    name: "level_count",
    parts: &[
        DISPATCH,
        CROWDING,
        ROUNDED,
        SEARCH,
        CELLS,
        LEVELS,
        OVERLAP,
        BATCH,
        SHELL_WALK,
        LEVEL_WALK,
        COUNT_PAIRS,
    ],
};

/// The pairs of a hierarchy of grids.
pub(super) const LEVEL_WRITE: Shader = Shader {
    name: "level_write",
    parts: &[
        DISPATCH,
        CROWDING,
        ROUNDED,
        SEARCH,
        CELLS,
        LEVELS,
        OVERLAP,
        BATCH,
        SHELL_WALK,
        LEVEL_WALK,
        WRITE_PAIRS,
    ],
};

/// Pairs of each sphere, by brute force.
pub(super) const BRUTE_FORCE_COUNT: Shader = Shader {
    name: "brute_force_count",
    parts: &[
        DISPATCH,
        ROUNDED,
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
        ROUNDED,
        SEARCH,
        OVERLAP,
        BATCH,
        BRUTE_FORCE_WALK,
        WRITE_PAIRS,
    ],
};

/// The law of a relaxation.
const LAW: &str = include_str!("../../shaders/law.wgsl");

/// For kernels without a search.
const LAW_ZERO: &str = include_str!("../../shaders/law_zero.wgsl");

/// Mass and inertia in the world.
const BODY: &str = include_str!("../../shaders/body.wgsl");

/// How a molecule is moved.
const PUSH: &str = include_str!("../../shaders/push.wgsl");

/// Directions of vectors.
const DIRECTION: &str = include_str!("../../shaders/direction.wgsl");

/// What comes back from an iteration.
const COUNTERS: &str = include_str!("../../shaders/counters.wgsl");

/// Where a molecule belongs.
const PLACE: &str = include_str!("../../shaders/place.wgsl");

/// What a molecule is.
const MOLECULE: &str = include_str!("../../shaders/molecule.wgsl");

/// Bodies of molecules at their poses.
pub(super) const BODIES: Shader = Shader {
    name: "bodies",
    parts: &[
        DISPATCH,
        ROUNDED,
        LAW,
        LAW_ZERO,
        POSE,
        DIRECTION,
        COUNTERS,
        PLACE,
        MOLECULE,
        BODY,
        include_str!("../../shaders/bodies.wgsl"),
    ],
};

/// Sorted spheres, for a walk over contacts.
pub(super) const CONTACT_GATHER: Shader = Shader {
    name: "contact_gather",
    parts: &[
        DISPATCH,
        SEARCH,
        include_str!("../../shaders/contact_gather.wgsl"),
    ],
};

/// Contacts of each sphere.
pub(super) const CONTACTS: Shader = Shader {
    name: "contacts",
    parts: &[
        DISPATCH,
        CROWDING,
        ROUNDED,
        SEARCH,
        CELLS,
        OVERLAP,
        LAW,
        DIRECTION,
        COUNTERS,
        BODY,
        PUSH,
        include_str!("../../shaders/contact_laws.wgsl"),
        include_str!("../../shaders/contacts.wgsl"),
    ],
};

/// Contacts of each molecule.
pub(super) const SUM_MOLECULES: Shader = Shader {
    name: "sum_molecules",
    parts: &[
        DISPATCH,
        LAW,
        PUSH,
        ATOM_RANGE,
        include_str!("../../shaders/sum_molecules.wgsl"),
    ],
};

/// Contacts, springs and momentum of each molecule.
pub(super) const RESPOND: Shader = Shader {
    name: "respond",
    parts: &[
        DISPATCH,
        ROUNDED,
        LAW,
        LAW_ZERO,
        POSE,
        DIRECTION,
        COUNTERS,
        PLACE,
        MOLECULE,
        PUSH,
        include_str!("../../shaders/respond.wgsl"),
    ],
};

/// New poses.
pub(super) const APPLY: Shader = Shader {
    name: "apply",
    parts: &[
        DISPATCH,
        ROUNDED,
        LAW,
        LAW_ZERO,
        POSE,
        COUNTERS,
        MOLECULE,
        PUSH,
        include_str!("../../shaders/apply.wgsl"),
    ],
};

/// Pairs by molecules.
pub(super) const GROUPS: Shader = Shader {
    name: "groups",
    parts: &[
        DISPATCH,
        ROUNDED,
        SEARCH,
        include_str!("../../shaders/groups.wgsl"),
    ],
};

/// k-means.
pub(super) const CLUSTERS: Shader = Shader {
    name: "clusters",
    parts: &[DISPATCH, include_str!("../../shaders/clusters.wgsl")],
};

/// All modules, for tests that need no device.
pub const SHADERS: &[Shader] = &[
    SCAN,
    HISTOGRAM,
    SORT,
    MEASURE,
    RADIX,
    TRANSFORM,
    BIN,
    GRID_COUNT,
    GRID_WRITE,
    BRUTE_FORCE_COUNT,
    BRUTE_FORCE_WRITE,
    BODIES,
    CONTACT_GATHER,
    CONTACTS,
    SUM_MOLECULES,
    RESPOND,
    APPLY,
    GROUPS,
    CLUSTERS,
    LEVEL_BIN,
    LEVEL_COUNT,
    LEVEL_WRITE,
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
        ("BRUTE_FORCE_STRIDE", BRUTE_FORCE_STRIDE),
        ("SUM_LANES", SUM_LANES),
        ("SEED_BLOCK", SEED_BLOCK as u32),
        ("CLUSTER_WORDS", CLUSTER_WORDS),
        ("MAX_LEVELS", MAX_LEVELS as u32),
        ("OCTAVE_VECTORS", OCTAVES as u32 / 4),
        ("PROJECTION_LAW", PROJECTION_LAW),
        ("NO_PLACEMENT", NO_PLACEMENT),
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
    for (name, value) in [
        ("PLAIN_SHIFT", PLAIN_SHIFT),
        ("FAR_NM", FAR_NM),
        ("PI", std::f32::consts::PI),
        ("MIN_SQUARES_NM2", MIN_SQUARES_NM2),
        ("MAX_PUSH_NM", MAX_PUSH_NM),
        ("MAX_TURN", MAX_TURN),
        ("HEIGHT_SLACK_NM", HEIGHT_SLACK_NM),
        ("TILT_SLACK", TILT_SLACK),
    ] {
        let _ = writeln!(block, "const {name}: f32 = {value:?}f;");
    }
    let rows = FOLLOWING_ROWS.map(|(y, z)| format!("vec2<i32>({y}, {z})"));
    let rows = rows.join(", ");
    let _ = writeln!(block, "const FOLLOWING_ROWS = array({rows});");
    let [a, b, c] = DIRECTION_HASH;
    let _ = writeln!(block, "const DIRECTION_HASH = vec3<u32>({a}, {b}, {c});");
    block
}
