// Parameters of the search by molecules.

/// A folded grid for the molecules of one size.
struct MoleculeLevel {
    /// Number of cells along each axis, minus one; the numbers are powers of two, at least four.
    mask: vec3<u32>,
    /// Index of its first cell.
    first_cell: u32,
    /// Cells per nm.
    per_nm: f32,
    padding_1: u32,
    padding_2: u32,
    padding_3: u32,
}

/// Counts, capacities and grids.
struct MoleculeParams {
    molecules: u32,
    /// Number of levels, the largest molecules first.
    levels: u32,
    /// Maximum number of close pairs of molecules.
    max_pairs: u32,
    /// Maximum number of pairs of molecules with close spheres.
    max_groups: u32,
    /// Spheres closer than their radii plus this are found, nm.
    margin: f32,
    /// Bound on the rounding error of the distance of two molecules, nm.
    rounding: f32,
    /// Maximum number of workgroups along one dimension of a dispatch.
    max_dispatch: u32,
    /// Always 0, opaque to the compiler.
    zero: u32,
    level: array<MoleculeLevel, MAX_MOLECULE_LEVELS>,
}

/// A molecule of the search.
struct MoleculeEntry {
    /// Start of its template in `templates`.
    template_start: u32,
    /// Index of its first sphere.
    first_sphere: u32,
    /// Level of its grid.
    level: u32,
    /// Largest distance of a surface from the origin of the body frame, nm.
    radius: f32,
}

@group(0) @binding(0) var<uniform> params: MoleculeParams;

fn opaque_zero() -> u32 {
    return params.zero;
}
