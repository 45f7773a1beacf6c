//! Reader of `BinaryCIF` files: finds the tables of the first block that has atoms.

use smol_str::{SmolStr, ToSmolStr};

use super::assemblies::{GENERATORS, OPERATORS, SmallTable, assemblies};
use super::atom_site::{
    AtomRow, COLUMN_COUNT, COLUMN_NAMES, Column, check_coordinates, column_index, push_atom,
};
use super::decode::{Budget, Data, Fault, decode};
use super::message_pack::{Value, parse};
use crate::molecule::builder::StructureBuilder;
use crate::molecule::error::{Place, ReadCause, ReadError};
use crate::molecule::number::parse_decimal;
use crate::molecule::reader::{StructureReader, inflate};
use crate::molecule::structure::Structure;

/// Reads `BinaryCIF` files, plain or gzipped.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct BinaryCifReader;

impl StructureReader for BinaryCifReader {
    fn read(&self, bytes: &[u8], source: &str) -> Result<Structure, ReadError> {
        let bytes = inflate(bytes, source)?;
        let fail = |place: Place| move |cause| ReadError::new(source, place, cause);
        let file =
            parse(&bytes).map_err(|(at, cause)| ReadError::new(source, Place::Byte(at), cause))?;
        let blocks = file.get("dataBlocks").map_or(&[][..], Value::list);
        let Some((block, atoms)) = blocks
            .iter()
            .find_map(|block| Some((block, category(block, "_atom_site")?)))
        else {
            return Err(fail(Place::File)(ReadCause::NoAtoms));
        };
        let mut budget = Budget::for_file(bytes.len());
        let table = AtomTable::new(atoms, &mut budget).map_err(fail(Place::File))?;
        let mut builder = StructureBuilder::new(source);
        for row in 0..table.rows {
            push_atom(&mut builder, &TableRow { table: &table, row })
                .map_err(fail(Place::Row(row + 1)))?;
        }
        let small = |name: &str, budget: &mut Budget| match category(block, name) {
            Some(found) => small_table(found, budget).map_err(fail(Place::File)),
            None => Ok(SmallTable::default()),
        };
        let operators = small(OPERATORS, &mut budget)?;
        let generators = small(GENERATORS, &mut budget)?;
        let assemblies = assemblies(&operators, &generators).map_err(fail(Place::File))?;
        builder.finish(assemblies)
    }
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

/// A decoded column and which of its values are known.
struct DecodedColumn {
    data: Data,
    mask: Option<Vec<i32>>,
}

impl DecodedColumn {
    fn new(column: &Value<'_>, rows: usize, budget: &mut Budget) -> Result<Self, Fault> {
        let packed = column.get("data").ok_or(Fault::Bad("there are no data"))?;
        let data = decode(packed, budget)?;
        let mask = match column.get("mask") {
            None | Some(Value::Nil) => None,
            Some(packed) => match decode(packed, budget)? {
                Data::Ints(mask) => Some(mask),
                _ => return Err(Fault::Bad("the mask is not made of whole numbers")),
            },
        };
        let wrong_mask = mask.as_ref().is_some_and(|mask| mask.len() != rows);
        if data.len() != rows || wrong_mask {
            return Err(Fault::Bad("the number of values is not the number of rows"));
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
            Data::Texts { indices, strings } => {
                let index = usize::try_from(indices[row]).ok()?;
                strings.get(index).cloned()
            }
        }
    }
}

fn name_of<'a>(column: &Value<'a>) -> &'a str {
    column.get("name").and_then(Value::text).unwrap_or("")
}

/// The columns of the atom table that are read.
struct AtomTable {
    rows: usize,
    columns: [Option<DecodedColumn>; COLUMN_COUNT],
}

impl AtomTable {
    fn new(category: &Value<'_>, budget: &mut Budget) -> Result<Self, ReadCause> {
        let rows = row_count(category).ok_or_else(|| {
            ReadCause::Syntax("the atom table does not say how many rows it has".to_owned())
        })?;
        let mut columns = [const { None }; COLUMN_COUNT];
        for column in category.get("columns").map_or(&[][..], Value::list) {
            if let Some(index) = column_index(name_of(column)) {
                let decoded = DecodedColumn::new(column, rows, budget)
                    .map_err(|fault| fault.of_column(COLUMN_NAMES[index]))?;
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
        // An empty string is how some writers say that there is no value.
        let text = self.known(column)?.text(self.row)?;
        (!text.is_empty()).then_some(text)
    }

    fn decimal(&self, column: Column, shift: u32) -> Result<Option<f64>, ReadCause> {
        let field = COLUMN_NAMES[column as usize];
        let Some(known) = self.known(column) else {
            return Ok(None);
        };
        let scale = 10f64.powi(shift as i32);
        let value = match &known.data {
            Data::Floats(values) => values[self.row] / scale,
            Data::Ints(values) => f64::from(values[self.row]) / scale,
            Data::Texts { .. } => match self.text(column) {
                Some(text) => parse_decimal(&text, shift, field)?,
                None => return Ok(None),
            },
        };
        if value.is_finite() {
            Ok(Some(value))
        } else {
            Err(ReadCause::NotFinite {
                field,
                text: value.to_string(),
            })
        }
    }

    fn integer(&self, column: Column) -> Result<Option<i32>, ReadCause> {
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
        text.parse().map(Some).map_err(|_| ReadCause::BadNumber {
            field: COLUMN_NAMES[column as usize],
            text: text.to_string(),
        })
    }
}

/// A whole category as text.
fn small_table(category: &Value<'_>, budget: &mut Budget) -> Result<SmallTable, ReadCause> {
    let row_count = row_count(category).unwrap_or(0);
    let mut table = SmallTable::default();
    for column in category.get("columns").map_or(&[][..], Value::list) {
        let name = name_of(column);
        let decoded =
            DecodedColumn::new(column, row_count, budget).map_err(|fault| fault.of_column(name))?;
        table.columns.push(name.to_owned());
        table.rows.resize(row_count, Vec::new());
        for (row, values) in table.rows.iter_mut().enumerate() {
            let text = decoded.text(row);
            // One long string may stand in every row.
            budget
                .spend(text.as_ref().map_or(0, SmolStr::len))
                .map_err(|fault| fault.of_column(name))?;
            values.push(text.map(String::from));
        }
    }
    Ok(table)
}
