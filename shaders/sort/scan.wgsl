// Exclusive prefix sum of 32-bit numbers, in place: first sums of blocks, then, when the
// sums are summed up themselves, the values of each block from its sum on.

/// Which part of a sum is worked on.
struct ScanParams {
    /// How often blocks have been summed up: at level 1 the values are sums of blocks.
    level: u32,
    /// Where in `counts` the number of values at level 0 is.
    slot: u32,
    /// Whether `sums` holds where each block begins; if not, there is one block.
    based: u32,
}

@group(0) @binding(0) var<uniform> params: ScanParams;
@group(0) @binding(1) var<storage, read> counts: array<u32>;
@group(0) @binding(2) var<storage, read_write> values: array<u32>;
@group(0) @binding(3) var<storage, read_write> sums: array<u32>;

/// Sums of what each thread took.
var<workgroup> parts: array<u32, GROUP_THREADS>;
/// Sums of what each team of threads took.
var<workgroup> teams: array<u32, GROUP_THREADS / SCAN_TEAM>;

/// Number of values at the level of this pass.
fn value_count() -> u32 {
    var count = counts[params.slot];
    for (var level = 0u; level < params.level; level++) {
        count = count / SCAN_BLOCK + u32(count % SCAN_BLOCK != 0u);
    }
    return count;
}

/// Fills `teams`, and turns `parts` into what comes before each thread in its team.
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

/// `sums[block]` becomes the sum of the values of each block.
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

/// Each value becomes the sum of those before it. A single block without a base writes
/// the sum of all to `sums[0]`.
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
