//! Chemical elements: symbol, standard atomic weight, van der Waals radius.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::vdw_radii_and_masses::{DEFAULT_RADIUS_PM, ELEMENTS};

/// A chemical element, by atomic number (1 to 118), or [`UNKNOWN`](Self::UNKNOWN).
///
/// Isotopes are not distinguished: deuterium and tritium are hydrogen. Serialized as its symbol.
///
/// ```
/// use bevy_rapier_molecules::molecule::Element;
///
/// let iron = Element::from_symbol("FE");
/// assert_eq!(iron, Some(Element::FE));
/// assert_eq!((Element::FE.symbol(), Element::FE.atomic_number()), ("Fe", 26));
/// assert_eq!((Element::C.mass(), Element::C.vdw_radius()), (12.011, 0.17), "dalton, nm");
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(try_from = "String", into = "&'static str")]
pub struct Element(u8);

impl Element {
    /// An unknown element, with the mass and radius of carbon. Its symbol is `X`, as in the
    /// component `UNX` (unknown atom or ion) of the Protein Data Bank.
    pub const UNKNOWN: Self = Self(0);
    /// Hydrogen.
    pub const H: Self = Self(1);
    /// Carbon.
    pub const C: Self = Self(6);
    /// Nitrogen.
    pub const N: Self = Self(7);
    /// Oxygen.
    pub const O: Self = Self(8);
    /// Fluorine.
    pub const F: Self = Self(9);
    /// Sodium.
    pub const NA: Self = Self(11);
    /// Magnesium.
    pub const MG: Self = Self(12);
    /// Phosphorus.
    pub const P: Self = Self(15);
    /// Sulfur.
    pub const S: Self = Self(16);
    /// Chlorine.
    pub const CL: Self = Self(17);
    /// Potassium.
    pub const K: Self = Self(19);
    /// Calcium.
    pub const CA: Self = Self(20);
    /// Iron.
    pub const FE: Self = Self(26);
    /// Zinc.
    pub const ZN: Self = Self(30);
    /// Selenium.
    pub const SE: Self = Self(34);
    /// Bromine.
    pub const BR: Self = Self(35);
    /// Iodine.
    pub const I: Self = Self(53);
    /// Cesium.
    pub const CS: Self = Self(55);

    /// The element with this symbol, in any letter case. `D` and `T` are hydrogen, `X` is
    /// [`UNKNOWN`](Self::UNKNOWN).
    #[must_use]
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        let (first, second) = match *symbol.as_bytes() {
            [a] => (a.to_ascii_uppercase(), 0),
            [a, b] => (a.to_ascii_uppercase(), b.to_ascii_lowercase()),
            _ => return None,
        };
        match (first, second) {
            // Fast path for the elements of almost every atom.
            (b'H' | b'D' | b'T', 0) => return Some(Self::H),
            (b'C', 0) => return Some(Self::C),
            (b'N', 0) => return Some(Self::N),
            (b'O', 0) => return Some(Self::O),
            _ => {}
        }
        (0..ELEMENTS.len() as u8).map(Self).find(|element| {
            let known = element.symbol().as_bytes();
            known[0] == first && known.get(1).copied().unwrap_or(0) == second
        })
    }

    /// Number of protons, 1 to 118; 0 for [`UNKNOWN`](Self::UNKNOWN).
    #[must_use]
    pub const fn atomic_number(self) -> u8 {
        self.0
    }

    /// Chemical symbol, such as `Fe`.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        ELEMENTS[self.0 as usize].0
    }

    /// Standard atomic weight, dalton.
    ///
    /// Elements without a stable isotope have the mass number of the longest-lived one.
    #[must_use]
    pub const fn mass(self) -> f32 {
        ELEMENTS[self.0 as usize].1
    }

    /// Van der Waals radius, nm.
    ///
    /// Elements without a published radius have 0.2 nm.
    #[must_use]
    pub const fn vdw_radius(self) -> f32 {
        let picometers = match ELEMENTS[self.0 as usize].2 {
            0 => DEFAULT_RADIUS_PM,
            known => known,
        };
        picometers as f32 / 1000.0
    }
}

impl fmt::Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.symbol())
    }
}

impl fmt::Debug for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Element({})", self.symbol())
    }
}

impl From<Element> for &'static str {
    fn from(element: Element) -> Self {
        element.symbol()
    }
}

impl TryFrom<String> for Element {
    type Error = String;

    fn try_from(symbol: String) -> Result<Self, Self::Error> {
        Self::from_symbol(&symbol).ok_or_else(|| format!("'{symbol}' is not a chemical element"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_symbol_parses_to_its_element() {
        for element in (0..=118).map(Element) {
            assert_eq!(Element::from_symbol(element.symbol()), Some(element));
            assert_eq!(
                Element::from_symbol(&element.symbol().to_uppercase()),
                Some(element)
            );
            assert!(element.mass() >= 1.0);
            assert!((0.1..=0.35).contains(&element.vdw_radius()));
        }
        assert_eq!(Element::UNKNOWN.mass(), Element::C.mass());
        assert_eq!(Element::UNKNOWN.vdw_radius(), Element::C.vdw_radius());
    }
}
