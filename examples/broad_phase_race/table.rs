//! Markdown tables, which are also what the report has.

use std::io::{self, Write};

use serde::Serialize;

use crate::common::{AnyError, CommonArguments};
use crate::progress::Progress;

/// A table under a title.
#[derive(Serialize)]
pub struct Table {
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Writes it as Markdown, numbers to the right.
    fn write(&self, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}\n", self.title)?;
        writeln!(out, "| {} |", self.columns.join(" | "))?;
        let numbers = self.columns.len().saturating_sub(1);
        writeln!(out, "|---|{}", "--:|".repeat(numbers))?;
        for row in &self.rows {
            writeln!(out, "| {} |", row.join(" | "))?;
        }
        writeln!(out)
    }
}

/// All tables of a run, and how far it is.
pub struct Tables<'a> {
    common: &'a CommonArguments,
    tables: Vec<Table>,
    progress: Progress,
    /// Number of the experiment, from 0, and how many there are.
    experiment: (usize, usize),
}

impl<'a> Tables<'a> {
    /// None yet.
    pub fn new(common: &'a CommonArguments) -> Self {
        Self {
            common,
            tables: Vec::new(),
            progress: Progress::new(common.quiet),
            experiment: (0, 1),
        }
    }

    /// Begins another experiment, one of so many.
    pub fn begin(&mut self, number: usize, of: usize) {
        self.experiment = (number, of);
    }

    /// Tells what the experiment has come to, the `step`th thing of so many, from 0.
    pub fn come_to(&mut self, step: usize, of: usize, text: impl FnOnce() -> String) {
        let (number, experiments) = self.experiment;
        let part = step as f64 / of.max(1) as f64;
        let done = (number as f64 + part) / experiments as f64;
        self.progress.update(done, text);
    }

    /// Shows a table, and keeps it for the report.
    pub fn add(
        &mut self,
        title: &str,
        columns: Vec<String>,
        rows: Vec<Vec<String>>,
    ) -> Result<(), AnyError> {
        let table = Table {
            title: title.to_owned(),
            columns,
            rows,
        };
        self.progress.clear();
        self.common.print(|out| table.write(out))?;
        self.tables.push(table);
        Ok(())
    }

    /// The tables, in order.
    pub fn into_inner(self) -> Vec<Table> {
        self.tables
    }
}

/// Three digits or so; nothing if there is no number.
pub fn number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value < 0.001 => format!("{value:.5}"),
        Some(value) if value < 1.0 => format!("{value:.3}"),
        Some(value) if value < 100.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

/// Owned copies of words.
pub fn words(words: &[&str]) -> Vec<String> {
    words.iter().map(|word| (*word).to_owned()).collect()
}
