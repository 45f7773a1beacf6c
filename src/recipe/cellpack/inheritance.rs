//! Objects that inherit the fields of others.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use super::object::ObjectFile;
use super::{join, typed};
use crate::names::closest_name;
use crate::recipe::RecipeError;
use crate::recipe::error::RecipeProblem;

/// All objects with the fields that they inherit.
pub(super) fn inherited(
    objects: &BTreeMap<String, Value>,
    source: &str,
) -> Result<BTreeMap<String, Value>, RecipeError> {
    // Each by itself, so that errors have the place at which a field is written.
    for (name, object) in objects {
        let _: ObjectFile = typed(object, source, &join("objects", name))?;
    }
    let mut merged: BTreeMap<String, Value> = BTreeMap::new();
    for name in objects.keys() {
        // From the object to an ancestor that is merged already or has no parent.
        let mut chain: Vec<&str> = vec![name];
        let mut seen = BTreeSet::from([name.as_str()]);
        while let Some(&child) = chain.last()
            && !merged.contains_key(child)
            && let Some(parent) = parent_of(objects, child)
        {
            let place = || join(&join("objects", child), "inherit");
            let Some((parent, _)) = objects.get_key_value(parent) else {
                let suggestion = closest_name(parent, objects.keys().map(String::as_str));
                return Err(RecipeProblem::UnknownName {
                    kind: "object",
                    name: parent.to_owned(),
                    suggestion,
                }
                .at(source, place()));
            };
            chain.push(parent);
            if !seen.insert(parent) {
                let names = chain.iter().map(|name| (*name).to_owned()).collect();
                let what = "objects inherit from each other";
                return Err(RecipeProblem::Circle { what, names }.at(source, place()));
            }
        }
        let mut value = Value::Object(serde_json::Map::new());
        for ancestor in chain.into_iter().rev() {
            if let Some(known) = merged.get(ancestor) {
                value = known.clone();
            } else if let Some(object) = objects.get(ancestor) {
                overlay(&mut value, object);
                merged.insert(ancestor.to_owned(), value.clone());
            }
        }
    }
    Ok(merged)
}

fn parent_of<'a>(objects: &'a BTreeMap<String, Value>, name: &str) -> Option<&'a str> {
    objects.get(name)?.get("inherit")?.as_str()
}

/// Replaces fields by those of `over`; maps are merged.
pub(super) fn overlay(value: &mut Value, over: &Value) {
    match (value, over) {
        (Value::Object(fields), Value::Object(over)) => {
            for (key, over) in over {
                match fields.get_mut(key) {
                    Some(field) => overlay(field, over),
                    None => {
                        fields.insert(key.clone(), over.clone());
                    }
                }
            }
        }
        (value, over) => *value = over.clone(),
    }
}
