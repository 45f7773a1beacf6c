// Moves all molecules, or none if one would move out of range.

/// The next push of each molecule.
@group(0) @binding(2) var<storage, read> proposals: array<Push>;
@group(0) @binding(3) var<storage, read_write> poses: array<Pose>;
/// The last push of each molecule.
@group(0) @binding(4) var<storage, read_write> pushes: array<Push>;
@group(0) @binding(5) var<storage, read_write> counters: RelaxCounters;

/// Maximum half angle for the series, radian: their last terms are below rounding there.
const SERIES_HALF_ANGLE: f32 = 0.5;

/// The quaternion of a rotation vector. Built-in functions may lose half the digits and are
/// used for large angles only.
fn quaternion_from_vector(vector: vec3<f32>) -> vec4<f32> {
    let squared = 0.25 * dot(vector, vector);
    if squared <= SERIES_HALF_ANGLE * SERIES_HALF_ANGLE {
        let sine = 1.0 - squared / 6.0 * (1.0 - squared / 20.0 * (1.0 - squared / 42.0 * (1.0 - squared / 72.0)));
        let cosine = 1.0 - squared / 2.0 * (1.0 - squared / 12.0 * (1.0 - squared / 30.0 * (1.0 - squared / 56.0)));
        return vec4(vector * (0.5 * sine), cosine);
    }
    let half = sqrt(squared);
    return vec4(vector * (0.5 * sin(half) / half), cos(half));
}

@compute @workgroup_size(GROUP_THREADS)
fn apply_pushes(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= law.molecules || atomicLoad(&counters.diverged) != 0u {
        return;
    }
    let push = proposals[index];
    let pose = poses[index];
    pushes[index] = push;
    if all(push.linear == vec3(0.0)) && all(push.angular == vec3(0.0)) {
        return;
    }
    let turn = quaternion_product(quaternion_from_vector(push.angular), pose.rotation);
    poses[index] = Pose(pose.position + push.linear, 0.0, turn / sqrt(dot(turn, turn)));
}
