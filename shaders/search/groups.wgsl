// Pairs of spheres by pairs of molecules, and of each two molecules the few pairs that the
// solver needs. The processor keeps the same: see `dynamics::digest`.

/// How much there is to group.
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
/// What pairs are sorted by, and their numbers in that order.
@group(0) @binding(5) var<storage, read_write> keys: array<u32>;
@group(0) @binding(6) var<storage, read_write> order: array<u32>;
/// One where a group begins; after the prefix sum how many begin before.
@group(0) @binding(7) var<storage, read_write> heads: array<u32>;
/// First pair of each group in `order`, and one entry more.
@group(0) @binding(8) var<storage, read_write> starts: array<u32>;
@group(0) @binding(9) var<storage, read_write> groups: array<PairGroup>;
/// Places for the pairs that are kept, `MAX_CONTACTS_PER_PAIR` for each group.
@group(0) @binding(10) var<storage, read_write> kept: array<vec2<u32>>;

/// A hand without a pair.
const EMPTY: u32 = 0xffffffffu;

/// The deepest pair of each hand, and its gap as a number that sorts as it does.
var<private> hands: array<vec2<u32>, MAX_CONTACTS_PER_PAIR>;
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

/// The molecules of a pair, by its place in `order`.
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

/// Distance of two surfaces, nm, negative where they overlap.
fn gap_of(pair: vec2<u32>) -> f32 {
    let one = spheres[pair.x];
    let other = spheres[pair.y];
    let apart = one.xyz - other.xyz;
    let squares = rounded(apart * apart);
    return sqrt(squares.x + squares.y + squares.z) - (one.w + other.w);
}

/// A number that sorts as `value` does.
fn sortable(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    return bits ^ (bitcast<u32>(bitcast<i32>(bits) >> 31u) | 0x80000000u);
}

/// Whether one pair comes before another.
fn is_before(one: vec2<u32>, other: vec2<u32>) -> bool {
    return one.x < other.x || (one.x == other.x && one.y < other.y);
}

/// Keeps all pairs of a group, sorted. There is room for them.
fn keep_all(start: u32, count: u32, room: u32) {
    for (var k = 0u; k < count; k++) {
        let pair = pairs[order[start + k]];
        var place = k;
        while place > 0u && is_before(pair, hands[place - 1u]) {
            hands[place] = hands[place - 1u];
            place -= 1u;
        }
        hands[place] = pair;
    }
    for (var k = 0u; k < count; k++) {
        kept[room + k] = hands[k];
    }
}

/// Keeps the deepest pair of each `together` hands; returns how many that are.
fn keep_hands(together: u32, room: u32) -> u32 {
    var count = 0u;
    for (var first = 0u; first < MAX_CONTACTS_PER_PAIR; first += together) {
        var best = first;
        for (var k = first + 1u; k < first + together; k++) {
            let deeper = gaps[k] < gaps[best];
            let before = gaps[k] == gaps[best] && is_before(hands[k], hands[best]);
            if deeper || before {
                best = k;
            }
        }
        if gaps[best] != EMPTY {
            kept[room + count] = hands[best];
            count += 1u;
        }
    }
    return count;
}

@compute @workgroup_size(GROUP_THREADS)
fn digest_groups(here: Invocation) {
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
        // The first sphere decides which hand; of equally deep pairs the first stays.
        let hand = (pair.x * BUCKET_HASH) >> BUCKET_SHIFT;
        let number = sortable(gap);
        if number < gaps[hand] {
            gaps[hand] = number;
            hands[hand] = pair;
        }
    }
    let count = end - start;
    let room = own * MAX_CONTACTS_PER_PAIR;
    var keeps = count;
    if count <= MAX_CONTACTS_PER_PAIR {
        keep_all(start, count, room);
    } else if count <= MAX_PAIRS_IN_ALL_BUCKETS {
        keeps = keep_hands(1u, room);
    } else if count <= MAX_PAIRS_IN_HALF_BUCKETS {
        keeps = keep_hands(2u, room);
    } else {
        keeps = keep_hands(4u, room);
    }
    let owned = molecules(start);
    groups[own] = PairGroup(owned.x, owned.y, keeps, overlapping, -smallest);
}
