// How large dispatches are folded: groups fill rows, and rows follow each other.

/// Number of a workgroup, counted along the rows.
fn group_number(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.x + group.y * groups.x;
}

/// Number of a thread, counted along the rows of workgroups.
fn thread_number(group: vec3<u32>, groups: vec3<u32>, thread: u32) -> u32 {
    return group_number(group, groups) * GROUP_THREADS + thread;
}
