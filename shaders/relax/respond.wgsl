// The push of each molecule: contacts, springs, and a fraction of the last push.

@group(0) @binding(2) var<storage, read> molecules: array<Molecule>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
@group(0) @binding(4) var<storage, read> placements: array<Placement>;
/// Summed corrections of the contacts of each molecule.
@group(0) @binding(5) var<storage, read> sums: array<Push>;
/// The last push of each molecule.
@group(0) @binding(6) var<storage, read> pushes: array<Push>;
/// The next push of each molecule.
@group(0) @binding(7) var<storage, read_write> proposals: array<Push>;
@group(0) @binding(8) var<storage, read_write> counters: RelaxCounters;

/// Springs of the projection law: a fraction of the excess.
fn projection_spring(placement: Placement, found: Deviation) -> Push {
    let excess = max(abs(found.height) - placement.leeway, 0.0);
    let excess_tilt = max(found.tilt - placement.tilt_leeway, 0.0);
    let back = -sign(found.height) * excess * law.spring;
    return Push(found.normal * back, 0.0, found.axis * (excess_tilt * law.spring), 0.0);
}

/// Springs of the thesis (algorithm 4.5, with the sign corrected).
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

/// Whether a push stays in range.
fn is_in_range(push: Push, pose: Pose) -> bool {
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
    let index_of_placement = molecules[index].placement;
    if index_of_placement != NO_PLACEMENT {
        let placement = placements[index_of_placement];
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
    // A molecule that is in place and touches nothing stops.
    let is_pushed = any(push.linear != vec3(0.0)) || any(push.angular != vec3(0.0));
    if law.law == PROJECTION_LAW && is_pushed {
        let last = pushes[index];
        push.linear = clamp_length(push.linear + last.linear * law.momentum, law.max_shift);
        push.angular = clamp_length(push.angular + last.angular * law.momentum, law.max_turn);
    }
    if !is_in_range(push, pose) {
        atomicMax(&counters.diverged, 0xffffffffu - index);
    }
    proposals[index] = push;
}
