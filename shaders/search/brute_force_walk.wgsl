// Compares a sphere with a range of spheres.

/// Center and radius of each sphere, nm.
@group(0) @binding(2) var<storage, read> spheres: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> owners: array<u32>;

/// The sphere of a thread.
struct Subject {
    index: u32,
    owner: u32,
    center: vec3<f32>,
    reach: f32,
}

/// `bit` if `other` is a partner before `end` that overlaps, else 0.
fn hit_bit(subject: Subject, other: u32, end: u32, bit: u32) -> u32 {
    let is_hit = other < end && overlaps(subject.center, subject.reach, other)
        && is_partner(subject.index, other) && owners[other] != subject.owner;
    return select(0u, 1u << bit, is_hit);
}

/// Passes all partners among the spheres `first..end` that overlap `own` to `hit`, in order.
///
/// All threads of a workgroup read the same spheres at the same time. Sixteen per iteration,
/// since lavapipe leaves a loop after 65,535 iterations. `hit` is called in one place: drivers
/// inline it.
fn visit_spheres(own: u32, first: u32, end: u32) {
    let sphere = spheres[own];
    let subject = Subject(own, owners[own], sphere.xyz, own_reach(sphere));
    for (var other = first; other < end; other += BRUTE_FORCE_STRIDE) {
        var hits = 0u;
        hits |= hit_bit(subject, other, end, 0u);
        hits |= hit_bit(subject, other + 1u, end, 1u);
        hits |= hit_bit(subject, other + 2u, end, 2u);
        hits |= hit_bit(subject, other + 3u, end, 3u);
        hits |= hit_bit(subject, other + 4u, end, 4u);
        hits |= hit_bit(subject, other + 5u, end, 5u);
        hits |= hit_bit(subject, other + 6u, end, 6u);
        hits |= hit_bit(subject, other + 7u, end, 7u);
        hits |= hit_bit(subject, other + 8u, end, 8u);
        hits |= hit_bit(subject, other + 9u, end, 9u);
        hits |= hit_bit(subject, other + 10u, end, 10u);
        hits |= hit_bit(subject, other + 11u, end, 11u);
        hits |= hit_bit(subject, other + 12u, end, 12u);
        hits |= hit_bit(subject, other + 13u, end, 13u);
        hits |= hit_bit(subject, other + 14u, end, 14u);
        hits |= hit_bit(subject, other + 15u, end, 15u);
        while hits != 0u {
            hit(own, other + countTrailingZeros(hits));
            hits &= hits - 1u;
        }
    }
}
