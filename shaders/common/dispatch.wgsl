// Index of a thread in a dispatch. Large dispatches have two dimensions.

/// Position of a thread. Kernels pass the members on separately, never the struct: Direct3D
/// provides the number of groups only where an entry point reads it.
struct Invocation {
    /// Column and row of the workgroup.
    @builtin(workgroup_id) group: vec3<u32>,
    /// Number of columns and rows of workgroups.
    @builtin(num_workgroups) groups: vec3<u32>,
    /// Index of the thread in its workgroup.
    @builtin(local_invocation_index) thread: u32,
}

/// Index of a workgroup, row by row.
fn group_number(group: vec3<u32>, groups: vec3<u32>) -> u32 {
    return group.x + group.y * groups.x;
}

/// Index of a thread, row by row.
fn thread_number(group: vec3<u32>, groups: vec3<u32>, thread: u32) -> u32 {
    return group_number(group, groups) * GROUP_THREADS + thread;
}
