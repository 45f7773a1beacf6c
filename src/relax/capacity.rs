//! How many molecules a surface can hold, before anything is tried.
//!
//! The *footprint* of a molecule is the area of its outline, seen along its up
//! vector. Outlines of convoluted molecules may overlap while their atoms do not:
//! tails of lipids reach into one another's gaps. So a surface holds more than its
//! area divided by the footprint, by a factor that was measured, and a crowd above
//! it gets a warning with the number that would fit.

use glam::Vec3;
use thiserror::Error;

use crate::compartment::{Leaflet, Surface};
use crate::crowd::{Crowd, CrowdPlacement};
use crate::molecule::MoleculeTemplate;

/// How many times the area of a surface the outlines on it may add up to.
///
/// Measured with POPC (atoms of 0.1 nm) in vesicles of 5.2 nm, one seed each: 530
/// lipids in the outer leaflet, 1.31 times its surface, come to rest; 560, 1.39
/// times, did not in 1,500 iterations.
pub const INTERLOCKING: f32 = 1.35;

/// Coverage of a surface above which it is not worth to try.
///
/// Twenty layers never fit, and the pairs of atoms that overlap at the start, whose
/// number grows with the square of the coverage, would fill the memory.
pub const HOPELESS_COVERAGE: f32 = 20.0;

/// Size of the squares that an outline is measured with, nm.
const PIXEL_NM: f32 = 0.02;

/// Most squares along a side of an outline; larger molecules get larger squares.
const MAX_PIXELS: usize = 512;

/// More molecules than a surface can hold.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error(
    "{molecules} molecules will hardly fit: their outlines of {footprint_nm2:.2} nm² cover {coverage:.2} times the surface of {area_nm2:.0} nm² {offset_nm:+.1} nm from compartment {compartment}; about {fitting} would fit"
)]
#[non_exhaustive]
pub struct CapacityWarning {
    /// Index of the compartment.
    pub compartment: u32,
    /// Mean distance of the molecules' centers from its surface, nm: positive outside,
    /// negative inside.
    pub offset_nm: f32,
    /// Molecules that are to be there.
    pub molecules: usize,
    /// Molecules that would fit.
    pub fitting: usize,
    /// Mean area of their outlines, nm².
    pub footprint_nm2: f32,
    /// Area of the surface at that distance, nm².
    pub area_nm2: f32,
    /// Area of all outlines divided by that of the surface; infinite if that has none.
    pub coverage: f32,
}

/// Area (nm²) of the outline of a molecule's spheres, seen along `up` (body frame).
///
/// ```
/// use bevy_rapier_molecules::compartment::up_and_head;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::relax::capacity::footprint;
///
/// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// let (up, _) = up_and_head(&lipid);
/// let (upright, lying) = (footprint(&lipid, up), footprint(&lipid, up.any_orthogonal_vector()));
/// assert!(upright > 0.3 && upright < lying, "an upright lipid needs less room, nm²");
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
#[must_use]
pub fn footprint(template: &MoleculeTemplate, up: Vec3) -> f32 {
    let (u, v) = up.normalize_or(Vec3::Y).any_orthonormal_pair();
    let reach = template.bounding_radius();
    let pixel = PIXEL_NM.max(2.0 * reach / MAX_PIXELS as f32);
    let side = (2.0 * reach / pixel).ceil() as usize + 1;
    let mut covered = vec![false; side * side];
    for (position, &radius) in template.positions().iter().zip(template.radii()) {
        let center = [position.dot(u) + reach, position.dot(v) + reach];
        let first = center.map(|c| ((c - radius) / pixel).max(0.0) as usize);
        let last = center.map(|c| (((c + radius) / pixel) as usize).min(side - 1));
        for row in first[1]..=last[1] {
            for column in first[0]..=last[0] {
                let dx = (column as f32 + 0.5) * pixel - center[0];
                let dy = (row as f32 + 0.5) * pixel - center[1];
                if dx * dx + dy * dy < radius * radius {
                    covered[row * side + column] = true;
                }
            }
        }
    }
    covered.iter().filter(|&&c| c).count() as f32 * pixel * pixel
}

