// One pass of a stable radix sort: keys and values sorted by one digit of the keys.

/// Parameters of one pass.
struct RadixParams {
    /// Index of the number of pairs in `lengths`.
    slot: u32,
    /// Lowest bit of the digit.
    shift: u32,
    /// Capacity of `table`, blocks.
    max_blocks: u32,
}

@group(0) @binding(0) var<uniform> params: RadixParams;
@group(0) @binding(1) var<storage, read> lengths: array<u32>;
@group(0) @binding(2) var<storage, read> keys: array<u32>;
@group(0) @binding(3) var<storage, read> values: array<u32>;
/// Occurrences of each digit in each block, digit by digit; after the prefix sum, their
/// destinations.
@group(0) @binding(4) var<storage, read_write> table: array<u32>;
@group(0) @binding(5) var<storage, read_write> sorted_keys: array<u32>;
@group(0) @binding(6) var<storage, read_write> sorted_values: array<u32>;

/// Words of a mask with one bit per thread.
const MASK_WORDS: u32 = GROUP_THREADS / 32u;

/// Occurrences of each digit in the block.
var<workgroup> occurrences: array<atomic<u32>, GROUP_THREADS>;
/// For each bit of a digit, the threads that have it; then the threads that have a pair.
var<workgroup> masks: array<atomic<u32>, (RADIX_BITS + 1u) * MASK_WORDS>;
/// Destination of the next pair of each digit.
var<workgroup> destinations: array<u32, GROUP_THREADS>;

fn digit_of(key: u32) -> u32 {
    return (key >> params.shift) & (GROUP_THREADS - 1u);
}

@compute @workgroup_size(GROUP_THREADS)
fn count_digits(here: Invocation) {
    let thread = here.thread;
    let count = lengths[params.slot];
    let block = group_number(here.group, here.groups);
    atomicStore(&occurrences[thread], 0u);
    workgroupBarrier();
    for (var k = 0u; k < SCAN_ITEMS; k++) {
        let at = block * SCAN_BLOCK + k * GROUP_THREADS + thread;
        if at < count {
            atomicAdd(&occurrences[digit_of(keys[at])], 1u);
        }
    }
    workgroupBarrier();
    if block < params.max_blocks {
        table[thread * params.max_blocks + block] = atomicLoad(&occurrences[thread]);
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn scatter_digits(here: Invocation) {
    let thread = here.thread;
    let count = lengths[params.slot];
    let block = group_number(here.group, here.groups);
    let own_word = thread / 32u;
    let own_bit = 1u << (thread % 32u);
    destinations[thread] = table[thread * params.max_blocks + min(block, params.max_blocks - 1u)];
    for (var k = 0u; k < SCAN_ITEMS; k++) {
        if thread < (RADIX_BITS + 1u) * MASK_WORDS {
            atomicStore(&masks[thread], 0u);
        }
        workgroupBarrier();
        let at = block * SCAN_BLOCK + k * GROUP_THREADS + thread;
        let is_pair = block < params.max_blocks && at < count;
        var key = 0u;
        if is_pair {
            key = keys[at];
        }
        let digit = digit_of(key);
        if is_pair {
            for (var bit = 0u; bit < RADIX_BITS; bit++) {
                if ((digit >> bit) & 1u) != 0u {
                    atomicOr(&masks[bit * MASK_WORDS + own_word], own_bit);
                }
            }
            atomicOr(&masks[RADIX_BITS * MASK_WORDS + own_word], own_bit);
        }
        workgroupBarrier();
        // Number of threads with the same digit, and of those before this one.
        var same = 0u;
        var before = 0u;
        for (var word = 0u; word < MASK_WORDS; word++) {
            var matching = atomicLoad(&masks[RADIX_BITS * MASK_WORDS + word]);
            for (var bit = 0u; bit < RADIX_BITS; bit++) {
                let has_bit = atomicLoad(&masks[bit * MASK_WORDS + word]);
                matching &= select(~has_bit, has_bit, ((digit >> bit) & 1u) != 0u);
            }
            same += countOneBits(matching);
            if word < own_word {
                before += countOneBits(matching);
            } else if word == own_word {
                before += countOneBits(matching & (own_bit - 1u));
            }
        }
        let destination = destinations[digit] + before;
        workgroupBarrier();
        if is_pair {
            // Only the last thread of a digit advances its destination.
            if before + 1u == same {
                destinations[digit] += same;
            }
            sorted_keys[destination] = key;
            sorted_values[destination] = values[at];
        }
    }
}
