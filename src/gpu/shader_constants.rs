//! Constants that Rust and WGSL share.
//!
//! Each is defined once in Rust, here or in the module that it belongs to, and prepended to
//! every WGSL source.

use std::fmt::Write;

use crate::compartment::{HEIGHT_SLACK_NM, TILT_SLACK};
use crate::dynamics::{DEEP_SHARE, WAKE_OVERLAP, WAKE_SPEED, contact_reduction};
use crate::force::{DIRECTION_HASH, MAX_PUSH_NM, MAX_TURN, MIN_SQUARES_NM2};
use crate::proxy::SEED_BLOCK;
use crate::search::CLUSTER;
use crate::search::uniform_grid::FOLLOWING_ROWS;
use crate::search::uniform_grid::MAX_COMPARISONS;
use crate::search::uniform_grid::PLAIN_SHIFT;

/// Threads per workgroup in every kernel: the maximum that WebGPU guarantees.
pub(super) const GROUP_THREADS: u32 = 256;

/// Values per thread of the prefix sum.
const SCAN_ITEMS: u32 = 4;

/// Values per workgroup of the prefix sum.
pub(super) const SCAN_BLOCK: u32 = GROUP_THREADS * SCAN_ITEMS;

/// Threads that share a partial sum within a workgroup: the square root of
/// [`GROUP_THREADS`], so that both levels of the sum are equally long.
const SCAN_TEAM: u32 = 16;

/// Words of workgroup memory of the largest kernel: eight per thread.
pub(super) const GROUP_WORDS: u32 = 8 * GROUP_THREADS;

/// Threads that sum the contacts of one molecule: a lipid has about a hundred atoms.
pub(crate) const SUM_LANES: u32 = 32;
const _: () = assert!(SUM_LANES.is_power_of_two() && GROUP_THREADS.is_multiple_of(SUM_LANES));

/// Number of the projection law; 0 is the law of the thesis.
pub(crate) const PROJECTION_LAW: u32 = 1;

/// Placement index of a molecule without a placement.
pub(crate) const NO_PLACEMENT: u32 = u32::MAX;

/// Bits per digit of the radix sort: each thread of a group counts one digit.
pub(super) const RADIX_BITS: u32 = 8;
const _: () = assert!(1 << RADIX_BITS == GROUP_THREADS);

/// Index of the cell occupancy among the totals of a search.
pub(super) const OCCUPANCY_SLOT: u32 = 0;

/// Index of the number of compared pairs among the counts of a search by molecules.
pub(super) const COMPARED_PAIRS_SLOT: u32 = 1;

/// Spheres per iteration of the brute-force loop.
const BRUTE_FORCE_STRIDE: u32 = 16;

/// Iterations after which lavapipe leaves a loop.
pub(super) const MAX_LOOP_ITERATIONS: u32 = 65_535;

/// Maximum number of spheres of a brute-force search: one loop.
pub(super) const MAX_BRUTE_FORCE_SPHERES: u32 = MAX_LOOP_ITERATIONS * BRUTE_FORCE_STRIDE;

/// Threads that compare two molecules: those of a small one are busy.
const COMPARE_THREADS: u32 = 64;
const _: () = assert!(COMPARE_THREADS.is_multiple_of(CLUSTER as u32));

/// Close pairs of spheres of two molecules that are listed in workgroup memory; molecules with
/// more are compared again.
const MAX_LISTED_PAIRS: u32 = 512;

/// Maximum number of sizes of molecules with a grid of their own.
pub(super) const MAX_MOLECULE_LEVELS: usize = 8;

/// Words per cluster sum: two per axis, the number of points, and padding.
pub(super) const CLUSTER_WORDS: u32 = 8;

/// A distance along an axis beyond any reach, nm, whose square is finite in 32 bits.
const FAR_NM: f32 = 1.0e18;

/// The constants as WGSL declarations.
pub(super) fn declarations() -> String {
    let mut block = String::new();
    for (name, value) in [
        ("GROUP_THREADS", GROUP_THREADS),
        ("SCAN_ITEMS", SCAN_ITEMS),
        ("SCAN_BLOCK", SCAN_BLOCK),
        ("SCAN_TEAM", SCAN_TEAM),
        ("RADIX_BITS", RADIX_BITS),
        ("OCCUPANCY_SLOT", OCCUPANCY_SLOT),
        ("COMPARED_PAIRS_SLOT", COMPARED_PAIRS_SLOT),
        ("BRUTE_FORCE_STRIDE", BRUTE_FORCE_STRIDE),
        ("SUM_LANES", SUM_LANES),
        ("SEED_BLOCK", SEED_BLOCK as u32),
        ("CLUSTER_WORDS", CLUSTER_WORDS),
        ("COMPARE_THREADS", COMPARE_THREADS),
        ("CLUSTER_SPHERES", CLUSTER as u32),
        ("MAX_LISTED_PAIRS", MAX_LISTED_PAIRS),
        ("MAX_MOLECULE_LEVELS", MAX_MOLECULE_LEVELS as u32),
        ("MAX_MOLECULES_AROUND", MAX_LOOP_ITERATIONS),
        ("PROJECTION_LAW", PROJECTION_LAW),
        ("NO_PLACEMENT", NO_PLACEMENT),
        ("MAX_COMPARISONS_LOW", MAX_COMPARISONS as u32),
        ("MAX_COMPARISONS_HIGH", (MAX_COMPARISONS >> 32) as u32),
        (
            "MAX_CONTACTS_PER_PAIR",
            contact_reduction::MAX_CONTACTS_PER_PAIR as u32,
        ),
        (
            "MAX_PAIRS_IN_ALL_BUCKETS",
            contact_reduction::MAX_PAIRS_IN_ALL_BUCKETS,
        ),
        (
            "MAX_PAIRS_IN_HALF_BUCKETS",
            contact_reduction::MAX_PAIRS_IN_HALF_BUCKETS,
        ),
        ("BUCKET_HASH", contact_reduction::BUCKET_HASH),
        ("BUCKET_SHIFT", contact_reduction::BUCKET_SHIFT),
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
        ("DEEP_SHARE", DEEP_SHARE),
        ("WAKE_SPEED", WAKE_SPEED),
        ("WAKE_OVERLAP", WAKE_OVERLAP),
        ("MIN_RADIUS_NM", f32::MIN_POSITIVE),
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
