// Close spheres of two molecules, reduced to the pairs that the contact solver needs: one
// workgroup per pair of molecules. CPU references: `search/molecules/cluster_compare.rs` and
// `dynamics/contact_reduction.rs`.
//
// 1. List clusters of each molecule near the other one, a block of each at a time.
// 2. Compare the listed clusters with each other, one pair per thread.
// 3. Compare the spheres of close clusters.
// 4. Of many close pairs of spheres, each bucket keeps the deepest: of those with the smallest gap
//    the one with the smallest first, then second index. Three passes, over the close pairs if
//    they fit into workgroup memory, else over the clusters again.
//
// Threads find pairs in any order. Everything kept is a minimum or a count, so that results do not
// depend on it.

@group(0) @binding(1) var<storage, read> molecules: array<MoleculeEntry>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
/// Pairs of molecules to compare.
@group(0) @binding(4) var<storage, read> pairs: array<vec2<u32>>;
@group(0) @binding(5) var<storage, read_write> found: MoleculesFound;
/// Group of each pair of molecules, or `NO_GROUP`.
@group(0) @binding(6) var<storage, read_write> group_of: array<u32>;
/// The groups, in any order.
@group(0) @binding(7) var<storage, read_write> groups: array<PairGroup>;
/// Kept pairs of spheres, `MAX_CONTACTS_PER_PAIR` entries per group.
@group(0) @binding(8) var<storage, read_write> kept: array<KeptPair>;

/// Gap of an empty bucket.
const EMPTY: u32 = 0xffffffffu;

/// Clusters of one molecule that are compared at a time.
const BLOCK: u32 = COMPARE_THREADS;

/// Pairs of clusters whose spheres are compared at a time.
const AT_A_TIME: u32 = COMPARE_THREADS / CLUSTER_SPHERES;

/// Number of lists in workgroup memory.
const LIST_COUNT: u32 = 3u;

/// Passes over the close pairs.
const BY_GAP: u32 = 0u;
const BY_FIRST: u32 = 1u;
const BY_SECOND: u32 = 2u;

var<workgroup> near_a: array<vec4<f32>, BLOCK>;
var<workgroup> near_a_index: array<u32, BLOCK>;
var<workgroup> near_b: array<vec4<f32>, BLOCK>;
var<workgroup> near_b_index: array<u32, BLOCK>;
/// Lengths of `near_a`, `near_b` and `close_clusters`.
var<workgroup> lengths: array<atomic<u32>, LIST_COUNT>;
var<workgroup> close_clusters: array<vec2<u32>, COMPARE_THREADS>;
/// Spheres of the second molecule, and their indices.
var<workgroup> others: array<vec4<f32>, COMPARE_THREADS>;
var<workgroup> other_index: array<u32, COMPARE_THREADS>;
/// Close pairs of spheres, by their indices in their molecules, and their gaps.
var<workgroup> close: array<vec2<u32>, MAX_LISTED_PAIRS>;
var<workgroup> close_gap: array<u32, MAX_LISTED_PAIRS>;
var<workgroup> close_count: atomic<u32>;
var<workgroup> overlap_count: atomic<u32>;
var<workgroup> compared_count: atomic<u32>;
/// The deepest pair of each bucket: its gap as a sortable integer, and its spheres.
var<workgroup> bucket_gap: array<atomic<u32>, MAX_CONTACTS_PER_PAIR>;
var<workgroup> bucket_first: array<atomic<u32>, MAX_CONTACTS_PER_PAIR>;
var<workgroup> bucket_second: array<atomic<u32>, MAX_CONTACTS_PER_PAIR>;
/// A value that all threads have to agree on.
var<workgroup> agreed: u32;

/// The first thread's value, for all threads. All of them have to call it.
fn agree(thread: u32, value: u32) -> u32 {
    if thread == 0u {
        agreed = value;
    }
    return workgroupUniformLoad(&agreed);
}

/// Length of a list after all threads have added to it.
fn length_of(thread: u32, list: u32) -> u32 {
    workgroupBarrier();
    return agree(thread, atomicLoad(&lengths[list]));
}

