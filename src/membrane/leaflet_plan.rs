//! [`LeafletPlan`]: where a leaflet is, and how many lipids it has.

use super::composition::ResolvedComposition;
use super::{MAX_LIPIDS, MembraneConfig, MembraneError, Species};
use crate::compartment::Leaflet;

/// A leaflet before it has molecules.
pub(super) struct LeafletPlan {
    pub leaflet: Leaflet,
    pub composition: ResolvedComposition,
    /// Distance of the plane of the leaflet from the mid-surface along its normal, nm.
    pub offset: f32,
    /// Area at its plane, nm².
    pub area: f32,
}

impl LeafletPlan {
    /// Checks one composition.
    pub fn new(
        leaflet: Leaflet,
        species: &[Species],
        config: &MembraneConfig,
    ) -> Result<Option<Self>, MembraneError> {
        let composition = match leaflet {
            Leaflet::Outer => &config.outer,
            Leaflet::Inner => &config.inner,
        };
        let Some(composition) = composition else {
            return Ok(None);
        };
        let composition = composition.resolve(leaflet, species.len())?;
        for &(index, _) in &composition.parts {
            species[index].check()?;
        }
        let head = composition.mean(|index| species[index].head_distance()) as f32;
        let heads = leaflet.sign() * head;
        let offset = 0.5 * heads;
        for offset in [heads, offset] {
            let free_area = config.surface.area_at(offset);
            // False for NaN.
            let has_area = free_area > 0.0;
            if !has_area {
                return Err(MembraneError::LeafletWithoutRoom {
                    leaflet,
                    offset,
                    free_area,
                });
            }
        }
        Ok(Some(Self {
            leaflet,
            composition,
            offset,
            area: config.surface.area_at(offset),
        }))
    }

    /// Lowest and highest height of the leaflet above the mid-surface, nm.
    pub fn slab(&self) -> [f32; 2] {
        let heads = 2.0 * self.offset;
        [heads.min(0.0), heads.max(0.0)]
    }

    /// The number of lipids, and the number that would fit if there are more.
    pub fn lipids(
        &self,
        species: &[Species],
        config: &MembraneConfig,
        free_area: f32,
    ) -> Result<(u32, Option<u32>), MembraneError> {
        let leaflet = self.leaflet;
        let area = self.composition.mean(|index| species[index].area());
        let fitting = f64::from(free_area) / (f64::from(config.area_scale) * area);
        if let Some(number) = self.composition.number {
            // One more than the area allows is rounding.
            let is_overfull = f64::from(number) >= fitting + 1.0;
            return Ok((number, is_overfull.then_some(fitting as u32)));
        }
        let lipids = fitting.round();
        if lipids > f64::from(MAX_LIPIDS) {
            return Err(MembraneError::TooManyLipids { leaflet, lipids });
        }
        if lipids < 1.0 {
            return Err(MembraneError::LeafletWithoutRoom {
                leaflet,
                offset: self.offset,
                free_area,
            });
        }
        Ok((lipids as u32, None))
    }
}
