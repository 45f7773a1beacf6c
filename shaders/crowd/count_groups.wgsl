// The number of groups, and the dispatches that depend on it: one workgroup of one thread.
//
// If the search had too little memory, there are no groups: nothing after this does anything, the
// contacts of the previous substep stay as they are, and the substep can be repeated.

/// Counts that a substep starts with.
struct GroupLimits {
    /// Maximum number of close pairs of molecules.
    max_pairs: u32,
    /// Maximum number of groups between owners.
    max_groups: u32,
    /// Number of groups with external bodies in this substep.
    external_groups: u32,
    /// Maximum number of workgroups along one dimension of a dispatch.
    max_dispatch: u32,
}

@group(0) @binding(0) var<uniform> limits: GroupLimits;
@group(0) @binding(1) var<storage, read_write> found: MoleculesFound;
/// Number of groups between owners, of all groups, and of their sides in this substep.
@group(0) @binding(2) var<storage, read_write> counts: array<u32>;
/// The same of the previous substep.
@group(0) @binding(3) var<storage, read> previous_counts: array<u32>;
/// What is copied to the parameters of the contacts of this and of the previous substep.
@group(0) @binding(4) var<storage, read_write> parameters: array<vec4<u32>>;
/// Workgroups of the indirect dispatches: see `GroupDispatch` in Rust.
@group(0) @binding(5) var<storage, read_write> dispatches: array<vec3<u32>>;

/// A dispatch with at least `threads` threads.
fn dispatch_of(threads: u32) -> vec3<u32> {
    return dispatch_size_of_threads(threads, limits.max_dispatch);
}

@compute @workgroup_size(1)
fn count_groups() {
    let groups = atomicLoad(&found.groups);
    let failed = atomicLoad(&found.pairs) > limits.max_pairs
        || groups > limits.max_groups
        || atomicLoad(&found.crowded) != 0u;
    if failed {
        for (var k = 0u; k < 5u; k++) {
            dispatches[k] = vec3(0u, 1u, 1u);
        }
        parameters[0] = vec4(0u);
        parameters[1] = vec4(0u);
        return;
    }
    let all = groups + limits.external_groups;
    counts[0] = groups;
    counts[1] = all;
    counts[2] = 2u * all;
    let previous = previous_counts[0];
    let previous_all = previous_counts[1];
    dispatches[0] = dispatch_of(groups);
    dispatches[1] = dispatch_of(all);
    dispatches[2] = dispatch_of(previous);
    dispatches[3] = dispatch_of(previous_all);
    dispatches[4] = dispatch_of(atomicLoad(&found.compared_pairs));
    parameters[0] = vec4(groups, all, previous, 0u);
    parameters[1] = vec4(previous, previous_all, 0u, 0u);
}
