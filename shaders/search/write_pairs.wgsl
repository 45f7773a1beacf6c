// Writes the pairs of each sphere after those of the spheres before it.

/// First pair of each sphere, and one entry more.
@group(0) @binding(7) var<storage, read> pair_starts: array<u32>;
/// Indices of two spheres, the smaller first.
@group(0) @binding(8) var<storage, read_write> pairs: array<vec2<u32>>;

/// Index of the next pair.
var<private> next: u32;

fn hit(own: u32, other: u32) {
    let at = next - batch.first_pair;
    if next >= batch.first_pair && at < batch.pairs {
        let a = index_of(own);
        let b = index_of(other);
        pairs[at] = vec2(min(a, b), max(a, b));
    }
    next += 1u;
}

@compute @workgroup_size(GROUP_THREADS)
fn write_pairs(here: Invocation) {
    let row = thread_number(here.group, here.groups, here.thread);
    let own = batch.first_sphere + row;
    if row >= batch.spheres || own >= search.spheres {
        return;
    }
    next = pair_starts[own];
    let end = pair_starts[own + 1u];
    if next < end && end > batch.first_pair && next < batch.first_pair + batch.pairs {
        visit_partners(own, first_sphere_of(group_number(here.group, here.groups)));
    }
}
