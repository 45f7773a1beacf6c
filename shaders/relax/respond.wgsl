// The push of each molecule: contacts, springs, momentum.

@group(0) @binding(2) var<storage, read> molecules: array<Molecule>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
@group(0) @binding(4) var<storage, read> placements: array<Placement>;
/// What the contacts of each molecule ask for.
@group(0) @binding(5) var<storage, read> sums: array<Push>;
/// How each molecule was moved last.
@group(0) @binding(6) var<storage, read> pushes: array<Push>;
/// How it is to be moved now.
@group(0) @binding(7) var<storage, read_write> proposals: array<Push>;
@group(0) @binding(8) var<storage, read_write> counters: RelaxCounters;

/// The springs of the projection law: a fraction of the excess.
fn projection_spring(placement: Placement, found: Deviation) -> Push {
    let excess = max(abs(found.height) - placement.leeway, 0.0);
    let lean = max(found.tilt - placement.tilt_leeway, 0.0);
    let back = -sign(found.height) * excess * law.spring;
    return Push(found.normal * back, 0.0, found.axis * (lean * law.spring), 0.0);
}

/// The springs of the thesis (Algorithm 4.5), with the sign mended.
fn thesis_spring(placement: Placement, found: Deviation) -> Push {
    var push: Push;
    if found.height > placement.leeway {
        push.linear = -found.arm * law.spring_force;
    } else if found.height < -placement.leeway {
        push.linear = found.arm * law.spring_force;
    }
    if found.tilt > placement.tilt_leeway {
        push.angular = found.axis * found.tilt * law.spring_torque;
    }
    return push;
}

/// Whether a push is a step, and not a leap out of the world.
fn is_sane(push: Push, pose: Pose) -> bool {
    let shift = abs(push.linear);
    let turn = abs(push.angular);
    return is_finite(push.linear) && is_finite(push.angular)
        && is_finite(pose.position + push.linear)
        && max(max(shift.x, shift.y), shift.z) <= MAX_PUSH_NM
        && max(max(turn.x, turn.y), turn.z) <= MAX_TURN
        && dot(shift, shift) <= MAX_PUSH_NM * MAX_PUSH_NM
        && dot(turn, turn) <= MAX_TURN * MAX_TURN;
}

@compute @workgroup_size(GROUP_THREADS)
fn respond(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= law.molecules {
        return;
    }
    var push = sums[index];
    if law.law == PROJECTION_LAW && push.contacts > 0.0 {
        let scale = law.relaxation / sqrt(push.contacts);
        push.linear *= scale;
        push.angular *= scale;
    }
    let pose = poses[index];
    let place = molecules[index].placement;
    if place != NO_PLACEMENT {
        let placement = placements[place];
        let found = deviation_of(placement, pose);
        var spring: Push;
        if law.law == PROJECTION_LAW {
            spring = projection_spring(placement, found);
        } else {
            spring = thesis_spring(placement, found);
        }
        push.linear += spring.linear;
        push.angular += spring.angular;
    }
    if law.law == PROJECTION_LAW {
        let last = pushes[index];
        push.linear = shortened(push.linear + last.linear * law.momentum, law.max_shift);
        push.angular = shortened(push.angular + last.angular * law.momentum, law.max_turn);
    }
    if !is_sane(push, pose) {
        atomicMax(&counters.diverged, 0xffffffffu - index);
    }
    proposals[index] = push;
}
