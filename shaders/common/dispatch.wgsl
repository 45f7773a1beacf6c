// Which thread of a dispatch this is. Large dispatches are folded: groups fill rows, and
// rows follow each other.

/// What a kernel is told about its place. Kernels pass the members on one by one, never the
/// whole: Direct3D knows the number of groups only where an entry point reads it.
struct Invocation {
    /// Column and row of the workgroup.
    @builtin(workgroup_id) group: vec3<u32>,
    /// Number of columns and rows of workgroups.
    @builtin(num_workgroups) groups: vec3<u32>,
    /// Number of the thread in its workgroup.
    @builtin(local_invocation_index) thread: u32,
}

/// Number of a workgroup, counted along the rows.
fn group_number(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.x + group.y * groups.x;
}

/// Number of a thread, counted along the rows of workgroups.
fn thread_number(group: vec3<u32>, groups: vec3<u32>, thread: u32) -> u32 {
    return group_number(group, groups) * GROUP_THREADS + thread;
}
