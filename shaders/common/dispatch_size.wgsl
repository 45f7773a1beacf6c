// Sizes of indirect dispatches.

/// Size of a dispatch of at least `groups` workgroups, in two dimensions if there are more than
/// `max_per_row`.
fn dispatch_size(groups: u32, max_per_row: u32) -> vec3<u32> {
    let rows = (groups + max_per_row - 1u) / max_per_row;
    if rows == 0u {
        return vec3(0u, 1u, 1u);
    }
    return vec3((groups + rows - 1u) / rows, rows, 1u);
}

/// Size of a dispatch of at least `threads` threads.
fn dispatch_size_of_threads(threads: u32, max_per_row: u32) -> vec3<u32> {
    return dispatch_size((threads + GROUP_THREADS - 1u) / GROUP_THREADS, max_per_row);
}
