//! Contacts between molecules at a level of detail.
//!
//! | detail | what is searched | what is found |
//! |---|---|---|
//! | [`Detail::Atoms`] | every atom | pairs of atoms |
//! | [`Detail::Proxies`] | few spheres for each molecule | pairs of proxies: more than touch |
//! | [`Detail::Refined`] | bounding spheres, then proxies, then atoms | pairs of atoms |
//!
//! `Refined` finds exactly the pairs of `Atoms`, to the last bit, and looks at atoms only
//! where spheres around them touch: in a crowd of large molecules most atoms are inside,
//! and touch nobody.

mod hierarchy;
mod refined;
mod search;

pub use hierarchy::{LEAF_ATOMS, ProxyHierarchy};
pub use search::{DetailError, MoleculeSearch, PlacedMolecule};

use serde::{Deserialize, Serialize};

/// How closely molecules are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Detail {
    /// Every atom.
    #[default]
    Atoms,
    /// So many proxies for each molecule.
    Proxies(u32),
    /// Proxies first, and atoms where they touch: the contacts of `Atoms`.
    Refined,
}
