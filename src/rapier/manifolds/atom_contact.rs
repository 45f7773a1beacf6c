//! One atom touching something.

use glam::Vec3;

/// One atom of the first shape's molecule against an atom or a part of another shape.
///
/// All vectors are in the frame of the molecule that the contact is seen from, nm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::rapier) struct AtomContact {
    /// Index of the atom in its template.
    pub atom: u32,
    /// Index of the other molecule's atom, or number of the other shape's part.
    pub other: u32,
    /// On the surface of the atom.
    pub on_atom: Vec3,
    /// On the surface of the other.
    pub on_other: Vec3,
    /// Unit vector from the atom towards the other.
    pub normal: Vec3,
    /// `(on_other − on_atom)·normal`: negative if they overlap.
    pub dist: f32,
    /// Which of the 26 directions the normal has; set when manifolds are written.
    pub direction: u8,
}

impl AtomContact {
    /// The same contact seen from the other side, with frames left as they are.
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

    /// Deepest first; ties in the order of the indices.
    pub fn deeper(&self, other: &Self) -> std::cmp::Ordering {
        self.dist
            .total_cmp(&other.dist)
            .then_with(|| (self.atom, self.other).cmp(&(other.atom, other.other)))
    }
}
