// Those that have lost a neighbor are woken: one thread for each group of this substep
// marks the group of the substep before, and one for each of those looks at the mark.

/// Groups of this substep.
@group(0) @binding(2) var<storage, read> groups: array<CrowdGroup>;
/// Whether a group of the substep before is there still.
@group(0) @binding(3) var<storage, read_write> lasting: array<u32>;
@group(0) @binding(5) var<storage, read_write> woken: array<atomic<u32>>;

@compute @workgroup_size(GROUP_THREADS)
fn mark_lasting(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.touching || groups[index].may_touch == 0u {
        return;
    }
    let before = group_before(groups[index].a, groups[index].b);
    if before != NO_GROUP {
        lasting[before] = 1u;
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn wake_bereaved(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= params.touching_before {
        return;
    }
    let before = groups_before[index];
    if before.may_touch != 0u && lasting[index] == 0u {
        atomicStore(&woken[before.a], 1u);
        atomicStore(&woken[before.b], 1u);
    }
}
