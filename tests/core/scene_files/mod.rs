//! Files of placed molecules of other programs.

mod bentopy_placements;
mod cellpack_results;
mod congruence;
mod instanced_cif;
mod manifest;
mod placement_fixtures;
