//! Recipes of [cellPACK](https://www.cellpack.org) 2.0 and 2.1: reading of the JSON file.
//!
//! 1. The text becomes a JSON value, and its version is checked.
//! 2. Objects inherit from others: a field that is missing is that of the parent; maps are merged,
//!    lists replaced. Items of the composition override fields of their objects in the same way.
//! 3. Each part becomes a typed value; errors have its path.
//! 4. Keys that are neither those of cellPACK nor ours are reported as warnings.
//!
//! [`resolve`] turns the file into a [`Recipe`](super::Recipe).

mod additions;
mod file;
mod gradient;
mod inheritance;
mod object;
mod resolve;
mod save;
mod unknown_keys;

use serde::de::DeserializeOwned;
use serde_json::Value;

use self::file::RecipeFile;
pub(super) use self::resolve::resolve;
pub(super) use self::save::with_molecules;
use super::RecipeError;
use super::error::RecipeProblem;

/// The JSON schema of recipes, for completion in editors.
#[must_use]
pub fn recipe_schema() -> Value {
    schemars::schema_for!(RecipeFile).into()
}

/// A file that is read, but not yet interpreted.
pub(super) struct CellpackFile {
    /// Name of the file, for errors.
    pub source: String,
    pub file: RecipeFile,
    /// The whole file.
    pub value: Value,
}

/// Reads the text of a recipe.
pub(super) fn read(text: &[u8], source: &str) -> Result<CellpackFile, RecipeError> {
    let at = |problem: RecipeProblem| problem.at(source, "");
    // Some editors write a mark at the beginning.
    let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
    let value: Value = serde_json::from_slice(text)
        .map_err(|error| at(RecipeProblem::Json(format!("invalid JSON: {error}"))))?;
    if !value.is_object() {
        let found = kind_of(&value);
        return Err(at(RecipeProblem::Json(format!(
            "expected an object with objects and composition, found {found}"
        ))));
    }
    let file: RecipeFile = typed(&value, source, "")?;
    check_version(&file, source)?;
    Ok(CellpackFile {
        source: source.to_owned(),
        file,
        value,
    })
}

fn check_version(file: &RecipeFile, source: &str) -> Result<(), RecipeError> {
    let found = file.format_version.as_deref().unwrap_or("1.0");
    let mut numbers = found.split('.').map(|part| part.trim().parse::<u32>());
    let major = numbers.next();
    let minor = numbers.next().unwrap_or(Ok(0));
    if let (Some(Ok(2)), Ok(0 | 1)) = (&major, &minor) {
        return Ok(());
    }
    let hint = if matches!(major, Some(Ok(1))) {
        "cellPACK's `convert` writes 2.1 from older recipes; without the key format_version it is 1.0"
    } else {
        "cellPACK's `convert` writes 2.1"
    };
    let found = found.to_owned();
    Err(RecipeProblem::Version { found, hint }.at(source, "format_version"))
}

/// A typed value of a part of the file at `place`.
fn typed<T: DeserializeOwned>(value: &Value, source: &str, place: &str) -> Result<T, RecipeError> {
    serde_path_to_error::deserialize(value).map_err(|error| {
        let inside = error.path().to_string();
        let inside = if inside == "." { String::new() } else { inside };
        let place = join(place, &inside);
        RecipeProblem::Json(error.into_inner().to_string()).at(source, place)
    })
}

/// A place and a path below it.
fn join(place: &str, inside: &str) -> String {
    match (place, inside) {
        ("", inside) => inside.to_owned(),
        (place, "") => place.to_owned(),
        (place, inside) if inside.starts_with('[') => format!("{place}{inside}"),
        (place, inside) => format!("{place}.{inside}"),
    }
}

/// The kind of a JSON value, for errors.
fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "true or false",
        Value::Number(_) => "a number",
        Value::String(_) => "text",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}
