//! Turk's table 1: atoms per cell of a full grid and of a grid hashed to 4,096 cells.

use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::search::cell_occupancy;
use bevy_rapier_molecules::spheres::SphereSet;

use crate::common::AnyError;
use crate::table::{self, Tables};

const FILES: [&str; 8] = [
    "4c64_dna.pdb",
    "4udv.pdb",
    "1ubq.cif",
    "dhfr.pdb",
    "2por.pdb",
    "t4_lysozyme_l99a.pdb",
    "4hhb.bcif.gz",
    "1gzx.pdb",
];

pub fn run(tables: &mut Tables) -> Result<(), AnyError> {
    let mut rows = Vec::new();
    for (step, file) in FILES.into_iter().enumerate() {
        tables.progress(step, FILES.len(), || format!("atoms per cell: {file}"));
        let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
        // Van der Waals radii, as in the paper.
        let options = LoadOptions {
            radius_scale: 1.0,
            ..LoadOptions::default()
        };
        let molecule = load(&path, &options)?;
        let spheres = SphereSet::from_molecules([(&molecule, Pose::IDENTITY)].into_iter())?;
        let occupancy = cell_occupancy(&spheres)?;
        rows.push(vec![
            file.to_owned(),
            spheres.len().to_string(),
            format!("{:.2}", occupancy.hashed),
            format!("{:.2}", occupancy.full),
        ]);
    }
    let header = table::strings(&["structure", "atoms", "hashed, 4096 cells", "full grid"]);
    tables.add(
        "**Average atoms per cell**, cells as wide as the largest atom.",
        header,
        rows,
    )
}
