//! Files opened by the programs that they are made for: Mol*, gemmi, `MDAnalysis`, GROMACS, LAMMPS.
//!
//! `scripts/peers` installs them. Tests of a missing program are skipped with a message, or fail if
//! the environment variable `REQUIRE_PEERS` is 1.

#![cfg(feature = "recipe")]

mod cif_in_molstar;
mod gromacs;
mod lammps;
mod manifest_in_molstar;
#[path = "../core/scene_files/mixed_scene.rs"]
#[allow(dead_code, reason = "the core tests use the rest")]
mod mixed_scene;
mod programs;
mod structures_in_python;
#[cfg(feature = "xtc")]
mod trajectory_in_python;
