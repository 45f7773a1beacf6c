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

/// Passes `other` to `hit` if it is a partner that overlaps.
fn compare(subject: Subject, other: u32, end: u32) {
    if other < end && overlaps(subject.center, subject.reach, other)
        && is_partner(subject.index, other) && owners[other] != subject.owner {
        hit(subject.index, other);
    }
}

/// Passes all partners among the spheres `first..end` that overlap `own` to `hit`.
///
/// All threads of a workgroup read the same spheres at the same time. Sixteen per iteration,
/// since lavapipe leaves a loop after 65,535 iterations.
fn visit_spheres(own: u32, first: u32, end: u32) {
    let sphere = spheres[own];
    let subject = Subject(own, owners[own], sphere.xyz, own_reach(sphere));
    for (var other = first; other < end; other += BRUTE_FORCE_STRIDE) {
        compare(subject, other, end);
        compare(subject, other + 1u, end);
        compare(subject, other + 2u, end);
        compare(subject, other + 3u, end);
        compare(subject, other + 4u, end);
        compare(subject, other + 5u, end);
        compare(subject, other + 6u, end);
        compare(subject, other + 7u, end);
        compare(subject, other + 8u, end);
        compare(subject, other + 9u, end);
        compare(subject, other + 10u, end);
        compare(subject, other + 11u, end);
        compare(subject, other + 12u, end);
        compare(subject, other + 13u, end);
        compare(subject, other + 14u, end);
        compare(subject, other + 15u, end);
    }
}
