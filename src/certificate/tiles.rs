//! Slabs of a large scene that are checked one after the other, so that memory stays bounded.
//!
//! The molecules are sorted along the longest side of the scene, by the centers of their bounding
//! spheres, and cut into slabs with about equally many atoms. With each slab come the molecules
//! around it whose bounding spheres are within a reach of one in the slab. A pair of molecules is
//! counted in the slab of the one with the smaller index.

use crate::molecule::MoleculeTemplate;
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;

/// Largest number of atoms of a slab, unless it is one molecule. Checking takes some 100 bytes per
/// atom.
pub(super) const MAX_TILE_ATOMS: usize = 16_000_000;

/// Added to the reach, nm: more than the rounding of positions.
const MARGIN_NM: f64 = 0.01;

/// The molecules of a slab, by index: its own ones, then those around it.
pub(super) struct Tile {
    pub(super) molecules: Vec<u32>,
    /// Number of its own ones.
    pub(super) own: usize,
}

/// The slabs of a scene. Molecules of one slab and others within `reach` (nm) of each other, surface
/// to surface, are in that slab or around it.
pub(super) fn tiles(
    molecules: &[(&MoleculeTemplate, Pose)],
    periodic: Option<PeriodicBox>,
    reach: f64,
    max_atoms: usize,
) -> Vec<Tile> {
    let count = molecules.len() as u32;
    let atoms: usize = molecules.iter().map(|(t, _)| t.atom_count()).sum();
    if atoms <= max_atoms {
        let molecules = (0..count).collect();
        return vec![Tile {
            molecules,
            own: count as usize,
        }];
    }
    let axis = longest_axis(molecules, periodic);
    let period = periodic.map(|periodic| f64::from(periodic.size()[axis]));
    let place = |index: u32| {
        let at = f64::from(molecules[index as usize].1.position[axis]);
        period.map_or(at, |period| at.rem_euclid(period))
    };
    let radius = |index: u32| f64::from(molecules[index as usize].0.bounding_radius());
    let mut sorted: Vec<u32> = (0..count).collect();
    sorted.sort_by(|&a, &b| place(a).total_cmp(&place(b)));
    let largest = sorted
        .iter()
        .map(|&index| radius(index))
        .fold(0.0, f64::max);
    let mut tiles = Vec::new();
    let mut start = 0;
    while start < sorted.len() {
        let mut end = start;
        let mut filled = 0;
        while end < sorted.len() {
            filled += molecules[sorted[end] as usize].0.atom_count();
            if filled > max_atoms && end > start {
                break;
            }
            end += 1;
        }
        let own = &sorted[start..end];
        let reaches = |index: u32, shift: f64| {
            let at = place(index) + shift;
            let far = reach + MARGIN_NM + largest + radius(index);
            at >= place(own[0]) - far && at <= place(own[own.len() - 1]) + far
        };
        let is_around = |index: u32| match period {
            // Molecules longer than the box reach across it.
            Some(period) => [-period, 0.0, period]
                .iter()
                .any(|&shift| reaches(index, shift)),
            None => reaches(index, 0.0),
        };
        let others = sorted[..start].iter().chain(&sorted[end..]).copied();
        let mut members = own.to_vec();
        members.sort_unstable();
        members.extend(others.filter(|&index| is_around(index)));
        members[end - start..].sort_unstable();
        tiles.push(Tile {
            molecules: members,
            own: end - start,
        });
        start = end;
    }
    tiles
}

/// The axis along which the centers of the molecules extend furthest, or the longest edge of the
/// box.
fn longest_axis(molecules: &[(&MoleculeTemplate, Pose)], periodic: Option<PeriodicBox>) -> usize {
    let size = periodic.map_or_else(
        || {
            let places = || molecules.iter().map(|(_, pose)| pose.position);
            let high = places().fold(glam::Vec3::NEG_INFINITY, glam::Vec3::max);
            let low = places().fold(glam::Vec3::INFINITY, glam::Vec3::min);
            high - low
        },
        |periodic| periodic.size(),
    );
    size.max_position()
}

#[cfg(test)]
mod tests {
    use glam::Vec3;

    use super::*;
    use crate::certificate::check_all;
    use crate::molecule::{LoadOptions, MoleculePart, SplitBy, load_structure};

    /// The lipids of a bilayer, pushed together so that many atoms are too close.
    fn lipids() -> Vec<MoleculePart> {
        let options = LoadOptions::default();
        let structure = load_structure("assets/molecules/popc_bilayer.pdb", &options).unwrap();
        let mut lipids = structure.split_by(SplitBy::Residue, &options).unwrap();
        for lipid in &mut lipids {
            lipid.pose.position *= 0.9;
        }
        lipids
    }

    #[test]
    fn tiles_find_the_same_as_one() {
        let lipids = lipids();
        let placed: Vec<(&MoleculeTemplate, Pose)> = lipids
            .iter()
            .map(|part| (&*part.template, part.pose))
            .collect();
        for periodic in [
            None,
            Some(PeriodicBox::new(Vec3::new(6.0, 6.3, 9.0)).unwrap()),
        ] {
            let whole = check_all(&placed, periodic, 0.2, usize::MAX).unwrap();
            assert!(whole.pairs > 100, "{}", whole.pairs);
            for max_atoms in [1, 1_000, 5_000, 12_000] {
                let parts = check_all(&placed, periodic, 0.2, max_atoms).unwrap();
                assert_eq!(parts.pairs, whole.pairs, "{max_atoms}");
                assert_eq!(parts.least_distance, whole.least_distance);
                assert_eq!((parts.rings, parts.pierced), (whole.rings, whole.pierced));
                assert_eq!(parts.first_pierced, whole.first_pierced);
            }
        }
    }

    #[test]
    fn the_closest_pair_is_found_across_empty_space() {
        let lipids = lipids();
        let template = &*lipids[0].template;
        let placed = [0.0, 50.0, 130.0].map(|x| (template, Pose::from_translation(Vec3::X * x)));
        let whole = check_all(&placed, None, 0.2, usize::MAX).unwrap();
        let parts = check_all(&placed, None, 0.2, 1).unwrap();
        assert_eq!(parts.least_distance, whole.least_distance);
        assert!(whole.least_distance.is_some_and(|distance| distance > 40.0));
    }

    #[test]
    fn tiles_cover_all_molecules_once() {
        let lipids = lipids();
        let placed: Vec<(&MoleculeTemplate, Pose)> = lipids
            .iter()
            .map(|part| (&*part.template, part.pose))
            .collect();
        let tiles = tiles(&placed, None, 0.5, 2_000);
        assert!(tiles.len() >= 128 / 14, "{}", tiles.len());
        let own = tiles.iter().flat_map(|tile| &tile.molecules[..tile.own]);
        let mut own: Vec<u32> = own.copied().collect();
        own.sort_unstable();
        assert_eq!(own, (0..128).collect::<Vec<u32>>());
    }
}
