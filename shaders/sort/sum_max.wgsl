// 64-bit sum and maximum of entries, or of the differences of neighboring entries with their
// squares summed: the items per bin of a sort.

/// Parameters of a reduction.
struct SumMaxParams {
    /// Index of the number of entries in `lengths`.
    length_slot: u32,
    /// Whether to reduce differences of neighbors and sum their squares.
    squares: u32,
    /// Index of the result.
    result_slot: u32,
    /// Capacity of `parts`, blocks.
    max_blocks: u32,
}

@group(0) @binding(0) var<uniform> params: SumMaxParams;
@group(0) @binding(1) var<storage, read> lengths: array<u32>;
@group(0) @binding(2) var<storage, read> entries: array<u32>;
/// Result of each block.
@group(0) @binding(3) var<storage, read_write> parts: array<SumMax>;
@group(0) @binding(4) var<storage, read_write> results: array<SumMax>;

/// Result of each thread.
var<workgroup> shared_parts: array<SumMax, GROUP_THREADS>;

fn combine(a: SumMax, b: SumMax) -> SumMax {
    let low = a.low + b.low;
    return SumMax(low, a.high + b.high + u32(low < a.low), max(a.max, b.max));
}

/// Reduction of one value. Squares beyond 32 bits saturate: the bin is overcrowded anyway.
fn sum_max_of(value: u32) -> SumMax {
    if params.squares == 0u {
        return SumMax(value, 0u, value);
    }
    if value < 0x10000u {
        return SumMax(value * value, 0u, value);
    }
    return SumMax(0u, select(2u, 1u, value == 0x10000u), value);
}

/// Combines the results of a workgroup.
fn combine_group(thread: u32, own: SumMax) -> SumMax {
    shared_parts[thread] = own;
    workgroupBarrier();
    for (var half = GROUP_THREADS / 2u; half > 0u; half /= 2u) {
        if thread < half {
            shared_parts[thread] = combine(shared_parts[thread], shared_parts[thread + half]);
        }
        workgroupBarrier();
    }
    return shared_parts[0];
}

/// Number of values: differences are one fewer than entries.
fn value_count() -> u32 {
    let entries = lengths[params.length_slot];
    return select(entries, max(entries, 1u) - 1u, params.squares != 0u);
}

@compute @workgroup_size(GROUP_THREADS)
fn sum_max_blocks(here: Invocation) {
    let thread = here.thread;
    let count = value_count();
    let block = group_number(here.group, here.groups);
    var own = SumMax(0u, 0u, 0u);
    for (var k = 0u; k < SCAN_ITEMS; k++) {
        let at = block * SCAN_BLOCK + k * GROUP_THREADS + thread;
        if at < count {
            var value = entries[at];
            if params.squares != 0u {
                value = entries[at + 1u] - value;
            }
            own = combine(own, sum_max_of(value));
        }
    }
    let part = combine_group(thread, own);
    if thread == 0u && block < params.max_blocks {
        parts[block] = part;
    }
}

/// Combines all blocks in one workgroup.
@compute @workgroup_size(GROUP_THREADS)
fn sum_max_all(@builtin(local_invocation_index) thread: u32) {
    let count = value_count();
    let blocks = count / SCAN_BLOCK + u32(count % SCAN_BLOCK != 0u);
    var own = SumMax(0u, 0u, 0u);
    for (var block = thread; block < blocks; block += GROUP_THREADS) {
        own = combine(own, parts[block]);
    }
    let all = combine_group(thread, own);
    if thread == 0u {
        results[params.result_slot] = all;
    }
}
