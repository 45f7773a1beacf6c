//! Errors of reading a `.bent` file, with file, line, column and cause.

use std::fmt;

use thiserror::Error;

use super::parser::MAX_NESTING;
use super::syntax_tree::MAX_TAG_LETTERS;

/// A location in a text file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Location {
    /// The line, from 1.
    pub line: usize,
    /// The column in characters, from 1.
    pub column: usize,
}

impl Location {
    /// The first character of a file.
    pub const START: Self = Self { line: 1, column: 1 };
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.line, self.column)
    }
}

/// A `.bent` file is invalid: `cell.bent:12:8: expected a distance, found 'radius'`.
#[derive(Clone, Debug, PartialEq, Error)]
#[error("{file}:{location}: {kind}")]
pub struct BentError {
    /// The file name given to the reader.
    pub file: String,
    /// Where in the file.
    pub location: Location,
    /// What is wrong there.
    pub kind: BentErrorKind,
}

/// What is wrong with a `.bent` file.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum BentErrorKind {
    /// There is nothing but white space and comments.
    #[error("the file is empty; expected at least the sections [ space ] and [ segments ]")]
    Empty,
    /// The bytes are not UTF-8.
    #[error("found bytes that are not UTF-8 text; save the file as UTF-8")]
    NotText,
    /// The file is an input file of bentopy before version 1.
    #[error(
        "found '{{', this is a JSON file; convert it with bentopy-init convert -i input.json -o output.bent"
    )]
    LegacyJson,
    /// Something else is expected here.
    #[error("expected {expected}, found {found}{}", did_you_mean(suggestion))]
    Unexpected {
        /// What can be here.
        expected: String,
        /// What is here, in quotes if it is text of the file.
        found: String,
        /// A known name that is almost the one that is here.
        suggestion: Option<String>,
    },
    /// A placeholder of bentopy's example file is still there.
    #[error("expected {expected}, found the placeholder <{name}>; replace it")]
    Placeholder {
        /// What can be here.
        expected: String,
        /// The name in angle brackets.
        name: String,
    },
    /// A string is not closed on its line.
    #[error("expected {expected}, found a string that is not closed; add a '\"' on the same line")]
    UnclosedString {
        /// What can be here.
        expected: String,
    },
    /// An expression is nested too deep.
    #[error("expected at most {MAX_NESTING} nested '(' and 'not'")]
    TooDeep,
    /// A tag does not fit into the column of residue names.
    #[error("expected a tag of at most {MAX_TAG_LETTERS} letters, found '{tag}' with {letters}")]
    LongTag {
        /// The tag.
        tag: String,
        /// Its letters.
        letters: usize,
    },
    /// Two compartments or two constraints have the same id.
    #[error("expected a new id, found '{id}', the id of the {kind} at {first}")]
    DuplicateId {
        /// `compartment` or `constraint`.
        kind: &'static str,
        /// The id.
        id: String,
        /// Where it is defined first.
        first: Location,
    },
    /// A compartment is defined by itself.
    #[error("the compartment '{id}' depends on itself: {}", cycle.join(" → "))]
    Cycle {
        /// The compartment that comes first in the file.
        id: String,
        /// The compartments on the way, from `id` to `id`.
        cycle: Vec<String>,
    },
    /// A required section is missing.
    #[error("the section [ {section} ] is missing; expected it before the end of the file")]
    MissingSection {
        /// The section.
        section: &'static str,
    },
    /// The section `[ space ]` has no dimensions.
    #[error(
        "the section [ space ] has no dimensions; expected a line such as 'dimensions 40, 40, 40'"
    )]
    MissingDimensions,
}

fn did_you_mean(suggestion: &Option<String>) -> String {
    let meant = |name: &String| format!("; did you mean '{name}'?");
    suggestion.as_ref().map_or_else(String::new, meant)
}
