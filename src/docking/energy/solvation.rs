//! What it costs to take the water from around an atom.
//!
//! Attraction alone holds that any crevice is as good as a cavity. But water is attracted to
//! the polar atoms of a crevice as well, and has to leave first. The law is that of Stouten
//! et al. 1993 in the form and with the figures of `AutoDock` 4 (Huey et al. 2007): two atoms
//! cost (S₁V₂ + S₂V₁) exp(−r²/2σ²), where V is an atom's volume and S = a + b|q| what it
//! costs to put a unit of volume next to it, less than zero for fat and more for polar atoms.
//! In charges q, hydrogens on carbon count to their carbon.

use crate::molecule::Element;

/// σ, nm.
pub(super) const WIDTH_NM: f64 = 0.36;

/// kJ in a kcal: the figures have the latter.
const KJ: f64 = 4.184;

/// b: what a charge adds, kcal/mol for each Å³ and proton's charge.
const BY_CHARGE: f64 = 0.01097;

/// Weight beside Lennard-Jones: that of `AutoDock`, 0.1322 over 0.1662.
const WEIGHT: f64 = 0.1322 / 0.1662;

/// What an atom brings to a pair.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Solvation {
    /// Volume of what it displaces, Å³.
    pub volume: f64,
    /// What it costs to put a unit of volume next to it, kJ/mol for each Å³.
    pub cost: f64,
}

impl Solvation {
    /// Of an atom with a charge; `flat` is whether it is a carbon with less than four
    /// neighbors.
    #[must_use]
    pub fn of(element: Element, flat: bool, charge: f32) -> Self {
        let (volume, base) = match element {
            Element::H => (0.0, 0.000_51),
            Element::C if flat => (33.51, -0.000_52),
            Element::C => (33.51, -0.001_43),
            Element::N => (22.45, -0.001_62),
            Element::O => (17.16, -0.002_51),
            Element::F => (15.45, -0.001_1),
            Element::P => (38.79, -0.001_1),
            Element::S => (33.51, -0.002_14),
            Element::CL => (35.82, -0.001_1),
            Element::BR => (42.57, -0.001_1),
            Element::I => (55.06, -0.001_1),
            // About what AutoDock has for the ions of metals.
            _ => (2.0, -0.001_1),
        };
        Self {
            volume,
            cost: (base + BY_CHARGE * f64::from(charge.abs())) * KJ * WEIGHT,
        }
    }

    /// What two atoms cost at the squared distance `s`, nm², kJ/mol, and its slope over s.
    pub(super) fn with(&self, other: &Self, s: f64) -> (f64, f64) {
        let scale = -0.5 / (WIDTH_NM * WIDTH_NM);
        let cost = (self.cost * other.volume + other.cost * self.volume) * (scale * s).exp();
        (cost, scale * cost)
    }
}
