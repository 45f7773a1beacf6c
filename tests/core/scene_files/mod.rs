//! Files of placed molecules are written, read back, and rejected if they are malformed.

mod gromacs;
mod lammps;
mod mixed_scene;
