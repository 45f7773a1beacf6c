// Counts the pairs of each sphere.

@group(0) @binding(7) var<storage, read_write> pair_counts: array<u32>;

var<private> found: u32;

fn hit(_own: u32, _other: u32) {
    found += 1u;
}

@compute @workgroup_size(GROUP_THREADS)
fn count_pairs(here: Invocation) {
    let row = thread_number(here.group, here.groups, here.thread);
    if row >= batch.spheres {
        return;
    }
    let own = batch.first_sphere + row;
    found = 0u;
    if own < search.spheres {
        visit_partners(own, first_sphere_of(group_number(here.group, here.groups)));
    }
    pair_counts[own] = found;
}
