//! A bench run and its report.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Instant;

use serde::Serialize;

use super::cpu_time;
use super::table::{Cell, Column, Table, head};

/// The report written by `--json`; see the parent module for its fields.
#[derive(Serialize)]
pub struct Report {
    bench: &'static str,
    machine: Option<String>,
    threads: usize,
    profile: &'static str,
    quick: bool,
    tables: Vec<TableReport>,
    notes: Vec<Note>,
}

#[derive(Serialize)]
struct TableReport {
    part: &'static str,
    title: String,
    seconds: f64,
    cpu_seconds: Option<f64>,
    columns: Vec<Column>,
    rows: Vec<BTreeMap<String, Cell>>,
}

#[derive(Serialize)]
struct Note {
    part: &'static str,
    text: String,
}

/// A bench run. Its parts add tables and notes.
pub struct Run {
    /// Whether to run small scenes for one round.
    pub quick: bool,
    report: Report,
    /// The current part.
    part: &'static str,
    /// Where the Markdown goes.
    out: Box<dyn Write>,
    /// Start of the current table: wall clock and CPU seconds.
    since: (Instant, Option<f64>),
}

impl Run {
    /// Prints Markdown to standard output, or to standard error if `stdout_is_taken`.
    pub fn new(bench: &'static str, quick: bool, stdout_is_taken: bool) -> Self {
        let out: Box<dyn Write> = if stdout_is_taken {
            Box::new(io::stderr())
        } else {
            Box::new(io::stdout())
        };
        let report = Report {
            bench,
            machine: cpu_time::cpu_name(),
            threads: rayon::current_num_threads(),
            profile: if cfg!(debug_assertions) {
                "dev"
            } else {
                "release"
            },
            quick,
            tables: Vec::new(),
            notes: Vec::new(),
        };
        let mut run = Self {
            quick,
            report,
            part: "",
            out,
            since: (Instant::now(), cpu_time::process_seconds()),
        };
        let report = &run.report;
        let machine = report
            .machine
            .as_deref()
            .unwrap_or("an unknown CPU")
            .to_owned();
        let line = format!(
            "`{bench}` on {machine}, {} threads, profile {}{}.",
            report.threads,
            report.profile,
            if quick { ", quick" } else { "" }
        );
        run.print(&line);
        run
    }

    pub fn report(&self) -> &Report {
        &self.report
    }

    /// `full`, or `quick` in a quick run.
    pub fn pick<T>(&self, full: T, quick: T) -> T {
        if self.quick { quick } else { full }
    }

    /// Starts a part.
    pub fn begin(&mut self, part: &'static str) {
        self.part = part;
        self.since = (Instant::now(), cpu_time::process_seconds());
    }

    /// Starts a table. Rows are printed as they are added.
    ///
    /// # Panics
    ///
    /// If two columns have the same name.
    pub fn table(&mut self, title: &str, columns: Vec<Column>) -> Table<'_> {
        for (at, column) in columns.iter().enumerate() {
            let is_duplicate = columns[..at].iter().any(|other| other.name == column.name);
            assert!(!is_duplicate, "duplicate column '{}'", column.name);
        }
        self.end_table();
        self.print(&format!("\n{title}\n\n{}", head(&columns)));
        self.report.tables.push(TableReport {
            part: self.part,
            title: title.to_owned(),
            seconds: 0.0,
            cpu_seconds: None,
            columns,
            rows: Vec::new(),
        });
        Table::new(self)
    }

    /// Adds a row to the current table.
    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        let Some(table) = self.report.tables.last_mut() else {
            return;
        };
        assert_eq!(cells.len(), table.columns.len(), "{}", table.title);
        let columns = table.columns.iter();
        let texts: Vec<String> = columns
            .zip(&cells)
            .map(|(column, cell)| column.show(cell))
            .collect();
        let names = table.columns.iter().map(|column| column.name.clone());
        table.rows.push(names.zip(cells).collect());
        self.print(&format!("| {} |", texts.join(" | ")));
    }

    /// Records the duration of the current table.
    pub fn end_table(&mut self) {
        let Some(table) = self.report.tables.last_mut() else {
            return;
        };
        if table.seconds > 0.0 {
            return;
        }
        let (begin, cpu_begin) = self.since;
        let now = (Instant::now(), cpu_time::process_seconds());
        table.seconds = (now.0 - begin).as_secs_f64();
        table.cpu_seconds = cpu_begin.zip(now.1).map(|(begin, end)| end - begin);
        self.since = now;
    }

    /// Adds a note.
    pub fn note(&mut self, text: &str) {
        self.print(&format!("\n{text}"));
        self.report.notes.push(Note {
            part: self.part,
            text: text.to_owned(),
        });
    }

    /// Prints an error.
    pub fn print_error(&mut self, text: &str) {
        // A closed stream is not an error.
        let _ = writeln!(io::stderr(), "{text}");
    }

    fn print(&mut self, text: &str) {
        // Keep going if the reader has gone: the JSON report may still be wanted.
        let _ = writeln!(self.out, "{text}");
    }
}
