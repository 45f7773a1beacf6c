//! [`Recipe`]: which molecules a scene has, and where, in nanometers.

use std::sync::Arc;

use glam::{Quat, Vec3};
use serde_json::Value;

use super::RecipeWarning;
use super::distribution::Distribution;
use super::gradient::Gradient;
use super::rule::Rule;
use crate::compartment::Surface;
use crate::crowd::CrowdJoint;
use crate::molecule::{LoadOptions, Structure};
use crate::pose::Pose;
use crate::scene_files::Topology;

/// What a recipe file says, resolved: inheritance, units and files. Not yet filled with molecules.
///
/// Lengths are nm. [`populate`](super::populate) fills it.
#[derive(Clone, Debug)]
#[cfg_attr(
    feature = "plugin",
    derive(bevy::asset::Asset, bevy::reflect::TypePath)
)]
#[non_exhaustive]
pub struct Recipe {
    /// The file it was read from.
    pub source: String,
    /// Name of the recipe.
    pub name: String,
    /// Seed of all random choices, if the recipe has one.
    pub seed: Option<u64>,
    /// Lowest and highest corner of the box.
    pub bounds: [Vec3; 2],
    /// Whether the box repeats in space.
    pub periodic: bool,
    /// Least distance between atoms of different molecules.
    pub tolerance: f32,
    /// Files that topologies include, before those of the ingredients.
    pub includes: Vec<String>,
    /// Kinds of molecules.
    pub ingredients: Vec<Ingredient>,
    /// The spaces of the recipe. The first is the box, the others are closed surfaces; parents
    /// come before their children.
    pub compartments: Vec<Compartment>,
    /// Which ingredient is where, and how many of it.
    pub entries: Vec<Entry>,
    /// Molecules at the places where they were saved.
    pub saved: Vec<SavedMolecules>,
    /// Joints between saved molecules. Their members are indices of the poses of all `saved`, one
    /// after the other.
    pub saved_joints: Vec<CrowdJoint>,
    /// What was ignored or replaced.
    pub warnings: Vec<RecipeWarning>,
    /// The file, if its format is that of cellPACK, to be saved with changes.
    pub(super) document: Option<Arc<Value>>,
}

/// Molecules of one row of the [report](super::PopulationReport) at the places where they were
/// saved.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct SavedMolecules {
    /// The row: an index of [`Recipe::entries`], or after them the ratios of leaflets,
    /// compartment by compartment, those of the outer leaflet first.
    pub row: usize,
    /// Index of the conformer, if they are lipids.
    pub conformer: u32,
    /// Radius of single spheres with a distribution of sizes.
    pub radius: Option<f32>,
    /// Whether they never move.
    pub fixed: bool,
    /// Poses of their centers of mass.
    pub poses: Vec<Pose>,
}

/// A kind of molecule.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Ingredient {
    /// Name of the object.
    pub name: String,
    /// Its place in the file, for errors.
    pub place: String,
    /// Its spheres.
    pub shape: IngredientShape,
    /// Body axis along the outward normal on a surface.
    pub axis: BodyAxis,
    /// Height of the center of mass above a surface, if given.
    pub depth: Option<f32>,
    /// Area of a lipid in its leaflet, nm², if given.
    pub area: Option<f32>,
    /// Number of conformers of a lipid.
    pub conformers: u32,
    /// Whether lipids stay out of the pore of a membrane protein.
    pub keep_pore_empty: bool,
    /// Rotations inside of a region.
    pub rotation: RotationRange,
    /// Random tilt of the axis on a surface, radian.
    pub tilt: f32,
    /// Color, red, green and blue from 0 to 1.
    pub color: Option<[f32; 3]>,
    /// What a molecular dynamics program calls it.
    pub topology: Topology,
    /// How its molecules follow each other in fibers; none if they are not links.
    pub fiber: Option<FiberKind>,
}

