//! A run and its report.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::time::Instant;

use serde::Serialize;

use super::processor;
use super::table::{Cell, Column, Table, head};

/// What `--json` writes; the module above tells what is in it.
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
    processor_seconds: Option<f64>,
    columns: Vec<Column>,
    rows: Vec<BTreeMap<String, Cell>>,
}

#[derive(Serialize)]
struct Note {
    part: &'static str,
    text: String,
}

/// A run of a bench, to which its parts report.
pub struct Run {
    /// Whether it only has to show that it works.
    pub quick: bool,
    report: Report,
    /// The part that runs.
    part: &'static str,
    /// For people.
    out: Box<dyn Write>,
    /// Since when the next table is being made: on the clock, and of the processor.
    since: (Instant, Option<f64>),
}

impl Run {
    /// Markdown goes to standard output, unless that is taken.
    pub fn new(bench: &'static str, quick: bool, stdout_is_taken: bool) -> Self {
        let out: Box<dyn Write> = if stdout_is_taken {
            Box::new(io::stderr())
        } else {
            Box::new(io::stdout())
        };
        let report = Report {
            bench,
            machine: processor::name(),
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
            since: (Instant::now(), processor::of_process()),
        };
        let report = &run.report;
        let machine = report
            .machine
            .as_deref()
            .unwrap_or("an unknown processor")
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

    /// One of two, by whether this is in earnest.
    pub fn pick<T>(&self, in_earnest: T, quick: T) -> T {
        if self.quick { quick } else { in_earnest }
    }

    /// Begins a part.
    pub fn begin(&mut self, part: &'static str) {
        self.part = part;
        self.since = (Instant::now(), processor::of_process());
    }

    /// Begins a table, under a title; its rows are printed as they come.
    ///
    /// # Panics
    ///
    /// If two columns have the same name.
    pub fn table(&mut self, title: &str, columns: Vec<Column>) -> Table<'_> {
        for (at, column) in columns.iter().enumerate() {
            let named_before = columns[..at].iter().any(|other| other.name == column.name);
            assert!(!named_before, "two columns are called '{}'", column.name);
        }
        self.end_table();
        self.print(&format!("\n{title}\n\n{}", head(&columns)));
        self.report.tables.push(TableReport {
            part: self.part,
            title: title.to_owned(),
            seconds: 0.0,
            processor_seconds: None,
            columns,
            rows: Vec::new(),
        });
        Table::new(self)
    }

    /// Adds a row to the last table.
    pub(super) fn row(&mut self, cells: Vec<Cell>) {
        let Some(table) = self.report.tables.last_mut() else {
            return;
        };
        assert_eq!(cells.len(), table.columns.len(), "{}", table.title);
        let columns = table.columns.iter();
        let words: Vec<String> = columns
            .zip(&cells)
            .map(|(column, cell)| column.show(cell))
            .collect();
        let names = table.columns.iter().map(|column| column.name.clone());
        table.rows.push(names.zip(cells).collect());
        self.print(&format!("| {} |", words.join(" | ")));
    }

    /// Says how long the last table took, unless that has been said.
    pub fn end_table(&mut self) {
        let Some(table) = self.report.tables.last_mut() else {
            return;
        };
        if table.seconds > 0.0 {
            return;
        }
        let (begin, processor) = self.since;
        let now = (Instant::now(), processor::of_process());
        table.seconds = (now.0 - begin).as_secs_f64();
        table.processor_seconds = processor.zip(now.1).map(|(begin, end)| end - begin);
        self.since = now;
    }

    /// A sentence beside the tables.
    pub fn note(&mut self, text: &str) {
        self.print(&format!("\n{text}"));
        self.report.notes.push(Note {
            part: self.part,
            text: text.to_owned(),
        });
    }

    /// A sentence for people alone.
    pub fn complain(&mut self, text: &str) {
        // Whoever closed the stream does not want to know.
        let _ = writeln!(io::stderr(), "{text}");
    }

    fn print(&mut self, text: &str) {
        // The report may still be wanted when nobody reads the tables.
        let _ = writeln!(self.out, "{text}");
    }
}
