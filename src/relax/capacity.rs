//! Capacity: whether the molecules of a crowd fit on their surfaces.
//!
//! The *footprint* of a molecule is the area of its outline along its up vector. Within its
//! tilt leeway a molecule takes the orientation with the smallest footprint, and within its
//! leeway it moves to where the surface is largest, or into another layer. Outlines of
//! convoluted molecules may overlap while their atoms do not, since lipid tails interlock:
//! footprints may add up to [`INTERLOCKING`] times the area.

use glam::{Quat, Vec3};
use thiserror::Error;

use crate::compartment::{Confinement, Leaflet, Placement, Surface};
use crate::crowd::{Crowd, CrowdPlacement};
use crate::molecule::MoleculeTemplate;

/// Maximum sum of footprints, in units of the reachable area.
///
/// Measured with POPC (atoms of 0.1 nm, leeway 0.2 nm, tilt leeway 25°) in vesicles of 5.2 nm,
/// one seed each: 530 lipids in the outer leaflet, 1.17 times the area, come to rest; 560,
/// 1.24 times, do not within 1,500 iterations.
pub const INTERLOCKING: f32 = 1.2;

/// Coverage above which a relaxation is not worth trying.
///
/// The pairs of atoms that overlap at the start grow with the square of the coverage and would
/// exhaust the memory.
pub const HOPELESS_COVERAGE: f32 = 20.0;

/// Pixel size of an outline, nm.
const PIXEL_NM: f32 = 0.02;

/// Maximum pixels along a side of an outline; larger molecules get larger pixels.
const MAX_PIXELS: usize = 512;

/// Directions of tilt that are tried.
const TILT_DIRECTIONS: u32 = 8;

/// More molecules than a surface can hold.
#[derive(Clone, Copy, Debug, PartialEq, Error)]
#[error(
    "{molecules} molecules will hardly fit: their footprints of {footprint_nm2:.2} nm² cover {coverage:.2} times the area of {area_nm2:.0} nm² that they can reach {offset_nm:+.1} nm from compartment {compartment}; about {fitting} would fit"
)]
#[non_exhaustive]
pub struct CapacityWarning {
    /// Index of the compartment.
    pub compartment: u32,
    /// Mean target distance of the molecules from its surface, nm; negative inside.
    pub offset_nm: f32,
    /// Number of molecules.
    pub molecules: usize,
    /// Number of molecules that would fit.
    pub fitting: usize,
    /// Mean of their smallest footprints within their tilt leeway, nm².
    pub footprint_nm2: f32,
    /// Area that they can reach within their leeway, nm²: the largest offset surface, times the
    /// number of layers.
    pub area_nm2: f32,
    /// Sum of the footprints divided by that area; infinite without area.
    pub coverage: f32,
}

/// Area (nm²) of the outline of a molecule along `up` (body frame).
///
/// ```
/// use bevy_rapier_molecules::compartment::up_and_head;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::relax::capacity::footprint;
///
/// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// let (up, _) = up_and_head(&lipid);
/// let (upright, lying) = (footprint(&lipid, up), footprint(&lipid, up.any_orthogonal_vector()));
/// assert!(upright > 0.3 && upright < lying, "an upright lipid needs less area, nm²");
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

/// The smallest footprint (nm²) of a molecule that may tilt within its leeway.
fn smallest_footprint(template: &MoleculeTemplate, placement: &Placement) -> f32 {
    let upright = footprint(template, placement.up);
    let max_tilt = placement.tilt_leeway.min(std::f32::consts::FRAC_PI_2);
    if max_tilt == 0.0 {
        return upright;
    }
    let side = placement.up.any_orthonormal_vector();
    let tilted = (0..TILT_DIRECTIONS).flat_map(|k| {
        let around = std::f32::consts::TAU * k as f32 / TILT_DIRECTIONS as f32;
        let axis = Quat::from_axis_angle(placement.up, around) * side;
        [0.5, 1.0].map(|part| Quat::from_axis_angle(axis, part * max_tilt) * placement.up)
    });
    tilted.fold(upright, |smallest, up| {
        smallest.min(footprint(template, up))
    })
}