/// Warnings for every leaflet of `crowd` that has more molecules than it can hold.
///
/// Molecules of different placements on one side of a compartment share its surface.
#[must_use]
pub fn capacity_warnings(crowd: &Crowd) -> Vec<CapacityWarning> {
    let mut loads: Vec<Load> = Vec::new();
    let mut outlines: Vec<Option<f32>> =
        vec![None; crowd.templates().len() * crowd.placements().len()];
    for member in crowd.members() {
        let Some(index) = member.placement else {
            continue;
        };
        let CrowdPlacement {
            compartment,
            placement,
        } = crowd.placements()[index as usize];
        // Outlines are measured once for each template and placement.
        let slot = member.template as usize * crowd.placements().len() + index as usize;
        let outline = *outlines[slot]
            .get_or_insert_with(|| footprint(crowd.template_of(member), placement.up));
        let key = (compartment, placement.leaflet);
        let at = loads.iter().position(|load| load.key == key);
        let at = at.unwrap_or_else(|| {
            loads.push(Load::new(key));
            loads.len() - 1
        });
        loads[at].add(outline, placement.offset());
    }
    loads
        .iter()
        .filter_map(|load| {
            let surface = &crowd.compartments()[load.key.0 as usize];
            load.warning(surface.as_ref())
        })
        .collect()
}

/// What one side of a compartment has to hold.
struct Load {
    key: (u32, Leaflet),
    molecules: usize,
    outlines: f64,
    offsets: f64,
}

impl Load {
    fn new(key: (u32, Leaflet)) -> Self {
        Self {
            key,
            molecules: 0,
            outlines: 0.0,
            offsets: 0.0,
        }
    }

    fn add(&mut self, outline: f32, offset: f32) {
        self.molecules += 1;
        self.outlines += f64::from(outline);
        self.offsets += f64::from(offset);
    }

    fn warning(&self, surface: &dyn Surface) -> Option<CapacityWarning> {
        let offset = (self.offsets / self.molecules as f64) as f32;
        let area = surface.area_at(offset);
        let outlines = self.outlines as f32;
        if outlines <= INTERLOCKING * area {
            return None;
        }
        let footprint = outlines / self.molecules as f32;
        Some(CapacityWarning {
            compartment: self.key.0,
            offset_nm: offset,
            molecules: self.molecules,
            fitting: (INTERLOCKING * area / footprint) as usize,
            footprint_nm2: footprint,
            area_nm2: area,
            coverage: outlines / area,
        })
    }
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

    #[test]
    fn molecules_of_two_placements_share_one_surface() {
        use crate::compartment::{Placement, SphereShell};
        use crate::crowd::CrowdMember;
        use crate::pose::Pose;
        use std::sync::Arc;

        let warnings = |count: usize, placements: usize| {
            let mut crowd = Crowd::new();
            let template = crowd.add_template(Arc::new(molecule(&[(Vec3::ZERO, 0.5)])));
            let shell = SphereShell::new(Vec3::ZERO, 3.0).unwrap();
            let compartment = crowd.add_compartment(Arc::new(shell));
            for k in 0..placements {
                let placement = Placement {
                    leaflet: Leaflet::Outer,
                    depth: 0.0,
                    up: Vec3::Y,
                    leeway: 0.1 * k as f32,
                    tilt_leeway: 0.1,
                };
                crowd.add_placement(compartment, placement).unwrap();
            }
            for k in 0..count {
                let member = CrowdMember {
                    template,
                    placement: Some((k % placements) as u32),
                    pose: Pose::from_translation(Vec3::X * 3.0),
                };
                crowd.add_member(member).unwrap();
            }
            capacity_warnings(&crowd)
        };
        // 4π 3² / (π 0.5²) = 144 discs, 194 with the factor.
        assert!(warnings(180, 1).is_empty() && warnings(180, 2).is_empty());
        for placements in [1, 2] {
            let [warning] = warnings(220, placements)[..] else {
                panic!("one warning");
            };
            assert_eq!(warning.molecules, 220);
            assert!((185..205).contains(&warning.fitting), "{warning}");
        }
    }
}
