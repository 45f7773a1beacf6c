//! Reader of the mmCIF format: reads the tables of the first data block that has atoms.
//!
//! The atom table is processed row by row to save memory; the two assembly tables are kept as
//! text.

pub(super) mod assemblies;
pub(super) mod atom_site;
mod tokens;

use smol_str::SmolStr;

use self::assemblies::{GENERATORS, OPERATORS, TextTable, assemblies};
use self::atom_site::{
    AtomRow, COLUMN_COUNT, COLUMN_NAMES, Column, check_coordinates, column_index, push_atom,
};
use self::tokens::{Token, Tokens, Value};
use super::decimal::parse_decimal;
use super::error::{FileLocation, ReadError, ReadErrorKind};
use super::structure::Structure;
use super::structure::builder::StructureBuilder;

/// Category of the atoms.
const ATOMS: &str = "_atom_site";

/// Reads a decompressed mmCIF file.
pub(super) fn read(bytes: &[u8], source: &str) -> Result<Structure, ReadError> {
    let error = |location| move |kind| ReadError::new(source, location, kind);
    let text =
        text_of(bytes).map_err(|line| error(FileLocation::Line(line))(ReadErrorKind::NotText))?;
    let mut parser = Parser {
        tokens: Tokens::new(text),
        builder: StructureBuilder::new(source),
        operators: TextTable::default(),
        generators: TextTable::default(),
        single_atom: TextTable::default(),
    };
    let parsed = parser.run();
    parsed.map_err(error(FileLocation::Line(parser.tokens.line)))?;
    let assemblies =
        assemblies(&parser.operators, &parser.generators).map_err(error(FileLocation::File))?;
    parser.builder.finish(assemblies)
}

/// The bytes as text, or the first line that is not text.
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
    operators: TextTable,
    generators: TextTable,
    /// An atom table that is written as single items, with one row.
    single_atom: TextTable,
}

impl<'a> Parser<'a> {
    fn run(&mut self) -> Result<(), ReadErrorKind> {
        let mut token = self.tokens.next()?;
        let mut in_block = false;
        while let Some(current) = token {
            token = match current {
                Token::Data => {
                    self.finish_block()?;
                    if !self.builder.is_empty() {
                        return Ok(());
                    }
                    self.operators = TextTable::default();
                    self.generators = TextTable::default();
                    in_block = true;
                    self.tokens.next()?
                }
                _ if !in_block => {
                    return Err(ReadErrorKind::Syntax(
                        "expected data_ at the start of the file".to_owned(),
                    ));
                }
                Token::Loop => self.table()?,
                Token::Name(name) => {
                    self.item(name)?;
                    self.tokens.next()?
                }
                Token::Reserved => self.tokens.next()?,
                Token::Value(_) => {
                    return Err(ReadErrorKind::Syntax(
                        "expected a data name before this value".to_owned(),
                    ));
                }
            };
        }
        self.finish_block()
    }

    /// Parses `_name value`.
    fn item(&mut self, name: &str) -> Result<(), ReadErrorKind> {
        let Some(Token::Value(value)) = self.tokens.next()? else {
            return Err(ReadErrorKind::Syntax(format!(
                "expected a value of '{name}'"
            )));
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

    /// Parses the names and values after `loop_`; returns the token after the table.
    fn table(&mut self) -> Result<Option<Token<'a>>, ReadErrorKind> {
        let mut names = Vec::new();
        let mut token = self.tokens.next()?;
        while let Some(Token::Name(name)) = token {
            names.push(name);
            token = self.tokens.next()?;
        }
        let Some(first) = names.first() else {
            return Err(ReadErrorKind::Syntax(
                "expected data names after loop_".to_owned(),
            ));
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
            let table = TextTable { columns, rows };
            if is_operators {
                self.operators = table;
            } else {
                self.generators = table;
            }
        }
        Ok(after)
    }

    /// Parses the values of the atom table; returns the token after the table.
    fn atoms(
        &mut self,
        columns: &[&str],
        first: Option<Token<'a>>,
    ) -> Result<Option<Token<'a>>, ReadErrorKind> {
        let indices = column_indices(columns.iter().copied());
        check_coordinates(|column| indices[column].is_some())?;
        self.rows(columns.len(), first, |builder, values| {
            push_atom(
                builder,
                &TextRow {
                    indices: &indices,
                    values,
                },
            )
        })
    }

    /// Calls `handle` for each row of `width` values; returns the token after the last row.
    fn rows(
        &mut self,
        width: usize,
        first: Option<Token<'a>>,
        mut handle: impl FnMut(&mut StructureBuilder, &[Value<'a>]) -> Result<(), ReadErrorKind>,
    ) -> Result<Option<Token<'a>>, ReadErrorKind> {
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
            Err(ReadErrorKind::Syntax(format!(
                "the last row of the table has {} of {width} values; restore or remove it",
                row.len()
            )))
        }
    }

