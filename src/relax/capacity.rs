//! How many molecules a surface can hold, before anything is tried.
//!
//! The *footprint* of a molecule is the area of its outline, seen along its up
//! vector. Outlines of convoluted molecules may overlap while their atoms do not:
//! tails of lipids reach into one another's gaps. So a surface holds more than its
//! area divided by the footprint, by a factor that was measured, and a crowd above
//! it gets a warning with the number that would fit.

use glam::Vec3;
use thiserror::Error;

use crate::crowd::Crowd;
use crate::molecule::MoleculeTemplate;

/// How many times the area of a surface the outlines on it may add up to.
///
/// Measured with POPC (atoms of 0.1 nm) in vesicles of 5.2 nm: 530 lipids in the
/// outer leaflet, 1.31 times its surface, come to rest; 560, 1.39 times, do not.
pub const INTERLOCKING: f32 = 1.35;

/// Size of the squares that an outline is measured with, nm.
const PIXEL_NM: f32 = 0.02;

/// Most squares along a side of an outline; larger molecules get larger squares.
const MAX_PIXELS: usize = 512;

/// More molecules than a surface can hold.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error(
    "{molecules} molecules will hardly fit: their outlines of {footprint_nm2:.2} nm² cover {coverage:.2} times the surface of {area_nm2:.0} nm² {offset_nm:+.1} nm from compartment {compartment}; about {fitting} would fit"
)]
pub struct CapacityWarning {
    /// Index of the compartment.
    pub compartment: u32,
    /// Distance of the molecules' centres from its surface, nm.
    pub offset_nm: f32,
    /// Molecules that are to be there.
    pub molecules: usize,
    /// Molecules that would fit.
    pub fitting: usize,
    /// Mean area of their outlines, nm².
    pub footprint_nm2: f32,
    /// Area of the surface at that distance, nm².
    pub area_nm2: f32,
    /// Area of all outlines divided by that of the surface.
    pub coverage: f32,
}

/// Area (nm²) of the outline of a molecule's spheres, seen along `up` (body frame).
#[must_use]
pub fn footprint(template: &MoleculeTemplate, up: Vec3) -> f32 {
    let (u, v) = up.normalize_or(Vec3::Y).any_orthonormal_pair();
    let reach = template.bounding_radius();
    let pixel = PIXEL_NM.max(2.0 * reach / MAX_PIXELS as f32);
    let side = (2.0 * reach / pixel).ceil() as usize + 1;
    let mut covered = vec![false; side * side];
    for (position, &radius) in template.positions().iter().zip(template.radii()) {
        let centre = [position.dot(u) + reach, position.dot(v) + reach];
        let first = centre.map(|c| ((c - radius) / pixel).max(0.0) as usize);
        let last = centre.map(|c| (((c + radius) / pixel) as usize).min(side - 1));
        for row in first[1]..=last[1] {
            for column in first[0]..=last[0] {
                let dx = (column as f32 + 0.5) * pixel - centre[0];
                let dy = (row as f32 + 0.5) * pixel - centre[1];
                if dx * dx + dy * dy < radius * radius {
                    covered[row * side + column] = true;
                }
            }
        }
    }
    covered.iter().filter(|&&c| c).count() as f32 * pixel * pixel
}

/// Warnings for every surface of `crowd` that has more molecules than it can hold.
#[must_use]
pub fn capacity_warnings(crowd: &Crowd) -> Vec<CapacityWarning> {
    // Outlines are measured once for each template and placement.
    let mut outlines: Vec<Option<f32>> =
        vec![None; crowd.templates().len() * crowd.placements().len()];
    let mut totals = vec![(0_usize, 0.0_f32); crowd.placements().len()];
    for member in crowd.members() {
        let Some(placement) = member.placement else {
            continue;
        };
        let place = &crowd.placements()[placement as usize].placement;
        let slot = member.template as usize * crowd.placements().len() + placement as usize;
        let outline =
            *outlines[slot].get_or_insert_with(|| footprint(crowd.template_of(member), place.up));
        let (count, area) = &mut totals[placement as usize];
        *count += 1;
        *area += outline;
    }
    crowd
        .placements()
        .iter()
        .zip(totals)
        .filter_map(|(place, (molecules, outlines))| {
            let offset = place.placement.offset();
            let area = crowd.compartments()[place.compartment as usize].area_at(offset);
            if outlines <= INTERLOCKING * area {
                return None;
            }
            let footprint = outlines / molecules as f32;
            Some(CapacityWarning {
                compartment: place.compartment,
                offset_nm: offset,
                molecules,
                fitting: (INTERLOCKING * area / footprint) as usize,
                footprint_nm2: footprint,
                area_nm2: area,
                coverage: outlines / area,
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::molecule::{Atom, Element, Residue};

    fn molecule(atoms: &[(Vec3, f32)]) -> MoleculeTemplate {
        let atoms = atoms
            .iter()
            .map(|&(position, radius)| Atom {
                position,
                radius,
                element: Element::C,
                name: "C".into(),
                residue: 0,
            })
            .collect();
        MoleculeTemplate::new("test", atoms, vec![Residue::default()]).unwrap()
    }

    #[test]
    fn the_outline_of_a_ball_is_a_disc() {
        let ball = molecule(&[(Vec3::ZERO, 0.5)]);
        let disc = std::f32::consts::PI * 0.25;
        for up in [Vec3::X, Vec3::Y, Vec3::new(1.0, -2.0, 0.5)] {
            assert!((footprint(&ball, up) - disc).abs() < 0.02 * disc);
        }
    }

    #[test]
    fn a_rod_has_a_small_outline_along_its_axis_and_a_large_one_across() {
        let rod = molecule(&[
            (Vec3::ZERO, 0.5),
            (Vec3::Y * 1.0, 0.5),
            (Vec3::Y * 2.0, 0.5),
        ]);
        let disc = std::f32::consts::PI * 0.25;
        assert!((footprint(&rod, Vec3::Y) - disc).abs() < 0.02 * disc);
        assert!((footprint(&rod, Vec3::X) - 3.0 * disc).abs() < 0.06 * disc);
    }
}
