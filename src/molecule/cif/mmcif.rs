//! Reader of mmCIF files: finds the tables of the first data block that has atoms.
//!
//! The atom table is handed on row by row, so that memory goes into the
//! structure and not into tokens; the two assembly tables are kept as text.

use smol_str::SmolStr;

use super::assemblies::{GENERATORS, OPERATORS, SmallTable, assemblies};
use super::atom_site::{
    AtomRow, COLUMN_COUNT, COLUMN_NAMES, Column, check_coordinates, column_index, push_atom,
};
use super::tokens::{Token, Tokens, Value};
use crate::molecule::builder::StructureBuilder;
use crate::molecule::error::{Place, ReadCause, ReadError};
use crate::molecule::number::parse_decimal;
use crate::molecule::reader::{StructureReader, inflate};
use crate::molecule::structure::Structure;

/// Category of the atoms.
const ATOMS: &str = "_atom_site";

/// Reads mmCIF files, plain or gzipped.
#[derive(Clone, Copy, Debug, Default)]
pub(in super::super) struct MmcifReader;

impl StructureReader for MmcifReader {
    fn read(&self, bytes: &[u8], source: &str) -> Result<Structure, ReadError> {
        let bytes = inflate(bytes, source)?;
        let text = text_of(&bytes)
            .map_err(|line| ReadError::new(source, Place::Line(line), ReadCause::NotText))?;
        let mut parser = Parser {
            tokens: Tokens::new(text),
            builder: StructureBuilder::new(source),
            operators: SmallTable::default(),
            generators: SmallTable::default(),
            single_atom: SmallTable::default(),
        };
        parser
            .run()
            .map_err(|cause| ReadError::new(source, Place::Line(parser.tokens.line), cause))?;
        let assemblies = assemblies(&parser.operators, &parser.generators)
            .map_err(|cause| ReadError::new(source, Place::File, cause))?;
        parser.builder.finish(assemblies)
    }
}

/// The bytes as text, or the line that is not.
fn text_of(bytes: &[u8]) -> Result<&str, usize> {
    let line_of = |at: usize| bytes[..at].iter().filter(|&&byte| byte == b'\n').count() + 1;
    if let Some(zero) = bytes.iter().position(|&byte| byte == 0) {
        return Err(line_of(zero));
    }
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|error| line_of(error.valid_up_to()))
}

struct Parser<'a> {
    tokens: Tokens<'a>,
    builder: StructureBuilder,
    operators: SmallTable,
    generators: SmallTable,
    /// The only row of an atom table that is written as single items.
    single_atom: SmallTable,
}

impl<'a> Parser<'a> {
    fn run(&mut self) -> Result<(), ReadCause> {
        let mut token = self.tokens.next()?;
        let mut in_block = false;
        while let Some(now) = token {
            token = match now {
                Token::Data(_) => {
                    self.finish_block()?;
                    if !self.builder.is_empty() {
                        return Ok(());
                    }
                    self.operators = SmallTable::default();
                    self.generators = SmallTable::default();
                    in_block = true;
                    self.tokens.next()?
                }
                _ if !in_block => {
                    return Err(ReadCause::Syntax(
                        "the file does not start with data_".to_owned(),
                    ));
                }
                Token::Loop => self.table()?,
                Token::Name(name) => {
                    self.item(name)?;
                    self.tokens.next()?
                }
                Token::Reserved => self.tokens.next()?,
                Token::Value(_) => {
                    return Err(ReadCause::Syntax("a value without a name".to_owned()));
                }
            };
        }
        self.finish_block()
    }

    /// `_name value`.
    fn item(&mut self, name: &str) -> Result<(), ReadCause> {
        let Some(Token::Value(value)) = self.tokens.next()? else {
            return Err(ReadCause::Syntax(format!("'{name}' has no value")));
        };
        let (category, column) = name.split_once('.').unwrap_or((name, ""));
        let table = if category.eq_ignore_ascii_case(ATOMS) {
            &mut self.single_atom
        } else if category.eq_ignore_ascii_case(OPERATORS) {
            &mut self.operators
        } else if category.eq_ignore_ascii_case(GENERATORS) {
            &mut self.generators
        } else {
            return Ok(());
        };
        table.columns.push(column.to_owned());
        if table.rows.is_empty() {
            table.rows.push(Vec::new());
        }
        table.rows[0].push(value.known().map(str::to_owned));
        Ok(())
    }

