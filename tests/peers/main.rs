//! Files opened by the programs that they are made for: Mol*, gemmi, MDAnalysis, GROMACS, LAMMPS.
//!
//! `scripts/peers` installs them. Tests of a missing program are skipped with a message, or fail if
//! the environment variable `REQUIRE_PEERS` is 1.

#![cfg(feature = "recipe")]

mod programs;
#[cfg(feature = "xtc")]
mod trajectory_in_python;
