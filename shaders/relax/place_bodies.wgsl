// Mass and inertia of each molecule in the world, and whether it is in place.

@group(0) @binding(2) var<storage, read> molecules: array<Molecule>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
@group(0) @binding(4) var<storage, read> placements: array<Placement>;
@group(0) @binding(5) var<storage, read_write> bodies: array<Body>;
@group(0) @binding(6) var<storage, read_write> counters: RelaxCounters;

@compute @workgroup_size(GROUP_THREADS)
fn place_bodies(here: Invocation) {
    let index = thread_number(here.group, here.groups, here.thread);
    if index >= law.molecules {
        return;
    }
    let molecule = molecules[index];
    let pose = poses[index];
    let axes = rotation_matrix(quaternion_product(pose.rotation, molecule.principal_axes));
    let scaled = mat3x3(
        axes[0] * molecule.inverse_inertia.x,
        axes[1] * molecule.inverse_inertia.y,
        axes[2] * molecule.inverse_inertia.z,
    );
    bodies[index] = Body(pose.position, molecule.inverse_mass, scaled * transpose(axes));
    if molecule.placement != NO_PLACEMENT {
        let placement = placements[molecule.placement];
        if !is_in_place(placement, deviation_of(placement, pose)) {
            atomicAdd(&counters.out_of_place, 1u);
        }
    }
}
