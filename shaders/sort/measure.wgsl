// Sum, in 64 bits, and largest of many numbers: of given ones, or, with squares summed up,
// of the differences between neighbors, which are the items of the bins of a sort.

/// What is measured.
struct MeasureParams {
    /// Where in `lengths` the number of entries is.
    length_slot: u32,
    /// Whether differences are measured and their squares summed up.
    squares: u32,
    /// Where the result goes.
    result_slot: u32,
    /// Number of blocks that `parts` has room for.
    most_blocks: u32,
}

@group(0) @binding(0) var<uniform> params: MeasureParams;
@group(0) @binding(1) var<storage, read> lengths: array<u32>;
@group(0) @binding(2) var<storage, read> entries: array<u32>;
/// What was measured in each block of entries.
@group(0) @binding(3) var<storage, read_write> parts: array<Measure>;
@group(0) @binding(4) var<storage, read_write> results: array<Measure>;

/// What each thread measured.
var<workgroup> shared_parts: array<Measure, GROUP_THREADS>;

fn joined(a: Measure, b: Measure) -> Measure {
    let low = a.low + b.low;
    return Measure(low, a.high + b.high + u32(low < a.low), max(a.most, b.most));
}

/// A number as it is summed up. Squares beyond what is crowded in any case are cut off.
fn measure_of(value: u32) -> Measure {
    if params.squares == 0u {
        return Measure(value, 0u, value);
    }
    if value < 0x10000u {
        return Measure(value * value, 0u, value);
    }
    return Measure(0u, select(2u, 1u, value == 0x10000u), value);
}

/// Joins what the threads of a group measured; the first thread gets it.
fn join_group(thread: u32, own: Measure) -> Measure {
    shared_parts[thread] = own;
    workgroupBarrier();
    for (var half = GROUP_THREADS / 2u; half > 0u; half /= 2u) {
        if thread < half {
            shared_parts[thread] = joined(shared_parts[thread], shared_parts[thread + half]);
        }
        workgroupBarrier();
    }
    return shared_parts[0];
}

/// Number of numbers: differences are one fewer than entries.
fn number_count() -> u32 {
    let entries = lengths[params.length_slot];
    return select(entries, max(entries, 1u) - 1u, params.squares != 0u);
}

@compute @workgroup_size(GROUP_THREADS)
fn measure_blocks(here: Invocation) {
    let thread = here.thread;
    let count = number_count();
    let block = group_number(here.group, here.groups);
    var own = Measure(0u, 0u, 0u);
    for (var k = 0u; k < SCAN_ITEMS; k++) {
        let at = block * SCAN_BLOCK + k * GROUP_THREADS + thread;
        if at < count {
            var value = entries[at];
            if params.squares != 0u {
                value = entries[at + 1u] - value;
            }
            own = joined(own, measure_of(value));
        }
    }
    let part = join_group(thread, own);
    if thread == 0u && block < params.most_blocks {
        parts[block] = part;
    }
}

/// Joins all blocks; one group.
@compute @workgroup_size(GROUP_THREADS)
fn measure_all(@builtin(local_invocation_index) thread: u32) {
    let count = number_count();
    let blocks = count / SCAN_BLOCK + u32(count % SCAN_BLOCK != 0u);
    var own = Measure(0u, 0u, 0u);
    for (var block = thread; block < blocks; block += GROUP_THREADS) {
        own = joined(own, parts[block]);
    }
    let all = join_group(thread, own);
    if thread == 0u {
        results[params.result_slot] = all;
    }
}