/// Area (nm²) that molecules of a placement can reach: that of the largest offset surface
/// within the leeway, times the number of layers that fit into it.
fn reachable_area(
    template: &MoleculeTemplate,
    placement: &Placement,
    surface: &dyn Surface,
) -> f32 {
    let leeway = placement.leeway;
    if leeway.is_infinite() {
        return f32::INFINITY;
    }
    let spheres = template.positions().iter().zip(template.radii());
    let (low, high) = spheres.fold((f32::INFINITY, f32::NEG_INFINITY), |(low, high), (p, r)| {
        let height = p.dot(placement.up);
        (low.min(height - r), high.max(height + r))
    });
    let layers = 1.0 + (2.0 * leeway / (high - low)).floor();
    let offset = placement.offset();
    let areas = [offset - leeway, offset, offset + leeway].map(|offset| surface.area_at(offset));
    layers * areas.into_iter().fold(0.0, f32::max)
}

/// Warnings for every leaflet of `crowd` with more molecules than it can hold.
///
/// Molecules of different placements on one side of a compartment share its surface. Molecules
/// inside or outside a compartment do not count.
#[must_use]
pub fn capacity_warnings(crowd: &Crowd) -> Vec<CapacityWarning> {
    let mut loads: Vec<Load> = Vec::new();
    // Footprint and area of each template and placement, computed once.
    let mut demands: Vec<Option<[f32; 2]>> =
        vec![None; crowd.templates().len() * crowd.placements().len()];
    for member in crowd.members() {
        let Some(index) = member.placement else {
            continue;
        };
        let CrowdPlacement {
            compartment,
            confinement: Confinement::Surface(placement),
        } = crowd.placements()[index as usize]
        else {
            continue;
        };
        let slot = member.template as usize * crowd.placements().len() + index as usize;
        let demand = *demands[slot].get_or_insert_with(|| {
            let template = crowd.template_of(member);
            let surface = &crowd.compartments()[compartment as usize];
            let area = reachable_area(template, &placement, surface.as_ref());
            [smallest_footprint(template, &placement), area]
        });
        let key = (compartment, placement.leaflet);
        let at = loads.iter().position(|load| load.key == key);
        let at = at.unwrap_or_else(|| {
            loads.push(Load::new(key));
            loads.len() - 1
        });
        loads[at].add(demand, placement.offset());
    }
    loads.iter().filter_map(Load::warning).collect()
}

/// Molecules on one side of a compartment.
struct Load {
    key: (u32, Leaflet),
    molecules: usize,
    footprints: f64,
    areas: f64,
    offsets: f64,
}

impl Load {
    fn new(key: (u32, Leaflet)) -> Self {
        Self {
            key,
            molecules: 0,
            footprints: 0.0,
            areas: 0.0,
            offsets: 0.0,
        }
    }

    fn add(&mut self, [footprint, area]: [f32; 2], offset: f32) {
        self.molecules += 1;
        self.footprints += f64::from(footprint);
        self.areas += f64::from(area);
        self.offsets += f64::from(offset);
    }