fn placed_molecule(index: u32) -> PlacedMolecule {
    let entry = molecules[index];
    let pose = poses[index];
    return PlacedMolecule(
        entry.template_start,
        templates[entry.template_start].x,
        entry.first_sphere,
        entry.radius,
        pose.position,
        rotation_matrix(pose.rotation),
    );
}

/// An integer that sorts like `value`.
fn sortable(value: f32) -> u32 {
    let bits = bitcast<u32>(value);
    return bits ^ (bitcast<u32>(bitcast<i32>(bits) >> 31u) | 0x80000000u);
}

/// The value of a sortable integer.
fn value_of(sortable: u32) -> f32 {
    let negative = select(0u, 0xffffffffu, (sortable & 0x80000000u) == 0u);
    return bitcast<f32>(sortable ^ (negative | 0x80000000u));
}

/// Adds to a 64-bit count of `found`, of which `previous` is what `atomicAdd` on the lower half has
/// returned. Returns what to add to the upper half.
fn carry(previous: u32, added: u32) -> u32 {
    return u32(previous + added < previous);
}

/// Adds what pass `pass_number` needs of a close pair to its bucket.
fn add_to_bucket(pass_number: u32, gap: u32, pair: vec2<u32>, first_sphere: u32) {
    let bucket = ((first_sphere + pair.x) * BUCKET_HASH) >> BUCKET_SHIFT;
    if pass_number == BY_GAP {
        atomicMin(&bucket_gap[bucket], gap);
        return;
    }
    if gap != atomicLoad(&bucket_gap[bucket]) {
        return;
    }
    if pass_number == BY_FIRST {
        atomicMin(&bucket_first[bucket], pair.x);
    } else if pair.x == atomicLoad(&bucket_first[bucket]) {
        atomicMin(&bucket_second[bucket], pair.y);
    }
}

/// A close pair: spheres `pair` of the molecules, whose centers have this squared distance.
fn add_close(pass_number: u32, pair: vec2<u32>, squared: f32, radii: f32, first_sphere: u32) {
    let gap = sqrt(squared) - radii;
    let sort_key = sortable(gap);
    if pass_number == BY_GAP {
        let place_in_list = atomicAdd(&close_count, 1u);
        if place_in_list < MAX_LISTED_PAIRS {
            close[place_in_list] = pair;
            close_gap[place_in_list] = sort_key;
        }
        if gap < 0.0 {
            atomicAdd(&overlap_count, 1u);
        }
    }
    add_to_bucket(pass_number, sort_key, pair, first_sphere);
}

/// Step 3: compares the spheres of `count` close clusters.
fn compare_spheres(
    pass_number: u32,
    thread: u32,
    count: u32,
    a: PlacedMolecule,
    b: PlacedMolecule,
) {
    let item = thread / CLUSTER_SPHERES;
    let lane = thread % CLUSTER_SPHERES;
    for (var first = 0u; first < count; first += AT_A_TIME) {
        let listed = first + item < count;
        var own = NO_SPHERE;
        var other = NO_SPHERE;
        if listed {
            let clusters = close_clusters[first + item];
            own = cluster_member(a, clusters.x, lane);
            other = cluster_member(b, clusters.y, lane);
        }
        other_index[thread] = other;
        if other != NO_SPHERE {
            others[thread] = placed_sphere(b, other);
        }
        workgroupBarrier();
        if own != NO_SPHERE {
            let sphere = placed_sphere(a, own);
            var compared = 0u;
            for (var k = 0u; k < CLUSTER_SPHERES; k++) {
                let at = item * CLUSTER_SPHERES + k;
                let index = other_index[at];
                if index == NO_SPHERE {
                    break;
                }
                compared += 1u;
                // As `overlaps`: the CPU computes the same in the same order.
                let apart = min(abs(others[at].xyz - sphere.xyz), vec3(FAR_NM));
                let squares = rounded(apart * apart);
                let squared = squares.x + squares.y + squares.z;
                let radii = others[at].w + sphere.w;
                let reach = radii + params.margin;
                if squared < reach * reach {
                    add_close(pass_number, vec2(own, index), squared, radii, a.first_sphere);
                }
            }
            atomicAdd(&compared_count, compared);
        }
        workgroupBarrier();
    }
}

