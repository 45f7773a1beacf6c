//! The `_atom_site` table of mmCIF and `BinaryCIF` files.
//!
//! Names given by the authors of a structure (`auth_*`) take precedence over those of the
//! dictionary (`label_*`), because PDB files and papers use them.

use smol_str::SmolStr;

use crate::molecule::decimal::ANGSTROM_DIGITS;
use crate::molecule::error::ReadErrorKind;
use crate::molecule::structure::builder::{AtomRecord, StructureBuilder};

/// The columns that the readers use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::molecule) enum Column {
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

/// Number of [`Column`]s.
pub(in crate::molecule) const COLUMN_COUNT: usize = Column::Model as usize + 1;

/// Names of the columns after `_atom_site.`, in the order of [`Column`].
pub(in crate::molecule) const COLUMN_NAMES: [&str; COLUMN_COUNT] = [
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

/// The required columns.
const COORDINATES: [Column; 3] = [Column::X, Column::Y, Column::Z];

/// One row of the table.
pub(in crate::molecule) trait AtomRow {
    /// The text in a column; `None` if the column or the value is missing.
    fn text(&self, column: Column) -> Option<SmolStr>;

    /// The finite number in a column, divided by `10^shift`.
    fn decimal(&self, column: Column, shift: u32) -> Result<Option<f64>, ReadErrorKind>;

    /// The integer in a column.
    fn integer(&self, column: Column) -> Result<Option<i32>, ReadErrorKind>;
}

/// The index of a column in [`COLUMN_NAMES`], in any letter case.
pub(in crate::molecule) fn column_index(name: &str) -> Option<usize> {
    COLUMN_NAMES
        .iter()
        .position(|known| known.eq_ignore_ascii_case(name))
}

/// Returns an error for the first coordinate column that is missing.
pub(in crate::molecule) fn check_coordinates(
    has_column: impl Fn(usize) -> bool,
) -> Result<(), ReadErrorKind> {
    for column in COORDINATES {
        if !has_column(column as usize) {
            return Err(ReadErrorKind::MissingColumn(COLUMN_NAMES[column as usize]));
        }
    }
    Ok(())
}

/// Adds the atom of a row to the structure.
pub(in crate::molecule) fn push_atom(
    builder: &mut StructureBuilder,
    row: &impl AtomRow,
) -> Result<(), ReadErrorKind> {
    let either = |first: Column, second: Column| {
        row.text(first)
            .or_else(|| row.text(second))
            .unwrap_or_default()
    };
    let mut position = [0.0; 3];
    for (value, column) in position.iter_mut().zip(COORDINATES) {
        *value =
            row.decimal(column, ANGSTROM_DIGITS)?
                .ok_or_else(|| ReadErrorKind::InvalidNumber {
                    field: COLUMN_NAMES[column as usize],
                    text: "?".to_owned(),
                })?;
    }
    let residue_number = match builder.valid_number(row.integer(Column::AuthSeq)) {
        Some(number) => number,
        None => builder
            .valid_number(row.integer(Column::LabelSeq))
            .unwrap_or(0),
    };
    let hetero = row
        .text(Column::Group)
        .is_some_and(|group| group == "HETATM");
    let name = either(Column::AuthAtom, Column::LabelAtom);
    let symbol = row.text(Column::Symbol).unwrap_or_default();
    let character = |column: Column| row.text(column).and_then(|text| text.chars().next());
    let record = AtomRecord {
        position,
        symbol: &symbol,
        name_columns: name_columns(&name, hetero),
        name: if name.is_empty() { &symbol } else { &name },
        residue_name: &either(Column::AuthComp, Column::LabelComp),
        chain: &either(Column::AuthAsym, Column::LabelAsym),
        label_chain: &either(Column::LabelAsym, Column::AuthAsym),
        residue_number,
        insertion_code: character(Column::Insertion),
        model: builder
            .valid_number(row.integer(Column::Model))
            .unwrap_or(1),
        altloc: character(Column::Alternate),
        occupancy: builder.valid_occupancy(row.decimal(Column::Occupancy, 0)),
    };
    builder.push(&record)
}

/// The name in the columns of a PDB file, from which elements can be inferred: the names of
/// metals, which are hetero atoms, start one column earlier than those of polymer atoms.
fn name_columns(name: &str, hetero: bool) -> [u8; 4] {
    let mut columns = [b' '; 4];
    let start = usize::from(!hetero && name.len() < 4);
    for (column, byte) in columns[start..].iter_mut().zip(name.bytes()) {
        *column = byte;
    }
    columns
}
