// Sums the corrections of the spheres of each molecule. SUM_LANES threads share a molecule: each
// sums every SUM_LANES-th sphere, then a tree reduction follows. Its shape is fixed, and so is
// the result.

@group(0) @binding(2) var<storage, read> ranges: array<AtomRange>;
@group(0) @binding(3) var<storage, read> linear: array<vec4<f32>>;
@group(0) @binding(4) var<storage, read> angular: array<vec4<f32>>;
@group(0) @binding(5) var<storage, read_write> sums: array<Push>;

var<workgroup> lane_linear: array<vec4<f32>, GROUP_THREADS>;
var<workgroup> lane_angular: array<vec4<f32>, GROUP_THREADS>;

@compute @workgroup_size(GROUP_THREADS)
fn sum_molecules(here: Invocation) {
    let thread = here.thread;
    let lane = thread % SUM_LANES;
    let molecule = thread_number(here.group, here.groups, thread) / SUM_LANES;
    var shift = vec4(0.0);
    var turn = vec4(0.0);
    if molecule < law.molecules {
        let end = ranges[molecule + 1u].first_sphere;
        for (var k = ranges[molecule].first_sphere + lane; k < end; k += SUM_LANES) {
            shift += linear[k];
            turn += angular[k];
        }
    }
    lane_linear[thread] = shift;
    lane_angular[thread] = turn;
    workgroupBarrier();
    for (var half = SUM_LANES / 2u; half > 0u; half /= 2u) {
        if lane < half {
            lane_linear[thread] += lane_linear[thread + half];
            lane_angular[thread] += lane_angular[thread + half];
        }
        workgroupBarrier();
    }
    if lane == 0u && molecule < law.molecules {
        let sum = lane_linear[thread];
        sums[molecule] = Push(sum.xyz, sum.w, lane_angular[thread].xyz, 0.0);
    }
}
