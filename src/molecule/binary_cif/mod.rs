//! Reader of the `BinaryCIF` format: reads the tables of the first data block that has atoms.

mod column_encoding;
mod message_pack;

use smol_str::SmolStr;

use self::column_encoding::{Budget, Data, DecodeError, decode};
use self::message_pack::{Value, parse};
use super::error::{FileLocation, ReadError, ReadErrorKind};
use super::mmcif::assemblies::{
    ASSEMBLIES, ENTRY, ENTRY_COUNT, ENTRY_NAMES, GENERATORS, OPERATORS, OperatorTable, TextTable,
    assemblies, entry_shift,
};
use super::mmcif::atom_site::{
    COLUMN_COUNT, COLUMN_NAMES, Cell, Column, check_coordinates, column_index, push_atom,
};
use super::mmcif::{ENTITIES, ENTITY_COLUMNS, TITLE, TITLE_COLUMNS, set_descriptions};
use super::structure::Structure;
use super::structure::builder::StructureBuilder;
use super::unit_cell::{CELL, InvalidCell, UnitCell};

/// Reads a decompressed `BinaryCIF` file.
pub(super) fn read(bytes: &[u8], source: &str) -> Result<Structure, ReadError> {
    let error = |location| move |kind| ReadError::new(source, location, kind);
    let file = parse(bytes).map_err(|(at, kind)| error(FileLocation::Byte(at))(kind))?;
    let blocks = file.list("dataBlocks");
    let Some((block, atoms)) = blocks
        .iter()
        .find_map(|block| Some((block, category(block, "_atom_site")?)))
    else {
        return Err(error(FileLocation::File)(ReadErrorKind::NoAtoms));
    };
    let mut budget = Budget::for_file(bytes.len());
    let rows = row_count(atoms)
        .ok_or_else(|| ReadErrorKind::Syntax("the atom table has no rowCount".to_owned()))
        .map_err(error(FileLocation::File))?;
    let columns = atom_columns(atoms, rows, &mut budget).map_err(error(FileLocation::File))?;
    let mut builder = StructureBuilder::new(source);
    let has_own_chains = columns[Column::OwnChain as usize].is_some();
    for row in 0..rows {
        let cell = |column: Column| columns[column as usize].as_ref()?.cell(row);
        let pushed = push_atom(&mut builder, has_own_chains, cell);
        pushed.map_err(error(FileLocation::Row(row + 1)))?;
    }
    drop(columns);
    let mut read_table = |name: &str, columns: Option<&[&str]>| match category(block, name) {
        Some(category) => text_table(category, columns, &mut budget),
        None => Ok(TextTable::default()),
    };
    // A cell that cannot be decoded is ignored and counted.
    let cell = read_table(CELL, None).map_err(|_| InvalidCell);
    builder.set_unit_cell(cell.and_then(|table| UnitCell::of_table(&table)));
    // Descriptions are not needed.
    let [title, entities] = [(TITLE, TITLE_COLUMNS), (ENTITIES, ENTITY_COLUMNS)]
        .map(|(name, columns)| read_table(name, Some(&columns)).unwrap_or_default());
    set_descriptions(&mut builder, &title, &entities);
    let methods = read_table(ASSEMBLIES, Some(&["id", "method_details"])).unwrap_or_default();
    let assemblies = read_table(GENERATORS, None)
        .and_then(|generators| {
            let operators = match category(block, OPERATORS) {
                Some(category) => operator_table(category, &mut budget)?,
                None => OperatorTable::default(),
            };
            assemblies(&operators, &generators, &methods)
        })
        .map_err(error(FileLocation::File))?;
    builder.finish(assemblies)
}

fn category<'v, 'a>(block: &'v Value<'a>, name: &str) -> Option<&'v Value<'a>> {
    let mut categories = block.list("categories").iter();
    let is_named = |known: &str| known.eq_ignore_ascii_case(name);
    categories.find(|category| category.text("name").is_some_and(is_named))
}

fn row_count(category: &Value<'_>) -> Option<usize> {
    category.integer("rowCount")?.try_into().ok()
}

/// A decoded column and the mask of its unknown values.
struct DecodedColumn {
    data: Data,
    mask: Option<Vec<i32>>,
}

