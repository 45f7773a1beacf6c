//! [`PopulationReport`]: numbers and volumes of a population.

use std::fmt;

use serde::Serialize;

/// Part of a space that equal spheres fill at most when they are thrown together.
const RANDOM_CLOSE_PACKING: f64 = 0.64;

/// Part of an area that equal discs fill at most when they are thrown together.
const RANDOM_CLOSE_PACKING_OF_DISCS: f64 = 0.84;

/// Numbers and volumes of a population.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[non_exhaustive]
pub struct PopulationReport {
    /// Number of molecules.
    pub molecules: usize,
    /// Number of atoms or spheres.
    pub atoms: usize,
    /// Numbers by entry, and by species of a leaflet.
    pub entries: Vec<EntryReport>,
    /// The insides of the compartments.
    pub regions: Vec<RegionReport>,
}

/// The number of molecules of one kind in one region.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct EntryReport {
    /// Name of the compartment and the region, such as `vesicle.interior`.
    pub region: String,
    /// Name of the object.
    pub object: String,
    /// Name of the entry of the composition, or of the object.
    pub name: String,
    /// Number that the recipe asks for; none if it follows from an area, a path or a
    /// rule.
    pub asked: Option<u32>,
    /// Number of molecules.
    pub placed: u32,
    /// Number of fibers, if the molecules are their links.
    pub fibers: Option<u32>,
    /// Volume of one molecule, nm³.
    pub volume_nm3: f32,
}

/// The inside of a compartment.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[non_exhaustive]
pub struct RegionReport {
    /// Name of the compartment.
    pub compartment: String,
    /// Number of molecules inside.
    pub molecules: u32,
    /// Whether the box is so flat that molecules lie side by side; sizes are areas then.
    pub is_flat: bool,
    /// Volume (nm³) or area (nm²) without other compartments and lipids.
    pub size: f64,
    /// Volume or area of its molecules.
    pub filled: f64,
}

impl RegionReport {
    /// The part of the space that the molecules fill.
    #[must_use]
    pub fn fraction(&self) -> f64 {
        if self.filled > 0.0 {
            self.filled / self.size
        } else {
            0.0
        }
    }

    /// What is to be expected if there are too many molecules.
    #[must_use]
    pub fn warning(&self) -> Option<String> {
        let fraction = self.fraction();
        let (dense, unit) = if self.is_flat {
            (RANDOM_CLOSE_PACKING_OF_DISCS, "nm²")
        } else {
            (RANDOM_CLOSE_PACKING, "nm³")
        };
        // Also if the size is zero or unknown.
        if fraction <= dense {
            return None;
        }
        let (percent, dense) = (100.0 * fraction, 100.0 * dense);
        let verdict = if fraction > 1.0 {
            "they cannot fit".to_owned()
        } else {
            format!("they will hardly fit: equal spheres jam at {dense:.0} %")
        };
        Some(format!(
            "{} molecules ask for {percent:.0} % of the space inside of '{}' ({:.1} of {:.1} {unit}); {verdict}",
            self.molecules, self.compartment, self.filled, self.size
        ))
    }
}

impl PopulationReport {
    /// The row of an entry of the recipe: they come first, in the same order.
    #[expect(clippy::unused_self, reason = "the rows are its own")]
    pub(super) fn row_of_entry(&self, entry: usize) -> u32 {
        entry as u32
    }

    pub(super) fn count(&mut self, row: usize) {
        if let Some(row) = self.entries.get_mut(row) {
            row.placed += 1;
        }
    }
}

impl fmt::Display for PopulationReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let longest = |name: fn(&EntryReport) -> &str| {
            let lengths = self.entries.iter().map(|entry| name(entry).chars().count());
            lengths.max().unwrap_or(0)
        };
        let regions = longest(|entry| &entry.region).max("region".len());
        let objects = longest(|entry| &entry.object).max("molecule".len());
        writeln!(
            f,
            "{:regions$}  {:objects$}  {:>9}",
            "region", "molecule", "number"
        )?;
        for entry in &self.entries {
            let (region, object, placed) = (&entry.region, &entry.object, entry.placed);
            write!(f, "{region:regions$}  {object:objects$}  {placed:>9}")?;
            match entry.fibers {
                None => writeln!(f)?,
                Some(1) => writeln!(f, " links in 1 fiber")?,
                Some(fibers) => writeln!(f, " links in {fibers} fibers")?,
            }
        }
        write!(f, "{} molecules, {} atoms", self.molecules, self.atoms)
    }
}
