// Spheres to the cells of their levels.

/// Center and radius of each sphere, nm.
@group(0) @binding(1) var<storage, read> spheres: array<vec4<f32>>;
/// Cell of each sphere.
@group(0) @binding(2) var<storage, read_write> sphere_cells: array<u32>;

@compute @workgroup_size(GROUP_THREADS)
fn bin_levels(here: Invocation) {
    let sphere = thread_number(here.group, here.groups, here.thread);
    if sphere < search.spheres {
        let found = spheres[sphere];
        let level = level_of(found.w);
        let grid = grid_of(level);
        let cell = flat_in(grid, cell_in(grid, found.xyz));
        sphere_cells[sphere] = hierarchy.levels[level].first_cell + cell;
    }
}
