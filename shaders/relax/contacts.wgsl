// Compares each sphere with those of the 27 cells around it, and sums the corrections of its
// contacts. Three neighboring cells of a row are one range of sorted spheres, or two at the ends
// of the folded grid.

/// Center and radius of each sorted sphere, nm.
@group(0) @binding(2) var<storage, read> spheres: array<vec4<f32>>;
/// Owner and index of each sorted sphere.
@group(0) @binding(3) var<storage, read> sphere_ids: array<vec2<u32>>;
/// Start of each cell, and one entry more.
@group(0) @binding(4) var<storage, read> cell_start: array<u32>;
/// Occupancy of the cells; see `is_overcrowded`.
@group(0) @binding(5) var<storage, read> totals: array<SumMax>;
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
    let owners = vec2(sphere_ids[own].x, sphere_ids[other].x);
    let contact = Contact(owners, own_sphere.xyz, other_sphere.xyz, radii + law.gap);
    let own_body = bodies[owners.x];
    let other_body = bodies[owners.y];
    var push: Push;
    if law.law == PROJECTION_LAW {
        push = projection_push(contact, own_body, other_body);
    } else {
        push = thesis_push(contact, own_body, other_body);
    }
    linear_sum += vec4(push.linear, push.contacts);
    angular_sum += push.angular;
}

/// Compares a sphere with the sorted spheres `first..end`.
fn compare(own: u32, first: u32, end: u32) {
    let sphere = spheres[own];
    let reach = own_reach(sphere);
    let owner = sphere_ids[own].x;
    for (var other = first; other < end; other++) {
        if overlaps(sphere.xyz, reach, other) && sphere_ids[other].x != owner {
            add_contact(own, other);
        }
    }
}

fn walk(own: u32) {
    let size = search.cells;
    let cell = cell_coordinates(spheres[own].xyz);
    for (var k = 0u; k < 9u; k++) {
        // Offsets −1, 0, 1 along y and z, modulo the size.
        let offset = vec2(k % 3u, k / 3u) + size.yz - 1u;
        let row = flat_cell(vec3(0u, (cell.yz + offset) % size.yz));
        var first = row + max(cell.x, 1u) - 1u;
        var end = row + min(cell.x + 2u, size.x);
        compare(own, cell_start[first], cell_start[end]);
        if cell.x == 0u {
            compare(own, cell_start[row + size.x - 1u], cell_start[row + size.x]);
        } else if cell.x + 1u == size.x {
            compare(own, cell_start[row], cell_start[row + 1u]);
        }
    }
}

@compute @workgroup_size(GROUP_THREADS)
fn sum_contacts(here: Invocation) {
    let thread = here.thread;
    let own = thread_number(here.group, here.groups, thread);
    if own < search.spheres && !is_overcrowded(totals[OCCUPANCY_SLOT]) {
        walk(own);
        let index = sphere_ids[own].y;
        linear[index] = linear_sum;
        angular[index] = vec4(angular_sum, 0.0);
    }
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
