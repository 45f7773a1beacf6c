//! Rigid molecules that collide atom by atom.
//!
//! A Bevy app adds [`MoleculePlugins`](plugin::MoleculePlugins) beside Rapier's plugin
//! and spawns [`Molecule`](plugin::Molecule)s, which then take part in the physics world
//! atom by atom:
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
//!         // A floor, and what it takes to see something: a camera and a light.
//!         commands.spawn((Collider::cuboid(20.0, 0.1, 20.0), Transform::default()));
//!         let seen_from = Transform::from_xyz(0.0, 9.0, 22.0).looking_at(Vec3::Y * 4.0, Vec3::Y);
//!         commands.spawn((Camera3d::default(), seen_from));
//!         let lit_from = Transform::from_xyz(3.0, 9.0, 6.0).looking_at(Vec3::ZERO, Vec3::Y);
//!         commands.spawn((DirectionalLight::default(), lit_from));
//!     })
//!     .run();
//! ```
//!
//! Below the plugin everything is a plain library: no window, no GPU, no ECS. It finds
//! and resolves the overlaps of rigid molecules, from a ligand in its pocket to a
//! vesicle of four million atoms:
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
//! One unit of length is a nanometer; masses are dalton, angles radian. Structure
//! files have ångström, and readers and writers convert.
//!
//! # One step
//!
//! The relaxer moves poses; the plugin gives Rapier's bodies impulses, in every substep.
//! Both go round in the same way, on the processor or on a GPU:
//!
//! ```text
//!  templates + poses ──gather──▶ SphereSet ──grid──▶ sorted cells ──search──▶ pairs
//!         ▲                                                                    │
//!       apply                                                           contacts by molecule
//!         │                                                                    │
//!  pushes or impulses ◀──────── respond: contact law + springs ◀───────────────┘
//! ```
//!
//! | stage | what it does | room |
//! |---|---|---|
//! | gather | atoms, or what stands for them, from the body frames to the world | [`spheres`] |
//! | grid | cells, counting sort; with the search it is *detect* | [`search`] |
//! | search | pairs of spheres of different molecules that overlap | [`search`] |
//! | respond | what contacts and springs do to each molecule | [`contact`], [`force`], [`compartment`], [`dynamics`] |
//! | apply | poses in a relaxer; impulses on bodies in a Rapier world, which then steps | [`relax`], [`plugin`] |
//!
//! # Modules
//!
//! Arrows between rooms point one way: each uses only those further down.
//!
//! | room | what it does |
//! |---|---|
//! | [`plugin`] | Bevy and Rapier: assets, components, systems; no maths |
//! | `render` | molecules drawn atom by atom, millions of atoms (feature `draw`) |
//! | [`rapier`] | molecules as shapes of a Rapier world: queries and contact manifolds |
//! | `gpu` | searches, relaxation and contacts in compute shaders, on any vendor's GPU (feature `gpu`) |
//! | [`scenes`] | seeded scenes that examples, tests and benches share |
//! | [`relax`] | the loop: detect, push, spring back, until rest; report |
//! | [`dynamics`] | contacts in time: impulses between molecules with velocities |
//! | [`docking`] | one molecule moved about another, and never into it |
//! | [`motion`] | collisions in time: unknown ways with bounds, Brownian particles and molecules, walls |
//! | [`force`] | what contacts and deviations do to a molecule: the thesis's law and ours |
//! | [`contact`] | contacts seen from each molecule; clashes between parts of a structure |
//! | [`search`] | which spheres, boxes or moving spheres meet: the oracles, the grid, and its rivals |
//! | [`crowd`] | molecules with shared templates, and where each belongs |
//! | [`compartment`] | surfaces and volumes that molecules belong to |
//! | [`spheres`] | world-space spheres as arrays |
//! | [`export`] | molecules at their poses as PDB and mmCIF files |
//! | [`proxy`] | few large spheres that stand for the atoms of a molecule |
//! | [`molecule`] | templates, elements, readers of PDB, mmCIF and `BinaryCIF` files |
//! | [`pose`] | position and rotation |
//! | [`backend`] | who does the work: the processor, or a GPU |
//!
//! # Papers
//!
//! Each room's page says what it has from whom, and where ours differs.
//!
//! | paper | what comes from it |
//! |---|---|
//! | J. Pauschenwein, *Real-Time Collision Detection and Handling of Molecules for Animation and Modelling*, TU Wien, 2022 ("the thesis") | [`search::UniformGrid`] (FFRNN: fixed-radius nearest neighbors on a counting-sorted grid), [`force`], [`compartment`], [`relax`], `gpu`, [`proxy`] |
//! | C. G. Johnson and J. L. Whalley, *Detecting collisions in sets of moving particles*, 2002 | [`search::swept`], [`motion::brownian`] |
//! | L. Poirrier, *An efficient space partitioning technique based on linear kd-trees*, 2009 | [`search::LinearKdTree`], [`search::SweepAndPrune`], falling spheres in [`scenes`] |
//! | G. Turk, *Interactive Collision Detection for Molecular Graphics*, 1989 | [`docking`], [`molecule::LocalGrid`] |
//! | H. K. Kim, L. J. Guibas and S. Y. Shin, *Efficient Collision Detection among Moving Spheres with Unknown Trajectories*, 2005 | [`motion::unknown_trajectories`], [`search::HierarchicalGrid`] |
//!
//! # Words
//!
//! | word | what it means here |
//! |---|---|
//! | template | the atoms of one kind of molecule in its body frame, with mass and inertia |
//! | molecule, member | a template at a pose; a member is one of a crowd |
//! | sphere, owner | an atom or a proxy in the world, and the molecule that it belongs to |
//! | proxy | a sphere that stands for a cluster of atoms |
//! | detail | what stands for a molecule: its atoms, its residues, proxies, one sphere around all, or proxies and atoms in turn |
//! | detect | find the pairs that overlap: grid and search together |
//! | candidate | a pair that may overlap; a *pair* is one that does |
//! | overlap, penetration | two spheres of different owners that share space, and how deep, nm |
//! | gap | distance of two surfaces, nm; negative where they overlap |
//! | contact | an overlap that a law or a solver answers |
//! | touch | two molecules with at least one contact |
//! | meeting | two that touch in mid-motion, and when |
//! | clash | an overlap of two parts of a structure, for a report |
//! | tolerance | distance of centers below which atoms count as overlapping, nm, in the place of their radii; in `motion` how deep spheres may overlap, in `docking` how close atoms come, before they touch; in `proxy` how far surfaces may differ |
//! | margin | how far spheres may be apart and still be a pair, nm |
//! | foresight | how far ahead contacts are foreseen, nm |
//! | clearance | gap that a relaxation leaves between atoms, nm |
//! | leeway | how far a molecule may be off its place before a spring pulls, nm or radian |
//! | compartment, leaflet | a surface or volume that holds molecules; a side of it |
//! | backend, device | who does the work; the GPU that does |
//! | iteration, step, substep | a round of the relaxer; a step of the world, and a part of it |
//!
//! # Determinism
//!
//! The same input gives the same bits, whatever the number of threads. On one GPU it is
//! the same from run to run.
//!
//! # Errors
//!
//! Input is never trusted: each room has error types of its own that say what is wrong
//! and where. No panic can be reached from a file or a parameter; only an index that is out
//! of range panics, as that of a slice does, where a page says so.

