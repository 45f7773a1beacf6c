//! Writer of mmCIF with instances.

use std::io::Write;

use super::contents::{Contents, Table, Value};
use super::{ANGSTROM_DECIMALS, MATRIX_DECIMALS, PROGRESS_EVERY};
use crate::export::text_rows::{TextRows, push_fixed, scale};
use crate::export::{ExportError, ExportOptions, ExportSummary, quoted};
use crate::scene_files::{Scene, WriteProgress};

/// The columns of the operators. Gemmi needs their types, though unknown.
const OPERATOR_COLUMNS: [&str; 14] = [
    "id",
    "type",
    "matrix[1][1]",
    "matrix[1][2]",
    "matrix[1][3]",
    "matrix[2][1]",
    "matrix[2][2]",
    "matrix[2][3]",
    "matrix[3][1]",
    "matrix[3][2]",
    "matrix[3][3]",
    "vector[1]",
    "vector[2]",
    "vector[3]",
];

/// Writes mmCIF with the atoms of each kind once, and an operator for each molecule; see the
/// [module](crate::scene_files::instanced_cif).
///
/// The periodic box is that of the options, else of the scene, and the title that of the options,
/// else the name of the scene.
///
/// # Errors
/// [`ExportError`] if the writer fails, a pose is invalid or out of range, or a name contains
/// control characters. The output is then incomplete.
pub fn write_instanced_mmcif(
    writer: impl Write,
    scene: &Scene,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    let contents = Contents::new(scene, options)?;
    let mut rows = TextRows::new(writer);
    rows.push(&format!("data_{}\n#", contents.block));
    rows.end_row()?;
    for table in contents.tables() {
        write_table(&mut rows, &table)?;
    }
    if contents.summary.molecules > 0 {
        write_operators(&mut rows, &contents, progress)?;
    }
    write_table(&mut rows, &contents.atom_table())?;
    let mut summary = contents.summary;
    summary.bytes = rows.finish()?;
    Ok(summary)
}

fn write_operators(
    rows: &mut TextRows<impl Write>,
    contents: &Contents<'_>,
    progress: WriteProgress<'_>,
) -> Result<(), ExportError> {
    rows.push("loop_\n");
    for column in OPERATOR_COLUMNS {
        rows.push("_pdbx_struct_oper_list.");
        rows.push(column);
        rows.end_row()?;
    }
    for (index, operator) in contents.operators().enumerate() {
        if index.is_multiple_of(PROGRESS_EVERY) {
            progress(index);
        }
        let (matrix, vector) = operator?;
        push_fixed(&mut rows.buffer, index as i64 + 1, 0);
        rows.push(" ?");
        for value in matrix.transpose().to_cols_array() {
            push_number(rows, value, MATRIX_DECIMALS);
        }
        for value in vector.to_array() {
            push_number(rows, value, ANGSTROM_DECIMALS);
        }
        rows.end_row()?;
    }
    rows.push("#");
    rows.end_row()?;
    Ok(())
}

fn push_number(rows: &mut TextRows<impl Write>, value: f64, decimals: u8) {
    rows.push(" ");
    push_fixed(&mut rows.buffer, scale(value, decimals), decimals);
}

/// Writes a table with one row as items, with more as a loop, and without rows not at all.
fn write_table(rows: &mut TextRows<impl Write>, table: &Table<'_>) -> Result<(), ExportError> {
    let category = table.category;
    match table.rows {
        0 => return Ok(()),
        1 => {
            for column in &table.columns {
                rows.push(&format!("{category}.{}", column.name));
                push_value(rows, (column.value)(0));
                rows.end_row()?;
            }
        }
        _ => {
            rows.push("loop_\n");
            for column in &table.columns {
                rows.push(&format!("{category}.{}", column.name));
                rows.end_row()?;
            }
            for row in 0..table.rows {
                for column in &table.columns {
                    push_value(rows, (column.value)(row));
                }
                rows.end_row()?;
            }
        }
    }
    rows.push("#");
    rows.end_row()?;
    Ok(())
}

fn push_value(rows: &mut TextRows<impl Write>, value: Value<'_>) {
    match value {
        Value::Text(text) => {
            rows.push(" ");
            rows.push(&quoted(&text));
        }
        Value::Int(value) => push_number(rows, f64::from(value), 0),
        Value::Decimal(value, decimals) => push_number(rows, value, decimals),
        Value::Inapplicable => rows.push(" ."),
        Value::Unknown => rows.push(" ?"),
    }
}
