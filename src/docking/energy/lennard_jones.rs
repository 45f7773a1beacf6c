//! Wells of Lennard-Jones.
//!
//! Half distances of the minimum and depths are those of Cornell et al. 1995 (AMBER's
//! parm94), one for each element but for hydrogen (on carbon, or on something polar) and
//! carbon (with four neighbors, or with fewer); of the halogens beyond fluorine those of
//! Wang et al. 2004 (GAFF). Other elements take their van der Waals radius times the sixth
//! root of two, and a shallow well: a stand-in, good enough to be in the way.
//! Pairs have the sum of their half distances and the geometric mean of their depths.

use super::pair_potential::{EnergyConfig, SoftLennardJones};
use crate::molecule::Element;

/// kJ in a kcal: the tables have the latter.
const KJ: f64 = 4.184;

/// Depth of the well of elements without one, kcal/mol.
const OTHER_DEPTH: f64 = 0.05;

/// A well of Lennard-Jones as an atom brings it to a pair.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LennardJones {
    /// Half of the distance at which two such atoms have the lowest energy, nm.
    pub half_distance: f64,
    /// Depth of the well between two such atoms, kJ/mol.
    pub depth: f64,
}

impl LennardJones {
    const fn new(half_distance_angstrom: f64, depth_kcal: f64) -> Self {
        Self {
            half_distance: half_distance_angstrom / 10.0,
            depth: depth_kcal * KJ,
        }
    }

    /// The kind of an atom with these elements around it.
    #[must_use]
    pub fn of(element: Element, neighbors: &[Element]) -> Self {
        match element {
            Element::H if neighbors.iter().all(|other| *other == Element::C) => {
                Self::new(1.487, 0.0157)
            }
            Element::H => Self::new(0.6, 0.0157),
            Element::C if neighbors.len() == 4 => Self::new(1.908, 0.1094),
            Element::C => Self::new(1.908, 0.086),
            Element::N => Self::new(1.824, 0.17),
            Element::O => Self::new(1.6612, 0.21),
            Element::F => Self::new(1.75, 0.061),
            Element::P => Self::new(2.1, 0.2),
            Element::S => Self::new(2.0, 0.25),
            Element::CL => Self::new(1.948, 0.265),
            Element::BR => Self::new(2.22, 0.32),
            Element::I => Self::new(2.35, 0.4),
            other => Self {
                half_distance: f64::from(other.vdw_radius()) * 2.0_f64.powf(1.0 / 6.0),
                depth: OTHER_DEPTH * KJ,
            },
        }
    }

    /// The law of two atoms.
    #[must_use]
    pub fn with(&self, other: &Self, config: &EnergyConfig) -> SoftLennardJones {
        SoftLennardJones {
            distance: self.half_distance + other.half_distance,
            depth: (self.depth * other.depth).sqrt(),
            soft: f64::from(config.soft),
        }
    }
}
