// The cell of a point.

/// Layout of a grid.
struct Grid {
    cells: vec3<u32>,
    folded: u32,
    low: vec3<f32>,
    per_nm: f32,
}

/// The grid of the search.
fn search_grid() -> Grid {
    return Grid(search.cells, search.folded, search.low, search.per_nm);
}

/// Coordinates of the cell of a point (nm) in a grid.
fn cell_in(grid: Grid, point: vec3<f32>) -> vec3<u32> {
    if grid.folded != 0u {
        let mask = grid.cells - 1u;
        return vec3(
            folded_coordinate(point.x, mask.x, grid.per_nm),
            folded_coordinate(point.y, mask.y, grid.per_nm),
            folded_coordinate(point.z, mask.z, grid.per_nm),
        );
    }
    let at = rounded((point - grid.low) * grid.per_nm) + PLAIN_SHIFT;
    // Border cells stay empty. Points outside are clamped to the cells next to them, so that
    // neighbors stay neighbors.
    return vec3<u32>(clamp(at, vec3(1.0), vec3<f32>(grid.cells - 2u)));
}

/// Index of a cell: x fastest, then y, then z.
fn flat_in(grid: Grid, cell: vec3<u32>) -> u32 {
    return cell.x + grid.cells.x * (cell.y + grid.cells.y * cell.z);
}

/// Coordinates of the cell of a point (nm).
fn cell_coordinates(point: vec3<f32>) -> vec3<u32> {
    return cell_in(search_grid(), point);
}

/// Index of a cell.
fn flat_cell(cell: vec3<u32>) -> u32 {
    return flat_in(search_grid(), cell);
}
