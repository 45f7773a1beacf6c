//! Columns and cells of a table, and their Markdown.

use serde::Serialize;

use super::report::Run;

/// Contents of a cell.
#[derive(Clone, Debug, Serialize)]
#[serde(untagged)]
pub enum Cell {
    Text(String),
    Count(u64),
    Number(f64),
    /// Summands, shown as `a + b`.
    Summands(Vec<f64>),
    /// Not measured.
    Missing,
}

macro_rules! cell_from {
    ($($source:ty => $make:expr),* $(,)?) => {$(
        impl From<$source> for Cell {
            fn from(value: $source) -> Self {
                $make(value)
            }
        }
    )*};
}

cell_from! {
    &str => |text: &str| Cell::Text(text.to_owned()),
    String => Cell::Text,
    u64 => Cell::Count,
    u32 => |count| Cell::Count(u64::from(count)),
    usize => |count| Cell::Count(count as u64),
    f64 => Cell::Number,
    [f64; 2] => |summands: [f64; 2]| Cell::Summands(summands.to_vec()),
    Option<f64> => |number: Option<f64>| number.map_or(Cell::Missing, Cell::Number),
}

/// How the numbers of a column are rounded in Markdown.
#[derive(Clone, Copy, Debug)]
enum Digits {
    /// About three significant digits.
    Significant,
    /// A fixed number of decimals.
    Decimals(usize),
}

/// A column.
#[derive(Clone, Debug, Serialize)]
pub struct Column {
    /// Name in the report, unique in its table.
    pub name: String,
    unit: Option<&'static str>,
    /// Heading in Markdown, if different.
    #[serde(skip)]
    heading: Option<&'static str>,
    #[serde(skip)]
    is_text: bool,
    #[serde(skip)]
    digits: Digits,
}

impl Column {
    /// A column of text.
    pub fn text(name: impl Into<String>) -> Self {
        Self {
            is_text: true,
            ..Self::number(name)
        }
    }

    /// A column of numbers without a unit: counts and ratios.
    pub fn number(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            unit: None,
            heading: None,
            is_text: false,
            digits: Digits::Significant,
        }
    }

    /// A column of numbers with a unit.
    pub fn measured(name: impl Into<String>, unit: &'static str) -> Self {
        Self {
            unit: Some(unit),
            ..Self::number(name)
        }
    }

    /// Sets the number of decimals.
    pub fn decimals(self, decimals: usize) -> Self {
        Self {
            digits: Digits::Decimals(decimals),
            ..self
        }
    }

    /// Sets the heading in Markdown.
    pub fn headed(self, heading: &'static str) -> Self {
        Self {
            heading: Some(heading),
            ..self
        }
    }

    /// The Markdown of a cell of this column.
    pub fn show(&self, cell: &Cell) -> String {
        match cell {
            Cell::Text(text) => text.clone(),
            Cell::Count(count) => grouped(&count.to_string()),
            Cell::Number(value) => self.rounded(*value),
            Cell::Summands(values) => {
                let values = values.iter().map(|value| self.rounded(*value));
                values.collect::<Vec<_>>().join(" + ")
            }
            Cell::Missing => "–".to_owned(),
        }
    }

    fn rounded(&self, value: f64) -> String {
        match self.digits {
            Digits::Decimals(decimals) => grouped(&format!("{value:.decimals$}")),
            Digits::Significant => significant(value),
        }
    }
}

/// The two header lines; numbers are right-aligned.
pub fn head(columns: &[Column]) -> String {
    let headings = columns
        .iter()
        .map(|column| column.heading.unwrap_or(&column.name));
    let headings: Vec<&str> = headings.collect();
    let sides = columns.iter().map(|column| match column.is_text {
        true => "---|",
        false => "--:|",
    });
    let sides: String = sides.collect();
    format!("| {} |\n|{sides}", headings.join(" | "))
}

/// About three significant digits.
fn significant(value: f64) -> String {
    match value.abs() {
        size if size < 0.001 && size > 0.0 => format!("{value:.5}"),
        size if size < 1.0 => format!("{value:.3}"),
        size if size < 100.0 => format!("{value:.1}"),
        _ => grouped(&format!("{value:.0}")),
    }
}

/// Digits before the point in groups of three: 83,080.
pub fn grouped(number: &str) -> String {
    let digits = |text: &str| text.chars().take_while(char::is_ascii_digit).count();
    let sign = usize::from(number.starts_with('-'));
    let whole = digits(&number[sign..]);
    let mut shown = number[..sign].to_owned();
    for (at, digit) in number[sign..].chars().enumerate() {
        if at > 0 && at < whole && (whole - at).is_multiple_of(3) {
            shown.push(',');
        }
        shown.push(digit);
    }
    shown
}

/// A table under construction.
pub struct Table<'a> {
    run: &'a mut Run,
}

impl<'a> Table<'a> {
    pub(super) fn new(run: &'a mut Run) -> Self {
        Self { run }
    }

    /// Adds and prints a row with one cell per column.
    pub fn row(&mut self, cells: impl Into<Vec<Cell>>) {
        self.run.row(cells.into());
    }
}
