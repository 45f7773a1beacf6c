//! Reading JSON with the place of an error, and writing numbers.

use std::fmt;
use std::io::Write;
use std::marker::PhantomData;

use serde::de::{Deserialize, DeserializeOwned, Deserializer, MapAccess, Visitor};

use super::SceneReadError;

/// Reads a document. The place of an error is a path of keys, or line and column.
pub(super) fn read_json<T: DeserializeOwned>(
    bytes: &[u8],
    source: &str,
) -> Result<T, SceneReadError> {
    let mut deserializer = serde_json::Deserializer::from_slice(bytes);
    let value = serde_path_to_error::deserialize(&mut deserializer).map_err(|error| {
        let place = error.path().to_string();
        let inner = error.into_inner();
        let place = if place == "." || !inner.is_data() {
            format!("line {}", inner.line())
        } else {
            place
        };
        invalid(source, place, &inner)
    })?;
    let end = deserializer.end();
    end.map_err(|error| invalid(source, format!("line {}", error.line()), &error))?;
    Ok(value)
}

fn invalid(source: &str, place: String, error: &serde_json::Error) -> SceneReadError {
    let problem = if error.is_data() {
        error.to_string()
    } else {
        format!("invalid JSON: {error}")
    };
    SceneReadError::Invalid {
        file: source.to_owned(),
        place,
        problem,
    }
}

/// Entries of an object in the order of the file.
#[derive(Clone, Debug)]
pub(super) struct Ordered<T>(pub Vec<(String, T)>);

impl<T> Default for Ordered<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Ordered<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Entries<T> {
            type Value = Vec<(String, T)>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(entries)
            }
        }
        deserializer.deserialize_map(Entries(PhantomData)).map(Self)
    }
}

/// Appends numbers in brackets. They must be finite.
pub(super) fn push_numbers(buffer: &mut Vec<u8>, numbers: &[f32]) {
    buffer.push(b'[');
    for (index, number) in numbers.iter().enumerate() {
        if index > 0 {
            buffer.push(b',');
        }
        // Writing to memory does not fail.
        let _ = write!(buffer, "{number}");
    }
    buffer.push(b']');
}
