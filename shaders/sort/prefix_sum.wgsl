// Exclusive prefix sum of 32-bit integers, in place: `reduce_blocks` sums each block, and
// `scan_blocks` scans each block, starting from the scanned sums.

/// Parameters of one level.
struct ScanParams {
    /// Level: the values of level 1 are sums of blocks of level 0.
    level: u32,
    /// Index of the number of values of level 0 in `counts`.
    slot: u32,
    /// Whether `sums` holds the start of each block; if not, there is one block.
    based: u32,
}

@group(0) @binding(0) var<uniform> params: ScanParams;
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> values: array<u32>;
@group(0) @binding(3) var<storage, read_write> sums: array<u32>;

/// Sum of each thread.
var<workgroup> parts: array<u32, GROUP_THREADS>;
/// Sum of each team of threads.
var<workgroup> teams: array<u32, GROUP_THREADS / SCAN_TEAM>;

/// Number of values of this level.
fn value_count() -> u32 {
    var count = counts[params.slot];
    for (var level = 0u; level < params.level; level++) {
        count = count / SCAN_BLOCK + u32(count % SCAN_BLOCK != 0u);
    }
    return count;
}

/// Sums `parts` into `teams`, and replaces `parts` by prefix sums within each team.
fn sum_teams(thread: u32) {
    workgroupBarrier();
    if thread < GROUP_THREADS / SCAN_TEAM {
        var sum = 0u;
        for (var k = 0u; k < SCAN_TEAM; k++) {
            let at = thread * SCAN_TEAM + k;
            let part = parts[at];
            parts[at] = sum;
            sum += part;
        }
        teams[thread] = sum;
    }
    workgroupBarrier();
}

/// Writes the sum of each block to `sums`.
@compute @workgroup_size(GROUP_THREADS)
fn reduce_blocks(here: Invocation) {
    let thread = here.thread;
    let count = value_count();
    let block = group_number(here.group, here.groups);
    let first = block * SCAN_BLOCK + thread * SCAN_ITEMS;
    var sum = 0u;
    for (var k = 0u; k < SCAN_ITEMS; k++) {
        if first + k < count {
            sum += values[first + k];
        }
    }
    parts[thread] = sum;
    sum_teams(thread);
    if thread == 0u && block * SCAN_BLOCK < count {
        var total = 0u;
        for (var k = 0u; k < GROUP_THREADS / SCAN_TEAM; k++) {
            total += teams[k];
        }
        sums[block] = total;
    }
}

/// Replaces each value by the sum of those before it. A single block writes the total to
/// `sums[0]`.
@compute @workgroup_size(GROUP_THREADS)
fn scan_blocks(here: Invocation) {
    let thread = here.thread;
    let count = value_count();
    let block = group_number(here.group, here.groups);
    let first = block * SCAN_BLOCK + thread * SCAN_ITEMS;
    var own: array<u32, SCAN_ITEMS>;
    var sum = 0u;
    for (var k = 0u; k < SCAN_ITEMS; k++) {
        own[k] = 0u;
        if first + k < count {
            own[k] = values[first + k];
        }
        sum += own[k];
    }
    parts[thread] = sum;
    sum_teams(thread);
    var before = parts[thread];
    for (var k = 0u; k < thread / SCAN_TEAM; k++) {
        before += teams[k];
    }
    if params.based != 0u {
        if block * SCAN_BLOCK < count {
            before += sums[block];
        }
    } else if block == 0u && thread == GROUP_THREADS - 1u {
        sums[0] = before + sum;
    }
    for (var k = 0u; k < SCAN_ITEMS; k++) {
        if first + k < count {
            values[first + k] = before;
            before += own[k];
        }
    }
}
