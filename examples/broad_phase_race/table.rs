//! Markdown tables, printed and kept for the report.

use std::io::{self, Write};

use serde::Serialize;

use crate::common::{AnyError, CommonArguments, Progress};

/// A table with a title.
#[derive(Serialize)]
pub struct Table {
    title: String,
    columns: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// Writes it as Markdown. All columns but the first are right-aligned.
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

/// The tables and the progress of a run.
pub struct Tables<'a> {
    common: &'a CommonArguments,
    tables: Vec<Table>,
    bar: Progress,
    /// Index of the current experiment, and the number of experiments.
    experiment: (usize, usize),
}

impl<'a> Tables<'a> {
    /// No tables yet.
    pub fn new(common: &'a CommonArguments) -> Self {
        Self {
            common,
            tables: Vec::new(),
            bar: Progress::new(common.quiet),
            experiment: (0, 1),
        }
    }

    /// Begins an experiment.
    pub fn begin_experiment(&mut self, index: usize, count: usize) {
        self.experiment = (index, count);
    }

    /// Shows the progress of the experiment: `done` of `all` measurements.
    pub fn progress(&mut self, done: usize, all: usize, text: impl FnOnce() -> String) {
        let (index, count) = self.experiment;
        let fraction = done as f64 / all.max(1) as f64;
        self.bar
            .update((index as f64 + fraction) / count as f64, text);
    }

    /// Prints a table, and keeps it for the report.
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
        self.bar.clear();
        self.common.print(|out| table.write(out))?;
        self.tables.push(table);
        Ok(())
    }

    /// The tables, in order.
    pub fn into_inner(self) -> Vec<Table> {
        self.tables
    }
}

/// Formats a number with about three digits; `–` for none.
pub fn format_number(value: Option<f64>) -> String {
    match value {
        None => "–".to_owned(),
        Some(value) if value < 0.001 => format!("{value:.5}"),
        Some(value) if value < 1.0 => format!("{value:.3}"),
        Some(value) if value < 100.0 => format!("{value:.1}"),
        Some(value) => format!("{value:.0}"),
    }
}

/// Owned copies of texts.
pub fn strings(texts: &[&str]) -> Vec<String> {
    texts.iter().map(|text| (*text).to_owned()).collect()
}
