//! Structs that Rust and WGSL share.

use bytemuck::{Pod, Zeroable};

use crate::gpu::shader_constants::MAX_MOLECULE_LEVELS;

/// A folded grid for the molecules of one size; `MoleculeLevel` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuMoleculeLevel {
    /// Number of cells along each axis, minus one; the numbers are powers of two, at least four.
    pub mask: [u32; 3],
    /// Index of its first cell.
    pub first_cell: u32,
    /// Cells per nm.
    pub per_nm: f32,
    /// Padding.
    pub padding_1: u32,
    /// Padding.
    pub padding_2: u32,
    /// Padding.
    pub padding_3: u32,
}

/// Counts, capacities and grids; `MoleculeParams` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuMoleculeParams {
    /// Number of molecules.
    pub molecules: u32,
    /// Number of levels, the largest molecules first.
    pub levels: u32,
    /// Maximum number of close pairs of molecules.
    pub max_pairs: u32,
    /// Maximum number of pairs of molecules with close spheres.
    pub max_groups: u32,
    /// Spheres closer than their radii plus this are found, nm.
    pub margin: f32,
    /// Bound on the rounding error of the distance of two molecules, nm.
    pub rounding: f32,
    /// Maximum number of workgroups along one dimension of a dispatch.
    pub max_dispatch: u32,
    /// Always 0, opaque to the compiler.
    pub zero: u32,
    /// The grids.
    pub level: [GpuMoleculeLevel; MAX_MOLECULE_LEVELS],
}

/// A molecule of the search; `MoleculeEntry` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuMoleculeEntry {
    /// Start of its template in the templates.
    pub template_start: u32,
    /// Index of its first sphere.
    pub first_sphere: u32,
    /// Level of its grid.
    pub level: u32,
    /// Largest distance of a surface from the origin of the body frame, nm.
    pub radius: f32,
}

/// Counts of a search; `MoleculesFound` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuMoleculesFound {
    /// Number of close pairs of molecules.
    pub pairs: u32,
    /// Number of compared pairs: all, or none if there are too many.
    pub compared_pairs: u32,
    /// Number of pairs of molecules with close spheres.
    pub groups: u32,
    /// Number of close pairs of spheres, lower half.
    pub candidates: u32,
    /// Number of close pairs of spheres, upper half.
    pub candidates_high: u32,
    /// Number of pairs of spheres that were compared, lower half.
    pub compared: u32,
    /// Number of pairs of spheres that were compared, upper half.
    pub compared_high: u32,
    /// 1 if too many molecules lie in one place to compare them.
    pub crowded: u32,
}

impl GpuMoleculesFound {
    /// Number of close pairs of spheres.
    pub fn candidates(&self) -> u64 {
        u64::from(self.candidates_high) << 32 | u64::from(self.candidates)
    }
}

/// The pairs between two molecules; `PairGroup` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuPairGroup {
    /// The first molecule.
    pub a: u32,
    /// The second molecule.
    pub b: u32,
    /// Number of pairs that are kept.
    pub kept: u32,
    /// Number of pairs that overlap.
    pub overlaps: u32,
    /// Maximum penetration, nm; negative for a gap.
    pub max_penetration: f32,
}

/// A kept pair of spheres; `KeptPair` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuKeptPair {
    /// Center and radius of the first, nm.
    pub first: [f32; 4],
    /// Center and radius of the second, nm.
    pub second: [f32; 4],
    /// Indices of both.
    pub spheres: [u32; 2],
    /// Padding.
    pub padding: [u32; 2],
}
