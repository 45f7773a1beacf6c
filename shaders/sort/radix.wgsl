// One pass of a radix sort: pairs of key and value, in the order of one digit of their
// keys, and in their former order where that is the same.

/// What is sorted, and by which digit.
struct RadixParams {
    /// Where in `lengths` the number of pairs is.
    slot: u32,
    /// How far right of the digit the lowest bit of a key is.
    shift: u32,
    /// Number of blocks that `table` has room for.
    most_blocks: u32,
}

@group(0) @binding(0) var<uniform> params: RadixParams;
@group(0) @binding(1) var<storage, read> lengths: array<u32>;
@group(0) @binding(2) var<storage, read> keys: array<u32>;
@group(0) @binding(3) var<storage, read> values: array<u32>;
/// For each digit and each block, digit by digit: how often it occurs, and after the prefix
/// sum where it goes.
@group(0) @binding(4) var<storage, read_write> table: array<u32>;
@group(0) @binding(5) var<storage, read_write> sorted_keys: array<u32>;
@group(0) @binding(6) var<storage, read_write> sorted_values: array<u32>;

/// Words that have a bit for each thread.
const MASK_WORDS: u32 = GROUP_THREADS / 32u;

/// How often each digit occurs in the block.
var<workgroup> occurrences: array<atomic<u32>, GROUP_THREADS>;
/// For each bit of a digit which threads have it, and last which threads have a pair at all.
var<workgroup> masks: array<atomic<u32>, (RADIX_BITS + 1u) * MASK_WORDS>;
/// Where the next pair with each digit goes.
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
    if block < params.most_blocks {
        table[thread * params.most_blocks + block] = atomicLoad(&occurrences[thread]);
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn scatter_digits(here: Invocation) {
    let thread = here.thread;
    let count = lengths[params.slot];
    let block = group_number(here.group, here.groups);
    let own_word = thread / 32u;
    let own_bit = 1u << (thread % 32u);
    destinations[thread] = table[thread * params.most_blocks + min(block, params.most_blocks - 1u)];
    for (var k = 0u; k < SCAN_ITEMS; k++) {
        if thread < (RADIX_BITS + 1u) * MASK_WORDS {
            atomicStore(&masks[thread], 0u);
        }
        workgroupBarrier();
        let at = block * SCAN_BLOCK + k * GROUP_THREADS + thread;
        let is_pair = block < params.most_blocks && at < count;
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
        // Threads with the same digit: how many there are, and how many come before.
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
            // The last of its digit is the only one to move the destination.
            if before + 1u == same {
                destinations[digit] += same;
            }
            sorted_keys[destination] = key;
            sorted_values[destination] = values[at];
        }
    }
}
