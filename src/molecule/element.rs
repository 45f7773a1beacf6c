//! Chemical elements: symbol, standard atomic weight, van der Waals radius.
//!
//! The numbers are in `element_table.rs`; this file is how to ask for them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::element_table::{DEFAULT_RADIUS_PM, TABLE};

/// A chemical element, by atomic number (1 to 118).
///
/// Isotopes are not told apart: deuterium and tritium are hydrogen. Serialised
/// as its symbol.
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
    /// Sulphur.
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
    /// Caesium.
    pub const CS: Self = Self(55);

    /// The element with this atomic number, if there is one.
    #[must_use]
    pub const fn from_atomic_number(number: u8) -> Option<Self> {
        if number >= 1 && number as usize <= TABLE.len() {
            Some(Self(number))
        } else {
            None
        }
    }

    /// The element with this symbol, in any letter case; `D` and `T` are hydrogen.
    #[must_use]
    pub fn from_symbol(symbol: &str) -> Option<Self> {
        let (first, second) = match *symbol.as_bytes() {
            [a] => (a.to_ascii_uppercase(), 0),
            [a, b] => (a.to_ascii_uppercase(), b.to_ascii_lowercase()),
            _ => return None,
        };
        match (first, second) {
            // The letters of almost every atom, without the search.
            (b'H' | b'D' | b'T', 0) => return Some(Self::H),
            (b'C', 0) => return Some(Self::C),
            (b'N', 0) => return Some(Self::N),
            (b'O', 0) => return Some(Self::O),
            _ => {}
        }
        (1..=TABLE.len() as u8).map(Self).find(|element| {
            let known = element.symbol().as_bytes();
            known[0] == first && known.get(1).copied().unwrap_or(0) == second
        })
    }

    /// Number of protons, 1 to 118.
    #[must_use]
    pub const fn atomic_number(self) -> u8 {
        self.0
    }

    /// Symbol as chemists write it, such as `Fe`.
    #[must_use]
    pub const fn symbol(self) -> &'static str {
        TABLE[self.0 as usize - 1].0
    }

    /// Standard atomic weight, dalton.
    ///
    /// For elements without a stable isotope: the mass number of the longest-lived one.
    #[must_use]
    pub const fn mass(self) -> f32 {
        TABLE[self.0 as usize - 1].1
    }

    /// Van der Waals radius, nm.
    ///
    /// Elements for which none is published have 0.2 nm.
    #[must_use]
    pub const fn vdw_radius(self) -> f32 {
        let picometers = match TABLE[self.0 as usize - 1].2 {
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
    fn every_symbol_names_its_own_element() {
        for number in 1..=118 {
            let element = Element::from_atomic_number(number).unwrap();
            assert_eq!(Element::from_symbol(element.symbol()), Some(element));
            assert_eq!(
                Element::from_symbol(&element.symbol().to_uppercase()),
                Some(element)
            );
            assert!(element.mass() >= 1.0);
            assert!((0.1..=0.35).contains(&element.vdw_radius()));
        }
        assert_eq!(Element::from_atomic_number(0), None);
        assert_eq!(Element::from_atomic_number(119), None);
    }

    #[test]
    fn constants_have_their_symbols() {
        let known = [
            (Element::H, "H"),
            (Element::C, "C"),
            (Element::N, "N"),
            (Element::O, "O"),
            (Element::F, "F"),
            (Element::NA, "Na"),
            (Element::MG, "Mg"),
            (Element::P, "P"),
            (Element::S, "S"),
            (Element::CL, "Cl"),
            (Element::K, "K"),
            (Element::CA, "Ca"),
            (Element::FE, "Fe"),
            (Element::ZN, "Zn"),
            (Element::SE, "Se"),
            (Element::BR, "Br"),
            (Element::I, "I"),
            (Element::CS, "Cs"),
        ];
        for (element, symbol) in known {
            assert_eq!(element.to_string(), symbol);
        }
    }

    #[test]
    fn heavy_hydrogen_is_hydrogen_and_nonsense_is_nothing() {
        assert_eq!(Element::from_symbol("d"), Some(Element::H));
        assert_eq!(Element::from_symbol("T"), Some(Element::H));
        for nonsense in ["", " ", "X", "Zz", "Cax", "ü", "1", "C "] {
            assert_eq!(Element::from_symbol(nonsense), None, "{nonsense:?}");
        }
    }

    #[test]
    fn serialized_as_the_symbol() {
        let text = serde_json::to_string(&Element::FE).unwrap();
        assert_eq!(text, "\"Fe\"");
        assert_eq!(serde_json::from_str::<Element>(&text).unwrap(), Element::FE);
        assert!(serde_json::from_str::<Element>("\"Qq\"").is_err());
    }
}