impl DecodedColumn {
    fn new(column: &Value<'_>, rows: usize, budget: &mut Budget) -> Result<Self, DecodeError> {
        let encoded = column
            .get("data")
            .ok_or(DecodeError::Invalid("the data is missing"))?;
        let data = decode(encoded, budget)?;
        let mask = match column.get("mask") {
            None | Some(Value::Nil) => None,
            Some(encoded) => match decode(encoded, budget)? {
                Data::Ints(mask) => Some(mask),
                _ => return Err(DecodeError::Invalid("the mask is not an array of integers")),
            },
        };
        let wrong_mask = mask.as_ref().is_some_and(|mask| mask.len() != rows);
        if data.len() != rows || wrong_mask {
            return Err(DecodeError::Invalid(
                "the number of values differs from the number of rows",
            ));
        }
        Ok(Self { data, mask })
    }

    fn cell(&self, row: usize) -> Option<Cell<'_>> {
        if self.mask.as_ref().is_some_and(|mask| mask[row] != 0) {
            return None;
        }
        match &self.data {
            Data::Ints(values) => Some(Cell::Int(values[row])),
            Data::Floats(values) => Some(Cell::Float(values[row])),
            Data::Strings { indices, strings } => {
                let string = strings.get(usize::try_from(indices[row]).ok()?)?;
                // Some writers encode a missing value as an empty string.
                (!string.is_empty()).then_some(Cell::Text(string))
            }
        }
    }
}

/// The decoded columns of the atom table.
fn atom_columns(
    category: &Value<'_>,
    rows: usize,
    budget: &mut Budget,
) -> Result<[Option<DecodedColumn>; COLUMN_COUNT], ReadErrorKind> {
    let mut columns = [const { None }; COLUMN_COUNT];
    for column in category.list("columns") {
        if let Some(index) = column_index(column.text("name").unwrap_or("")) {
            let decoded = DecodedColumn::new(column, rows, budget);
            columns[index] = Some(decoded.map_err(|error| error.in_column(COLUMN_NAMES[index]))?);
        }
    }
    check_coordinates(|column| columns[column].is_some())?;
    Ok(columns)
}

/// The operators, decoded column by column.
fn operator_table(
    category: &Value<'_>,
    budget: &mut Budget,
) -> Result<OperatorTable, ReadErrorKind> {
    let rows = row_count(category).unwrap_or(0);
    let mut decoded = |name: &str| {
        let mut columns = category.list("columns").iter();
        let is_named = |known: &str| known.eq_ignore_ascii_case(name);
        let column = columns.find(|column| column.text("name").is_some_and(is_named));
        let column = column.map(|column| DecodedColumn::new(column, rows, budget));
        column.transpose().map_err(|error| error.in_column(name))
    };
    let Some(ids) = decoded("id")? else {
        return Ok(OperatorTable::default());
    };
    // The number of rows is that of the decoded names, so it is bounded.
    let mut entries = vec![[0.0; ENTRY_COUNT]; rows];
    for (index, name) in ENTRY_NAMES.into_iter().enumerate() {
        let column = decoded(name)?;
        for (row, entries) in entries.iter_mut().enumerate() {
            let cell = column.as_ref().and_then(|column| column.cell(row));
            entries[index] = cell
                .unwrap_or(Cell::Text("?"))
                .number(entry_shift(index), ENTRY)?;
        }
    }
    OperatorTable::from_entries(entries, |row| {
        let id = ids.cell(row).map(Cell::text);
        let length = id.as_ref().map_or(0, SmolStr::len);
        budget
            .spend(length)
            .map_err(|error| error.in_column("id"))?;
        Ok(id)
    })
}

/// A category as text, with all columns or these.
fn text_table(
    category: &Value<'_>,
    columns: Option<&[&str]>,
    budget: &mut Budget,
) -> Result<TextTable, ReadErrorKind> {
    let row_count = row_count(category).unwrap_or(0);
    let mut table = TextTable::default();
    for column in category.list("columns") {
        let name = column.text("name").unwrap_or("");
        let is_needed = |known: &&str| known.eq_ignore_ascii_case(name);
        if columns.is_some_and(|columns| !columns.iter().any(is_needed)) {
            continue;
        }
        let decoded =
            DecodedColumn::new(column, row_count, budget).map_err(|error| error.in_column(name))?;
        table.columns.push(name.to_owned());
        table.rows.resize(row_count, Vec::new());
        for (row, values) in table.rows.iter_mut().enumerate() {
            let text = decoded.cell(row).map(Cell::text);
            // Every row may refer to the same long string.
            budget
                .spend(text.as_ref().map_or(0, SmolStr::len))
                .map_err(|error| error.in_column(name))?;
            values.push(text.map(String::from));
        }
    }
    Ok(table)
}
