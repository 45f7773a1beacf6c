// Each sphere against all that follow it.

/// Centre and radius of each sphere, nm.
@group(0) @binding(2) var<storage, read> spheres: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> owners: array<u32>;

fn index_of(sphere: u32) -> u32 {
    return sphere;
}

/// Passes all partners of a sphere that follow it to `hit`.
fn walk(own: u32) {
    let sphere = spheres[own];
    let reach = own_reach(sphere);
    let owner = owners[own];
    for (var other = own + 1u; other < search.spheres; other++) {
        if overlaps(sphere, spheres[other], reach) && owners[other] != owner {
            hit(own, other);
        }
    }
}
