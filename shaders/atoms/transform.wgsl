// Atoms of templates to the poses of molecules: one thread for each sphere.

/// How much there is to transform.
struct TransformParams {
    /// Number of spheres.
    spheres: u32,
    /// Zero, which the compiler cannot know.
    zero: u32,
}

@group(0) @binding(0) var<uniform> params: TransformParams;
/// Center in the body frame and radius of each atom of each template, nm.
@group(0) @binding(1) var<storage, read> template_atoms: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> ranges: array<AtomRange>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
/// Molecule of each sphere.
@group(0) @binding(4) var<storage, read> owners: array<u32>;
/// Center in the world and radius of each sphere, nm.
@group(0) @binding(5) var<storage, read_write> spheres: array<vec4<f32>>;

fn unknown_zero() -> u32 {
    return params.zero;
}

@compute @workgroup_size(GROUP_THREADS)
fn transform_atoms(here: Invocation) {
    let sphere = thread_number(here.group, here.groups, here.thread);
    if sphere >= params.spheres {
        return;
    }
    let owner = owners[sphere];
    let range = ranges[owner];
    let atom = template_atoms[range.first_atom + sphere - range.first_sphere];
    let pose = poses[owner];
    let center = turned(rotation_matrix(pose.rotation), atom.xyz) + pose.position;
    spheres[sphere] = vec4(center, atom.w);
}
