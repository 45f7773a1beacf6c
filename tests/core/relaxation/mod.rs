//! Crowds of fixed and confined molecules, and the springs of every surface.

mod checkpoints;
mod crowd_edits;
mod far_positions;
mod fixed_members;
pub mod fixtures;
mod joint_edits;
mod mixed_confinement;
mod springs_of_all_surfaces;
mod whole_molecules;
