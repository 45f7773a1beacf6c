// Wakes bodies that have lost a neighbor: one thread per current group marks the same group of
// the previous substep, then one thread per previous group checks its mark.

@group(0) @binding(2) var<storage, read> groups: array<CrowdGroup>;
/// 1 for groups of the previous substep that still exist.
@group(0) @binding(3) var<storage, read_write> persistent: array<u32>;
@group(0) @binding(5) var<storage, read_write> woken: array<atomic<u32>>;

@compute @workgroup_size(GROUP_THREADS)
fn mark_persistent(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.member_groups || groups[index].pushes == 0u {
        return;
    }
    let previous = previous_group(groups[index].a, groups[index].b);
    if previous != NO_GROUP {
        persistent[previous] = 1u;
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn wake_lost_neighbors(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.previous_member_groups {
        return;
    }
    let previous = previous_groups[index];
    if previous.pushes != 0u && persistent[index] == 0u {
        atomicStore(&woken[previous.a], 1u);
        atomicStore(&woken[previous.b], 1u);
    }
}
