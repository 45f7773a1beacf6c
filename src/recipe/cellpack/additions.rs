//! What recipes of cellPACK have no fields for: the block `bevy_rapier_molecules`.
//!
//! cellPACK ignores unknown blocks at the top level, so that one file works in both programs.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::Deserialize;

use super::rule::RuleFile;

/// Unit of the lengths of a recipe.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum UnitFile {
    /// Ångström, as in cellPACK.
    #[default]
    #[serde(alias = "Å", alias = "a", alias = "angstroms")]
    Angstrom,
    /// Nanometers.
    #[serde(alias = "nanometer", alias = "nanometers")]
    Nm,
}

/// The block `bevy_rapier_molecules`. Lengths are in the unit of the recipe.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct AdditionsFile {
    /// Unit of all lengths of the recipe, this block included. Default: angstrom.
    pub unit: Option<UnitFile>,
    /// Whether the bounding box repeats in space. Default: no.
    pub periodic: Option<bool>,
    /// Least distance between atoms of different molecules. Default: 0.2 nm.
    pub tolerance: Option<f64>,
    /// Files that a topology of GROMACS or bentopy includes first, such as a force field.
    pub includes: Vec<String>,
    /// Additions to objects, by their names.
    pub objects: BTreeMap<String, ObjectAdditions>,
    /// Additions to entries of the composition, by their names.
    pub composition: BTreeMap<String, EntryAdditions>,
    /// Molecules at the places where they were saved. Those beyond the numbers given here are
    /// placed as always, except for the ratios of a membrane, fibers, and molecules with a rule, of
    /// which anything is saved.
    pub placements: Vec<SavedFile>,
    /// Joints between the molecules of `placements`.
    pub joints: Vec<JointFile>,
}

/// A joint between two saved molecules.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct JointFile {
    /// Which two molecules: indices of the poses of all `placements`, one after the other.
    pub members: [u32; 2],
    /// Frame of the joint in each of them: position relative to the center of mass, and rotation as
    /// a quaternion x, y, z, w.
    pub frames: [[f64; 7]; 2],
    /// Largest distance of the origins of the frames.
    pub gap: f64,
    /// Least distance of the origins of the frames. Default: 0.
    #[serde(default)]
    pub min_gap: f64,
    /// Largest angle between the z axes of the frames, radian. Default: any.
    #[serde(default)]
    pub bend: Option<f64>,
    /// Largest rotation about the z axis, radian. Default: any.
    #[serde(default)]
    pub twist: Option<f64>,
}

/// Saved molecules of one kind in one region.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct SavedFile {
    /// Name of the compartment in the composition.
    pub compartment: String,
    /// Region of the compartment.
    pub region: RegionFile,
    /// Name of the object.
    pub object: String,
    /// Name of the entry of the composition. Default: that of the object.
    #[serde(default)]
    pub name: Option<String>,
    /// Which one of several entries of the same names in this region. Default: 0, the first.
    #[serde(default)]
    pub nth: usize,
    /// Index of the conformer of a lipid. Default: 0.
    #[serde(default)]
    pub conformer: u32,
    /// Radius of single spheres with a distribution of sizes.
    #[serde(default)]
    pub radius: Option<f64>,
    /// Whether the molecules never move. Default: no.
    #[serde(default)]
    pub fixed: bool,
    /// Position of the center of mass, and rotation as a quaternion x, y, z, w, of each molecule.
    pub poses: Vec<[f64; 7]>,
}

/// Name of a region of a compartment.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum RegionFile {
    /// Inside.
    Interior,
    /// In the surface.
    Surface,
    /// In the outer leaflet.
    OuterLeaflet,
    /// In the inner leaflet.
    InnerLeaflet,
}

/// Which spheres stand for a molecule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DetailFile {
    /// All atoms of the structure file.
    Atoms,
    /// The single sphere or sphere tree, even if there is a structure file.
    Spheres,
    /// A few large spheres that enclose the atoms.
    Proxies,
}

/// Additions to an object.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ObjectAdditions {
    /// Which spheres stand for the molecule. Default: atoms if there is a structure file.
    pub detail: Option<DetailFile>,
    /// Number of proxies with `detail` proxies. Default: 8.
    pub proxies: Option<u32>,
    /// Body axis that points to the outer side of a membrane; from tail to head for lipids.
    /// Default: `principal_vector`, the orientation in a file of the OPM database, or a guess.
    pub up: Option<[f64; 3]>,
    /// Height of the center of mass above the middle of the membrane.
    pub depth: Option<f64>,
    /// Area of a lipid in its leaflet. Default: known for common lipids by name.
    pub area: Option<f64>,
    /// Number of conformers of a lipid, from the models of its file. Default: 16.
    pub conformers: Option<u32>,
    /// Chains of the structure file. Default: all.
    pub chains: Option<Vec<String>>,
    /// Assembly of the structure file. Default: the atoms as they are.
    pub assembly: Option<String>,
    /// Whether hydrogens are loaded. Default: yes.
    pub hydrogens: Option<bool>,
    /// Whether lipids stay out of the pore of a membrane protein. Default: yes.
    pub keep_pore_empty: Option<bool>,
    /// Color, red, green and blue from 0 to 1, instead of `color`.
    pub tint: Option<[f64; 3]>,
    /// Name of the molecule type in topologies. Default: the name of the object.
    pub molecule_type: Option<String>,
    /// Files that topologies with this molecule include, such as `popc.itp`.
    pub includes: Vec<String>,
    /// Makes the object the link of fibers, and its count the number of fibers.
    pub fiber: Option<FiberKindFile>,
}

