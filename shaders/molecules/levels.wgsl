// Cells of a level.

/// Coordinates of the cell of a point (nm).
fn level_coordinates(level: MoleculeLevel, point: vec3<f32>) -> vec3<u32> {
    return vec3(
        folded_coordinate(point.x, level.mask.x, level.per_nm),
        folded_coordinate(point.y, level.mask.y, level.per_nm),
        folded_coordinate(point.z, level.mask.z, level.per_nm),
    );
}

/// Index of a cell: x fastest, then y, then z.
fn level_cell(level: MoleculeLevel, cell: vec3<u32>) -> u32 {
    let size = level.mask + 1u;
    return level.first_cell + cell.x + size.x * (cell.y + size.y * cell.z);
}
