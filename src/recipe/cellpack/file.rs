//! The file of a cellPACK recipe: bounding box, objects, gradients and composition.
//!
//! Objects, gradients and entries of the composition stay JSON values here: objects inherit from
//! each other, and items of the composition override fields of their objects.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::fmt;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::additions::AdditionsFile;
use super::gradient::GradientFile;
use super::object::ObjectFile;

/// A recipe in the format of cellPACK 2.0 and 2.1.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
#[schemars(title = "cellPACK recipe with additions of bevy_rapier_molecules")]
pub(crate) struct RecipeFile {
    /// The schema of this file, for editors.
    #[serde(rename = "$schema")]
    pub schema: Option<String>,
    /// Name of the recipe.
    pub name: Option<String>,
    /// Description.
    pub description: Option<String>,
    /// Version of the recipe.
    pub version: Option<Value>,
    /// Version of the format: 2.0 or 2.1.
    #[serde(deserialize_with = "text_or_number")]
    #[schemars(with = "Option<String>")]
    pub format_version: Option<String>,
    /// Lowest and highest corner.
    pub bounding_box: Option<[[f64; 3]; 2]>,
    /// Ignored: there is no grid.
    pub grid_file_path: Option<Value>,
    /// Seed of all random choices.
    pub randomness_seed: Option<u64>,
    /// Ingredients and shapes of compartments by name.
    #[schemars(with = "BTreeMap<String, ObjectFile>")]
    pub objects: BTreeMap<String, Value>,
    /// Gradients by name, or a list of gradients with names.
    #[schemars(with = "Option<GradientListSchema>")]
    pub gradients: Option<Value>,
    /// What is where: compartments with their regions, and numbers of objects.
    #[schemars(with = "BTreeMap<String, EntrySchema>")]
    pub composition: BTreeMap<String, Value>,
    /// What cellPACK has no fields for, and ignores.
    pub bevy_rapier_molecules: Option<AdditionsFile>,
}

/// The fields of an item of a region, and of an entry of the composition, beside those of its
/// object.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ItemFile {
    /// Name of the object.
    pub object: Option<String>,
    /// Number of molecules.
    pub count: Option<f64>,
    /// Concentration in the region, mol/l. Its molecules are added to `count`.
    pub molarity: Option<f64>,
    /// Distribution of the number, instead of `count`.
    pub count_options: Option<DistributionFile>,
    /// Distribution of the radius of a single sphere, instead of `radius`.
    pub size_options: Option<DistributionFile>,
}

/// The regions of a compartment.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct RegionsFile {
    /// Inside.
    #[schemars(with = "Vec<RegionItemSchema>")]
    pub interior: Vec<Value>,
    /// In the surface.
    #[schemars(with = "Vec<RegionItemSchema>")]
    pub surface: Vec<Value>,
    /// Lipids of the inner leaflet.
    #[serde(alias = "inner-leaflet")]
    #[schemars(with = "Vec<RegionItemSchema>")]
    pub inner_leaflet: Vec<Value>,
    /// Lipids of the outer leaflet.
    #[serde(alias = "outer-leaflet")]
    #[schemars(with = "Vec<RegionItemSchema>")]
    pub outer_leaflet: Vec<Value>,
}

/// Kind of a distribution.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum DistributionKind {
    Uniform,
    Normal,
    List,
}

/// A distribution of numbers or radii.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct DistributionFile {
    /// Kind of the distribution.
    pub distribution: DistributionKind,
    /// Smallest value.
    #[serde(default)]
    pub min: Option<f64>,
    /// Largest value.
    #[serde(default)]
    pub max: Option<f64>,
    /// Mean of the normal distribution.
    #[serde(default)]
    pub mean: Option<f64>,
    /// Standard deviation of the normal distribution.
    #[serde(default)]
    pub std: Option<f64>,
    /// Values of the list.
    #[serde(default)]
    pub list_values: Option<Vec<f64>>,
}

/// The schema of the gradients.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "describes the schema only")]
enum GradientListSchema {
    ByName(BTreeMap<String, GradientFile>),
    List(Vec<GradientFile>),
}

/// The regions of an entry, for the schema.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes the schema only")]
struct WithRegions {
    /// Regions of a compartment.
    regions: Option<RegionsFile>,
}

/// The schema of an entry of the composition.
pub(crate) struct EntrySchema;

/// The schema of an item of a region with its own fields.
pub(crate) struct ItemSchema;

/// The schema of an item of a region.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "describes the schema only")]
enum RegionItemSchema {
    Name(String),
    Item(ItemSchema),
}

impl JsonSchema for EntrySchema {
    fn schema_name() -> Cow<'static, str> {
        "Entry".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let parts = [
            WithRegions::json_schema(generator),
            ItemFile::json_schema(generator),
            ObjectFile::json_schema(generator),
        ];
        with_properties_of(parts)
    }
}

impl JsonSchema for ItemSchema {
    fn schema_name() -> Cow<'static, str> {
        "Item".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let parts = [
            ItemFile::json_schema(generator),
            ObjectFile::json_schema(generator),
        ];
        with_properties_of(parts)
    }
}

/// A schema with the properties of several, none of which is required.
fn with_properties_of(parts: impl IntoIterator<Item = Schema>) -> Schema {
    let mut properties = serde_json::Map::new();
    for part in parts {
        if let Some(Value::Object(part)) = part.get("properties") {
            properties.extend(part.clone());
        }
    }
    let mut schema = Schema::default();
    schema.insert("type".into(), "object".into());
    schema.insert("properties".into(), properties.into());
    schema
}

/// Versions are written as text, or as numbers such as 2.1.
fn text_or_number<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    struct Forms;
    impl Visitor<'_> for Forms {
        type Value = Option<String>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a version such as \"2.1\"")
        }
        fn visit_str<E>(self, text: &str) -> Result<Self::Value, E> {
            Ok(Some(text.to_owned()))
        }
        fn visit_f64<E>(self, number: f64) -> Result<Self::Value, E> {
            Ok(Some(number.to_string()))
        }
        fn visit_u64<E>(self, number: u64) -> Result<Self::Value, E> {
            Ok(Some(number.to_string()))
        }
        fn visit_unit<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
        fn visit_none<E>(self) -> Result<Self::Value, E> {
            Ok(None)
        }
    }
    deserializer.deserialize_any(Forms)
}
