//! Files of placed molecules of other programs.

mod congruence;
mod instanced_cif;
