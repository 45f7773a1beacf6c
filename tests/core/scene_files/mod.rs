//! Files of placed molecules.

mod instanced_cif;
