// Each sphere against all that follow it.

/// Center and radius of each sphere, nm.
@group(0) @binding(2) var<storage, read> spheres: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> owners: array<u32>;

fn index_of(sphere: u32) -> u32 {
    return sphere;
}

/// A sphere on its walk.
struct Walker {
    own: u32,
    owner: u32,
    center: vec3<f32>,
    reach: f32,
}

/// Passes `other` to `hit` if it is a partner that follows.
fn meet(walker: Walker, other: u32) {
    if other < search.spheres && overlaps(walker.center, walker.reach, other)
        && other > walker.own && owners[other] != walker.owner {
        hit(walker.own, other);
    }
}

/// Passes all partners of a sphere that follow it to `hit`.
///
/// `first` is the first sphere of the whole group of threads: all walk together, so that
/// what one reads all read. Sixteen at a time: some software adapters leave a loop after
/// 65,535 rounds, without a word.
fn walk_together(own: u32, first: u32) {
    let sphere = spheres[own];
    let walker = Walker(own, owners[own], sphere.xyz, own_reach(sphere));
    for (var other = first; other < search.spheres; other += BRUTE_FORCE_STRIDE) {
        meet(walker, other);
        meet(walker, other + 1u);
        meet(walker, other + 2u);
        meet(walker, other + 3u);
        meet(walker, other + 4u);
        meet(walker, other + 5u);
        meet(walker, other + 6u);
        meet(walker, other + 7u);
        meet(walker, other + 8u);
        meet(walker, other + 9u);
        meet(walker, other + 10u);
        meet(walker, other + 11u);
        meet(walker, other + 12u);
        meet(walker, other + 13u);
        meet(walker, other + 14u);
        meet(walker, other + 15u);
    }
}
