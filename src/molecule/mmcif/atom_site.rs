//! The `_atom_site` table of mmCIF and `BinaryCIF` files.
//!
//! Names given by the authors of a structure (`auth_*`) take precedence over those of the
//! dictionary (`label_*`), because PDB files and papers use them.
//!
//! Files that this library writes with instances have two more columns, with its prefix: `brm_radius`
//! is the collision radius (Å; unknown for the radius of the element), and `brm_chain` the chain
//! (unknown for none), because `auth_asym_id` tells the kinds of molecules apart.

use std::num::ParseIntError;

use smol_str::{SmolStr, ToSmolStr};

use crate::molecule::decimal::{ANGSTROM_DIGITS, parse_decimal};
use crate::molecule::error::ReadErrorKind;
use crate::molecule::structure::builder::{AtomRecord, StructureBuilder};
use crate::molecule::template::MAX_COORDINATE_NM;

/// The columns that the readers use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Column {
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
    Entity,
    Radius,
    OwnChain,
}

/// Number of [`Column`]s.
pub const COLUMN_COUNT: usize = Column::OwnChain as usize + 1;

/// Names of the columns after `_atom_site.`, in the order of [`Column`].
pub const COLUMN_NAMES: [&str; COLUMN_COUNT] = [
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
    "label_entity_id",
    "brm_radius",
    "brm_chain",
];

/// The required columns.
const COORDINATES: [Column; 3] = [Column::X, Column::Y, Column::Z];

/// A known value of the table.
#[derive(Clone, Copy)]
pub enum Cell<'a> {
    Text(&'a str),
    Int(i32),
    Float(f64),
}

impl Cell<'_> {
    pub fn text(self) -> SmolStr {
        match self {
            Self::Text(text) => SmolStr::new(text),
            Self::Int(value) => value.to_smolstr(),
            Self::Float(value) => value.to_smolstr(),
        }
    }

    /// The finite number, divided by `10^shift`.
    fn decimal(self, shift: u32, column: Column) -> Result<f64, ReadErrorKind> {
        self.number(shift, COLUMN_NAMES[column as usize])
    }

    /// The finite number, divided by `10^shift`; `field` is its name in errors.
    pub fn number(self, shift: u32, field: &'static str) -> Result<f64, ReadErrorKind> {
        let value = match self {
            Self::Text(text) => return parse_decimal(text, shift, field),
            Self::Int(value) => f64::from(value),
            Self::Float(value) => value,
        } / 10f64.powi(shift as i32);
        if value.is_finite() {
            return Ok(value);
        }
        let text = value.to_string();
        Err(ReadErrorKind::InvalidNumber { field, text })
    }

    fn integer(self) -> Result<i32, ParseIntError> {
        match self {
            Self::Int(value) => Ok(value),
            _ => self.text().parse(),
        }
    }
}

fn invalid_number(column: Column, text: &str) -> ReadErrorKind {
    ReadErrorKind::InvalidNumber {
        field: COLUMN_NAMES[column as usize],
        text: text.to_owned(),
    }
}

/// The index of a column in [`COLUMN_NAMES`], in any letter case.
pub fn column_index(name: &str) -> Option<usize> {
    COLUMN_NAMES
        .iter()
        .position(|known| known.eq_ignore_ascii_case(name))
}

/// Returns an error for the first coordinate column that is missing.
pub fn check_coordinates(has_column: impl Fn(usize) -> bool) -> Result<(), ReadErrorKind> {
    for column in COORDINATES {
        if !has_column(column as usize) {
            return Err(ReadErrorKind::MissingColumn(COLUMN_NAMES[column as usize]));
        }
    }
    Ok(())
}

/// Adds the atom of a row to the structure. `cell` returns the value in a column, `None` if the
/// column or the value is missing; `has_own_chains` is whether there is [`Column::OwnChain`].
pub fn push_atom<'a>(
    builder: &mut StructureBuilder,
    has_own_chains: bool,
    cell: impl Fn(Column) -> Option<Cell<'a>>,
) -> Result<(), ReadErrorKind> {
    let text = |column: Column| cell(column).map(Cell::text);
    let either =
        |first: Column, second: Column| text(first).or_else(|| text(second)).unwrap_or_default();
    let integer = |column: Column| cell(column).map(Cell::integer).transpose();
    let character = |column: Column| text(column).and_then(|text| text.chars().next());
    let mut position = [0.0; 3];
    for (value, column) in position.iter_mut().zip(COORDINATES) {
        let cell = cell(column).ok_or_else(|| invalid_number(column, "?"))?;
        *value = cell.decimal(ANGSTROM_DIGITS, column)?;
    }
    let occupancy = cell(Column::Occupancy)
        .map(|cell| cell.decimal(0, Column::Occupancy))
        .transpose();
    let residue_number = builder
        .valid_number(integer(Column::AuthSeq))
        .or_else(|| builder.valid_number(integer(Column::LabelSeq)));
    let hetero = text(Column::Group).is_some_and(|group| group == "HETATM");
    let name = either(Column::AuthAtom, Column::LabelAtom);
    let symbol = text(Column::Symbol).unwrap_or_default();
    let radius = cell(Column::Radius).map(radius_of).transpose()?;
    let chain = match has_own_chains {
        true => text(Column::OwnChain).unwrap_or_default(),
        false => either(Column::AuthAsym, Column::LabelAsym),
    };
    let record = AtomRecord {
        position,
        symbol: &symbol,
        name_columns: name_columns(&name, hetero),
        name: if name.is_empty() { &symbol } else { &name },
        residue_name: &either(Column::AuthComp, Column::LabelComp),
        chain: &chain,
        label_chain: &either(Column::LabelAsym, Column::AuthAsym),
        residue_number: residue_number.unwrap_or(0),
        insertion_code: character(Column::Insertion),
        model: builder.valid_number(integer(Column::Model)).unwrap_or(1),
        altloc: character(Column::Alternate),
        occupancy: builder.valid_occupancy(occupancy),
        entity: &text(Column::Entity).unwrap_or_default(),
        radius,
    };
    builder.push(&record)
}

/// A collision radius, nm.
fn radius_of(cell: Cell<'_>) -> Result<f32, ReadErrorKind> {
    let radius = cell.decimal(ANGSTROM_DIGITS, Column::Radius)? as f32;
    if radius > 0.0 && radius <= MAX_COORDINATE_NM {
        return Ok(radius);
    }
    Err(ReadErrorKind::Syntax(format!(
        "{} is {radius} nm, expected more than 0 and at most {MAX_COORDINATE_NM} nm",
        COLUMN_NAMES[Column::Radius as usize]
    )))
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
