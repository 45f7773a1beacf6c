//! The command line of all benches.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use clap::{Args, CommandFactory, FromArgMatches, Parser};

use super::report::Report;
use super::{Done, Part};

/// Path that stands for standard output.
const STDOUT: &str = "-";

/// What was asked for. `S` are the switches that only one bench has.
#[derive(Parser)]
pub struct CommandLine<S: Args> {
    /// What to run [default: all].
    #[arg(value_name = "PART")]
    parts: Vec<String>,
    /// Also writes the tables as JSON, to a file or to standard output (-); Markdown then
    /// goes to standard error.
    #[arg(long, value_name = "FILE|-", visible_alias = "report")]
    json: Option<PathBuf>,
    /// Small scenes and one round, to see that it works; so it is whenever this is not run
    /// by `cargo bench`.
    #[arg(long)]
    quick: bool,
    /// Given by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
    /// Given by those who only want to see it run.
    #[arg(long, hide = true)]
    test: bool,
    #[command(flatten)]
    pub switches: S,
}

/// For benches that have no switches of their own.
#[derive(Args)]
pub struct NoSwitches {}

impl<S: Args> CommandLine<S> {
    /// Reads the arguments of the program; ends it where they ask for help or are wrong.
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

    /// Whether the part is asked for.
    pub fn wants(&self, part: &str) -> bool {
        self.parts.is_empty() || self.parts.iter().any(|name| name == part)
    }

    pub fn is_quick(&self) -> bool {
        self.quick || self.test || !self.bench
    }

    pub fn json_to_stdout(&self) -> bool {
        self.json.as_deref() == Some(Path::new(STDOUT))
    }

    /// Finds out before the work whether the report can be written after it.
    pub fn check(&self) -> Done {
        let Some(path) = self.json.as_ref().filter(|_| !self.json_to_stdout()) else {
            return Ok(());
        };
        let folder = path.parent().filter(|folder| *folder != Path::new(""));
        if path.is_dir() || folder.is_some_and(|folder| !folder.is_dir()) {
            return Err(format!(
                "cannot write '{}': it is a folder, or in none",
                path.display()
            )
            .into());
        }
        Ok(())
    }

    /// Writes the report, if it is asked for.
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
