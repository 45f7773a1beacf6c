//! Overlaps of spheres, counted without the relaxer.
//!
//! A written file has no radii: its certificate compares centers. These counts also hold for coarse
//! spheres.

use std::sync::atomic::{AtomicU64, Ordering};

use bevy_rapier_molecules::crowd::{Crowd, CrowdMember};
use bevy_rapier_molecules::search::{HierarchicalGrid, PairSearch, PeriodicSearch};
use bevy_rapier_molecules::spheres::SphereSet;

use crate::common::AnyError;

/// Most spheres that are searched at once: about a gigabyte of memory. Larger crowds are searched
/// slab by slab.
const MAX_SPHERES: usize = 1 << 24;

/// Number of pairs of overlapping spheres of different molecules, or of images in a periodic box.
///
/// The search is another one than that of the relaxer, which compares molecules.
pub fn count_overlaps(crowd: &Crowd) -> Result<u64, AnyError> {
    let Some(periodic) = crowd.periodic_box() else {
        return count_in_slabs(crowd, MAX_SPHERES);
    };
    let spheres = SphereSet::from_molecules(crowd.instances())?;
    let pairs = AtomicU64::new(0);
    let mut grid = HierarchicalGrid::new();
    let mut search = PeriodicSearch::new(&mut grid, periodic);
    search.visit_pairs(&spheres, 0.0, &|found, _| {
        pairs.fetch_add(found.len() as u64, Ordering::Relaxed);
    })?;
    Ok(pairs.into_inner())
}

/// Counts the overlaps in open space, with about `at_once` spheres in memory.
///
/// 1. Sort the molecules by the lowest x that they reach.
/// 2. Take molecules from the sorted list, up to `at_once` spheres: a slab.
/// 3. The following molecules that begin below the highest x of the slab are its neighbors.
/// 4. The slab has the pairs among it and its neighbors without those among the neighbors, which are
///    counted with later slabs.
fn count_in_slabs(crowd: &Crowd, at_once: usize) -> Result<u64, AnyError> {
    let members = crowd.members();
    // Lowest and highest x of a molecule, with more than the rounding of its atoms, nm.
    let range = |member: &CrowdMember| {
        let x = f64::from(member.pose.position.x);
        let radius = f64::from(crowd.template_of(member).bounding_radius());
        let reach = radius + (x.abs() + radius) * f64::from(f32::EPSILON) * 8.0;
        [x - reach, x + reach]
    };
    let ranges: Vec<[f64; 2]> = members.iter().map(range).collect();
    let mut order: Vec<usize> = (0..members.len()).collect();
    order.sort_by(|a, b| ranges[*a][0].total_cmp(&ranges[*b][0]).then(a.cmp(b)));
    let mut grid = HierarchicalGrid::new();
    let mut count = |molecules: &[usize]| -> Result<u64, AnyError> {
        let molecules = molecules.iter().map(|index| &members[*index]);
        let instances = molecules.map(|member| (crowd.template_of(member), member.pose));
        let spheres = SphereSet::from_molecules(instances)?;
        Ok(grid.count_pairs(&spheres, 0.0)?)
    };
    let (mut overlaps, mut rest) = (0, &order[..]);
    while !rest.is_empty() {
        let (mut spheres, mut highest) = (0, f64::NEG_INFINITY);
        let slab = rest.iter().take_while(|index| {
            let is_first = spheres == 0;
            spheres += crowd.template_of(&members[**index]).atom_count().max(1);
            let is_here = is_first || spheres <= at_once;
            if is_here {
                highest = highest.max(ranges[**index][1]);
            }
            is_here
        });
        let slab = slab.count();
        let later = &rest[slab..];
        let neighbors = later.partition_point(|index| ranges[*index][0] <= highest);
        overlaps += count(&rest[..slab + neighbors])? - count(&later[..neighbors])?;
        rest = later;
    }
    Ok(overlaps)
}

/// Number of molecules with spheres of other radii than `radius`, that of atoms.
pub fn coarse_molecules(crowd: &Crowd, radius: f32) -> usize {
    let is_coarse: Vec<bool> = crowd
        .templates()
        .iter()
        .map(|template| template.radii().iter().any(|own| *own != radius))
        .collect();
    let members = crowd.members().iter();
    members
        .filter(|member| is_coarse[member.template as usize])
        .count()
}

/// Smallest radius of the spheres of all templates, nm; infinite if there are none.
pub fn smallest_radius(crowd: &Crowd) -> f32 {
    let radii = crowd
        .templates()
        .iter()
        .flat_map(|template| template.radii());
    radii.copied().fold(f32::INFINITY, f32::min)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use bevy_rapier_molecules::molecule::MoleculeTemplate;
    use bevy_rapier_molecules::pose::Pose;
    use glam::{Quat, Vec3};
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    #[test]
    fn slabs_have_the_overlaps_of_the_whole() {
        let mut crowd = Crowd::new();
        // Long, short and large molecules.
        for (count, radius) in [(9, 0.2), (2, 0.2), (1, 1.5)] {
            let spheres: Vec<(Vec3, f32)> = (0..count)
                .map(|k| (Vec3::X * 0.3 * k as f32, radius))
                .collect();
            let template = MoleculeTemplate::coarse("rod", &spheres).unwrap();
            crowd.add_template(Arc::new(template));
        }
        assert_eq!(count_overlaps(&crowd).unwrap(), 0, "no molecules");
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for index in 0..600 {
            let [x, y, z, a, b, c] = [(); 6].map(|()| random.random::<f32>());
            let position = Vec3::new(20.0 * x, 4.0 * y, 4.0 * z) + Vec3::X * 190.0;
            let rotation = Quat::from_scaled_axis(6.0 * Vec3::new(a, b, c));
            let member = CrowdMember {
                template: [0, 0, 0, 1, 1, 2][index % 6],
                pose: Pose::new(position, rotation),
                ..CrowdMember::default()
            };
            crowd.add_member(member).unwrap();
        }
        let spheres = SphereSet::from_molecules(crowd.instances()).unwrap();
        let all = HierarchicalGrid::new().count_pairs(&spheres, 0.0).unwrap();
        assert!(all > 1_000, "{all}");
        for at_once in [0, 1, 10, 100, 1_000, spheres.len(), usize::MAX] {
            assert_eq!(count_in_slabs(&crowd, at_once).unwrap(), all, "{at_once}");
        }
        assert_eq!(count_overlaps(&crowd).unwrap(), all);
    }
}
