// Overlap test of two spheres.

/// Argument `reach` of `overlaps` for a sphere (center and radius).
fn own_reach(sphere: vec4<f32>) -> f32 {
    return select(search.reach, sphere.w, search.mixed != 0u);
}

/// Whether sphere `other` overlaps one at `center` with the reach `reach`. The CPU computes the
/// same in the same order.
fn overlaps(center: vec3<f32>, reach: f32, other: u32) -> bool {
    // Clamped beyond any reach, so that squares stay finite.
    let apart = min(abs(spheres[other].xyz - center), vec3(FAR_NM));
    let squares = rounded(apart * apart);
    let squared = squares.x + squares.y + squares.z;
    // Read radii only if they differ: reads are slow on software adapters.
    if search.mixed == 0u {
        return squared < reach;
    }
    // The sum is the same for both orders of the spheres.
    let sum = (spheres[other].w + reach) + search.reach;
    return squared < sum * sum;
}
