//! Which atoms of a molecule are bonded, by their distance.

use std::ops::ControlFlow;

use crate::molecule::{Element, LocalGrid, MoleculeTemplate};

/// How much longer than the sum of covalent radii a bond may be, nm.
const SPARE_NM: f32 = 0.03;

/// Covalent radius of an element, nm (Cordero et al. 2008); heavier ones share one.
fn covalent_radius(element: Element) -> f32 {
    match element {
        Element::H => 0.031,
        Element::C => 0.076,
        Element::N => 0.071,
        Element::O => 0.066,
        Element::F => 0.057,
        Element::P => 0.107,
        Element::S => 0.105,
        Element::CL => 0.102,
        Element::BR | Element::SE => 0.12,
        Element::I => 0.139,
        _ => 0.15,
    }
}

/// For each atom those that it is bonded to, in rising order. Hydrogens are bonded to the
/// nearest other atom only.
pub(super) fn bonds(molecule: &MoleculeTemplate) -> Vec<Vec<u32>> {
    let elements = molecule.elements();
    let positions = molecule.positions();
    let radii: Vec<f32> = elements.iter().copied().map(covalent_radius).collect();
    let grid = LocalGrid::new(positions, &radii);
    let mut bonds = vec![Vec::new(); positions.len()];
    for (index, &position) in positions.iter().enumerate() {
        let light = elements[index] == Element::H;
        let mut nearest: Option<(f32, u32)> = None;
        let _ = grid.visit_touching(position, radii[index] + SPARE_NM, |other| {
            let heavy = elements[other.index as usize] != Element::H;
            if light && heavy {
                let found = (position.distance(other.center), other.index);
                nearest =
                    Some(nearest.map_or(found, |known| if found < known { found } else { known }));
            } else if !light && heavy && other.index as usize != index {
                bonds[index].push(other.index);
            }
            ControlFlow::<()>::Continue(())
        });
        if let Some((_, other)) = nearest {
            bonds[index].push(other);
            bonds[other as usize].push(index as u32);
        }
    }
    for list in &mut bonds {
        list.sort_unstable();
    }
    bonds
}
