// Which part of a search is done at once.

/// Ranges of spheres that are walked and of pairs that are written.
struct SearchBatch {
    /// First sphere.
    first_sphere: u32,
    /// Number of spheres; behind the last sphere comes one without pairs.
    spheres: u32,
    /// First pair.
    first_pair: u32,
    /// Number of pairs.
    pairs: u32,
}

@group(0) @binding(1) var<uniform> batch: SearchBatch;

/// The first sphere that a workgroup walks.
fn first_sphere_of(group: u32) -> u32 {
    return batch.first_sphere + group * GROUP_THREADS;
}
