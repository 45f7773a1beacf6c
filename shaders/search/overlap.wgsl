// When two spheres overlap.

/// What a sphere (center and radius) brings to `overlaps`.
fn own_reach(sphere: vec4<f32>) -> f32 {
    return select(search.reach, sphere.w, search.mixed != 0u);
}

/// Whether sphere `other` overlaps one that is at `center` and has the reach `reach`. The
/// processor computes the same, in the same order.
fn overlaps(center: vec3<f32>, reach: f32, other: u32) -> bool {
    // What is further apart than any reach stays so, and its square stays finite.
    let apart = min(abs(spheres[other].xyz - center), vec3(FAR_NM));
    let squares = rounded(apart * apart);
    let squared = squares.x + squares.y + squares.z;
    // Radii are only read where they matter: software adapters read slowly.
    if search.mixed == 0u {
        return squared < reach;
    }
    // Whichever of the two asks, the sum is the same to the last bit.
    let sum = (spheres[other].w + reach) + search.reach;
    return squared < sum * sum;
}
