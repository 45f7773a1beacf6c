//! What the columns of the `_atom_site` table mean.
//!
//! Names that the authors of a structure gave (`auth_*`) win over those of the
//! dictionary (`label_*`), because that is what PDB files and papers say.

use smol_str::SmolStr;

use crate::molecule::builder::{AXES, RawAtom, StructureBuilder};
use crate::molecule::error::ReadCause;
use crate::molecule::number::ANGSTROM_DIGITS;

/// The columns that are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Column {
    Group,
    Symbol,
    LabelAtom,
    AuthAtom,
    Alternate,
    LabelComp,
    AuthComp,
    LabelAsym,
    AuthAsym,
    LabelSeq,
    AuthSeq,
    Insertion,
    X,
    Y,
    Z,
    Occupancy,
    Model,
}

/// How many columns are read.
pub(super) const COLUMN_COUNT: usize = Column::Model as usize + 1;

/// The columns by the names that follow `_atom_site.`, in the order of [`Column`].
pub(super) const COLUMN_NAMES: [&str; COLUMN_COUNT] = [
    "group_PDB",
    "type_symbol",
    "label_atom_id",
    "auth_atom_id",
    "label_alt_id",
    "label_comp_id",
    "auth_comp_id",
    "label_asym_id",
    "auth_asym_id",
    "label_seq_id",
    "auth_seq_id",
    "pdbx_PDB_ins_code",
    "Cartn_x",
    "Cartn_y",
    "Cartn_z",
    "occupancy",
    "pdbx_PDB_model_num",
];

/// The three columns without which there is no atom.
const COORDINATES: [Column; 3] = [Column::X, Column::Y, Column::Z];

/// One row of the table, however the file stores it.
pub(super) trait AtomRow {
    /// The text of a column; `None` if the column or the value is missing.
    fn text(&self, column: Column) -> Option<SmolStr>;

    /// The number in a column divided by `10^shift`.
    fn decimal(&self, column: Column, shift: u32) -> Result<Option<f64>, ReadCause>;

    /// The whole number in a column.
    fn integer(&self, column: Column) -> Result<Option<i32>, ReadCause>;
}

/// The position of a named column in the list, in any letter case.
pub(super) fn column_index(name: &str) -> Option<usize> {
    COLUMN_NAMES
        .iter()
        .position(|known| known.eq_ignore_ascii_case(name))
}

/// Fails with the name of the first coordinate column that the file does not have.
pub(super) fn check_coordinates(has: impl Fn(usize) -> bool) -> Result<(), ReadCause> {
    for column in COORDINATES {
        if !has(column as usize) {
            return Err(ReadCause::MissingColumn(COLUMN_NAMES[column as usize]));
        }
    }
    Ok(())
}

/// Adds one row to the structure.
pub(super) fn push_atom(
    builder: &mut StructureBuilder,
    row: &impl AtomRow,
) -> Result<(), ReadCause> {
    let either = |first: Column, second: Column| {
        row.text(first)
            .or_else(|| row.text(second))
            .unwrap_or_default()
    };
    let mut position = [0.0; 3];
    for ((value, column), field) in position.iter_mut().zip(COORDINATES).zip(AXES) {
        *value = row
            .decimal(column, ANGSTROM_DIGITS)?
            .ok_or_else(|| ReadCause::BadNumber {
                field,
                text: "?".to_owned(),
            })?;
    }
    let number = match row.integer(Column::AuthSeq)? {
        Some(number) => number,
        None => row.integer(Column::LabelSeq)?.unwrap_or(0),
    };
    let hetero = row
        .text(Column::Group)
        .is_some_and(|group| group == "HETATM");
    let name = either(Column::AuthAtom, Column::LabelAtom);
    let symbol = row.text(Column::Symbol).unwrap_or_default();
    let character = |column: Column| row.text(column).and_then(|text| text.chars().next());
    builder.push(&RawAtom {
        position,
        symbol: &symbol,
        name_columns: name_columns(&name, hetero),
        name: if name.is_empty() { &symbol } else { &name },
        residue_name: &either(Column::AuthComp, Column::LabelComp),
        chain: &either(Column::AuthAsym, Column::LabelAsym),
        label_chain: &either(Column::LabelAsym, Column::AuthAsym),
        number,
        insertion_code: character(Column::Insertion),
        model: row.integer(Column::Model)?.unwrap_or(1),
        altloc: character(Column::Alternate),
        occupancy: row.decimal(Column::Occupancy, 0)?.unwrap_or(1.0) as f32,
        hetero,
    })
}

/// The name as PDB would place it, for files without element symbols: metals are
/// hetero atoms and start one column earlier than the atoms of polymers.
fn name_columns(name: &str, hetero: bool) -> [u8; 4] {
    let mut columns = [b' '; 4];
    let start = usize::from(!hetero && name.len() < 4);
    for (column, byte) in columns[start..].iter_mut().zip(name.bytes()) {
        *column = byte;
    }
    columns
}
