// Each sphere against its own level, and against what it can reach of each coarser one.

/// Cell coordinates of a point (nm) that need not be within the grid.
fn end_in(grid: Grid, point: vec3<f32>) -> vec3<u32> {
    if grid.folded != 0u {
        return cell_in(grid, point);
    }
    // Beyond the border there is nobody.
    let at = rounded((point - grid.low) * grid.per_nm) + PLAIN_SHIFT;
    return vec3<u32>(clamp(at, vec3(0.0), vec3<f32>(grid.cells - 1u)));
}

/// Compares a sphere with those of a coarser level that it may meet.
fn look_into(own: u32, level: u32) {
    let sphere = spheres[own];
    let grid = grid_of(level);
    let size = grid.cells;
    let reach = sphere.w + hierarchy.levels[level].look;
    let first = end_in(grid, sphere.xyz - reach);
    let last = end_in(grid, sphere.xyz + reach);
    // Cells of a folded grid may go round its end.
    let count = select(last + size - first, last - first, last >= first) + 1u;
    for (var z = 0u; z < count.z; z++) {
        for (var y = 0u; y < count.y; y++) {
            let cy = (first.y + y) % size.y;
            let cz = (first.z + z) % size.z;
            let row = hierarchy.levels[level].first_cell + flat_in(grid, vec3(0u, cy, cz));
            let end = first.x + count.x;
            compare(own, cell_start[row + first.x], cell_start[row + min(end, size.x)]);
            if end > size.x {
                compare(own, cell_start[row], cell_start[row + end - size.x]);
            }
        }
    }
}

/// Passes all partners of a sphere that follow it to `hit`; threads walk alone.
fn walk_together(own: u32, _first: u32) {
    if is_crowded(measured[CROWDING_SLOT]) {
        return;
    }
    let level = level_of(spheres[own].w);
    walk_shell(own, grid_of(level), hierarchy.levels[level].first_cell);
    for (var coarser = level + 1u; coarser < hierarchy.count; coarser++) {
        look_into(own, coarser);
    }
}
