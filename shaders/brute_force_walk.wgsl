// Each sphere against all that follow it.

/// Centre and radius of each sphere, nm.
@group(0) @binding(2) var<storage, read> spheres: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> owners: array<u32>;

fn index_of(sphere: u32) -> u32 {
    return sphere;
}

/// Passes all partners of a sphere that follow it to `hit`.
///
/// `first` is the first sphere of the whole group of threads: all walk together, so that
/// what one reads all read.
fn walk_together(own: u32, first: u32) {
    let sphere = spheres[own];
    let reach = own_reach(sphere);
    let owner = owners[own];
    for (var other = first; other < search.spheres; other++) {
        if overlaps(sphere.xyz, reach, other) && other > own && owners[other] != owner {
            hit(own, other);
        }
    }
}
