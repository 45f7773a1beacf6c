// Groups pairs of spheres by molecules, and keeps the few pairs of each group that the contact
// solver needs. CPU reference: `dynamics/contact_reduction.rs`.

/// Parameters of the kernels.
struct GroupParams {
    /// Number of pairs of spheres.
    pairs: u32,
    /// Number of pairs of molecules.
    groups: u32,
}

@group(0) @binding(1) var<uniform> params: GroupParams;
/// Indices of two spheres.
@group(0) @binding(2) var<storage, read> pairs: array<vec2<u32>>;
/// Center and radius of each sphere, nm.
@group(0) @binding(3) var<storage, read> spheres: array<vec4<f32>>;
/// Molecule of each sphere.
@group(0) @binding(4) var<storage, read> owners: array<u32>;
/// Sort keys of the pairs, and their sorted indices.
@group(0) @binding(5) var<storage, read_write> keys: array<u32>;
@group(0) @binding(6) var<storage, read_write> order: array<u32>;
/// 1 where a group begins; after the prefix sum, the number of groups that begin before.
@group(0) @binding(7) var<storage, read_write> heads: array<u32>;
/// First pair of each group in `order`, and one entry more.
@group(0) @binding(8) var<storage, read_write> starts: array<u32>;
@group(0) @binding(9) var<storage, read_write> groups: array<PairGroup>;
/// Kept pairs, `MAX_CONTACTS_PER_PAIR` entries per group.
@group(0) @binding(10) var<storage, read_write> kept: array<vec2<u32>>;

/// Gap of an empty bucket.
const EMPTY: u32 = 0xffffffffu;

/// The deepest pair of each bucket, and its gap as a sortable integer.
var<private> buckets: array<vec2<u32>, MAX_CONTACTS_PER_PAIR>;
var<private> gaps: array<u32, MAX_CONTACTS_PER_PAIR>;

@compute @workgroup_size(GROUP_THREADS)
fn key_by_second(here: Invocation) {
    let at = thread_number(here.group, here.groups, here.thread);
    if at < params.pairs {
        keys[at] = owners[pairs[at].y];
        order[at] = at;
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn key_by_first(here: Invocation) {
    let at = thread_number(here.group, here.groups, here.thread);
    if at < params.pairs {
        keys[at] = owners[pairs[order[at]].x];
    }
}

/// The molecules of a pair, by its index in `order`.
fn molecules(at: u32) -> vec2<u32> {
    let pair = pairs[order[at]];
    return vec2(owners[pair.x], owners[pair.y]);
}

/// Whether a group begins here.
fn is_head(at: u32) -> bool {
    return at == 0u || any(molecules(at) != molecules(max(at, 1u) - 1u));
}

@compute @workgroup_size(GROUP_THREADS)
fn mark_heads(here: Invocation) {
    let at = thread_number(here.group, here.groups, here.thread);
    if at < params.pairs {
        heads[at] = select(0u, 1u, is_head(at));
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn list_starts(here: Invocation) {
    let at = thread_number(here.group, here.groups, here.thread);
    if at >= params.pairs {
        return;
    }
    if at == 0u {
        starts[params.groups] = params.pairs;
    }
    if is_head(at) {
        starts[heads[at]] = at;
    }
}

/// Gap between two spheres, nm; negative if they overlap.
fn gap_of(pair: vec2<u32>) -> f32 {
    let one = spheres[pair.x];
    let other = spheres[pair.y];
    let apart = one.xyz - other.xyz;
    let squares = rounded(apart * apart);
    return sqrt(squares.x + squares.y + squares.z) - (one.w + other.w);
}

/// An integer that sorts like `value`.
fn sortable(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    return bits ^ (bitcast<u32>(bitcast<i32>(bits) >> 31u) | 0x80000000u);
}

/// Whether one pair comes before another.
fn is_before(one: vec2<u32>, other: vec2<u32>) -> bool {
    return one.x < other.x || (one.x == other.x && one.y < other.y);
}

/// Keeps all pairs of a group, sorted.
fn keep_all(start: u32, count: u32, first_kept: u32) {
    for (var k = 0u; k < count; k++) {
        let pair = pairs[order[start + k]];
        var place = k;
        while place > 0u && is_before(pair, buckets[place - 1u]) {
            buckets[place] = buckets[place - 1u];
            place -= 1u;
        }
        buckets[place] = pair;
    }
    for (var k = 0u; k < count; k++) {
        kept[first_kept + k] = buckets[k];
    }
}

/// Keeps the deepest pair of every `together` buckets; returns their number.
fn keep_buckets(together: u32, first_kept: u32) -> u32 {
    var count = 0u;
    for (var first = 0u; first < MAX_CONTACTS_PER_PAIR; first += together) {
        var best = first;
        for (var k = first + 1u; k < first + together; k++) {
            let deeper = gaps[k] < gaps[best];
            let before = gaps[k] == gaps[best] && is_before(buckets[k], buckets[best]);
            if deeper || before {
                best = k;
            }
        }
        if gaps[best] != EMPTY {
            kept[first_kept + count] = buckets[best];
            count += 1u;
        }
    }
    return count;
}

@compute @workgroup_size(GROUP_THREADS)
fn reduce_groups(here: Invocation) {
    let own = thread_number(here.group, here.groups, here.thread);
    if own >= params.groups {
        return;
    }
    let start = starts[own];
    let end = starts[own + 1u];
    for (var k = 0u; k < MAX_CONTACTS_PER_PAIR; k++) {
        gaps[k] = EMPTY;
    }
    var overlapping = 0u;
    var smallest = gap_of(pairs[order[start]]);
    for (var at = start; at < end; at++) {
        let pair = pairs[order[at]];
        let gap = gap_of(pair);
        overlapping += select(0u, 1u, gap < 0.0);
        smallest = min(smallest, gap);
        // The first sphere selects the bucket; of equally deep pairs the one with the smaller
        // indices stays.
        let bucket = (pair.x * BUCKET_HASH) >> BUCKET_SHIFT;
        let sort_key = sortable(gap);
        let before = sort_key == gaps[bucket] && is_before(pair, buckets[bucket]);
        if sort_key < gaps[bucket] || before {
            gaps[bucket] = sort_key;
            buckets[bucket] = pair;
        }
    }
    let count = end - start;
    let first_kept = own * MAX_CONTACTS_PER_PAIR;
    var kept_count = count;
    if count <= MAX_CONTACTS_PER_PAIR {
        keep_all(start, count, first_kept);
    } else if count <= MAX_PAIRS_IN_ALL_BUCKETS {
        kept_count = keep_buckets(1u, first_kept);
    } else if count <= MAX_PAIRS_IN_HALF_BUCKETS {
        kept_count = keep_buckets(2u, first_kept);
    } else {
        kept_count = keep_buckets(4u, first_kept);
    }
    let owned = molecules(start);
    groups[own] = PairGroup(owned.x, owned.y, kept_count, overlapping, -smallest);
}
