//! Desolvation: the cost of removing water from around an atom.
//!
//! Without it, any crevice would be as good as a cavity, although water has to leave its polar
//! atoms first. The model of Stouten et al. 1993 in the form and with the parameters of
//! `AutoDock` 4 (Huey et al. 2007): a pair costs (S₁V₂ + S₂V₁) exp(−r²/2σ²), with the volume V of
//! an atom and the cost S = a + b|q| per volume next to it, negative for apolar and positive for
//! polar atoms. The charge q of a carbon includes its hydrogens.

use super::lennard_jones::KJ_PER_KCAL;
use crate::molecule::Element;

/// σ, nm.
pub(super) const WIDTH_NM: f64 = 0.36;

/// b: cost per volume and charge, kcal/(mol·Å³·e).
const COST_PER_CHARGE: f64 = 0.01097;

/// Weight relative to Lennard-Jones in `AutoDock`.
const WEIGHT: f64 = 0.1322 / 0.1662;

/// Solvation parameters of an atom.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Solvation {
    /// Displaced volume, Å³.
    pub(super) volume: f64,
    /// Cost per volume next to the atom, kJ/(mol·Å³).
    pub(super) cost: f64,
}

impl Solvation {
    /// The parameters of an atom. `is_planar` marks carbons with fewer than four neighbors.
    pub(super) fn of(element: Element, is_planar: bool, charge: f32) -> Self {
        let (volume, base) = match element {
            Element::H => (0.0, 0.000_51),
            Element::C if is_planar => (33.51, -0.000_52),
            Element::C => (33.51, -0.001_43),
            Element::N => (22.45, -0.001_62),
            Element::O => (17.16, -0.002_51),
            Element::F => (15.45, -0.001_1),
            Element::P => (38.79, -0.001_1),
            Element::S => (33.51, -0.002_14),
            Element::CL => (35.82, -0.001_1),
            Element::BR => (42.57, -0.001_1),
            Element::I => (55.06, -0.001_1),
            // About the values of AutoDock for metal ions.
            _ => (2.0, -0.001_1),
        };
        Self {
            volume,
            cost: (base + COST_PER_CHARGE * f64::from(charge.abs())) * KJ_PER_KCAL * WEIGHT,
        }
    }

    /// Energy of a pair at the squared distance `s` in nm², kJ/mol, and its derivative by s.
    pub(super) fn with(&self, other: &Self, s: f64) -> (f64, f64) {
        let scale = -0.5 / (WIDTH_NM * WIDTH_NM);
        let cost = (self.cost * other.volume + other.cost * self.volume) * (scale * s).exp();
        (cost, scale * cost)
    }
}
