//! Covalent bonds, by the distances of atoms.

use std::ops::ControlFlow;

use super::{Element, LocalGrid, MoleculeTemplate};

/// Maximum bond length beyond the sum of the covalent radii, nm.
const TOLERANCE_NM: f32 = 0.03;

/// Covalent radius of an element, nm (Cordero et al. 2008). Heavier elements share one value.
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

/// The sorted bond partners of each atom. A hydrogen is bonded to the nearest heavy atom only.
pub(crate) fn bonds(molecule: &MoleculeTemplate) -> Vec<Vec<u32>> {
    let elements = molecule.elements();
    let positions = molecule.positions();
    let radii: Vec<f32> = elements.iter().copied().map(covalent_radius).collect();
    let grid = LocalGrid::new(positions, &radii);
    let mut bonds = vec![Vec::new(); positions.len()];
    for (index, &position) in positions.iter().enumerate() {
        let is_hydrogen = elements[index] == Element::H;
        let mut nearest: Option<(f32, u32)> = None;
        let _ = grid.visit_touching(position, radii[index] + TOLERANCE_NM, |other| {
            let is_heavy = elements[other.index as usize] != Element::H;
            if is_hydrogen && is_heavy {
                let candidate = (position.distance(other.center), other.index);
                nearest = Some(nearest.map_or(candidate, |best| {
                    if candidate < best { candidate } else { best }
                }));
            } else if !is_hydrogen && is_heavy && other.index as usize != index {
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