    fn warning(&self) -> Option<CapacityWarning> {
        let molecules = self.molecules as f64;
        let area = (self.areas / molecules) as f32;
        let footprints = self.footprints as f32;
        if footprints <= INTERLOCKING * area {
            return None;
        }
        let footprint = footprints / self.molecules as f32;
        Some(CapacityWarning {
            compartment: self.key.0,
            offset_nm: (self.offsets / molecules) as f32,
            molecules: self.molecules,
            fitting: (INTERLOCKING * area / footprint) as usize,
            footprint_nm2: footprint,
            area_nm2: area,
            coverage: footprints / area,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;
    use crate::compartment::SphereShell;
    use crate::crowd::CrowdMember;
    use crate::molecule::{Atom, Element, Residue};
    use crate::pose::Pose;

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
    fn the_footprint_of_a_ball_is_a_disc() {
        let ball = molecule(&[(Vec3::ZERO, 0.5)]);
        let disc = std::f32::consts::PI * 0.25;
        for up in [Vec3::X, Vec3::Y, Vec3::new(1.0, -2.0, 0.5)] {
            assert!((footprint(&ball, up) - disc).abs() < 0.02 * disc);
        }
    }

    #[test]
    fn a_rod_has_a_small_footprint_along_its_axis_and_a_large_one_across() {
        let rod = molecule(&[
            (Vec3::ZERO, 0.5),
            (Vec3::Y * 1.0, 0.5),
            (Vec3::Y * 2.0, 0.5),
        ]);
        let disc = std::f32::consts::PI * 0.25;
        assert!((footprint(&rod, Vec3::Y) - disc).abs() < 0.02 * disc);
        assert!((footprint(&rod, Vec3::X) - 3.0 * disc).abs() < 0.06 * disc);
    }

    /// Warnings for balls of radius 0.5 nm on a sphere of 3 nm.
    fn warnings(
        count: usize,
        placements: &[impl Into<Confinement> + Copy],
        atoms: &[(Vec3, f32)],
    ) -> Vec<CapacityWarning> {
        let mut crowd = Crowd::new();
        let template = crowd.add_template(Arc::new(molecule(atoms)));
        let shell = SphereShell::new(Vec3::ZERO, 3.0).unwrap();
        let compartment = crowd.add_compartment(Arc::new(shell));
        for &placement in placements {
            crowd.add_placement(compartment, placement).unwrap();
        }
        for k in 0..count {
            let member = CrowdMember {
                template,
                placement: Some((k % placements.len()) as u32),
                pose: Pose::from_translation(Vec3::X * 3.0),
                ..CrowdMember::default()
            };
            crowd.add_member(member).unwrap();
        }
        capacity_warnings(&crowd)
    }

    const BALL: [(Vec3, f32); 1] = [(Vec3::ZERO, 0.5)];

    const PLACEMENT: Placement = Placement {
        leaflet: Leaflet::Outer,
        depth: 0.0,
        up: Vec3::Y,
        leeway: 0.0,
        tilt_leeway: 0.0,
    };

    #[test]
    fn molecules_of_two_placements_share_one_surface() {
        let other = Placement {
            tilt_leeway: 0.1,
            ..PLACEMENT
        };
        // 4π 3² / (π 0.5²) = 144 discs, 172 with the factor.
        for placements in [&[PLACEMENT][..], &[PLACEMENT, other]] {
            assert!(warnings(165, placements, &BALL).is_empty());
            let [warning] = warnings(200, placements, &BALL)[..] else {
                panic!("one warning");
            };
            assert_eq!(warning.molecules, 200);
            assert!((165..180).contains(&warning.fitting), "{warning}");
        }
    }

    #[test]
    fn only_molecules_in_the_surface_need_its_area() {
        let surface = Confinement::from(PLACEMENT);
        let inside = Confinement::Inside { distance: 0.0 };
        let outside = Confinement::Outside { distance: 0.0 };
        assert!(warnings(10_000, &[inside, outside], &BALL).is_empty());
        let [warning] = warnings(600, &[surface, inside, outside], &BALL)[..] else {
            panic!("one warning");
        };
        assert_eq!(warning.molecules, 200);
    }

    #[test]
    fn a_leeway_adds_area_and_layers() {
        let with_leeway = |leeway| Placement {
            leeway,
            ..PLACEMENT
        };
        let fitting = |leeway| match warnings(10_000, &[with_leeway(leeway)], &BALL)[..] {
            [warning] => warning.fitting as f32,
            _ => f32::INFINITY,
        };
        let none = fitting(0.0);
        // Balls move out to 3.2 nm.
        assert!((fitting(0.2) / none - (3.2_f32 / 3.0).powi(2)).abs() < 0.02);
        // Balls of 1 nm in a range of 1.2 nm: two layers.
        assert!((fitting(0.6) / none - 2.0 * (3.6_f32 / 3.0).powi(2)).abs() < 0.04);
        assert_eq!(fitting(f32::INFINITY), f32::INFINITY);
    }

    #[test]
    fn a_tilt_leeway_allows_the_smallest_footprint() {
        // A plate of three balls that lies flat stands up if it may tilt.
        let plate = [
            (Vec3::ZERO, 0.5),
            (Vec3::X * 1.0, 0.5),
            (Vec3::X * -1.0, 0.5),
        ];
        let with_tilt = |tilt_leeway| Placement {
            tilt_leeway,
            ..PLACEMENT
        };
        let footprint = |tilt| warnings(1000, &[with_tilt(tilt)], &plate)[0].footprint_nm2;
        let disc = std::f32::consts::PI * 0.25;
        assert!((footprint(0.0) - 3.0 * disc).abs() < 0.06 * disc);
        assert!(footprint(0.8) < 2.8 * disc);
        assert!((footprint(std::f32::consts::FRAC_PI_2) - disc).abs() < 0.1 * disc);
    }
}
