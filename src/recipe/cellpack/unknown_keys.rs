//! Keys of a recipe that nobody knows.
//!
//! The file is compared with its own JSON schema, so that keys are listed in one place only.

use serde_json::Value;

use super::{join, recipe_schema};
use crate::names::closest_name;
use crate::recipe::error::RecipeWarning;

/// Aliases, which are not in the schema.
const ALIASES: [&str; 2] = ["inner-leaflet", "outer-leaflet"];

/// A warning for each unknown key.
pub(super) fn unknown_keys(file: &Value) -> Vec<RecipeWarning> {
    let schema = recipe_schema();
    let mut warnings = Vec::new();
    let definitions = schema.get("$defs").cloned().unwrap_or(Value::Null);
    compare(file, &schema, &definitions, "", &mut warnings);
    warnings
}

fn compare(
    value: &Value,
    schema: &Value,
    definitions: &Value,
    place: &str,
    warnings: &mut Vec<RecipeWarning>,
) {
    let Some(schema) = alternative(value, schema, definitions) else {
        return;
    };
    match value {
        Value::Object(fields) => {
            let properties = schema.get("properties").and_then(Value::as_object);
            let others = schema.get("additionalProperties").filter(|s| s.is_object());
            for (key, field) in fields {
                let known = properties.and_then(|properties| properties.get(key));
                let place = join(place, key);
                if let Some(schema) = known.or(others) {
                    compare(field, schema, definitions, &place, warnings);
                } else if let Some(properties) = properties
                    && !ALIASES.contains(&key.as_str())
                {
                    let names = properties.keys().map(String::as_str);
                    let suggestion = closest_name(key, names);
                    let meant = suggestion.map(|name| format!("; did you mean '{name}'?"));
                    let text = format!("unknown key{}", meant.unwrap_or_default());
                    warnings.push(RecipeWarning { place, text });
                }
            }
        }
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                for (index, item) in items.iter().enumerate() {
                    let place = format!("{place}[{index}]");
                    compare(item, schema, definitions, &place, warnings);
                }
            }
        }
        _ => {}
    }
}

/// The schema that a value follows: references are resolved, and of alternatives for maps or lists
/// the one that knows most keys is chosen.
fn alternative<'a>(value: &Value, schema: &'a Value, definitions: &'a Value) -> Option<&'a Value> {
    if let Some(reference) = schema.get("$ref").and_then(Value::as_str) {
        let definition = definitions.get(reference.rsplit('/').next()?)?;
        return alternative(value, definition, definitions);
    }
    for list in ["anyOf", "oneOf", "allOf"] {
        if let Some(alternatives) = schema.get(list).and_then(Value::as_array) {
            let fitting = alternatives
                .iter()
                .filter_map(|schema| alternative(value, schema, definitions));
            return fitting.max_by_key(|schema| known_keys(value, schema));
        }
    }
    let key = match value {
        Value::Object(_) => ["properties", "additionalProperties"],
        Value::Array(_) => ["items", "prefixItems"],
        _ => return None,
    };
    key.iter()
        .any(|key| schema.get(*key).is_some())
        .then_some(schema)
}

/// How many keys of a map a schema knows.
fn known_keys(value: &Value, schema: &Value) -> usize {
    let fields = value.as_object();
    let properties = schema.get("properties").and_then(Value::as_object);
    let (Some(fields), Some(properties)) = (fields, properties) else {
        return 0;
    };
    fields
        .keys()
        .filter(|key| properties.contains_key(*key))
        .count()
}
