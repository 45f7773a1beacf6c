//! Membranes of lipids and proteins.

mod conformers;
mod counts;
mod errors;
mod fixtures;
mod mixing;
mod proteins;
mod relaxed;
mod slim;
mod species;
