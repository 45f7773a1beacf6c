// Cell of each sphere, and spheres in sorted order.

/// Center and radius of each sphere, nm.
@group(0) @binding(1) var<storage, read> spheres: array<vec4<f32>>;
/// Cell of each sphere.
@group(0) @binding(2) var<storage, read_write> sphere_cells: array<u32>;
@group(0) @binding(3) var<storage, read> owners: array<u32>;
/// Index of each sorted sphere.
@group(0) @binding(4) var<storage, read> order: array<u32>;
@group(0) @binding(5) var<storage, read_write> sorted_spheres: array<vec4<f32>>;
@group(0) @binding(6) var<storage, read_write> sorted_owners: array<u32>;

@compute @workgroup_size(GROUP_THREADS)
fn bin_spheres(here: Invocation) {
    let sphere = thread_number(here.group, here.groups, here.thread);
    if sphere < search.spheres {
        sphere_cells[sphere] = flat_cell(cell_coordinates(spheres[sphere].xyz));
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn gather_spheres(here: Invocation) {
    let at = thread_number(here.group, here.groups, here.thread);
    if at < search.spheres {
        let sphere = order[at];
        sorted_spheres[at] = spheres[sphere];
        sorted_owners[at] = owners[sphere];
    }
}
