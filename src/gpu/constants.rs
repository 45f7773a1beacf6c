//! Numbers that Rust and WGSL share.
//!
//! A number that both languages need lives here, or in the room that it belongs to; WGSL
//! receives it in a block of constants in front of every source.

use std::fmt::Write;

use crate::compartment::{HEIGHT_SLACK_NM, TILT_SLACK};
use crate::dynamics::{DEEP_SHARE, WAKE_OVERLAP, WAKE_SPEED, contact_reduction};
use crate::force::{DIRECTION_HASH, MIN_SQUARES_NM2};
use crate::proxy::SEED_BLOCK;
use crate::relax::{MAX_PUSH_NM, MAX_TURN};
use crate::search::hierarchical_grid::{MAX_LEVELS, OCTAVES};
use crate::search::uniform_grid::FOLLOWING_ROWS;
use crate::search::uniform_grid::MAX_COMPARISONS;
use crate::search::uniform_grid::PLAIN_SHIFT;

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

/// The constants as WGSL declares them.
pub(super) fn declarations() -> String {
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
        ("LEAST_RADIUS_NM", f32::MIN_POSITIVE),
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
