// Compares each sphere with all that follow it.

/// Center and radius of each sphere, nm.
@group(0) @binding(2) var<storage, read> spheres: array<vec4<f32>>;
@group(0) @binding(3) var<storage, read> owners: array<u32>;

fn index_of(sphere: u32) -> u32 {
    return sphere;
}

/// The sphere of a thread.
struct Subject {
    index: u32,
    owner: u32,
    center: vec3<f32>,
    reach: f32,
}

/// Passes `other` to `hit` if it follows and overlaps.
fn compare(subject: Subject, other: u32) {
    if other < search.spheres && overlaps(subject.center, subject.reach, other)
        && other > subject.index && owners[other] != subject.owner {
        hit(subject.index, other);
    }
}

/// Passes all spheres that follow and overlap `own` to `hit`.
///
/// `first` is the first sphere of the workgroup: all its threads read the same spheres. Sixteen
/// per iteration, since lavapipe leaves a loop after 65,535 iterations.
fn visit_partners(own: u32, first: u32) {
    let sphere = spheres[own];
    let subject = Subject(own, owners[own], sphere.xyz, own_reach(sphere));
    for (var other = first; other < search.spheres; other += BRUTE_FORCE_STRIDE) {
        compare(subject, other);
        compare(subject, other + 1u);
        compare(subject, other + 2u);
        compare(subject, other + 3u);
        compare(subject, other + 4u);
        compare(subject, other + 5u);
        compare(subject, other + 6u);
        compare(subject, other + 7u);
        compare(subject, other + 8u);
        compare(subject, other + 9u);
        compare(subject, other + 10u);
        compare(subject, other + 11u);
        compare(subject, other + 12u);
        compare(subject, other + 13u);
        compare(subject, other + 14u);
        compare(subject, other + 15u);
    }
}
