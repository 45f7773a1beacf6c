//! Membrane proteins: orientation by file, axis or guess, and their area in the membrane.

mod cross_sections;
mod fixtures;
mod orientation;
