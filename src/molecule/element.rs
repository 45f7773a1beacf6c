//! Chemical elements: symbol, standard atomic weight, van der Waals radius.

/// A chemical element, by atomic number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Element(u8);

impl Element {
    /// Hydrogen.
    pub const H: Self = Self(1);
    /// Carbon.
    pub const C: Self = Self(6);

    /// Standard atomic weight, dalton.
    #[must_use]
    pub fn mass(self) -> f32 {
        if self.0 == 1 { 1.008 } else { 12.011 }
    }
}
