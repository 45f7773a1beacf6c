//! A contact of a single atom.

use glam::Vec3;

/// A contact between an atom of a molecule and an atom or part of another shape.
///
/// All vectors are in the body frame of the molecule, nm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::rapier) struct AtomContact {
    /// Index of the atom in its template.
    pub atom: u32,
    /// Index of the atom of the other molecule, or id of the part of the other shape.
    pub other: u32,
    /// Point on the surface of the atom.
    pub on_atom: Vec3,
    /// Point on the surface of the other shape.
    pub on_other: Vec3,
    /// Unit vector from the atom towards the other shape.
    pub normal: Vec3,
    /// `(on_other − on_atom)·normal`: negative if they overlap.
    pub dist: f32,
    /// Direction of the normal, one of 26; set when manifolds are written.
    pub direction: u8,
}

impl AtomContact {
    /// The same contact with its sides swapped, in the same frame.
    pub fn flipped(self) -> Self {
        Self {
            atom: self.other,
            other: self.atom,
            on_atom: self.on_other,
            on_other: self.on_atom,
            normal: -self.normal,
            ..self
        }
    }

    /// Orders contacts by depth, deepest first, then by indices.
    pub fn cmp_depth(&self, other: &Self) -> std::cmp::Ordering {
        self.dist
            .total_cmp(&other.dist)
            .then_with(|| (self.atom, self.other).cmp(&(other.atom, other.other)))
    }
}
