//! [`MembraneReport`]: how many molecules a membrane has, and how they fill its area.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Number of lipids of one species in a leaflet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct SpeciesReport {
    /// Name of the species.
    pub name: String,
    /// Number of its lipids.
    pub number: u32,
    /// Part of all lipids of the leaflet.
    pub ratio: f32,
    /// Area of a molecule of the species, nm².
    pub area: f32,
}

/// The lipids of one leaflet.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct LeafletReport {
    /// Distance of the plane of the leaflet from the mid-surface along the outward normal, nm: half
    /// the mean distance of the heads, negative in the inner leaflet.
    pub offset: f32,
    /// Area of the leaflet at its plane, nm².
    pub area: f32,
    /// Area of the proteins in the leaflet, nm².
    pub protein_area: f32,
    /// Its species.
    pub species: Vec<SpeciesReport>,
    /// Number of lipids that would fit, if there are more.
    pub overfull: Option<u32>,
}

impl LeafletReport {
    /// Number of all lipids.
    #[must_use]
    pub fn lipids(&self) -> u32 {
        self.species.iter().map(|species| species.number).sum()
    }

    /// Area without the proteins, nm².
    #[must_use]
    pub fn lipid_area(&self) -> f32 {
        self.area - self.protein_area
    }

    /// Area of the leaflet without proteins, for each lipid, nm²; infinite without lipids.
    #[must_use]
    pub fn area_per_lipid(&self) -> f32 {
        self.lipid_area() / self.lipids() as f32
    }

    /// Sum of the areas of the species of all lipids, nm².
    #[must_use]
    pub fn species_area(&self) -> f32 {
        let areas = self
            .species
            .iter()
            .map(|species| f64::from(species.number) * f64::from(species.area));
        areas.sum::<f64>() as f32
    }

    /// Sum of the areas of the species in units of the area without proteins: 1 if the leaflet is
    /// full, more if it is under pressure.
    #[must_use]
    pub fn filling(&self) -> f32 {
        self.species_area() / self.lipid_area()
    }
}

/// Number of copies of a protein.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct ProteinReport {
    /// Name of the protein.
    pub name: String,
    /// Number of its copies.
    pub number: u32,
}

/// How many molecules a membrane has, and how they fill its area. Displayed as a table.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct MembraneReport {
    /// The outer leaflet.
    pub outer: Option<LeafletReport>,
    /// The inner leaflet.
    pub inner: Option<LeafletReport>,
    /// The proteins.
    pub proteins: Vec<ProteinReport>,
}

impl MembraneReport {
    /// Lipids of the outer leaflet minus those of the inner one; none unless there are two
    /// leaflets.
    #[must_use]
    pub fn number_mismatch(&self) -> Option<i64> {
        let [outer, inner] = [self.outer.as_ref()?, self.inner.as_ref()?];
        Some(i64::from(outer.lipids()) - i64::from(inner.lipids()))
    }

    /// [`LeafletReport::filling`] of the outer leaflet minus that of the inner one; none unless
    /// there are two leaflets.
    ///
    /// Positive if the outer leaflet is under more pressure. On a plane, a real membrane would
    /// bend by it.
    #[must_use]
    pub fn filling_mismatch(&self) -> Option<f32> {
        let [outer, inner] = [self.outer.as_ref()?, self.inner.as_ref()?];
        Some(outer.filling() - inner.filling())
    }
}

impl fmt::Display for MembraneReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, leaflet) in [("outer", &self.outer), ("inner", &self.inner)] {
            let Some(leaflet) = leaflet else { continue };
            writeln!(
                f,
                "{name} leaflet at {:+.2} nm: {} lipids, {:.1} nm² - {:.1} nm² of protein, {:.3} nm² a lipid",
                leaflet.offset,
                leaflet.lipids(),
                leaflet.area,
                leaflet.protein_area,
                leaflet.area_per_lipid(),
            )?;
            for species in &leaflet.species {
                writeln!(
                    f,
                    "  {:<12} {:>9} {:>6.1} % {:>7.3} nm²",
                    species.name,
                    species.number,
                    100.0 * species.ratio,
                    species.area,
                )?;
            }
            if let Some(fitting) = leaflet.overfull {
                writeln!(f, "  overfull: {fitting} lipids would fit")?;
            }
        }
        for protein in &self.proteins {
            writeln!(f, "{:<14} {:>9}", protein.name, protein.number)?;
        }
        if let [Some(number), Some(filling)] = [
            self.number_mismatch().map(|number| number as f32),
            self.filling_mismatch(),
        ] {
            writeln!(
                f,
                "outer - inner: {number:+} lipids, {:+.1} % of the area",
                100.0 * filling
            )?;
        }
        Ok(())
    }
}
