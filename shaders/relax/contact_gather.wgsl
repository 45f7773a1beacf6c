// Spheres in sorted order, with owner and index.

@group(0) @binding(1) var<storage, read> spheres: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> owners: array<u32>;
/// Index of each sorted sphere.
@group(0) @binding(3) var<storage, read> order: array<u32>;
@group(0) @binding(4) var<storage, read_write> sorted_spheres: array<vec4<f32>>;
/// Owner and index of each sorted sphere.
@group(0) @binding(5) var<storage, read_write> sorted_ids: array<vec2<u32>>;

@compute @workgroup_size(GROUP_THREADS)
fn gather_contacts(here: Invocation) {
    let at = thread_number(here.group, here.groups, here.thread);
    if at < search.spheres {
        let sphere = order[at];
        sorted_spheres[at] = spheres[sphere];
        sorted_ids[at] = vec2(owners[sphere], sphere);
    }
}
