// Compares each sphere with all others. A dispatch covers a part of them: a single one may take
// longer than operating systems wait for a GPU.

/// Spheres of one dispatch.
struct ContactBatch {
    /// First sphere whose contacts are summed.
    first_sphere: u32,
    /// End of these spheres.
    end_sphere: u32,
    /// First sphere that they are compared with.
    first_other: u32,
    /// End of those.
    end_other: u32,
}

@group(0) @binding(4) var<uniform> batch: ContactBatch;

fn owner_of(sphere: u32) -> u32 {
    return owners[sphere];
}

/// Contacts are summed from both sides.
fn is_partner(_own: u32, _other: u32) -> bool {
    return true;
}

fn hit(own: u32, other: u32) {
    add_contact(own, other);
}

@compute @workgroup_size(GROUP_THREADS)
fn sum_contacts(here: Invocation) {
    let thread = here.thread;
    let own = batch.first_sphere + thread_number(here.group, here.groups, thread);
    if own < batch.end_sphere {
        if batch.first_other > 0u {
            // Continues the sums of the dispatch before.
            linear_sum = linear[own];
            angular_sum = angular[own].xyz;
        }
        visit_spheres(own, batch.first_other, batch.end_other);
        linear[own] = linear_sum;
        angular[own] = vec4(angular_sum, 0.0);
    }
    count_contacts(thread);
}