/// How the links of a fiber follow each other.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FiberKind {
    /// Its place in the file, for errors.
    pub place: String,
    /// Distance from the start of a link to that of the next one; none for the least distance
    /// without overlaps.
    pub rise: Option<f32>,
    /// Rotation from a link to the next one, radian; none for that of DNA, or none.
    pub twist: Option<f32>,
    /// Persistence length.
    pub persistence_length: f32,
    /// Whether the ends of a fiber meet.
    pub is_closed: bool,
    /// Largest bend of a joint, radian; none for one that is rarely exceeded at the persistence
    /// length.
    pub max_bend: Option<f32>,
    /// Largest deviation of a joint from the twist, radian; none for the default.
    pub max_twist: Option<f32>,
    /// Largest gap of a joint; none for a sixteenth of the rise.
    pub max_gap: Option<f32>,
}

/// Which body axis of a molecule points along the outward normal of a surface.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BodyAxis {
    /// Not given: that of a file of the OPM database, a guess for proteins, the longest axis for
    /// lipids, else x.
    Unknown,
    /// A direction in the frame of the file, from `principal_vector`.
    Principal(Vec3),
    /// A direction in the frame of the file, from our additions.
    Up(Vec3),
}

/// The spheres of an ingredient.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum IngredientShape {
    /// One sphere.
    Sphere {
        /// Radius.
        radius: f32,
    },
    /// Several spheres around the origin of the file: center, radius.
    Spheres(Arc<[(Vec3, f32)]>),
    /// A rod of spheres along z.
    Rod {
        /// Radius.
        radius: f32,
        /// Length from end to end.
        length: f32,
    },
    /// A structure file.
    Atoms {
        /// The content of the file.
        structure: Arc<Structure>,
        /// What of it is loaded.
        options: LoadOptions,
        /// The number of proxies that stand for the atoms; all atoms without.
        proxies: Option<u32>,
    },
}

/// The rotations of molecules that lie in a region.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum RotationRange {
    /// Any rotation.
    Any,
    /// As in the file.
    None,
    /// About a unit axis, by up to an angle, radian.
    About {
        /// The axis.
        axis: Vec3,
        /// The largest angle.
        range: f32,
    },
}

/// A space that molecules are in.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Compartment {
    /// Name of the entry of the composition.
    pub name: String,
    /// Its place in the file, for errors.
    pub place: String,
    /// The compartment around it; none for the box.
    pub parent: Option<usize>,
    /// Its surface; none for the box.
    pub surface: Option<Arc<dyn Surface>>,
    /// Lowest and highest corner of a box around it.
    pub bounds: [Vec3; 2],
    /// Ratios of ingredients in the outer leaflet and in the inner one, from our additions.
    pub leaflets: [Vec<(usize, f32)>; 2],
    /// Factor of the areas of its lipids.
    pub area_scale: f32,
}

/// Where in a compartment molecules are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Region {
    /// Inside, outside of other compartments.
    Interior,
    /// In the surface.
    Surface,
    /// In the outer leaflet.
    OuterLeaflet,
    /// In the inner leaflet.
    InnerLeaflet,
}

impl Region {
    /// Name in recipes.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Interior => "interior",
            Self::Surface => "surface",
            Self::OuterLeaflet => "outer_leaflet",
            Self::InnerLeaflet => "inner_leaflet",
        }
    }
}

/// A number of molecules of one kind in one region.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Entry {
    /// Name of the entry of the composition, or of the object.
    pub name: String,
    /// Its place in the file, for errors.
    pub place: String,
    /// Index of the ingredient.
    pub ingredient: usize,
    /// Index of the compartment.
    pub compartment: usize,
    /// Region of the compartment.
    pub region: Region,
    /// Number of molecules, beside those of `molarity`.
    pub count: Distribution,
    /// Concentration in the region, mol/l.
    pub molarity: f64,
    /// Distribution of the radius of a single sphere, nm; none for that of the ingredient.
    pub sizes: Option<Distribution>,
    /// Order: negative ones first, one entry after the other.
    pub priority: f64,
    /// Gradients of the density and their weights.
    pub gradients: Vec<(Gradient, f32)>,
    /// What the molecules bind to.
    pub partners: Vec<Partner>,
    /// Whether molecules without partners lie next to what is already there.
    pub close: bool,
    /// Least distance of the center from the box; none if the whole molecule is inside.
    pub cutoff_boundary: Option<f32>,
    /// Least distance of the center from surfaces; none if the whole molecule is inside.
    pub cutoff_surface: Option<f32>,
    /// Given poses of centers of mass.
    pub places: Vec<Pose>,
    /// Whether the molecules never move.
    pub fixed: bool,
    /// The fibers, if the molecules are links; `count` is then the number of fibers.
    pub fiber: Option<FiberEntry>,
    /// Where the molecules are relative to others; `count` is zero if it follows from the rule.
    pub rule: Option<Rule>,
}

