//! What is written can be read again: same atoms, same places, molecules apart; and
//! what cannot be written is refused, and leaves nothing behind.

mod chain_and_residue_ids;
mod errors;
mod file_text;
mod fixtures;
mod round_trip;
