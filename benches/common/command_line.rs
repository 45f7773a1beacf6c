//! The command line shared by all benches.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser};

use super::report::Report;
use super::{Done, Part};

/// Path that stands for standard output.
const STDOUT: &str = "-";

/// Parsed arguments. `S` holds the options of a single bench.
#[derive(Parser)]
pub struct CommandLine<S: Args> {
    /// Parts to run [default: all].
    #[arg(value_name = "PART")]
    parts: Vec<String>,
    /// Also write the tables as JSON to a file, or to standard output (-), in which case the
    /// Markdown goes to standard error.
    #[arg(long, value_name = "FILE|-", visible_alias = "report")]
    json: Option<PathBuf>,
    /// Run small scenes for one round. The default unless run by `cargo bench`.
    #[arg(long)]
    quick: bool,
    /// Passed by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
    /// Passed by `cargo test --benches`.
    #[arg(long, hide = true)]
    test: bool,
    #[command(flatten)]
    pub options: S,
}

/// For benches without options of their own.
#[derive(Args)]
pub struct NoOptions {}

impl<S: Args> CommandLine<S> {
    /// Parses the process arguments. Exits on `--help` and on invalid arguments.
    pub fn read(bench: &'static str, about: &'static str, parts: &[Part<S>]) -> Self {
        let names = parts
            .iter()
            .map(|part| PossibleValue::new(part.name).help(part.about));
        let names = PossibleValuesParser::new(names);
        let matches = Self::command()
            .name(bench)
            .bin_name(format!("cargo bench --bench {bench} --"))
            .about(about)
            .mut_arg("parts", |arg| arg.value_parser(names))
            .get_matches();
        Self::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
    }

    /// Whether the part was selected.
    pub fn wants(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|name| name == part)
    }

    pub fn is_quick(&self) -> bool {
        self.quick || self.test || !self.bench
    }

    pub fn json_to_stdout(&self) -> bool {
        self.json.as_deref() == Some(Path::new(STDOUT))
    }

    /// Checks before the run that the report can be written.
    pub fn check(&self) -> Done {
        let Some(path) = self.json.as_ref().filter(|_| !self.json_to_stdout()) else {
            return Ok(());
        };
        let directory = path
            .parent()
            .filter(|directory| *directory != Path::new(""));
        if path.is_dir() || directory.is_some_and(|directory| !directory.is_dir()) {
            return Err(format!(
                "cannot write '{}': it is a directory, or its directory does not exist",
                path.display()
            )
            .into());
        }
        Ok(())
    }

    /// Writes the report if `--json` was given.
    pub fn write(&self, report: &Report) -> Done {
        let Some(path) = &self.json else {
            return Ok(());
        };
        let mut text = serde_json::to_string_pretty(report)?;
        text.push('\n');
        let written = if self.json_to_stdout() {
            io::stdout().write_all(text.as_bytes())
        } else {
            fs::write(path, text)
        };
        written.map_err(|error| format!("cannot write '{}': {error}", path.display()).into())
    }
}
