//! [`plain_words`]: errors of serde in words of JSON rather than of Rust.

use crate::names::closest_name;

/// What was expected and found, from a message of serde.
///
/// "invalid type: string "a", expected f64" becomes "expected a number, found "a"". Messages of
/// another form stay as they are.
pub(super) fn plain_words(message: &str) -> String {
    let after = |start: &str| message.strip_prefix(start);
    if let Some(key) = after("missing field ") {
        return format!("expected the key {}", quoted(key));
    }
    if let Some(key) = after("duplicate field ") {
        return format!("the key {} is given twice", quoted(key));
    }
    let Some((start, expected)) = message.split_once(", expected ") else {
        return message.to_owned();
    };
    if let Some(found) = start.strip_prefix("unknown variant ") {
        return unknown_variant(found, expected);
    }
    if let Some(length) = start.strip_prefix("invalid length ") {
        return format!("expected {}, found a list of {length}", kind(expected));
    }
    let found = ["invalid type: ", "invalid value: "];
    match found.iter().find_map(|prefix| start.strip_prefix(prefix)) {
        Some(found) => format!("expected {}, found {}", kind(expected), value(found)),
        None => message.to_owned(),
    }
}

/// An unknown name of a fixed list.
fn unknown_variant(found: &str, expected: &str) -> String {
    let name = found.trim_matches('`');
    let known = expected.split('`').skip(1).step_by(2);
    let meant = closest_name(name, known).map(|known| format!("; did you mean '{known}'?"));
    let (expected, meant) = (quoted(expected), meant.unwrap_or_default());
    format!("expected {expected}, found '{name}'{meant}")
}

/// The kind of value that a Rust type stands for.
fn kind(expected: &str) -> String {
    let array = "an array of length ";
    match expected {
        "f64" => "a number".to_owned(),
        "u32" | "u64" => "a whole number, at least 0".to_owned(),
        "a string" => "text".to_owned(),
        "a boolean" => "true or false".to_owned(),
        "a sequence" => "a list".to_owned(),
        "a map" => "an object".to_owned(),
        _ if expected.starts_with("struct ") => "an object".to_owned(),
        _ => expected.replace(array, "a list of "),
    }
}

/// A value that was found.
fn value(found: &str) -> String {
    match found {
        "sequence" => "a list".to_owned(),
        "map" => "an object".to_owned(),
        _ if found.starts_with("string ") => found.replacen("string ", "", 1),
        // Numbers and truth values are between backticks.
        _ => found.split('`').nth(1).unwrap_or(found).to_owned(),
    }
}

/// Names between quotation marks instead of backticks.
fn quoted(names: &str) -> String {
    names.replace('`', "'")
}
