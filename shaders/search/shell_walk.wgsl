// Compares each sphere with the rest of its cell and the following half of the 26 cells around
// it: the next cell of its row, and four more rows. Three neighboring cells of a row are one
// range of sorted spheres, or two at the ends of a folded grid.

/// Center and radius of each sorted sphere, nm.
@group(0) @binding(2) var<storage, read> spheres: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> owners: array<u32>;
/// Start of each cell, and one entry more.
@group(0) @binding(4) var<storage, read> cell_start: array<u32>;
/// Occupancy of the cells; see `is_overcrowded`.
@group(0) @binding(5) var<storage, read> totals: array<SumMax>;
/// Index of each sorted sphere.
@group(0) @binding(6) var<storage, read> indices: array<u32>;

fn index_of(sphere: u32) -> u32 {
    return indices[sphere];
}

/// Compares a sphere with the sorted spheres `first..end`.
fn compare(own: u32, first: u32, end: u32) {
    let sphere = spheres[own];
    let reach = own_reach(sphere);
    let owner = owners[own];
    for (var other = first; other < end; other++) {
        if overlaps(sphere.xyz, reach, other) && owners[other] != owner {
            hit(own, other);
        }
    }
}

/// Passes all spheres of the same grid that follow and overlap `own` to `hit`. The cells of the
/// grid start at index `first_cell`.
fn walk_shell(own: u32, grid: Grid, first_cell: u32) {
    let size = grid.cells;
    let cell = cell_in(grid, spheres[own].xyz);
    let at_end = cell.x + 1u == size.x;
    let first = first_cell + flat_in(grid, vec3(0u, cell.y, cell.z));
    compare(own, own + 1u, cell_start[first + select(cell.x + 2u, size.x, at_end)]);
    if at_end {
        compare(own, cell_start[first], cell_start[first + 1u]);
    }
    for (var k = 0u; k < 4u; k++) {
        let offset = vec2<u32>(FOLLOWING_ROWS[k] + vec2<i32>(size.yz));
        let row = first_cell + flat_in(grid, vec3(0u, (cell.yz + offset) % size.yz));
        if cell.x == 0u {
            compare(own, cell_start[row + size.x - 1u], cell_start[row + size.x]);
            compare(own, cell_start[row], cell_start[row + 2u]);
        } else if at_end {
            compare(own, cell_start[row], cell_start[row + 1u]);
            compare(own, cell_start[row + cell.x - 1u], cell_start[row + size.x]);
        } else {
            compare(own, cell_start[row + cell.x - 1u], cell_start[row + cell.x + 2u]);
        }
    }
}