impl Entry {
    /// Whether the molecules are links of fibers or placed by a rule, and therefore have joints.
    pub(super) fn is_bound(&self) -> bool {
        self.fiber.is_some() || self.rule.is_some()
    }
}

/// The fibers of an entry.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct FiberEntry {
    /// Its place in the file, for errors.
    pub place: String,
    /// Length of each fiber; none if it follows from the points.
    pub length: Option<FiberLength>,
    /// The path.
    pub path: FiberPathKind,
    /// Control points of the path.
    pub points: Vec<Vec3>,
    /// Largest displacement of midpoints, as a part of the length of a piece.
    pub roughness: Option<f32>,
}

/// Length of a fiber.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum FiberLength {
    /// Number of links.
    Links(u32),
    /// Contour length.
    Contour(f32),
    /// Number of base pairs.
    BasePairs(f64),
}

/// Path of a fiber.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FiberPathKind {
    /// A worm-like chain.
    RandomWalk,
    /// Midpoint displacement between the points.
    Midpoint,
    /// A spline through the points.
    ControlPoints,
}

/// What molecules of an entry bind to or stay away from.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Partner {
    /// Indices of the entries with these molecules.
    pub entries: Vec<usize>,
    /// Probability of a place next to one of them; negative for a repulsion.
    pub probability: f64,
    /// How often this partner is chosen relative to others.
    pub weight: f64,
    /// Places relative to the partner, in its frame; anywhere next to it if there are none.
    pub positions: Vec<Vec3>,
}

/// A kind of molecule in one region: an entry of a recipe, or a ratio of a leaflet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Row<'a> {
    /// Index of the entry; none for a ratio.
    pub entry: Option<usize>,
    /// Index of the compartment.
    pub compartment: usize,
    /// Region of the compartment.
    pub region: Region,
    /// Index of the ingredient.
    pub ingredient: usize,
    /// Name of the entry, or of the object.
    pub name: &'a str,
}

impl Recipe {
    /// The entries, then the ratios of leaflets: the rows of the report of a population.
    pub(super) fn rows(&self) -> Vec<Row<'_>> {
        let entries = self.entries.iter().enumerate().map(|(index, entry)| Row {
            entry: Some(index),
            compartment: entry.compartment,
            region: entry.region,
            ingredient: entry.ingredient,
            name: &entry.name,
        });
        let mut rows: Vec<Row<'_>> = entries.collect();
        for (compartment, space) in self.compartments.iter().enumerate().skip(1) {
            let regions = [Region::OuterLeaflet, Region::InnerLeaflet];
            for (region, ratios) in regions.into_iter().zip(&space.leaflets) {
                rows.extend(ratios.iter().map(|&(ingredient, _)| Row {
                    entry: None,
                    compartment,
                    region,
                    ingredient,
                    name: &self.ingredients[ingredient].name,
                }));
            }
        }
        rows
    }

    /// Size of the box.
    #[must_use]
    pub fn size(&self) -> Vec3 {
        self.bounds[1] - self.bounds[0]
    }
}

/// A rotation from x, y, z and w that is normalized; none if it is zero or not finite.
pub(super) fn rotation(parts: [f64; 4]) -> Option<Quat> {
    let parts = glam::DQuat::from_array(parts);
    let length = parts.length();
    (length.is_finite() && length > 1.0e-9).then(|| (parts / length).as_quat().normalize())
}