/// How the links of a fiber follow each other.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct FiberKindFile {
    /// Distance from the start of a link to that of the next one. Default: the least distance at
    /// which straight links do not overlap.
    pub rise: Option<f64>,
    /// Rotation from a link to the next one, radian. Default: 10.5 base pairs per turn for pairs of
    /// nucleotides, else none.
    pub twist: Option<f64>,
    /// Persistence length. Default: 50 nm, that of DNA.
    pub persistence_length: Option<f64>,
    /// Whether the ends of a fiber meet. Default: no.
    pub closed: bool,
    /// Radius of links that are rods of spheres, without a structure file. Default: that of the
    /// object.
    pub radius: Option<f64>,
    /// Length of links that are rods of spheres. Default: the diameter.
    pub length: Option<f64>,
    /// Largest bend between two links, radian. Default: one that is rarely exceeded at the
    /// persistence length.
    pub max_bend: Option<f64>,
    /// Largest deviation from the twist, radian. Default: 0.5 for pairs of nucleotides, else any.
    pub max_twist: Option<f64>,
    /// Largest distance of the ends of two links. Default: a sixteenth of the rise.
    pub max_gap: Option<f64>,
}

/// Shape of a compartment, instead of that of its object.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ShapeFile {
    /// A sphere.
    Sphere {
        /// Radius.
        radius: f64,
    },
    /// A capsule along y.
    Capsule {
        /// Radius.
        radius: f64,
        /// Length from end to end.
        length: f64,
    },
    /// A box.
    Cuboid {
        /// Edges along x, y and z.
        size: [f64; 3],
    },
    /// A ring around z.
    Torus {
        /// Radius of the circle in the middle of the tube.
        major_radius: f64,
        /// Radius of the tube.
        minor_radius: f64,
    },
}

/// A molecule at a given place.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
pub(crate) struct PlaceFile {
    /// Position of the center of mass.
    pub position: [f64; 3],
    /// Rotation as a quaternion x, y, z, w. Default: none.
    #[serde(default)]
    pub rotation: Option<[f64; 4]>,
}

/// Path of a fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FiberPathFile {
    /// A worm-like chain.
    RandomWalk,
    /// Midpoint displacement between the points.
    Midpoint,
    /// A smooth curve through the points.
    ControlPoints,
}

/// The fibers of an entry.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct FiberEntryFile {
    /// Number of links of each fiber.
    pub links: Option<u32>,
    /// Contour length of each fiber, instead of `links`.
    pub length: Option<f64>,
    /// Number of base pairs of each fiber, instead of `links`.
    pub base_pairs: Option<f64>,
    /// The path. Default: `control_points` if there are points, else `random_walk`.
    pub path: Option<FiberPathFile>,
    /// Points of the path, which determine its length.
    pub points: Vec<[f64; 3]>,
    /// Largest displacement of `midpoint`, as a part of the length of a piece, from 0 to 0.5.
    /// Default: 0.2.
    pub roughness: Option<f64>,
}

/// Additions to an entry of the composition.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct EntryAdditions {
    /// Position of a compartment. Default: the origin.
    pub position: Option<[f64; 3]>,
    /// Rotation of a compartment, as a quaternion x, y, z, w. Default: none.
    pub rotation: Option<[f64; 4]>,
    /// Shape of a compartment, instead of that of its object.
    pub shape: Option<ShapeFile>,
    /// Lipids of the outer leaflet: ratios of objects. Their number follows from the area.
    pub outer_leaflet: BTreeMap<String, f64>,
    /// Lipids of the inner leaflet: ratios of objects. Their number follows from the area.
    pub inner_leaflet: BTreeMap<String, f64>,
    /// Factor of the areas of all lipids; 1.1 leaves 10 % more area to each. Default: 1.
    pub area_scale: Option<f64>,
    /// Whether the molecules of this entry never move. Default: no.
    pub fixed: bool,
    /// Places of the molecules of this entry, instead of random ones. Those beyond are random.
    pub places: Vec<PlaceFile>,
    /// Length and path of fibers.
    pub fiber: Option<FiberEntryFile>,
    /// Where the molecules of this entry are relative to others.
    pub rule: Option<RuleFile>,
}
