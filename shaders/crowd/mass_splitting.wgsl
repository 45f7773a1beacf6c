// Mass splitting: the mass of a body is divided among its groups.

/// Number of groups that a body is split among. The including file declares `side_starts`.
fn shares_of(body: u32) -> f32 {
    return f32(side_starts[body + 1u] - side_starts[body]);
}

fn inverse(value: f32) -> f32 {
    return select(0.0, 1.0 / value, value > 0.0);
}

/// Effective masses along and perpendicular to the normal, Da, of bodies split into shares.
fn split_masses_of(mobility: vec4<f32>, shares_a: f32, shares_b: f32) -> vec2<f32> {
    return vec2(
        inverse(shares_a * mobility.x + shares_b * mobility.z),
        inverse(shares_a * mobility.y + shares_b * mobility.w),
    );
}
