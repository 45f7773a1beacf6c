//! Reader of the mmCIF format: reads the tables of the first data block that has atoms.
//!
//! The tables of atoms and operators are processed row by row to save memory; small tables are kept
//! as text.

pub(super) mod assemblies;
pub(super) mod atom_site;
mod tokens;

use std::collections::HashMap;

use smol_str::SmolStr;

use self::assemblies::{
    ASSEMBLIES, GENERATORS, OPERATORS, OperatorColumns, OperatorTable, TextTable, assemblies,
};
use self::atom_site::{COLUMN_COUNT, Cell, Column, check_coordinates, column_index, push_atom};
use self::tokens::{Token, Tokens};
use super::error::{FileLocation, ReadError, ReadErrorKind};
use super::structure::Structure;
use super::structure::builder::StructureBuilder;
use super::unit_cell::{CELL, UnitCell};

/// Category of the atoms.
const ATOMS: &str = "_atom_site";

/// Category of the entities.
pub(super) const ENTITIES: &str = "_entity";

/// Category of the title.
pub(super) const TITLE: &str = "_struct";

/// Columns of [`ENTITIES`] that are read: identifier and description.
pub(super) const ENTITY_COLUMNS: [&str; 2] = ["id", "pdbx_description"];

/// Columns of [`TITLE`] that are read.
pub(super) const TITLE_COLUMNS: [&str; 2] = ["entry_id", "title"];

/// Reads a decompressed mmCIF file.
pub(super) fn read(bytes: &[u8], source: &str) -> Result<Structure, ReadError> {
    let error = |location| move |kind| ReadError::new(source, location, kind);
    let text =
        text_of(bytes).map_err(|line| error(FileLocation::Line(line))(ReadErrorKind::NotText))?;
    let mut parser = Parser {
        tokens: Tokens::new(text),
        builder: StructureBuilder::new(source),
        tables: Tables::default(),
    };
    let parsed = parser.run();
    parsed.map_err(error(FileLocation::Line(parser.tokens.line)))?;
    let Parser {
        mut builder,
        tables,
        ..
    } = parser;
    builder.set_unit_cell(UnitCell::of_table(&tables.cell));
    set_descriptions(&mut builder, &tables.title, &tables.entities);
    let assemblies = assemblies(&tables.operators, &tables.generators, &tables.assemblies)
        .map_err(error(FileLocation::File))?;
    builder.finish(assemblies)
}

/// Sets the title and the descriptions of the entities.
pub(super) fn set_descriptions(
    builder: &mut StructureBuilder,
    title: &TextTable,
    entities: &TextTable,
) {
    let mut titles = title.pairs(TITLE_COLUMNS);
    builder.set_title(titles.next().map_or("", |[_, title]| title).to_owned());
    let entities = entities.pairs(ENTITY_COLUMNS);
    let entities = entities.map(|[id, description]| (SmolStr::new(id), description.to_owned()));
    builder.set_entities(entities.collect::<HashMap<_, _>>());
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
    tables: Tables,
}

/// The tables of a data block, except for its atoms.
#[derive(Default)]
struct Tables {
    operators: OperatorTable,
    generators: TextTable,
    assemblies: TextTable,
    entities: TextTable,
    title: TextTable,
    cell: TextTable,
    /// An atom table that is written as single items, with one row.
    single_atom: TextTable,
    /// The same for operators.
    single_operator: TextTable,
}

