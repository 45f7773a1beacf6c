//! Contacts between molecules at a level of detail.
//!
//! Templates go into a [`MoleculeSearch`] once; poses go in (world frame, nm) whenever they
//! have changed, and pairs of spheres of different molecules come out that overlap, or are
//! closer than a margin. Pairs are those of indices, in the order of the molecules, the same on
//! any number of threads. A pose or a template that cannot be is a [`DetailError`] that names
//! the molecule.
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
//!
//! Proxies in the place of atoms are an outlook of J. Pauschenwein's thesis (2022, section
//! 6.1); that they lead to the exact contacts of the atoms is ours.

mod hierarchy;
mod refined;
mod search;

pub use search::{DetailError, MoleculeSearch, PlacedMolecule};

use serde::{Deserialize, Serialize};

/// How closely molecules are looked at.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum Detail {
    /// Every atom.
    #[default]
    Atoms,
    /// So many proxies for each molecule; those with fewer atoms have their atoms.
    Proxies(u32),
    /// Proxies first, and atoms where they touch: the contacts of `Atoms`.
    Refined,
}
