// Among how many groups a body is divided, and what that makes of contacts.

/// Number of groups of a body, from `side_starts` of whoever asks.
fn sharing(body: u32) -> f32 {
    return f32(side_starts[body + 1u] - side_starts[body]);
}

fn inverse(value: f32) -> f32 {
    return select(0.0, 1.0 / value, value > 0.0);
}

/// Effective masses along and across the normal of a contact of these mobilities, Da, whose
/// bodies are divided among so many groups.
fn split_masses_of(mobility: vec4<f32>, share_a: f32, share_b: f32) -> vec2<f32> {
    return vec2(
        inverse(share_a * mobility.x + share_b * mobility.z),
        inverse(share_a * mobility.y + share_b * mobility.w),
    );
}
