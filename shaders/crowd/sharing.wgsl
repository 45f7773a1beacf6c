// Among how many groups a body is divided.

/// Number of groups of a body, from `side_starts` of whoever asks.
fn sharing(body: u32) -> f32 {
    return f32(side_starts[body + 1u] - side_starts[body]);
}
