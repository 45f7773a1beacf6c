// Sums the corrections of the contacts of a sphere, and counts overlaps.

@group(0) @binding(6) var<storage, read> bodies: array<Body>;
/// Sum of shifts and number of contacts of each sphere, by index.
@group(0) @binding(7) var<storage, read_write> linear: array<vec4<f32>>;
/// Sum of rotations of each sphere, by index.
@group(0) @binding(8) var<storage, read_write> angular: array<vec4<f32>>;
@group(0) @binding(9) var<storage, read_write> counters: RelaxCounters;

var<workgroup> group_overlaps: atomic<u32>;
var<workgroup> group_unresolved: atomic<u32>;
var<workgroup> group_deepest: atomic<u32>;

var<private> linear_sum: vec4<f32>;
var<private> angular_sum: vec3<f32>;
var<private> overlaps_found: u32;
var<private> unresolved_found: u32;
var<private> deepest_found: f32;

/// Adds one contact.
fn add_contact(own: u32, other: u32) {
    let own_sphere = spheres[own];
    let other_sphere = spheres[other];
    let radii = own_sphere.w + other_sphere.w;
    if own < other {
        // Count each pair once.
        let apart = own_sphere.xyz - other_sphere.xyz;
        let squares = rounded(apart * apart);
        let gap = sqrt(squares.x + squares.y + squares.z) - radii;
        overlaps_found += u32(gap < 0.0);
        unresolved_found += u32(gap < law.clearance);
        deepest_found = max(deepest_found, -gap);
    }
    let molecules = vec2(owner_of(own), owner_of(other));
    let contact = Contact(molecules, own_sphere.xyz, other_sphere.xyz, radii + law.gap);
    let own_body = bodies[molecules.x];
    let other_body = bodies[molecules.y];
    var push: Push;
    if law.law == PROJECTION_LAW {
        push = projection_push(contact, own_body, other_body);
    } else {
        push = thesis_push(contact, own_body, other_body);
    }
    linear_sum += vec4(push.linear, push.contacts);
    angular_sum += push.angular;
}

/// Adds the counts of a workgroup to the counters. Contains a barrier.
fn count_contacts(thread: u32) {
    if unresolved_found > 0u {
        atomicAdd(&group_overlaps, overlaps_found);
        atomicAdd(&group_unresolved, unresolved_found);
        atomicMax(&group_deepest, bitcast<u32>(deepest_found));
    }
    workgroupBarrier();
    if thread == 0u && atomicLoad(&group_unresolved) > 0u {
        let overlaps_here = atomicLoad(&group_overlaps);
        let overlaps_before = atomicAdd(&counters.overlaps, overlaps_here);
        atomicAdd(&counters.overlaps_high, u32(overlaps_before + overlaps_here < overlaps_here));
        let unresolved_here = atomicLoad(&group_unresolved);
        let unresolved_before = atomicAdd(&counters.unresolved, unresolved_here);
        let carry = unresolved_before + unresolved_here < unresolved_here;
        atomicAdd(&counters.unresolved_high, u32(carry));
        atomicMax(&counters.deepest, atomicLoad(&group_deepest));
    }
}
