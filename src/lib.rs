//! Rigid molecules that collide atom by atom, for Bevy and Rapier.
//!
//! Add [`MoleculePlugins`](plugin::MoleculePlugins) next to Rapier's plugin and spawn
//! [`Molecule`](plugin::Molecule)s:
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_rapier3d::prelude::*;
//! use bevy_rapier_molecules::prelude::*;
//!
//! App::new()
//!     .add_plugins((
//!         DefaultPlugins,
//!         RapierPhysicsPlugin::<NoUserData>::default(),
//!         MoleculePlugins::default(),
//!     ))
//!     .add_systems(Startup, |mut commands: Commands, assets: Res<AssetServer>| {
//!         commands.spawn((
//!             Molecule(assets.load("molecules/1gzx.pdb")),
//!             Transform::from_xyz(0.0, 8.0, 0.0),
//!         ));
//!         commands.spawn((Collider::cuboid(20.0, 0.1, 20.0), Transform::default()));
//!         commands.spawn((
//!             Camera3d::default(),
//!             Transform::from_xyz(0.0, 9.0, 22.0).looking_at(Vec3::Y * 4.0, Vec3::Y),
//!         ));
//!         commands.spawn((
//!             DirectionalLight::default(),
//!             Transform::from_xyz(3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y),
//!         ));
//!     })
//!     .run();
//! ```
//!
//! Below the plugin is a plain library without window, GPU or ECS. It finds and resolves the
//! overlaps of rigid molecules, from a ligand in its pocket to a vesicle of four million atoms:
//!
//! ```
//! use std::ops::ControlFlow;
//! use std::sync::Arc;
//! use bevy_rapier_molecules::prelude::*;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
//! let size = VesicleSize::Counts { outer: 60, inner: 6, radius: 3.2 };
//! let vesicle = vesicle(Arc::new(lipid), &VesicleConfig { size, ..VesicleConfig::default() })?;
//! let mut relaxer = Relaxer::new(vesicle.crowd, RelaxConfig::default())?;
//! let report = relaxer.run(|_| ControlFlow::Continue(()))?;
//! assert!(report.converged() && report.end.overlaps == 0);
//! # Ok(())
//! # }
//! ```
//!
//! # Units
//!
//! Lengths are in nanometers, masses in dalton, angles in radian, times in seconds. Structure
//! files are in ångström, except GRO (nm); readers and writers convert.
//!
//! # One step
//!
//! The relaxer moves poses; the plugin applies impulses to Rapier's bodies in each substep. Both
//! run the same loop:
//!
//! ```text
//!  templates + poses ──boxes──▶ neighbors ──clusters──▶ close clusters ──spheres──▶ pairs
//!         ▲                         (both remembered while little moves)              │
//!       apply                                                              contacts by molecule
//!         │                                                                           │
//!  pushes or impulses ◀─────────── respond: contact law + springs ◀───────────────────┘
//! ```
//!
//! On a GPU, the atoms are placed in the world and sorted into the cells of a grid instead.
//!
//! | stage | what it does | module |
//! |---|---|---|
//! | gather | reads the poses | [`relax`], [`plugin`] |
//! | detect | finds overlapping spheres of different molecules | [`search::MoleculeSearch`] |
//! | respond | computes the effect of contacts and springs on each molecule | [`force`], [`compartment`], [`dynamics`] |
//! | apply | moves poses (relaxer), or applies impulses to bodies before Rapier steps (plugin) | [`relax`], [`plugin`] |
//!
//! # Modules
//!
//! Each module uses only modules further down.
//!
//! | module | contents |
//! |---|---|
//! | `cell_editor` | recipes that are packed on the screen while they are edited (features `draw` and `recipe`) |
//! | [`plugin`] | Bevy and Rapier integration: assets, components, systems |
//! | `render` | molecules drawn atom by atom (feature `draw`) |
//! | [`rapier`] | molecules as Rapier shapes: queries and contact manifolds |
//! | [`scenes`] | seeded scenes shared by examples, tests and benches |
//! | `recipe` | recipes of cellPACK and bentopy, filled with molecules (feature `recipe`) |
//! | [`trajectory`] | files of moving molecules: XTC and Simularium |
//! | [`membrane`] | builder of membranes: lipids and proteins, with their orientation and cross-sections |
//! | [`fiber`] | chains of rigid links such as DNA, along random or given paths |
//! | [`relax`] | relaxation of crowds until nothing overlaps |
//! | `gpu` | searches and contact solver in compute shaders (feature `gpu`) |
//! | [`dynamics`] | contact solver: impulses between moving molecules |
//! | [`certificate`] | what a written file contains: distances, rings, placements |
//! | `scene_files` | files of placed molecules of other programs, written and read (feature `recipe`) |
//! | [`docking`] | molecules moved around others without overlaps; torsions of ligands |
//! | [`motion`] | continuous collision detection: unknown trajectories with bounds, Brownian motion, walls |
//! | [`force`] | laws of contacts and springs: the thesis's and a projection law |
//! | [`contact`] | contacts by molecule; clashes within a structure |
//! | [`search`] | broad phases for spheres, boxes and moving spheres |
//! | [`crowd`] | molecules with shared templates and their compartments |
//! | [`compartment`] | closed surfaces and volumes that molecules are confined to |
//! | [`spheres`] | world-space spheres as arrays |
//! | [`export`] | PDB and mmCIF files of placed molecules |
//! | [`proxy`] | a few large spheres that enclose the atoms of a molecule |
//! | [`molecule`] | templates, elements, readers of PDB, mmCIF and `BinaryCIF` files |
//! | [`periodic_box`] | boxes that repeat in space |
//! | [`pose`] | position, rotation and motion |
//! | [`names`] | suggestions for misspelled names |
//! | [`backend`] | choice of CPU or GPU, device errors, fallback |
//!
//! # Papers
//!
//! The docs of each module say what it takes from a paper and where it differs.
//!
//! | paper | used in |
//! |---|---|
//! | J. Pauschenwein, *Real-Time Collision Detection and Handling of Molecules for Animation and Modelling*, TU Wien, 2022 ("the thesis") | [`search::UniformGrid`] (FFRNN: fixed-radius nearest neighbors on a counting-sorted grid), [`force`], [`compartment`], [`relax`], `gpu`, [`proxy`] |
//! | C. G. Johnson and J. L. Whalley, *Detecting collisions in sets of moving particles*, 2002 | [`search::swept`], [`motion::brownian`] |
//! | L. Poirrier, *An efficient space partitioning technique based on linear kd-trees*, 2009 | [`search::LinearKdTree`], [`search::SweepAndPrune`], falling spheres in [`scenes`] |
//! | G. Turk, *Interactive Collision Detection for Molecular Graphics*, 1989 | [`docking`], [`molecule::LocalGrid`] |
//! | H. K. Kim, L. J. Guibas and S. Y. Shin, *Efficient Collision Detection among Moving Spheres with Unknown Trajectories*, 2005 | [`motion::unknown_trajectories`], [`search::HierarchicalGrid`] |
//!
//! # Glossary
//!
//! | word | meaning |
//! |---|---|
//! | template | the atoms of one kind of molecule in its body frame, with mass and inertia |
//! | molecule, member | a template at a pose; a member is a molecule of a crowd |
//! | sphere, owner | an atom or a proxy in the world, and its molecule |
//! | proxy | a sphere that encloses a cluster of atoms |
//! | candidate | a pair that may overlap; a *pair* does overlap |
//! | overlap, penetration | two spheres of different owners that intersect, and how deep, nm |
//! | gap | distance of two surfaces, nm; negative where they overlap |
//! | contact | an overlap that a law or a solver responds to |
//! | touch | two molecules with at least one contact |
//! | clash | an overlap of two parts of a structure |
//! | tolerance | distance of centers below which atoms overlap, nm, instead of their radii |
//! | margin, prediction distance | extra distance at which spheres still count as a pair or contact, nm |
//! | leeway | how far a molecule may leave its place before a spring acts, nm or radian |
//! | compartment, leaflet | a surface or volume that holds molecules; one side of it |
//!
//! # Determinism
//!
//! The same input gives the same bits on any number of threads, and on one GPU from run to run.
//!
//! # Errors
//!
//! Each module has typed errors that say what is wrong and where. No file or parameter can cause a
//! panic; only an index out of range does, where the docs say so.

