// Compares each sphere with those of the 27 cells around it. Three neighboring cells of a row are
// one range of sorted spheres, or two at the ends of the folded grid.

/// Center and radius of each sorted sphere, nm.
@group(0) @binding(2) var<storage, read> spheres: array<vec4<f32>>;
/// Owner and index of each sorted sphere.
@group(0) @binding(3) var<storage, read> sphere_ids: array<vec2<u32>>;
/// Start of each cell, and one entry more.
@group(0) @binding(4) var<storage, read> cell_start: array<u32>;
/// Occupancy of the cells; see `is_overcrowded`.
@group(0) @binding(5) var<storage, read> totals: array<SumMax>;

fn owner_of(sphere: u32) -> u32 {
    return sphere_ids[sphere].x;
}

/// Compares a sphere with the sorted spheres `first..end`.
fn compare(own: u32, first: u32, end: u32) {
    let sphere = spheres[own];
    let reach = own_reach(sphere);
    let owner = sphere_ids[own].x;
    for (var other = first; other < end; other++) {
        if overlaps(sphere.xyz, reach, other) && sphere_ids[other].x != owner {
            add_contact(own, other);
        }
    }
}

fn walk(own: u32) {
    let size = search.cells;
    let cell = cell_coordinates(spheres[own].xyz);
    for (var k = 0u; k < 9u; k++) {
        // Offsets −1, 0, 1 along y and z, modulo the size.
        let offset = vec2(k % 3u, k / 3u) + size.yz - 1u;
        let row = flat_cell(vec3(0u, (cell.yz + offset) % size.yz));
        var first = row + max(cell.x, 1u) - 1u;
        var end = row + min(cell.x + 2u, size.x);
        compare(own, cell_start[first], cell_start[end]);
        if cell.x == 0u {
            compare(own, cell_start[row + size.x - 1u], cell_start[row + size.x]);
        } else if cell.x + 1u == size.x {
            compare(own, cell_start[row], cell_start[row + 1u]);
        }
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn sum_contacts(here: Invocation) {
    let thread = here.thread;
    let own = thread_number(here.group, here.groups, thread);
    if own < search.spheres && !is_overcrowded(totals[OCCUPANCY_SLOT]) {
        walk(own);
        let index = sphere_ids[own].y;
        linear[index] = linear_sum;
        angular[index] = vec4(angular_sum, 0.0);
    }
    count_contacts(thread);
}