    /// Adds the atom of a table written as single items.
    fn finish_block(&mut self) -> Result<(), ReadErrorKind> {
        let table = std::mem::take(&mut self.single_atom);
        let Some(row) = table.rows.first() else {
            return Ok(());
        };
        let indices = column_indices(table.columns.iter().map(String::as_str));
        check_coordinates(|column| indices[column].is_some())?;
        let values: Vec<Value<'_>> = row.iter().map(|text| Value::new(text.as_deref())).collect();
        let row = TextRow {
            indices: &indices,
            values: &values,
        };
        push_atom(&mut self.builder, &row)
    }
}

/// The index of each [`Column`] in a row.
fn column_indices<'n>(columns: impl Iterator<Item = &'n str>) -> [Option<usize>; COLUMN_COUNT] {
    let mut indices = [None; COLUMN_COUNT];
    for (index, name) in columns.enumerate() {
        if let Some(column) = column_index(name) {
            indices[column] = Some(index);
        }
    }
    indices
}

/// A row of the atom table.
struct TextRow<'r, 'a> {
    indices: &'r [Option<usize>; COLUMN_COUNT],
    values: &'r [Value<'a>],
}

impl<'a> TextRow<'_, 'a> {
    fn known(&self, column: Column) -> Option<&'a str> {
        self.values.get(self.indices[column as usize]?)?.known()
    }
}

impl AtomRow for TextRow<'_, '_> {
    fn text(&self, column: Column) -> Option<SmolStr> {
        self.known(column).map(SmolStr::new)
    }

    fn decimal(&self, column: Column, shift: u32) -> Result<Option<f64>, ReadErrorKind> {
        self.known(column)
            .map(|text| parse_decimal(text, shift, COLUMN_NAMES[column as usize]))
            .transpose()
    }

    fn integer(&self, column: Column) -> Result<Option<i32>, ReadErrorKind> {
        self.known(column)
            .map(|text| {
                text.parse().map_err(|_| ReadErrorKind::InvalidNumber {
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
        super::read(text.as_bytes(), "test.cif")
    }

    const HEAD: &str = "data_X\nloop_\n_atom_site.type_symbol\n_atom_site.label_atom_id\n\
        _atom_site.label_asym_id\n_atom_site.Cartn_x\n_atom_site.Cartn_y\n_atom_site.Cartn_z\n";

    #[test]
    fn only_coordinates_are_required() {
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
    fn single_items_can_define_an_atom() {
        let text = "data_X _atom_site.Cartn_x 1 _atom_site.Cartn_y 2 _atom_site.Cartn_z 3 \
            _atom_site.type_symbol NA";
        assert_eq!(read(text).unwrap().atoms()[0].name, "NA");
    }

    #[test]
    fn errors_contain_the_line_or_the_column() {
        let bad = |rows: &str| read(&format!("{HEAD}{rows}")).unwrap_err();
        let error = bad("C C1 A 1 2 3\nC C2 A 1 x 3\n");
        assert_eq!(error.location, FileLocation::Line(10));
        assert!(matches!(
            error.kind,
            ReadErrorKind::InvalidNumber {
                field: "Cartn_y",
                ..
            }
        ));
        assert!(matches!(bad("C C1 A 1 2").kind, ReadErrorKind::Syntax(_)));
        assert!(matches!(
            bad("C C1 A 1 2 ?").kind,
            ReadErrorKind::InvalidNumber {
                field: "Cartn_z",
                ..
            }
        ));
        assert!(matches!(
            bad("C C1 A 1 2 nan").kind,
            ReadErrorKind::InvalidNumber { .. }
        ));
        assert!(matches!(
            bad("C C1 A 1 2 1e9").kind,
            ReadErrorKind::TooFar { .. }
        ));
        assert!(matches!(bad("").kind, ReadErrorKind::NoAtoms));
        let error = read(&format!(
            "{}C C1 A 1 2",
            HEAD.replace("_atom_site.Cartn_z\n", "")
        ));
        assert_eq!(
            error.unwrap_err().kind,
            ReadErrorKind::MissingColumn("Cartn_z")
        );
        assert!(matches!(
            read("hello").unwrap_err().kind,
            ReadErrorKind::Syntax(_)
        ));
        assert_eq!(
            read("data_X\n\u{0}").unwrap_err().location,
            FileLocation::Line(2)
        );
    }

    #[test]
    fn only_the_first_block_with_atoms_is_read() {
        let block = format!("{HEAD}C C1 A 1 2 3\n");
        let structure = read(&format!("data_empty\n{block}{block}")).unwrap();
        assert_eq!(structure.atoms().len(), 1);
    }
}
