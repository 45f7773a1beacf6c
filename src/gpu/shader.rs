//! Sources of the shaders.
//!
//! A module is made of small files, each of one concept, and the block of constants that
//! Rust and WGSL share in front of them.

use std::borrow::Cow;

use super::constants::declarations;
use super::crowd::shader::{
    CROWD_BEREAVED, CROWD_BODIES, CROWD_GROUPS, CROWD_LEAVE, CROWD_PACK, CROWD_PREPARE,
    CROWD_SIDES, CROWD_SOLVE, CROWD_SUPPORTS, CROWD_WAKE,
};

/// A module of WGSL: one or more files of `shaders/`, of which the last has the kernels.
#[derive(Clone, Copy, Debug)]
pub struct Shader {
    /// Name of the last file, without its ending.
    pub name: &'static str,
    /// Content of the files.
    pub(super) parts: &'static [&'static str],
}

impl Shader {
    /// The whole source: constants, then the files.
    #[must_use]
    pub fn source(&self) -> Cow<'static, str> {
        let mut source = declarations();
        for part in self.parts {
            source.push_str(part);
        }
        source.into()
    }
}

/// How large dispatches are folded.
pub(super) const DISPATCH: &str = include_str!("../../shaders/dispatch.wgsl");

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
pub(super) const DIRECTION: &str = include_str!("../../shaders/direction.wgsl");

/// What comes back from an iteration.
const COUNTERS: &str = include_str!("../../shaders/counters.wgsl");

/// Directions for what has none.
pub(super) const ARBITRARY_DIRECTION: &str = include_str!("../../shaders/arbitrary_direction.wgsl");

/// Vectors that must not be too long.
pub(super) const SHORTENED: &str = include_str!("../../shaders/shortened.wgsl");

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
        ARBITRARY_DIRECTION,
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
        SHORTENED,
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

/// The pairs between two molecules.
pub(super) const PAIR_GROUP: &str = include_str!("../../shaders/pair_group.wgsl");

/// Pairs by molecules.
pub(super) const GROUPS: Shader = Shader {
    name: "groups",
    parts: &[
        DISPATCH,
        ROUNDED,
        SEARCH,
        PAIR_GROUP,
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
    CROWD_GROUPS,
    CROWD_WAKE,
    CROWD_BEREAVED,
    CROWD_PREPARE,
    CROWD_SUPPORTS,
    CROWD_LEAVE,
    CROWD_SIDES,
    CROWD_SOLVE,
    CROWD_BODIES,
    CROWD_PACK,
];
