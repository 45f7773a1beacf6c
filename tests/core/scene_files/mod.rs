//! Files of placed molecules of other programs: written, read back, and rejected if they are
//! malformed.

mod bentopy_placements;
mod cellpack_results;
mod congruence;
mod gromacs;
mod instanced_cif;
mod lammps;
mod manifest;
mod mixed_scene;
mod placement_fixtures;
