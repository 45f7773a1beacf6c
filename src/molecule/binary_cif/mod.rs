//! Reader of the `BinaryCIF` format: reads the tables of the first data block that has atoms.

mod column_encoding;
mod message_pack;

use smol_str::{SmolStr, ToSmolStr};

use self::column_encoding::{Budget, Data, DecodeError, decode};
use self::message_pack::{Value, parse};
use super::decimal::parse_decimal;
use super::error::{FileLocation, ReadError, ReadErrorKind};
use super::mmcif::assemblies::{GENERATORS, OPERATORS, TextTable, assemblies};
use super::mmcif::atom_site::{
    AtomRow, COLUMN_COUNT, COLUMN_NAMES, Column, check_coordinates, column_index, push_atom,
};
use super::structure::Structure;
use super::structure::builder::StructureBuilder;

/// Reads a decompressed `BinaryCIF` file.
pub(super) fn read(bytes: &[u8], source: &str) -> Result<Structure, ReadError> {
    let error = |location| move |kind| ReadError::new(source, location, kind);
    let file = parse(bytes).map_err(|(at, kind)| error(FileLocation::Byte(at))(kind))?;
    let blocks = file.get("dataBlocks").map_or(&[][..], Value::list);
    let Some((block, atoms)) = blocks
        .iter()
        .find_map(|block| Some((block, category(block, "_atom_site")?)))
    else {
        return Err(error(FileLocation::File)(ReadErrorKind::NoAtoms));
    };
    let mut budget = Budget::for_file(bytes.len());
    let table = AtomTable::new(atoms, &mut budget).map_err(error(FileLocation::File))?;
    let mut builder = StructureBuilder::new(source);
    for row in 0..table.rows {
        push_atom(&mut builder, &TableRow { table: &table, row })
            .map_err(error(FileLocation::Row(row + 1)))?;
    }
    let mut read_table = |name: &str| match category(block, name) {
        Some(category) => text_table(category, &mut budget),
        None => Ok(TextTable::default()),
    };
    let assemblies = read_table(OPERATORS)
        .and_then(|operators| assemblies(&operators, &read_table(GENERATORS)?))
        .map_err(error(FileLocation::File))?;
    builder.finish(assemblies)
}

fn category<'v, 'a>(block: &'v Value<'a>, name: &str) -> Option<&'v Value<'a>> {
    let categories = block.get("categories")?.list();
    categories.iter().find(|category| {
        let known = category.get("name").and_then(Value::text);
        known.is_some_and(|known| known.eq_ignore_ascii_case(name))
    })
}

fn row_count(category: &Value<'_>) -> Option<usize> {
    category.get("rowCount")?.integer()?.try_into().ok()
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

    fn is_known(&self, row: usize) -> bool {
        self.mask.as_ref().is_none_or(|mask| mask[row] == 0)
    }

    fn text(&self, row: usize) -> Option<SmolStr> {
        if !self.is_known(row) {
            return None;
        }
        match &self.data {
            Data::Ints(values) => Some(values[row].to_smolstr()),
            Data::Floats(values) => Some(values[row].to_smolstr()),
            Data::Strings { indices, strings } => {
                let index = usize::try_from(indices[row]).ok()?;
                strings.get(index).cloned()
            }
        }
    }
}

fn name_of<'a>(column: &Value<'a>) -> &'a str {
    column.get("name").and_then(Value::text).unwrap_or("")
}

/// The decoded atom table.
struct AtomTable {
    rows: usize,
    columns: [Option<DecodedColumn>; COLUMN_COUNT],
}

impl AtomTable {
    fn new(category: &Value<'_>, budget: &mut Budget) -> Result<Self, ReadErrorKind> {
        let rows = row_count(category)
            .ok_or_else(|| ReadErrorKind::Syntax("the atom table has no rowCount".to_owned()))?;
        let mut columns = [const { None }; COLUMN_COUNT];
        for column in category.get("columns").map_or(&[][..], Value::list) {
            if let Some(index) = column_index(name_of(column)) {
                let decoded = DecodedColumn::new(column, rows, budget)
                    .map_err(|error| error.in_column(COLUMN_NAMES[index]))?;
                columns[index] = Some(decoded);
            }
        }
        check_coordinates(|column| columns[column].is_some())?;
        Ok(Self { rows, columns })
    }
}

struct TableRow<'t> {
    table: &'t AtomTable,
    row: usize,
}

impl TableRow<'_> {
    fn known(&self, column: Column) -> Option<&DecodedColumn> {
        let column = self.table.columns[column as usize].as_ref()?;
        column.is_known(self.row).then_some(column)
    }
}

impl AtomRow for TableRow<'_> {
    fn text(&self, column: Column) -> Option<SmolStr> {
        // Some writers encode a missing value as an empty string.
        let text = self.known(column)?.text(self.row)?;
        (!text.is_empty()).then_some(text)
    }

    fn decimal(&self, column: Column, shift: u32) -> Result<Option<f64>, ReadErrorKind> {
        let field = COLUMN_NAMES[column as usize];
        let Some(known) = self.known(column) else {
            return Ok(None);
        };
        let scale = 10f64.powi(shift as i32);
        let value = match &known.data {
            Data::Floats(values) => values[self.row] / scale,
            Data::Ints(values) => f64::from(values[self.row]) / scale,
            Data::Strings { .. } => match self.text(column) {
                Some(text) => parse_decimal(&text, shift, field)?,
                None => return Ok(None),
            },
        };
        if value.is_finite() {
            Ok(Some(value))
        } else {
            Err(ReadErrorKind::InvalidNumber {
                field,
                text: value.to_string(),
            })
        }
    }

    fn integer(&self, column: Column) -> Result<Option<i32>, ReadErrorKind> {
        if let Some(DecodedColumn {
            data: Data::Ints(values),
            ..
        }) = self.known(column)
        {
            return Ok(Some(values[self.row]));
        }
        let Some(text) = self.text(column) else {
            return Ok(None);
        };
        text.parse()
            .map(Some)
            .map_err(|_| ReadErrorKind::InvalidNumber {
                field: COLUMN_NAMES[column as usize],
                text: text.to_string(),
            })
    }
}

/// A category as text.
fn text_table(category: &Value<'_>, budget: &mut Budget) -> Result<TextTable, ReadErrorKind> {
    let row_count = row_count(category).unwrap_or(0);
    let mut table = TextTable::default();
    for column in category.get("columns").map_or(&[][..], Value::list) {
        let name = name_of(column);
        let decoded =
            DecodedColumn::new(column, row_count, budget).map_err(|error| error.in_column(name))?;
        table.columns.push(name.to_owned());
        table.rows.resize(row_count, Vec::new());
        for (row, values) in table.rows.iter_mut().enumerate() {
            let text = decoded.text(row);
            // Every row may refer to the same long string.
            budget
                .spend(text.as_ref().map_or(0, SmolStr::len))
                .map_err(|error| error.in_column(name))?;
            values.push(text.map(String::from));
        }
    }
    Ok(table)
}
