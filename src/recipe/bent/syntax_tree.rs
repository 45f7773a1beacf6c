//! [`BentFile`]: what a `.bent` file says, in its own units.

use super::error::Location;
use super::expression::Expression;

/// Max number of letters of a tag: the width of the column of residue names in a .gro file.
pub const MAX_TAG_LETTERS: usize = 5;

/// A `.bent` file. Lengths are in nm, concentrations in mol/L.
#[derive(Clone, Debug, PartialEq)]
pub struct BentFile {
    /// Title, seed and settings of bentopy's algorithm.
    pub general: General,
    /// The box.
    pub space: Space,
    /// Topology files for the header of a .top file, in their order.
    pub includes: Vec<String>,
    /// Regions of the box. Ids are unique; all ids that compartments refer to exist, possibly
    /// further down, and no compartment depends on itself.
    pub compartments: Vec<Compartment>,
    /// Rules that segments refer to. Ids are unique.
    pub constraints: Vec<Constraint>,
    /// Kinds of molecules. All compartments and constraints that they refer to exist.
    pub segments: Vec<Segment>,
}

impl BentFile {
    /// The compartment with an id.
    #[must_use]
    pub fn compartment(&self, id: &str) -> Option<&Compartment> {
        self.compartments.iter().find(|known| known.id == id)
    }

    /// The constraint with an id.
    #[must_use]
    pub fn constraint(&self, id: &str) -> Option<&Constraint> {
        self.constraints.iter().find(|known| known.id == id)
    }
}

/// The section `[ general ]`; `None` is bentopy's default.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct General {
    /// Title of the system.
    pub title: Option<String>,
    /// Seed of the random numbers.
    pub seed: Option<u64>,
    /// Radius of all beads, nm, positive.
    pub bead_radius: Option<f64>,
    /// Tries to place a molecule, as a multiple of the number of molecules.
    pub max_tries_mult: Option<u64>,
    /// Divisor of the number of tries per rotation; not 0.
    pub max_tries_rot_div: Option<u64>,
    /// Order in which segments are placed.
    pub rearrange: Option<Rearrange>,
}

/// The order in which bentopy places segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rearrange {
    /// By geometric moment.
    Moment,
    /// By volume.
    Volume,
    /// By bounding sphere.
    BoundingSphere,
    /// As in the file.
    None,
}

/// The section `[ space ]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Space {
    /// Lengths of the edges of the box, nm, positive.
    pub dimensions: [f64; 3],
    /// Edge of a voxel, nm, positive.
    pub resolution: Option<f64>,
    /// Whether the box repeats in space.
    pub periodic: Option<bool>,
}

/// A region of the box.
#[derive(Clone, Debug, PartialEq)]
pub struct Compartment {
    /// Its name.
    pub id: String,
    /// Where it is.
    pub shape: CompartmentShape,
    /// Where the id is in the file.
    pub location: Location,
}

/// Where a compartment is.
#[derive(Clone, Debug, PartialEq)]
pub enum CompartmentShape {
    /// The whole box: `is all`.
    All,
    /// Voxels of an .npz file: `from "mask.npz"`.
    Mask(String),
    /// A ball: `as sphere at center with radius 10`, or with a diameter.
    Sphere {
        /// Its center.
        center: Anchor,
        /// Its radius, nm, positive.
        radius: f64,
    },
    /// A box with edges parallel to the axes: `as cuboid from start to center`.
    Cuboid {
        /// A corner.
        from: Anchor,
        /// The opposite corner.
        to: Anchor,
    },
    /// Limits of coordinates: `where 20 < x and not z > 5`.
    Where(Expression<Limit>),
    /// What is close to another compartment, including it: `within 2.5 of membrane`.
    Within {
        /// The largest distance, nm, positive.
        distance: f64,
        /// Id of the other compartment.
        of: String,
    },
    /// What is close to another compartment, without it: `around 2.5 of membrane`.
    Around {
        /// The largest distance, nm, positive.
        distance: f64,
        /// Id of the other compartment.
        of: String,
    },
    /// Other compartments, by id: `combines a and not (b or c)`.
    Combines(Expression<String>),
}

impl CompartmentShape {
    /// The ids of the compartments that define this one.
    #[must_use]
    pub fn references(&self) -> Vec<&str> {
        match self {
            Self::Within { of, .. } | Self::Around { of, .. } => vec![of],
            Self::Combines(expression) => {
                let ids = expression.terms().into_iter();
                ids.map(String::as_str).collect()
            }
            Self::All
            | Self::Mask(_)
            | Self::Sphere { .. }
            | Self::Cuboid { .. }
            | Self::Where(_) => Vec::new(),
        }
    }
}

/// A point of the box.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Anchor {
    /// The corner at the origin.
    Start,
    /// The center of the box.
    Center,
    /// The corner opposite to the origin.
    End,
    /// A point, nm.
    Point([f64; 3]),
}

/// A half-space: `x > 20`. `20 < x` is the same.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Limit {
    /// The coordinate.
    pub axis: Axis,
    /// The side of the bound.
    pub comparison: Comparison,
    /// The bound, nm.
    pub value: f64,
}

/// A coordinate axis.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Axis {
    /// The first axis.
    X,
    /// The second axis.
    Y,
    /// The third axis.
    Z,
}

/// The side of a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Comparison {
    /// The coordinate is less than the bound.
    Less,
    /// The coordinate is greater than the bound.
    Greater,
}

/// A rule for the molecules of a segment: `upright rotates z`.
#[derive(Clone, Debug, PartialEq)]
pub struct Constraint {
    /// Its name.
    pub id: String,
    /// Whether molecules are rotated about x, y and z. All false keeps the rotation of the file.
    pub rotates: [bool; 3],
    /// Where the id is in the file.
    pub location: Location,
}

/// One kind of molecule.
#[derive(Clone, Debug, PartialEq)]
pub struct Segment {
    /// Name of the molecule type.
    pub name: String,
    /// Residue name of all atoms, instead of that in the structure file; at most
    /// [`MAX_TAG_LETTERS`] letters.
    pub tag: Option<String>,
    /// How many.
    pub quantity: Quantity,
    /// The structure file.
    pub path: String,
    /// Ids of the compartments, at least one.
    pub compartments: Vec<String>,
    /// Ids of the constraints.
    pub rules: Vec<String>,
    /// Where the name is in the file.
    pub location: Location,
}

/// How many molecules there are.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Quantity {
    /// A number of molecules.
    Number(u64),
    /// A concentration in the volume of the compartments, mol/L, not negative.
    Molarity(f64),
}
