//! Table 1: average number of atoms per cell.

use super::cell_lists::{CellLists, Hash, Storage, Within};
use super::molecules::{balls, molecule, structures};
use crate::common::{Column, Done, Run, cells};

pub fn run(run: &mut Run) -> Done {
    let columns = vec![
        Column::text("structure"),
        Column::number("atoms"),
        Column::number("full grid").decimals(2),
        Column::number("hashed, wrapped").decimals(2),
        Column::number("hashed, mixed").decimals(2),
        Column::number("full grid, by spheres").decimals(2),
        Column::number("hashed, wrapped, by spheres").decimals(2),
        Column::number("hashed, mixed, by spheres").decimals(2),
    ];
    let title = "**Table 1.** Average number of atoms in a cell that is not empty; 4,096 hashed \
                 cells. Atoms are in all cells that their bounding boxes overlap, or that they \
                 overlap themselves (by spheres).";
    let files = structures(run);
    let mut table = run.table(title, columns);
    for &file in files {
        let atoms = balls(&molecule(file)?);
        let mean = |storage, within| {
            let lists = CellLists::new(&atoms, storage, within)?;
            Ok::<_, super::cell_lists::TooManyCells>(lists.density().mean())
        };
        let [wrapped, mixed] = [Hash::Wrapped, Hash::Mixed].map(Storage::Hashed);
        table.row(cells![
            file,
            atoms.len(),
            mean(Storage::Full, Within::Box)?,
            mean(wrapped, Within::Box)?,
            mean(mixed, Within::Box)?,
            mean(Storage::Full, Within::Sphere)?,
            mean(wrapped, Within::Sphere)?,
            mean(mixed, Within::Sphere)?,
        ]);
    }
    Ok(())
}
