//! What is written can be read again: same atoms, same places, molecules apart; and
//! what cannot be written is refused, and leaves nothing behind.

mod columns;
mod failures;
mod fixtures;
mod molecules_apart;
mod round_trip;
