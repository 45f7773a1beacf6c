// Templates: the spheres of a molecule in clusters. All templates lie in one buffer, each as
//
// | entries | contents |
// |---|---|
// | 1 | number of clusters, number of spheres |
// | clusters | sphere around each cluster: center and radius, nm |
// | 4 × clusters | indices of its spheres, `NO_SPHERE` for unused places |
// | spheres | center and radius, nm |
//
// in the body frame.

/// An unused place of a cluster.
const NO_SPHERE: u32 = 0xffffffffu;

@group(0) @binding(2) var<storage, read> templates: array<vec4<u32>>;

/// A molecule at its pose.
struct PlacedMolecule {
    /// Start of its template.
    start: u32,
    clusters: u32,
    /// Index of its first sphere.
    first_sphere: u32,
    /// Largest distance of a surface from the position, nm.
    radius: f32,
    position: vec3<f32>,
    matrix: mat3x3<f32>,
}

/// Moves a sphere from the body frame to the world, rounded as on the CPU.
fn place(molecule: PlacedMolecule, sphere: vec4<f32>) -> vec4<f32> {
    return vec4(rotate(molecule.matrix, sphere.xyz) + molecule.position, sphere.w);
}

/// The sphere around a cluster, in the world.
fn cluster_bounds(molecule: PlacedMolecule, cluster: u32) -> vec4<f32> {
    return place(molecule, bitcast<vec4<f32>>(templates[molecule.start + 1u + cluster]));
}

/// Index of a sphere of a cluster in its molecule, or `NO_SPHERE`.
fn cluster_member(molecule: PlacedMolecule, cluster: u32, place_in_cluster: u32) -> u32 {
    let first = molecule.start + 1u + molecule.clusters + 4u * cluster;
    return templates[first + place_in_cluster / 4u][place_in_cluster % 4u];
}

/// A sphere in the world.
fn placed_sphere(molecule: PlacedMolecule, index: u32) -> vec4<f32> {
    let first = molecule.start + 1u + 5u * molecule.clusters;
    return place(molecule, bitcast<vec4<f32>>(templates[first + index]));
}
