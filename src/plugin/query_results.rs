//! What is asked of molecules, and what they answer.

use std::fmt;

use bevy::prelude::*;

/// Which molecules a query looks at. Default: all.
#[derive(Clone, Copy, Default)]
pub struct MoleculeQueryFilter<'a> {
    /// A molecule that is passed over: the one that asks, or is held. Default: none.
    pub exclude: Option<Entity>,
    /// The Rapier context that the molecules are in. Default: any.
    pub context: Option<Entity>,
    /// Molecules for which this is false are passed over. Default: none is.
    pub predicate: Option<&'a dyn Fn(Entity) -> bool>,
}

impl<'a> MoleculeQueryFilter<'a> {
    /// The filter that also passes over `molecule`, in place of another.
    #[must_use]
    pub fn excluding(self, molecule: Entity) -> Self {
        Self {
            exclude: Some(molecule),
            ..self
        }
    }

    /// The filter that looks at molecules of one Rapier context only.
    #[must_use]
    pub fn in_context(self, context: Entity) -> Self {
        Self {
            context: Some(context),
            ..self
        }
    }

    /// The filter that looks at molecules for which `predicate` is true.
    #[must_use]
    pub fn matching(self, predicate: &'a dyn Fn(Entity) -> bool) -> Self {
        Self {
            predicate: Some(predicate),
            ..self
        }
    }

    /// Whether a molecule of a context is looked at.
    pub(super) fn takes(&self, molecule: Entity, context: Option<Entity>) -> bool {
        self.exclude != Some(molecule)
            && (self.context.is_none() || self.context == context)
            && self.predicate.is_none_or(|predicate| predicate(molecule))
    }
}

impl fmt::Debug for MoleculeQueryFilter<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("MoleculeQueryFilter")
            .field("exclude", &self.exclude)
            .field("context", &self.context)
            .field("predicate", &self.predicate.map(|_| ".."))
            .finish()
    }
}

/// One atom of one molecule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Reflect)]
#[reflect(Clone, Debug, PartialEq, Hash)]
pub struct MoleculeAtom {
    /// The entity with the [`Molecule`](super::Molecule).
    pub molecule: Entity,
    /// Index of the atom in its template, from 0.
    pub atom: usize,
}

/// Where a ray or a moving shape meets a molecule. World frame.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeHit {
    /// The entity with the [`Molecule`](super::Molecule).
    pub molecule: Entity,
    /// Index of the atom in its template, from 0.
    pub atom: usize,
    /// Way to the hit along the ray or the motion, nm; zero if it begins inside.
    pub distance: f32,
    /// Where the atom is hit, nm: on its surface, or the origin of a ray that begins
    /// inside of it.
    pub point: Vec3,
    /// Outward unit normal of the atom there.
    pub normal: Vec3,
}

/// The atom that is nearest to a point. World frame.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct NearestAtom {
    /// The entity with the [`Molecule`](super::Molecule).
    pub molecule: Entity,
    /// Index of the atom in its template, from 0.
    pub atom: usize,
    /// Distance from the atom's surface, nm; negative inside of the atom.
    pub distance: f32,
    /// The nearest point of the atom's surface, nm.
    pub point: Vec3,
}

impl From<(Entity, usize)> for MoleculeAtom {
    fn from((molecule, atom): (Entity, usize)) -> Self {
        Self { molecule, atom }
    }
}

impl From<MoleculeHit> for MoleculeAtom {
    fn from(hit: MoleculeHit) -> Self {
        Self::from((hit.molecule, hit.atom))
    }
}

impl From<NearestAtom> for MoleculeAtom {
    fn from(found: NearestAtom) -> Self {
        Self::from((found.molecule, found.atom))
    }
}
