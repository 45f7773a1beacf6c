//! The files that a recipe refers to.

use serde_json::Value;

use super::CellpackFile;
use super::inheritance::{inherited, overlay};
use super::object::{ObjectFile, RepresentationsFile};
use crate::recipe::RecipeError;
use crate::recipe::files::FileFinder;

/// Asks for all files that a recipe may need. Those of objects without molecules are among them.
pub(in crate::recipe) fn request_files(
    cellpack: &CellpackFile,
    files: &FileFinder<'_>,
) -> Result<(), RecipeError> {
    let objects = inherited(&cellpack.file.objects, &cellpack.source)?;
    let mut used: Vec<Value> = objects.values().cloned().collect();
    // Items of the composition may override the files of their objects.
    let mut left: Vec<&Value> = cellpack.file.composition.values().collect();
    while let Some(value) = left.pop() {
        match value {
            Value::Object(fields) => {
                let object = fields.get("object").and_then(Value::as_str);
                if let Some(object) = object.and_then(|name| objects.get(name))
                    && fields.contains_key("representations")
                {
                    let mut merged = object.clone();
                    overlay(&mut merged, value);
                    used.push(merged);
                }
                left.extend(fields.values());
            }
            Value::Array(items) => left.extend(items),
            _ => {}
        }
    }
    for value in used {
        // `resolve` reports invalid objects.
        if let Ok(object) = serde_json::from_value::<ObjectFile>(value) {
            request(&object.representations.unwrap_or_default(), files);
        }
    }
    Ok(())
}

fn request(shapes: &RepresentationsFile, files: &FileFinder<'_>) {
    if let Some(atomic) = &shapes.atomic {
        if let Some(name) = &atomic.name {
            files.request_structure(atomic.path.as_deref(), name);
        }
        if let Some(id) = &atomic.id {
            files.request_structure(None, id);
        }
    }
    for shape in [&shapes.mesh, &shapes.packing].into_iter().flatten() {
        if let Some(name) = &shape.name {
            files.request_near(shape.path.as_deref(), name);
        }
    }
}
