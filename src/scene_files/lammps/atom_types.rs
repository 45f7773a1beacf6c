//! [`AtomTypes`]: types of atoms, which have a mass and a radius.

use std::collections::HashMap;
use std::f64::consts::PI;

use super::super::Scene;
use crate::molecule::{COARSE_DENSITY, Element, MoleculeTemplate};

/// Smallest part of the mass by which a molecule of unknown atoms differs from as many carbon atoms
/// if it is coarse.
const MASS_ROUNDING: f32 = 1.0e-4;

/// Largest difference of a mass from that of an element, Da. Force fields round to less.
const MAX_MASS_ERROR: f32 = 0.3;

/// Our comment on the mass of a ball.
const BALL: &str = "ball, radius ";

/// A type of atoms.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct AtomType {
    pub element: Element,
    /// Dalton.
    pub mass: f32,
    /// Collision radius, nm.
    pub radius: f32,
}

/// The types of all atoms of a scene, in the order of their first atoms.
pub(super) struct AtomTypes {
    pub types: Vec<AtomType>,
    /// For each kind, the number (from 1) of the type of each atom.
    pub of_kinds: Vec<Vec<u32>>,
}

impl AtomTypes {
    pub fn of(scene: &Scene) -> Self {
        let mut types = Vec::new();
        let mut numbers = HashMap::new();
        let kinds = scene.kinds.iter().map(|kind| {
            let masses = masses(&kind.template);
            let atoms = kind.template.elements().iter().zip(kind.template.radii());
            let atoms = atoms.zip(masses).map(|((&element, &radius), mass)| {
                let key = (element, radius.to_bits(), mass.to_bits());
                *numbers.entry(key).or_insert_with(|| {
                    types.push(AtomType {
                        element,
                        mass,
                        radius,
                    });
                    types.len() as u32
                })
            });
            atoms.collect()
        });
        let of_kinds = kinds.collect();
        Self { types, of_kinds }
    }
}

/// The masses of the atoms: those of the elements, or of balls if the molecule is coarse.
fn masses(template: &MoleculeTemplate) -> Vec<f32> {
    let of_elements = template.elements().iter().map(|element| element.mass());
    let sum: f32 = of_elements.clone().sum();
    let is_coarse = template
        .elements()
        .iter()
        .all(|element| *element == Element::UNKNOWN)
        && (sum - template.mass()).abs() > MASS_ROUNDING * sum;
    if !is_coarse {
        return of_elements.collect();
    }
    let cube = |radius: &f32| f64::from(*radius).powi(3);
    let cubes: f64 = template.radii().iter().map(cube).sum();
    let radii = template.radii().iter();
    let masses = radii.map(|radius| (f64::from(template.mass()) * cube(radius) / cubes) as f32);
    masses.collect()
}

impl AtomType {
    /// The comment on its mass.
    pub fn comment(&self) -> String {
        if self.element == Element::UNKNOWN && self.mass != self.element.mass() {
            format!("{BALL}{} nm", self.radius)
        } else {
            self.element.symbol().to_owned()
        }
    }

    /// The type with this mass (Da) and comment. Elements have `radius_scale` times their van der
    /// Waals radius.
    pub fn of_mass(mass: f32, comment: &str, radius_scale: f32) -> Self {
        let element = nearest_element(mass);
        let ball = comment.trim().strip_prefix(BALL);
        let radius = ball.and_then(|text| text.strip_suffix(" nm")?.parse::<f32>().ok());
        match (radius, element) {
            (None, Some(element)) => Self {
                element,
                mass,
                radius: element.vdw_radius() * radius_scale,
            },
            _ => Self {
                element: Element::UNKNOWN,
                mass,
                radius: radius.unwrap_or_else(|| radius_of_ball(mass)),
            },
        }
    }
}

/// Radius of a ball with the density of protein, nm.
fn radius_of_ball(mass: f32) -> f32 {
    let volume = f64::from(mass) / f64::from(COARSE_DENSITY);
    (volume * 3.0 / (4.0 * PI)).cbrt() as f32
}

/// The element with this mass, if there is one.
fn nearest_element(mass: f32) -> Option<Element> {
    let error = |element: &Element| (element.mass() - mass).abs();
    let nearest = Element::all_known().min_by(|a, b| error(a).total_cmp(&error(b)))?;
    (error(&nearest) <= MAX_MASS_ERROR).then_some(nearest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn masses_are_those_of_elements_or_balls() {
        let of_mass = |mass, comment| AtomType::of_mass(mass, comment, 0.7);
        for (mass, element) in [
            (1.008, Element::H),
            (12.01, Element::C),
            (14.0, Element::N),
            (22.99, Element::NA),
            (72.0, Element::UNKNOWN),
            (1000.0, Element::UNKNOWN),
        ] {
            assert_eq!(of_mass(mass, " opls_135").element, element, "{mass}");
        }
        let carbon = of_mass(12.01, "");
        assert_eq!(carbon.radius, 0.7 * Element::C.vdw_radius());
        // A small ball is as heavy as carbon, and its comment tells them apart.
        let ball = AtomType {
            element: Element::UNKNOWN,
            mass: 12.02,
            radius: 0.1522,
        };
        assert_eq!(of_mass(ball.mass, &ball.comment()), ball);
        assert!((radius_of_ball(ball.mass) - ball.radius).abs() < 1.0e-4);
    }
}
