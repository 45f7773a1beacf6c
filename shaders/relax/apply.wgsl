// Moves the molecules, all or none.

/// How each molecule is to be moved.
@group(0) @binding(2) var<storage, read> proposals: array<Push>;
@group(0) @binding(3) var<storage, read_write> poses: array<Pose>;
/// How each molecule was moved.
@group(0) @binding(4) var<storage, read_write> pushes: array<Push>;
@group(0) @binding(5) var<storage, read_write> counters: RelaxCounters;

/// Half angles up to which series are used, radian: there their last terms no longer count.
const SERIES_HALF_ANGLE: f32 = 0.5;

/// The rotation by a vector, as a quaternion. Built-in functions may lose half the digits;
/// they are only used for turns so large that nobody counts digits.
fn turn_by(vector: vec3<f32>) -> vec4<f32> {
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
    let turn = quaternion_product(turn_by(push.angular), pose.rotation);
    poses[index] = Pose(pose.position + push.linear, 0.0, turn / sqrt(dot(turn, turn)));
    pushes[index] = push;
}
