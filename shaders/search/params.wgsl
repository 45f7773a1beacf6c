// Parameters of a search.

/// Spheres and cells of a search.
struct SearchParams {
    /// Cells along each axis, border included.
    cells: vec3<u32>,
    /// Whether the cells repeat in space; `cells` are then powers of two.
    folded: u32,
    /// Corner of the bounding box, nm.
    low: vec3<f32>,
    /// Cells per nm.
    per_nm: f32,
    /// Number of spheres.
    spheres: u32,
    /// Whether radii differ.
    mixed: u32,
    /// Squared reach, nm², if all radii are equal, else the margin, nm.
    reach: f32,
    /// Always 0, opaque to the compiler.
    zero: u32,
}

@group(0) @binding(0) var<uniform> search: SearchParams;

fn opaque_zero() -> u32 {
    return search.zero;
}