/// Steps 1 to 3.
fn compare_molecules(pass_number: u32, thread: u32, a: PlacedMolecule, b: PlacedMolecule) {
    let reach = params.margin + params.rounding;
    for (var first_a = 0u; first_a < a.clusters; first_a += BLOCK) {
        if first_a + thread < a.clusters {
            let bounds = cluster_bounds(a, first_a + thread);
            if distance(bounds.xyz, b.position) <= bounds.w + b.radius + reach {
                let at = atomicAdd(&lengths[0], 1u);
                near_a[at] = bounds;
                near_a_index[at] = first_a + thread;
            }
        }
        let count_a = length_of(thread, 0u);
        for (var first_b = 0u; count_a > 0u && first_b < b.clusters; first_b += BLOCK) {
            if first_b + thread < b.clusters {
                let bounds = cluster_bounds(b, first_b + thread);
                if distance(bounds.xyz, a.position) <= bounds.w + a.radius + reach {
                    let at = atomicAdd(&lengths[1], 1u);
                    near_b[at] = bounds;
                    near_b_index[at] = first_b + thread;
                }
            }
            let count_b = length_of(thread, 1u);
            for (var first = 0u; first < count_a * count_b; first += COMPARE_THREADS) {
                if first + thread < count_a * count_b {
                    let of_a = (first + thread) / count_b;
                    let of_b = (first + thread) % count_b;
                    let one = near_a[of_a];
                    let other = near_b[of_b];
                    if distance(one.xyz, other.xyz) <= one.w + other.w + reach {
                        let at = atomicAdd(&lengths[2], 1u);
                        close_clusters[at] = vec2(near_a_index[of_a], near_b_index[of_b]);
                    }
                }
                let count = length_of(thread, 2u);
                compare_spheres(pass_number, thread, count, a, b);
                if thread == 0u {
                    atomicStore(&lengths[2], 0u);
                }
                workgroupBarrier();
            }
            if thread == 0u {
                atomicStore(&lengths[1], 0u);
            }
            workgroupBarrier();
        }
        if thread == 0u {
            atomicStore(&lengths[0], 0u);
        }
        workgroupBarrier();
    }
}

/// Whether one pair comes before another.
fn is_before(one: vec2<u32>, other: vec2<u32>) -> bool {
    return one.x < other.x || (one.x == other.x && one.y < other.y);
}

/// A kept pair of spheres.
fn keep(slot: u32, pair: vec2<u32>, a: PlacedMolecule, b: PlacedMolecule) {
    let spheres = pair + vec2(a.first_sphere, b.first_sphere);
    let first = placed_sphere(a, pair.x);
    let second = placed_sphere(b, pair.y);
    kept[slot] = KeptPair(first, second, spheres, vec2(0u));
}

/// Whether any of the buckets `first..first + joined` has a pair.
fn has_pair(first: u32, joined: u32) -> bool {
    var any = false;
    for (var k = first; k < first + joined; k++) {
        any = any || atomicLoad(&bucket_gap[k]) != EMPTY;
    }
    return any;
}

/// Keeps the deepest pair of every `joined` buckets: one thread each. Returns the number of pairs
/// kept.
fn keep_buckets(thread: u32, joined: u32, slot: u32, a: PlacedMolecule, b: PlacedMolecule) -> u32 {
    var count = 0u;
    for (var k = 0u; k < MAX_CONTACTS_PER_PAIR / joined; k++) {
        let first = k * joined;
        if !has_pair(first, joined) {
            continue;
        }
        if k == thread {
            var gap = EMPTY;
            var best = vec2(EMPTY);
            for (var bucket = first; bucket < first + joined; bucket++) {
                let other_gap = atomicLoad(&bucket_gap[bucket]);
                let pair = vec2(
                    atomicLoad(&bucket_first[bucket]),
                    atomicLoad(&bucket_second[bucket]),
                );
                if other_gap < gap || (other_gap == gap && is_before(pair, best)) {
                    gap = other_gap;
                    best = pair;
                }
            }
            keep(slot + count, best, a, b);
        }
        count += 1u;
    }
    return count;
}

