//! `molecules schema`: the JSON schema of recipes.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;

use bevy_rapier_molecules::recipe::recipe_schema;
use clap::Args;

use crate::common::{AnyError, check_target};

/// Write the JSON schema of recipes, by which editors complete and check their keys.
#[derive(Args)]
#[command(after_help = AFTER_HELP)]
pub struct Arguments {
    /// File to write [default: standard output].
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

const AFTER_HELP: &str = "\
Examples:
  molecules schema -o recipe.schema.json

A recipe names the schema next to it in its first line:
  { \"$schema\": \"recipe.schema.json\", ...

VS Code also finds it by the names of recipes, in settings.json:
  \"json.schemas\": [{ \"fileMatch\": [\"recipes/*.json\"], \"url\": \"./recipe.schema.json\" }]

Exit codes:
  0  done
  2  invalid input, or a file cannot be written";

pub fn run(arguments: &Arguments) -> Result<ExitCode, AnyError> {
    let text = serde_json::to_string_pretty(&recipe_schema())? + "\n";
    match &arguments.output {
        Some(path) => {
            check_target(path)?;
            fs::write(path, text)
                .map_err(|error| format!("cannot write '{}': {error}", path.display()))?;
        }
        None => {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes())?;
            out.flush()?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
