//! Writes data: counts, box, masses and atoms.

use std::io::Write;

use super::super::scene_box::SceneBox;
use super::super::write::PROGRESS_EVERY;
use super::super::{Scene, WriteProgress};
use super::atom_types::AtomTypes;
use super::input_script::plain_text;
use crate::export::text_rows::{TextRows, push_fixed, scale};
use crate::export::{
    ANGSTROM_PER_NM, AngstromPose, ExportError, ExportOptions, ExportSummary, MAX_COORDINATE,
};

/// Maximum number of decimals of a coordinate (Å).
const MAX_DECIMALS: u8 = 6;
/// Decimals of the box (Å), so that its edges are exact.
const BOX_DECIMALS: u8 = 6;

/// Writes the molecules of a scene in the units `real` and the atom style `molecular`.
pub(super) fn write_data(
    writer: impl Write,
    scene: &Scene,
    types: &AtomTypes,
    scene_box: &SceneBox,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    let mut rows = TextRows::new(writer);
    write_head(&mut rows, scene, types, scene_box, options);
    let decimals = options.decimals.min(MAX_DECIMALS);
    let mut summary = ExportSummary::default();
    for (kind, type_numbers) in scene.kinds.iter().zip(&types.of_kinds) {
        let template = &kind.template;
        let type_columns: Vec<String> = type_numbers
            .iter()
            .map(|number| format!(" {number} "))
            .collect();
        for &pose in &kind.poses {
            if summary.molecules.is_multiple_of(PROGRESS_EVERY) {
                progress(summary.molecules);
            }
            let placed = AngstromPose::new(summary.molecules, template, pose, None)?;
            let edges = scene_box.edges_to_image(pose) * ANGSTROM_PER_NM;
            let molecule = format!(" {}", summary.molecules + 1);
            for (position, column) in template.positions().iter().zip(&type_columns) {
                let position = placed.angstrom(*position) - edges;
                if position.abs().max_element() > MAX_COORDINATE {
                    return Err(ExportError::OutOfRange {
                        molecule: summary.molecules,
                        name: template.name().to_owned(),
                        position: position.as_vec3(),
                        range: "readers (at most 0.1 mm from the origin)",
                    });
                }
                summary.atoms += 1;
                push_fixed(&mut rows.buffer, summary.atoms as i64, 0);
                rows.push(&molecule);
                rows.push(column);
                let [x, y, z] = position.to_array().map(|value| scale(value, decimals));
                push_fixed(&mut rows.buffer, x, decimals);
                rows.push(" ");
                push_fixed(&mut rows.buffer, y, decimals);
                rows.push(" ");
                push_fixed(&mut rows.buffer, z, decimals);
                rows.end_row()?;
            }
            summary.molecules += 1;
        }
    }
    summary.bytes = rows.finish()?;
    Ok(summary)
}

/// Writes everything before the first atom.
fn write_head(
    rows: &mut TextRows<impl Write>,
    scene: &Scene,
    types: &AtomTypes,
    scene_box: &SceneBox,
    options: &ExportOptions,
) {
    let titles = [&options.title, &scene.name].map(|title| title.trim());
    let title = titles.into_iter().find(|title| !title.is_empty());
    rows.push(&format!(
        "LAMMPS data file: {}, units = real\n\n{} atoms\n{} atom types\n\n",
        plain_text(title.unwrap_or("molecules")),
        scene.atom_count(),
        types.types.len(),
    ));
    let low = scene_box.low * ANGSTROM_PER_NM;
    let high = (scene_box.low + scene_box.size) * ANGSTROM_PER_NM;
    for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
        push_fixed(
            &mut rows.buffer,
            scale(low[axis], BOX_DECIMALS),
            BOX_DECIMALS,
        );
        rows.push(" ");
        push_fixed(
            &mut rows.buffer,
            scale(high[axis], BOX_DECIMALS),
            BOX_DECIMALS,
        );
        rows.push(&format!(" {name}lo {name}hi\n"));
    }
    if types.types.is_empty() {
        return;
    }
    rows.push("\nMasses\n\n");
    for (index, of_type) in types.types.iter().enumerate() {
        let comment = of_type.comment();
        rows.push(&format!("{} {} # {comment}\n", index + 1, of_type.mass));
    }
    if scene.atom_count() > 0 {
        rows.push("\nAtoms # molecular\n\n");
    }
}
