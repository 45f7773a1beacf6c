// What every search for pairs shares.

/// What is searched, and how space is cut into cells.
struct SearchParams {
    /// Cells along each axis, border included.
    cells: vec3<u32>,
    /// Whether the grid repeats itself; then `cells` are powers of two.
    folded: u32,
    /// Corner of the bounding box, nm.
    low: vec3<f32>,
    /// Cells per nm.
    per_nm: f32,
    /// Number of spheres.
    spheres: u32,
    /// Whether radii differ.
    mixed: u32,
    /// Squared reach, nm², if all are the same, else the margin, nm.
    reach: f32,
    /// Zero, which the compiler cannot know.
    zero: u32,
}

@group(0) @binding(0) var<uniform> search: SearchParams;

fn unknown_zero() -> u32 {
    return search.zero;
}
