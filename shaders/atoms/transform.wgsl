// World-space spheres from templates and poses: one thread per sphere.

/// Parameters of the transform.
struct TransformParams {
    /// Number of spheres.
    spheres: u32,
    /// Always 0, opaque to the compiler.
    zero: u32,
}

@group(0) @binding(0) var<uniform> params: TransformParams;
/// Body-frame center and radius of the atoms of all templates, nm.
@group(0) @binding(1) var<storage, read> template_atoms: array<vec4<f32>>;
@group(0) @binding(2) var<storage, read> ranges: array<AtomRange>;
@group(0) @binding(3) var<storage, read> poses: array<Pose>;
/// Molecule of each sphere.
@group(0) @binding(4) var<storage, read> owners: array<u32>;
/// World-space center and radius of each sphere, nm.
@group(0) @binding(5) var<storage, read_write> spheres: array<vec4<f32>>;

fn opaque_zero() -> u32 {
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
    let center = rotate(rotation_matrix(pose.rotation), atom.xyz) + pose.position;
    spheres[sphere] = vec4(center, atom.w);
}