    /// `loop_`, names, values; gives back the token after the table.
    fn table(&mut self) -> Result<Option<Token<'a>>, ReadCause> {
        let mut names = Vec::new();
        let mut token = self.tokens.next()?;
        while let Some(Token::Name(name)) = token {
            names.push(name);
            token = self.tokens.next()?;
        }
        let Some(first) = names.first() else {
            return Err(ReadCause::Syntax("loop_ without names".to_owned()));
        };
        let category = first
            .split_once('.')
            .map_or(*first, |(category, _)| category);
        let columns: Vec<&str> = names
            .iter()
            .map(|name| name.split_once('.').map_or("", |(_, column)| column))
            .collect();
        if category.eq_ignore_ascii_case(ATOMS) {
            return self.atoms(&columns, token);
        }
        let is_operators = category.eq_ignore_ascii_case(OPERATORS);
        let is_kept = is_operators || category.eq_ignore_ascii_case(GENERATORS);
        let mut rows = Vec::new();
        let after = self.rows(columns.len(), token, |_, row| {
            if is_kept {
                let known = |value: &Value<'_>| value.known().map(str::to_owned);
                rows.push(row.iter().map(known).collect());
            }
            Ok(())
        })?;
        if is_kept {
            let columns = columns.into_iter().map(str::to_owned).collect();
            let table = SmallTable { columns, rows };
            if is_operators {
                self.operators = table;
            } else {
                self.generators = table;
            }
        }
        Ok(after)
    }

    /// The atom table, from its first value on.
    fn atoms(
        &mut self,
        columns: &[&str],
        first: Option<Token<'a>>,
    ) -> Result<Option<Token<'a>>, ReadCause> {
        let places = places_of(columns.iter().copied());
        check_coordinates(|column| places[column].is_some())?;
        self.rows(columns.len(), first, |builder, values| {
            push_atom(
                builder,
                &TextRow {
                    places: &places,
                    values,
                },
            )
        })
    }

    /// Calls `handle` with each row of `width` values; gives back the token after the last.
    fn rows(
        &mut self,
        width: usize,
        first: Option<Token<'a>>,
        mut handle: impl FnMut(&mut StructureBuilder, &[Value<'a>]) -> Result<(), ReadCause>,
    ) -> Result<Option<Token<'a>>, ReadCause> {
        let mut token = first;
        let mut row = Vec::with_capacity(width);
        while let Some(Token::Value(value)) = token {
            row.push(value);
            if row.len() == width {
                handle(&mut self.builder, &row)?;
                row.clear();
            }
            token = self.tokens.next()?;
        }
        if row.is_empty() {
            Ok(token)
        } else {
            Err(ReadCause::Syntax(format!(
                "the last row of a table has {} of {width} values",
                row.len()
            )))
        }
    }

    /// Handles an atom table that was written as single items.
    fn finish_block(&mut self) -> Result<(), ReadCause> {
        let table = std::mem::take(&mut self.single_atom);
        let Some(row) = table.rows.first() else {
            return Ok(());
        };
        let places = places_of(table.columns.iter().map(String::as_str));
        check_coordinates(|column| places[column].is_some())?;
        let values: Vec<Value<'_>> = row.iter().map(|text| Value::new(text.as_deref())).collect();
        let row = TextRow {
            places: &places,
            values: &values,
        };
        push_atom(&mut self.builder, &row)
    }
}

/// Where in a row each of the columns that are read is.
fn places_of<'n>(columns: impl Iterator<Item = &'n str>) -> [Option<usize>; COLUMN_COUNT] {
    let mut places = [None; COLUMN_COUNT];
    for (place, name) in columns.enumerate() {
        if let Some(column) = column_index(name) {
            places[column] = Some(place);
        }
    }
    places
}

