//! Recipes: files that say which molecules a scene has, and where.
//!
//! [`Recipe::load`] reads a recipe of [cellPACK](https://www.cellpack.org) (JSON, formats 2.0 and
//! 2.1) or of [bentopy](https://github.com/marrink-lab/bentopy) (`.bent`). [`populate`] scatters its
//! molecules and [`pack`] relaxes them until nothing overlaps:
//!
//! ```
//! use std::ops::ControlFlow;
//! use bevy_rapier_molecules::recipe::{PackOptions, ReadOptions, Recipe, pack};
//!
//! let recipe = Recipe::load("assets/recipes/proteins_in_a_box.json", &ReadOptions::default())?;
//! let packing = pack(&recipe, &PackOptions::default(), |_| ControlFlow::Continue(()))?;
//! assert!(packing.is_complete(), "{packing}");
//! # Ok::<(), bevy_rapier_molecules::recipe::RecipeError>(())
//! ```
//!
//! [`LivePacking`] packs a recipe while it is edited, and saves it with the places of all
//! molecules.
//! In Bevy apps, recipes are assets: see `PackedRecipe` in the module `plugin`.
//!
//! # Ingredients
//!
//! | object | its spheres |
//! |---|---|
//! | with a structure file (`representations.atomic`) | its atoms, half the tolerance in radius; or proxies |
//! | `single_sphere` | one sphere of its radius |
//! | `multi_sphere` | the spheres of a `.sph` file or of lists, deepest level |
//!
//! Structure files are next to the recipe, in a folder of
//! [`ReadOptions::structure_folders`], or bundled: `popc`, `pope`, `dppc`, `cholesterol`, `1gzx`
//! (hemoglobin), `1ubq` (ubiquitin), `2por` (a porin), `4c64` (DNA), `t4_lysozyme`, `dhfr` and others
//! ([`bundled_structures`]).
//!
//! # Fibers
//!
//! An object with our addition `fiber` is a link, such as 12 base pairs of DNA, and its count the
//! number of fibers: worm-like chains of given length, or paths through points
//! ([`fiber`](crate::fiber)).
//!
//! # Rules
//!
//! Our addition `rule` to an entry of the composition places its molecules relative to others,
//! after rule-based modeling (Nguyen et al. 2021). `NAME` is an entry or an object:
//!
//! | rule | molecules | number |
//! |---|---|---|
//! | `{"on_surface_of": {"of": NAME}}` | touch the atoms of another one, with `up` along the normal | `count`, or `per_instance` |
//! | `{"distance_from": {"of": NAME, "min": a, "max": b}}` | their centers of mass are within a range of distances from that of another one | `count` |
//! | `{"attached_to": {"to": NAME, "site": [x, y, z]}}` | their `own_site` is at the site, their `own_axis` along the `axis` | one each, or `count` |
//! | `{"along": {"fiber": NAME, "every": n}}` | beside every n-th link, or by `spacing`; at a `distance` from the axis, with `angle` and `turn` | from the fiber |
//! | `{"fill": {"failures": n}}` | anywhere, until n random places in a row overlap others | from the region |
//!
//! Sites and axes are in the frame of the structure file. A molecule whose site is inside of
//! another one starts further out along the axis, where no atoms overlap, and its place counts from
//! there. Molecules that fill a region count as balls. Except for them, each molecule has a
//! [joint](crate::crowd::CrowdJoint) with the one it depends on: a relaxation keeps contacts, sites
//! and distances from fibers within 0.1 nm, axes within 0.1 radian, and ranges exactly. Entries with
//! a rule are in an interior, or fill a surface without lipids. Those that a rule refers to are
//! placed first.
//!
//! # Compartments
//!
//! Spheres, boxes, cylinders and closed meshes (OBJ, STL, PLY), or capsules and rings by our
//! additions, nested in each other. With lipids in their leaflets they are membranes
//! ([`membrane()`](crate::membrane::membrane())); molecules of the region `surface` are then its
//! proteins.
//!
//! # Additions
//!
//! What the format has no fields for is in one block at the top level, `bevy_rapier_molecules`,
//! which cellPACK ignores: the unit of lengths, ratios and areas of lipids, axis and depth of
//! membrane proteins, positions and shapes of compartments, given places, saved molecules, colors,
//! fibers, rules. The command `molecules schema` writes a JSON schema of all keys for completion in
//! editors ([`recipe_schema`]).
//!
//! # Where this differs from cellPACK
//!
//! - Nothing is rejected: all molecules are placed and pushed apart afterwards.
//! - Leaflets are packed.
//! - Molecules are inside of the box as a whole, unless `cutoff_boundary` is given. Along an axis
//!   where the box is thinner than the molecule, its center is.
//! - Distances of gradients are exact, not those of grid points.
//! - `grow` and `multi_cylinder` need our addition `fiber`; tiles are not supported.
//!
//! # Where this differs from bentopy
//!
//! - Nothing is rejected: all molecules are placed and pushed apart afterwards. Atoms of different
//!   molecules stay twice the `bead-radius` apart if it is given, else 0.2 nm.
//! - Compartments are exact, not made of voxels: `resolution` and the settings of the search for
//!   places are ignored.
//! - In a periodic box, `within` and `around` reach across its faces.
//! - `satisfies` restricts the rotations that molecules start with. Those that are pushed apart may
//!   turn a little. A rule with two axes allows any rotation.
//! - Masks (`.npz`) are not supported.

pub mod bent;
mod bent_recipe;
mod bent_space;
mod bundled;
mod cellpack;
mod defaults;
mod distribution;
mod error;
mod file_source;
mod files;
mod geometry;
mod gradient;
pub mod live;
mod model;
mod pack;
mod population;
mod read;
mod rule;
mod scene;
mod sphere_tree;

pub use bundled::bundled_structures;
pub use cellpack::recipe_schema;
pub use distribution::Distribution;
pub use error::{RecipeError, RecipeProblem, RecipeWarning};
pub use file_source::FilesInMemory;
pub use gradient::{Gradient, GradientMode, Inverted, PickMode, WeightMode};
pub use live::{Edit, EditError, EditReport, LivePacking, MoleculeId, RecipeChange};
pub use model::{
    BodyAxis, Compartment, Entry, FiberEntry, FiberKind, FiberLength, FiberPathKind, Ingredient,
    IngredientShape, Partner, Recipe, Region, RotationRange, SavedMolecules,
};
pub use pack::{Leftover, PackOptions, Packing, pack, relax, resume};
pub use population::{
    EntryReport, IngredientBody, Population, PopulationReport, RegionReport, populate,
};
pub use read::ReadOptions;
pub use rule::{Attachment, Interval, Rule, RuleKind};
pub use sphere_tree::{SphereTree, SphereTreeError, SphereTreeProblem};
