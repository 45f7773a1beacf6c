//! Lennard-Jones parameters of atoms.
//!
//! Parameters are those of Cornell et al. 1995 (AMBER's parm94), one set per element, except
//! that hydrogen is split by polarity and carbon by its number of neighbors. Chlorine, bromine
//! and iodine are those of Wang et al. 2004 (GAFF). Other elements get their van der Waals
//! radius times the sixth root of two and a shallow well: a rough substitute. Pairs have the
//! sum of the half distances and the geometric mean of the depths.

use super::EnergyConfig;
use super::pair_potential::SoftLennardJones;
use crate::molecule::Element;

/// kJ per kcal.
pub(super) const KJ_PER_KCAL: f64 = 4.184;

/// Well depth of other elements, kcal/mol.
const OTHER_DEPTH: f64 = 0.05;

/// Lennard-Jones parameters of an atom.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LennardJones {
    /// Half the distance of the minimum for two equal atoms, nm.
    half_distance: f64,
    /// Well depth for two equal atoms, kJ/mol.
    depth: f64,
}

impl LennardJones {
    const fn new(half_distance_angstrom: f64, depth_kcal: f64) -> Self {
        Self {
            half_distance: half_distance_angstrom / 10.0,
            depth: depth_kcal * KJ_PER_KCAL,
        }
    }

    /// The parameters of an atom with these bonded elements.
    pub(super) fn of(element: Element, neighbors: &[Element]) -> Self {
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
                depth: OTHER_DEPTH * KJ_PER_KCAL,
            },
        }
    }

    /// The potential of a pair.
    pub(super) fn with(&self, other: &Self, config: &EnergyConfig) -> SoftLennardJones {
        SoftLennardJones {
            distance: self.half_distance + other.half_distance,
            depth: (self.depth * other.depth).sqrt(),
            soft: f64::from(config.soft),
        }
    }
}
