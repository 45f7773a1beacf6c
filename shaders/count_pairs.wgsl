// Counts the pairs of each sphere.

@group(0) @binding(7) var<storage, read_write> pair_counts: array<u32>;

var<private> found: u32;

fn hit(_own: u32, _other: u32) {
    found += 1u;
}

@compute @workgroup_size(GROUP_THREADS)
fn count_pairs(
    @builtin(workgroup_id) group: vec3<u32>,
    @builtin(num_workgroups) groups: vec3<u32>,
    @builtin(local_invocation_index) thread: u32,
) {
    let row = thread_number(group, groups, thread);
    if row >= batch.spheres {
        return;
    }
    let own = batch.first_sphere + row;
    found = 0u;
    if own < search.spheres {
        walk_together(own, batch.first_sphere + group_number(group, groups) * GROUP_THREADS);
    }
    pair_counts[own] = found;
}