impl Tables {
    /// The table of a category that is kept as text.
    fn text_table(&mut self, category: &str) -> Option<&mut TextTable> {
        [
            (ATOMS, &mut self.single_atom),
            (OPERATORS, &mut self.single_operator),
            (GENERATORS, &mut self.generators),
            (ASSEMBLIES, &mut self.assemblies),
            (ENTITIES, &mut self.entities),
            (TITLE, &mut self.title),
            (CELL, &mut self.cell),
        ]
        .into_iter()
        .find(|(known, _)| known.eq_ignore_ascii_case(category))
        .map(|(_, table)| table)
    }
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
                    self.tables = Tables::default();
                    in_block = true;
                    self.tokens.next()?
                }
                _ if !in_block => {
                    let message = "expected data_ at the start of the file";
                    return Err(ReadErrorKind::syntax(message));
                }
                Token::Loop => self.table()?,
                Token::Name(name) => {
                    self.item(name)?;
                    self.tokens.next()?
                }
                Token::Reserved => self.tokens.next()?,
                Token::Value(_) => {
                    let message = "expected a data name before this value";
                    return Err(ReadErrorKind::syntax(message));
                }
            };
        }
        self.finish_block()
    }

    /// Parses `_name value`.
    fn item(&mut self, name: &str) -> Result<(), ReadErrorKind> {
        let Some(Token::Value(value)) = self.tokens.next()? else {
            return Err(ReadErrorKind::syntax(format!(
                "expected a value of '{name}'"
            )));
        };
        let (category, column) = split_name(name);
        if let Some(table) = self.tables.text_table(category) {
            table.columns.push(column.to_owned());
            if table.rows.is_empty() {
                table.rows.push(Vec::new());
            }
            table.rows[0].push(value.map(str::to_owned));
        }
        Ok(())
    }

    /// Parses the names and values after `loop_`; returns the token after the table.
    fn table(&mut self) -> Result<Option<Token<'a>>, ReadErrorKind> {
        let mut names = Vec::new();
        let mut token = self.tokens.next()?;
        while let Some(Token::Name(name)) = token {
            names.push(split_name(name));
            token = self.tokens.next()?;
        }
        let Some(&(category, _)) = names.first() else {
            return Err(ReadErrorKind::syntax("expected data names after loop_"));
        };
        let columns = names.iter().map(|&(_, column)| column);
        if category.eq_ignore_ascii_case(ATOMS) {
            let indices = column_indices(columns)?;
            return self.rows(names.len(), token, |parser, row| {
                push_text_atom(&mut parser.builder, &indices, row)
            });
        }
        if category.eq_ignore_ascii_case(OPERATORS) {
            let columns = OperatorColumns::new(columns);
            return self.rows(names.len(), token, |parser, row| {
                parser.tables.operators.push_row(&columns, row)
            });
        }
        let is_kept = self.tables.text_table(category).is_some();
        let mut rows = Vec::new();
        let after = self.rows(names.len(), token, |_, row| {
            if is_kept {
                rows.push(row.iter().map(|value| value.map(str::to_owned)).collect());
            }
            Ok(())
        })?;
        if let Some(table) = self.tables.text_table(category) {
            let columns = columns.map(str::to_owned).collect();
            *table = TextTable { columns, rows };
        }
        Ok(after)
    }

    /// Calls `handle` for each row of `width` values; returns the token after the last row.
    fn rows(
        &mut self,
        width: usize,
        first: Option<Token<'a>>,
        mut handle: impl FnMut(&mut Self, &[Option<&'a str>]) -> Result<(), ReadErrorKind>,
    ) -> Result<Option<Token<'a>>, ReadErrorKind> {
        let mut token = first;
        let mut row = Vec::with_capacity(width);
        while let Some(Token::Value(value)) = token {
            row.push(value);
            if row.len() == width {
                handle(self, &row)?;
                row.clear();
            }
            token = self.tokens.next()?;
        }
        if row.is_empty() {
            return Ok(token);
        }
        let values = row.len();
        Err(ReadErrorKind::syntax(format!(
            "the last row of the table has {values} of {width} values; restore or remove it"
        )))
    }

    /// Adds the atom and the operator of tables written as single items.
    fn finish_block(&mut self) -> Result<(), ReadErrorKind> {
        let table = std::mem::take(&mut self.tables.single_operator);
        if let Some(row) = single_row(&table) {
            let columns = OperatorColumns::new(table.columns.iter().map(String::as_str));
            self.tables.operators.push_row(&columns, &row)?;
        }
        let table = std::mem::take(&mut self.tables.single_atom);
        let Some(row) = single_row(&table) else {
            return Ok(());
        };
        let indices = column_indices(table.columns.iter().map(String::as_str))?;
        push_text_atom(&mut self.builder, &indices, &row)
    }
}

/// The row of a table written as single items.
fn single_row(table: &TextTable) -> Option<Vec<Option<&str>>> {
    let row = table.rows.first()?;
    Some(row.iter().map(Option::as_deref).collect())
}

/// Adds the atom of a row of text.
fn push_text_atom(
    builder: &mut StructureBuilder,
    indices: &ColumnIndices,
    row: &[Option<&str>],
) -> Result<(), ReadErrorKind> {
    let has_own_chains = indices[Column::OwnChain as usize].is_some();
    push_atom(builder, has_own_chains, |column| cell(indices, row, column))
}

/// Category and column of a data name.
fn split_name(name: &str) -> (&str, &str) {
    name.split_once('.').unwrap_or((name, ""))
}

type ColumnIndices = [Option<usize>; COLUMN_COUNT];

/// The index of each [`Column`] in a row.
fn column_indices<'n>(
    columns: impl Iterator<Item = &'n str>,
) -> Result<ColumnIndices, ReadErrorKind> {
    let mut indices = [None; COLUMN_COUNT];
    for (index, name) in columns.enumerate() {
        if let Some(column) = column_index(name) {
            indices[column] = Some(index);
        }
    }
    check_coordinates(|column| indices[column].is_some())?;
    Ok(indices)
}

fn cell<'a>(indices: &ColumnIndices, row: &[Option<&'a str>], column: Column) -> Option<Cell<'a>> {
    let value = row.get(indices[column as usize]?)?;
    value.map(Cell::Text)
}