pub mod backend;
mod bucket_sort;
#[cfg(all(feature = "draw", feature = "recipe"))]
pub mod cell_editor;
pub mod certificate;
pub mod compartment;
pub mod contact;
pub mod crowd;
pub mod docking;
pub mod dynamics;
pub mod export;
pub mod fiber;
mod fibonacci_sphere;
mod fnv;
pub mod force;
#[cfg(feature = "gpu")]
pub mod gpu;
mod halton;
mod hybrid36;
pub mod membrane;
pub mod molecule;
pub mod motion;
pub mod names;
pub mod periodic_box;
mod plain_text;
#[cfg(feature = "plugin")]
pub mod plugin;
mod pool;
pub mod pose;
pub mod proxy;
pub mod rapier;
#[cfg(feature = "recipe")]
pub mod recipe;
pub mod relax;
#[cfg(feature = "draw")]
pub mod render;
#[cfg(feature = "recipe")]
pub mod scene_files;
pub mod scenes;
pub mod search;
pub mod spheres;
mod superposition;
pub mod trajectory;

/// The items most apps need.
pub mod prelude {
    pub use crate::backend::Backend;
    pub use crate::compartment::{Leaflet, Placement, ShapeCompartment, SphereShell};
    pub use crate::crowd::{Crowd, CrowdMember};
    pub use crate::export::{ExportOptions, export};
    pub use crate::molecule::{LoadOptions, MoleculeTemplate, load};
    #[cfg(feature = "gizmos")]
    pub use crate::plugin::MoleculeGizmos;
    #[cfg(all(feature = "plugin", feature = "recipe"))]
    pub use crate::plugin::PackedRecipe;
    #[cfg(feature = "plugin")]
    pub use crate::plugin::{
        AccelerationBound, BrownianMotion, Colliding, CollisionOutcome, Compartment, ContactModel,
        CrowdOnly, InCompartment, Molecule, MoleculeCollision, MoleculeContactStarted,
        MoleculeContactStopped, MoleculeDetail, MoleculeDiagnostics, MoleculeEventsEnabled,
        MoleculeMaterial, MoleculePlugins, MoleculeQueries, MoleculeSystems, SpawnCrowd,
        StaticMolecule, TouchingMolecules,
    };
    pub use crate::pose::Pose;
    pub use crate::relax::{RelaxConfig, RelaxReport, Relaxer};
    #[cfg(feature = "draw")]
    pub use crate::render::{ColorMode, InstancedMolecules, MoleculeStyle, MoleculeTint};
    pub use crate::scenes::{VesicleConfig, VesicleSize, vesicle};
}

/// Compiles the examples of the README.
#[cfg(all(doctest, feature = "plugin", feature = "recipe"))]
#[doc = include_str!("../README.md")]
struct Readme;
