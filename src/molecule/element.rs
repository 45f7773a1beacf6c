//! Chemical elements: symbol, standard atomic weight, van der Waals radius.
//!
//! - Weights: IUPAC abridged standard atomic weights, dalton. Elements without a stable isotope
//!   have the mass number of the longest-lived one.
//! - Radii in picometers, from the first of these sources that lists the element: Mantina et al.
//!   2009 (main group; keeps the good values of Bondi), Bondi 1964 (late transition metals, U),
//!   Alvarez 2013 (other metals). 0 marks elements without a published radius, which have
//!   [`DEFAULT_RADIUS_PM`].

use std::fmt;

use serde::{Deserialize, Serialize};

/// Radius of elements without a published one, picometers: the customary 2 Å.
const DEFAULT_RADIUS_PM: u16 = 200;

/// (symbol, weight in Da, radius in pm) by atomic number. Entry 0 is the unknown element, which
/// has the weight and radius of carbon.
#[rustfmt::skip]
const ELEMENTS: [(&str, f32, u16); 119] = [
    ("X", 12.011, 170),
    ("H", 1.008, 110), ("He", 4.0026, 140), ("Li", 6.94, 181), ("Be", 9.0122, 153),
    ("B", 10.81, 192), ("C", 12.011, 170), ("N", 14.007, 155), ("O", 15.999, 152),
    ("F", 18.998, 147), ("Ne", 20.180, 154), ("Na", 22.990, 227), ("Mg", 24.305, 173),
    ("Al", 26.982, 184), ("Si", 28.085, 210), ("P", 30.974, 180), ("S", 32.06, 180),
    ("Cl", 35.45, 175), ("Ar", 39.95, 188), ("K", 39.098, 275), ("Ca", 40.078, 231),
    ("Sc", 44.956, 258), ("Ti", 47.867, 246), ("V", 50.942, 242), ("Cr", 51.996, 245),
    ("Mn", 54.938, 245), ("Fe", 55.845, 244), ("Co", 58.933, 240), ("Ni", 58.693, 163),
    ("Cu", 63.546, 140), ("Zn", 65.38, 139), ("Ga", 69.723, 187), ("Ge", 72.630, 211),
    ("As", 74.922, 185), ("Se", 78.971, 190), ("Br", 79.904, 183), ("Kr", 83.798, 202),
    ("Rb", 85.468, 303), ("Sr", 87.62, 249), ("Y", 88.906, 275), ("Zr", 91.224, 252),
    ("Nb", 92.906, 256), ("Mo", 95.95, 245), ("Tc", 97.0, 244), ("Ru", 101.07, 246),
    ("Rh", 102.91, 244), ("Pd", 106.42, 163), ("Ag", 107.87, 172), ("Cd", 112.41, 158),
    ("In", 114.82, 193), ("Sn", 118.71, 217), ("Sb", 121.76, 206), ("Te", 127.60, 206),
    ("I", 126.90, 198), ("Xe", 131.29, 216), ("Cs", 132.91, 343), ("Ba", 137.33, 268),
    ("La", 138.91, 298), ("Ce", 140.12, 288), ("Pr", 140.91, 292), ("Nd", 144.24, 295),
    ("Pm", 145.0, 0), ("Sm", 150.36, 290), ("Eu", 151.96, 287), ("Gd", 157.25, 283),
    ("Tb", 158.93, 279), ("Dy", 162.50, 287), ("Ho", 164.93, 281), ("Er", 167.26, 283),
    ("Tm", 168.93, 279), ("Yb", 173.05, 280), ("Lu", 174.97, 274), ("Hf", 178.49, 263),
    ("Ta", 180.95, 253), ("W", 183.84, 257), ("Re", 186.21, 249), ("Os", 190.23, 248),
    ("Ir", 192.22, 241), ("Pt", 195.08, 175), ("Au", 196.97, 166), ("Hg", 200.59, 155),
    ("Tl", 204.38, 196), ("Pb", 207.2, 202), ("Bi", 208.98, 207), ("Po", 209.0, 197),
    ("At", 210.0, 202), ("Rn", 222.0, 220), ("Fr", 223.0, 348), ("Ra", 226.0, 283),
    ("Ac", 227.0, 280), ("Th", 232.04, 293), ("Pa", 231.04, 288), ("U", 238.03, 186),
    ("Np", 237.0, 282), ("Pu", 244.0, 281), ("Am", 243.0, 283), ("Cm", 247.0, 305),
    ("Bk", 247.0, 340), ("Cf", 251.0, 305), ("Es", 252.0, 270), ("Fm", 257.0, 0),
    ("Md", 258.0, 0), ("No", 259.0, 0), ("Lr", 262.0, 0), ("Rf", 267.0, 0),
    ("Db", 268.0, 0), ("Sg", 269.0, 0), ("Bh", 270.0, 0), ("Hs", 269.0, 0),
    ("Mt", 278.0, 0), ("Ds", 281.0, 0), ("Rg", 282.0, 0), ("Cn", 285.0, 0),
    ("Nh", 286.0, 0), ("Fl", 289.0, 0), ("Mc", 290.0, 0), ("Lv", 293.0, 0),
    ("Ts", 294.0, 0), ("Og", 294.0, 0),
];

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

    /// All elements, in the order of their numbers.
    #[cfg(feature = "recipe")]
    pub(crate) fn all_known() -> impl Iterator<Item = Self> {
        (1..ELEMENTS.len() as u8).map(Self)
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

    /// Standard atomic weight, dalton; of elements without a stable isotope, the mass number of the
    /// longest-lived one.
    #[must_use]
    pub const fn mass(self) -> f32 {
        ELEMENTS[self.0 as usize].1
    }

    /// Van der Waals radius, nm; 0.2 nm for elements without a published radius.
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
