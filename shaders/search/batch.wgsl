// Part of a search in one submission.

/// Ranges of spheres to search and of pairs to write.
struct SearchBatch {
    /// First sphere.
    first_sphere: u32,
    /// Number of spheres, including a terminating one without pairs when counting.
    spheres: u32,
    /// First pair.
    first_pair: u32,
    /// Number of pairs.
    pairs: u32,
}

@group(0) @binding(1) var<uniform> batch: SearchBatch;

/// First sphere of a workgroup.
fn first_sphere_of(group: u32) -> u32 {
    return batch.first_sphere + group * GROUP_THREADS;
}
