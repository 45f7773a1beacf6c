// Grids of several widths, and the one that a sphere belongs to.

/// A grid of the hierarchy.
struct Level {
    /// Cells along each axis, border included.
    cells: vec3<u32>,
    /// Whether the grid repeats itself; then `cells` are powers of two.
    folded: u32,
    /// Corner of the bounding box, nm.
    low: vec3<f32>,
    /// Cells per nm.
    per_nm: f32,
    /// Number of its first cell among those of all levels.
    first_cell: u32,
    /// How far a sphere of no size looks into this level, nm.
    look: f32,
    /// Not used: uniforms are aligned to 16 bytes.
    spare: vec2<u32>,
}

/// The grids of a hierarchy.
struct HierarchyParams {
    /// The grids, the finest first.
    levels: array<Level, MAX_LEVELS>,
    /// Level of each octave of size, four to a vector.
    octaves: array<vec4<u32>, OCTAVE_VECTORS>,
    /// Number of levels.
    count: u32,
    /// Exponent of the longest size.
    top: u32,
    /// Margin, nm.
    margin: f32,
    /// Not used.
    spare: u32,
}

@group(0) @binding(9) var<uniform> hierarchy: HierarchyParams;

/// Number of the level that a sphere with this radius (nm) belongs to.
fn level_of(radius: f32) -> u32 {
    let exponent = bitcast<u32>(2.0 * radius + hierarchy.margin) >> 23u;
    let smaller = max(hierarchy.top, exponent) - exponent;
    let octave = min(smaller, 4u * OCTAVE_VECTORS - 1u);
    return hierarchy.octaves[octave / 4u][octave % 4u];
}

/// How a level cuts space into cells.
fn grid_of(level: u32) -> Grid {
    let found = hierarchy.levels[level];
    return Grid(found.cells, found.folded, found.low, found.per_nm);
}