/// A row of values.
struct TextRow<'r, 'a> {
    places: &'r [Option<usize>; COLUMN_COUNT],
    values: &'r [Value<'a>],
}

impl<'a> TextRow<'_, 'a> {
    fn known(&self, column: Column) -> Option<&'a str> {
        self.values.get(self.places[column as usize]?)?.known()
    }
}

impl AtomRow for TextRow<'_, '_> {
    fn text(&self, column: Column) -> Option<SmolStr> {
        self.known(column).map(SmolStr::new)
    }

    fn decimal(&self, column: Column, shift: u32) -> Result<Option<f64>, ReadCause> {
        self.known(column)
            .map(|text| parse_decimal(text, shift, COLUMN_NAMES[column as usize]))
            .transpose()
    }

    fn integer(&self, column: Column) -> Result<Option<i32>, ReadCause> {
        self.known(column)
            .map(|text| {
                text.parse().map_err(|_| ReadCause::BadNumber {
                    field: COLUMN_NAMES[column as usize],
                    text: text.to_owned(),
                })
            })
            .transpose()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Structure, ReadError> {
        MmcifReader.read(text.as_bytes(), "test.cif")
    }

    const HEAD: &str = "data_X\nloop_\n_atom_site.type_symbol\n_atom_site.label_atom_id\n\
        _atom_site.label_asym_id\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n";

    #[test]
    fn few_columns_are_enough() {
        let structure = read(&format!("{HEAD}C C1 A 1.0 2.0 3.0\nFE 'FE' B 4 5 6\n")).unwrap();
        assert_eq!(structure.atoms().len(), 2);
        assert_eq!(structure.chains(), ["A", "B"]);
        assert_eq!(structure.models(), [1]);
        assert_eq!(
            structure.atoms()[1].position,
            glam::Vec3::new(0.4, 0.5, 0.6)
        );
    }

    #[test]
    fn an_atom_may_be_written_as_single_items() {
        let text = "data_X _atom_site.Cartn_x 1 _atom_site.Cartn_y 2 _atom_site.Cartn_z 3 \
            _atom_site.type_symbol NA";
        assert_eq!(read(text).unwrap().atoms()[0].name, "NA");
    }

    #[test]
    fn errors_name_the_line_or_the_column() {
        let bad = |rows: &str| read(&format!("{HEAD}{rows}")).unwrap_err();
        let error = bad("C C1 A 1 2 3\nC C2 A 1 x 3\n");
        assert_eq!(error.place, Place::Line(10));
        assert!(matches!(
            error.cause,
            ReadCause::BadNumber {
                field: "Cartn_y",
                ..
            }
        ));
        assert!(matches!(bad("C C1 A 1 2").cause, ReadCause::Syntax(_)));
        assert!(matches!(
            bad("C C1 A 1 2 ?").cause,
            ReadCause::BadNumber { field: "z", .. }
        ));
        assert!(matches!(
            bad("C C1 A 1 2 nan").cause,
            ReadCause::NotFinite { .. }
        ));
        assert!(matches!(
            bad("C C1 A 1 2 1e9").cause,
            ReadCause::TooFar { .. }
        ));
        assert!(matches!(
            bad("Qq C1 A 1 2 3").cause,
            ReadCause::UnknownElement { .. }
        ));
        assert!(matches!(bad("").cause, ReadCause::NoAtoms));
        let error = read(&format!(
            "{}C C1 A 1 2",
            HEAD.replace("_atom_site.Cartn_z\n", "")
        ));
        assert_eq!(
            error.unwrap_err().cause,
            ReadCause::MissingColumn("Cartn_z")
        );
        assert!(matches!(
            read("hello").unwrap_err().cause,
            ReadCause::Syntax(_)
        ));
        assert_eq!(read("data_X\n\u{0}").unwrap_err().place, Place::Line(2));
    }

    #[test]
    fn only_the_first_block_with_atoms_counts() {
        let block = format!("{HEAD}C C1 A 1 2 3\n");
        let structure = read(&format!("data_empty\n{block}{block}")).unwrap();
        assert_eq!(structure.atoms().len(), 1);
    }
}