pub mod backend;
mod bucket_sort;
pub mod compartment;
pub mod contact;
pub mod crowd;
pub mod docking;
pub mod dynamics;
pub mod export;
mod fibonacci_sphere;
pub mod force;
#[cfg(feature = "gpu")]
pub mod gpu;
mod hybrid36;
pub mod molecule;
pub mod motion;
#[cfg(feature = "plugin")]
pub mod plugin;
mod pool;
pub mod pose;
pub mod proxy;
pub mod rapier;
pub mod relax;
#[cfg(feature = "draw")]
pub mod render;
pub mod scenes;
pub mod search;
pub mod spheres;

/// What most users need, by name.
pub mod prelude {
    pub use crate::backend::Backend;
    pub use crate::compartment::{
        Confinement, Leaflet, Placement, ShapeCompartment, SphereShell, Surface,
    };
    pub use crate::contact::clashes::{ClashOptions, find_clashes};
    pub use crate::crowd::{Crowd, CrowdMember};
    pub use crate::dynamics::ContactSolverConfig;
    pub use crate::export::{ExportOptions, export};
    pub use crate::force::{SpringLaw, ThesisSteps};
    pub use crate::molecule::{
        LoadOptions, MoleculeTemplate, SplitBy, load, load_instances, load_structure,
    };
    #[cfg(feature = "plugin")]
    pub use crate::plugin::{
        AccelerationBound, AtomLabel, BrownianMotion, BrownianMotionConfig, Colliding,
        CollisionOutcome, CollisionRule, Compartment, CompartmentRegion, ContactModel, CrowdOnly,
        InCompartment, Molecule, MoleculeAtom, MoleculeBackend, MoleculeBackendFailed,
        MoleculeCollision, MoleculeContactStarted, MoleculeContactStopped, MoleculeDetail,
        MoleculeDiagnostics, MoleculeHit, MoleculeLoadFailed, MoleculeMaterial, MoleculePlugins,
        MoleculeQueries, MoleculeQueryFilter, MoleculeStateError, MoleculeSubstep, MoleculeSystems,
        MoleculeWorld, NearestAtom, PreparedMolecule, StateErrorKind, StaticMolecule,
        TouchingMolecules,
    };
    #[cfg(feature = "gizmos")]
    pub use crate::plugin::{MoleculeGizmoPlugin, MoleculeGizmos};
    #[cfg(feature = "draw")]
    pub use crate::plugin::{MoleculePicker, NoMoleculeRendering, PickedAtom};
    pub use crate::pose::Pose;
    pub use crate::proxy::{ProxyCache, ProxySet};
    pub use crate::relax::{
        CoarseStart, ReactionLaw, RelaxConfig, RelaxReport, Relaxer, StopReason,
    };
    #[cfg(feature = "draw")]
    pub use crate::render::{
        ColorMode, DepthCue, DrawDetail, InstancedMolecules, MoleculeInstance,
        MoleculeRenderPlugin, MoleculeStyle, ProxyOverlay, SharedGpuDevice, ViewStyle,
    };
    pub use crate::scenes::{Vesicle, VesicleConfig, VesicleSize, vesicle};
    pub use crate::search::{AutoGrid, PairBuffer, PairSearch};
    pub use crate::spheres::SphereSet;
}

/// The examples of the README compile.
#[cfg(all(doctest, feature = "plugin"))]
#[doc = include_str!("../README.md")]
struct Readme;
