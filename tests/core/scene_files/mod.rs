//! Files of placed molecules.

mod bentopy_placements;
mod cellpack_results;
mod manifest;
mod placement_fixtures;
