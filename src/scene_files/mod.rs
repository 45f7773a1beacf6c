//! Files of placed molecules that other programs read and write.
//!
//! A [`Scene`] has kinds of molecules with their structures, names, colors and topologies, and the
//! poses of all molecules. [`write_scene`] writes it in the [`SceneFormat`] of the extension,
//! completely or not at all; [`read_scene`] reads all of them back, so that what another program
//! has placed can be relaxed here and returned:
//!
//! ```
//! use bevy_rapier_molecules::prelude::*;
//! use bevy_rapier_molecules::scene_files::{ReadSceneOptions, Scene, SceneKind, read_scene, write_scene};
//! use glam::Vec3;
//!
//! let lipid = std::sync::Arc::new(load("assets/molecules/popc.pdb", &LoadOptions::default())?);
//! let mut kind = SceneKind::new("popc", lipid);
//! kind.poses = (0..3).map(|k| Pose::from_translation(Vec3::X * k as f32)).collect();
//! let scene = Scene { name: "three lipids".into(), kinds: vec![kind], ..Scene::default() };
//! let path = std::env::temp_dir().join("three_lipids_of_a_doc_test.bcif");
//! write_scene(&path, &scene, None, &ExportOptions::default(), &mut |_| {})?;
//! let read = read_scene(&path, &ReadSceneOptions::default())?;
//! assert_eq!((read.kinds.len(), read.molecule_count()), (1, 3));
//! # std::fs::remove_file(path)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Formats
//!
//! | format | extension | contents | read |
//! |---|---|---|---|
//! | PDB, mmCIF | `.pdb`, `.cif` | all atoms | molecules that are congruent become one kind |
//! | instanced mmCIF, `BinaryCIF` | `.cif`, `.bcif` | atoms of each kind, operators of an assembly | exactly |
//! | Mol* manifest | `.zip` | structure files and binary poses | exactly |
//! | bentopy placements | `placements.json` | names of structure files, rotations, corners | poses |
//! | cellPACK results | `.json` | spheres and matrices | poses |
//! | GROMACS | `.gro` and `.top` | all atoms | as PDB, with the molecules of the topology |
//! | LAMMPS data | `.data` and `.in` | all atoms | as PDB, without names of atoms |

mod additions;
mod bentopy_placements;
mod cellpack_results;
mod congruence;
mod format;
mod gromacs;
pub mod instanced_cif;
mod json;
mod lammps;
mod manifest;
mod placed_poses;
mod read;
mod scene;
mod scene_box;
mod structure_files;
mod two_files;
mod unique_names;
mod world_pose;
mod write;

pub use format::SceneFormat;
pub use read::{
    ReadSceneOptions, SceneReadError, read_scene, read_scene_bytes, scene_of_structure,
};
pub use scene::{Scene, SceneKind, Topology};
pub use write::{WriteProgress, write_scene};