@compute @workgroup_size(COMPARE_THREADS)
fn compare_pairs(here: Invocation) {
    let thread = here.thread;
    let index = group_number(here.group, here.groups);
    if index >= agree(thread, atomicLoad(&found.compared_pairs)) {
        return;
    }
    // After 2³² comparisons: many molecules lie on top of each other.
    if agree(thread, atomicLoad(&found.compared_high)) > 0u {
        if thread == 0u {
            atomicStore(&found.crowded, 1u);
        }
        return;
    }
    let molecule_pair = pairs[index];
    let a = placed_molecule(molecule_pair.x);
    let b = placed_molecule(molecule_pair.y);
    if thread < LIST_COUNT {
        atomicStore(&lengths[thread], 0u);
    }
    if thread == 0u {
        atomicStore(&close_count, 0u);
        atomicStore(&overlap_count, 0u);
        atomicStore(&compared_count, 0u);
    }
    if thread < MAX_CONTACTS_PER_PAIR {
        atomicStore(&bucket_gap[thread], EMPTY);
        atomicStore(&bucket_first[thread], EMPTY);
        atomicStore(&bucket_second[thread], EMPTY);
    }
    workgroupBarrier();
    compare_molecules(BY_GAP, thread, a, b);
    let count = agree(thread, atomicLoad(&close_count));
    if thread == 0u {
        let compared = atomicLoad(&compared_count);
        let previous = atomicAdd(&found.compared, compared);
        atomicAdd(&found.compared_high, carry(previous, compared));
    }
    if count == 0u {
        if thread == 0u {
            group_of[index] = NO_GROUP;
        }
        return;
    }
    if thread == 0u {
        let previous = atomicAdd(&found.candidates, count);
        atomicAdd(&found.candidates_high, carry(previous, count));
        agreed = atomicAdd(&found.groups, 1u);
    }
    let own_group = workgroupUniformLoad(&agreed);
    if thread == 0u {
        group_of[index] = own_group;
    }
    if own_group >= params.max_groups {
        return;
    }
    let slot = own_group * MAX_CONTACTS_PER_PAIR;
    var kept_count = count;
    if count <= MAX_CONTACTS_PER_PAIR {
        if thread < count {
            let pair = close[thread];
            var rank = 0u;
            for (var k = 0u; k < count; k++) {
                rank += u32(is_before(close[k], pair));
            }
            keep(slot + rank, pair, a, b);
        }
    } else {
        for (var pass_number = BY_FIRST; pass_number <= BY_SECOND; pass_number++) {
            if count <= MAX_LISTED_PAIRS {
                for (var k = thread; k < count; k += COMPARE_THREADS) {
                    add_to_bucket(pass_number, close_gap[k], close[k], a.first_sphere);
                }
            } else {
                compare_molecules(pass_number, thread, a, b);
            }
            workgroupBarrier();
        }
        var joined = 4u;
        if count <= MAX_PAIRS_IN_ALL_BUCKETS {
            joined = 1u;
        } else if count <= MAX_PAIRS_IN_HALF_BUCKETS {
            joined = 2u;
        }
        kept_count = keep_buckets(thread, joined, slot, a, b);
    }
    if thread == 0u {
        var deepest = EMPTY;
        for (var k = 0u; k < MAX_CONTACTS_PER_PAIR; k++) {
            deepest = min(deepest, atomicLoad(&bucket_gap[k]));
        }
        let overlaps = atomicLoad(&overlap_count);
        let penetration = -value_of(deepest);
        groups[own_group] = PairGroup(molecule_pair.x, molecule_pair.y, kept_count, overlaps, penetration);
    }
}
