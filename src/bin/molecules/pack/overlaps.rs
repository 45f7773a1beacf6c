//! Overlaps of spheres, counted without the relaxer.
//!
//! A written file has no radii: its certificate compares centers. These counts also hold for coarse
//! spheres.

use std::sync::atomic::{AtomicU64, Ordering};

use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::search::{HierarchicalGrid, PairSearch, PeriodicSearch};
use bevy_rapier_molecules::spheres::SphereSet;

use crate::common::AnyError;

/// Number of pairs of overlapping spheres of different molecules, or of images in a periodic box.
///
/// The search is another one than that of the relaxer, which compares molecules.
pub fn count_overlaps(crowd: &Crowd) -> Result<u64, AnyError> {
    let spheres = SphereSet::from_molecules(crowd.instances())?;
    let mut grid = HierarchicalGrid::new();
    let Some(periodic) = crowd.periodic_box() else {
        return Ok(grid.count_pairs(&spheres, 0.0)?);
    };
    let pairs = AtomicU64::new(0);
    let mut search = PeriodicSearch::new(&mut grid, periodic);
    search.visit_pairs(&spheres, 0.0, &|found, _| {
        pairs.fetch_add(found.len() as u64, Ordering::Relaxed);
    })?;
    Ok(pairs.into_inner())
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
