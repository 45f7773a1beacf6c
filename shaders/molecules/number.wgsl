// Marks the pairs of molecules that have a group: one thread per pair. A prefix sum over the marks
// numbers the groups in the order of the pairs.

@group(0) @binding(1) var<storage, read_write> found: MoleculesFound;
/// Group of each pair of molecules, or `NO_GROUP`.
@group(0) @binding(2) var<storage, read> group_of: array<u32>;
@group(0) @binding(3) var<storage, read_write> marks: array<u32>;

@compute @workgroup_size(GROUP_THREADS)
fn mark_groups(here: Invocation) {
    let at = thread_number(here.group, here.groups, here.thread);
    if at < atomicLoad(&found.compared_pairs) {
        marks[at] = u32(group_of[at] != NO_GROUP);
    }
}
