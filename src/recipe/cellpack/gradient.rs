//! Gradients of a cellPACK recipe.

use std::fmt;

use schemars::JsonSchema;
use serde::de::Visitor;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// What the distance of a gradient is measured from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum GradientModeFile {
    #[default]
    #[serde(alias = "X")]
    X,
    #[serde(alias = "Y")]
    Y,
    #[serde(alias = "Z")]
    Z,
    Vector,
    Radial,
    Surface,
    Uniform,
}

/// How the weight falls with the distance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum WeightModeFile {
    #[default]
    Linear,
    Square,
    Cube,
    Power,
    Exponential,
}

/// How a place is chosen by its weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(crate) enum PickModeFile {
    Max,
    Min,
    Rnd,
    #[default]
    Linear,
    Binary,
    Sub,
    Reg,
}

/// What is inverted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, JsonSchema)]
#[schemars(rename_all = "lowercase")]
pub(crate) enum InvertFile {
    Weight,
    Distance,
}

/// A gradient.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct GradientFile {
    /// Name of the gradient, in lists.
    pub name: Option<String>,
    /// Description.
    pub description: Option<String>,
    /// What the distance is measured from.
    pub mode: Option<GradientModeFile>,
    /// Settings of the mode.
    pub mode_settings: Option<ModeSettingsFile>,
    /// How the weight falls with the distance.
    pub weight_mode: Option<WeightModeFile>,
    /// Settings of the weight mode.
    pub weight_mode_settings: Option<WeightSettingsFile>,
    /// How places are chosen by their weights.
    pub pick_mode: Option<PickModeFile>,
    /// `weight` or `distance`; true is `weight`.
    #[serde(deserialize_with = "invert")]
    #[schemars(with = "Option<InvertForms>")]
    pub invert: Option<InvertFile>,
    /// Ignored, as in cellPACK.
    pub reversed: Option<Value>,
    // Format 2.0 has the settings of the mode here.
    /// Direction of the mode `vector`.
    pub direction: Option<[f64; 3]>,
    /// Center of the modes `vector` and `radial`.
    pub center: Option<[f64; 3]>,
    /// Radius of the mode `radial`.
    pub radius: Option<f64>,
    /// Ignored, as in cellPACK.
    pub gblob: Option<Value>,
}

/// Settings of a gradient's mode.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ModeSettingsFile {
    /// Compartment of the mode `surface`.
    pub object: Option<String>,
    /// Whether distances are relative to that from the next surface outside.
    pub scale_to_next_surface: Option<bool>,
    /// Direction of the mode `vector`.
    pub direction: Option<[f64; 3]>,
    /// Center of the modes `vector` and `radial`.
    pub center: Option<[f64; 3]>,
    /// Radius of the mode `radial`.
    pub radius: Option<f64>,
    /// Ignored, as in cellPACK.
    pub gblob: Option<Value>,
}

/// Settings of a gradient's weight mode.
#[derive(Clone, Copy, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct WeightSettingsFile {
    /// Distance over which the mode `exponential` falls to 1/e, as a part of the largest distance.
    pub decay_length: Option<f64>,
    /// Exponent of the mode `power`.
    pub power: Option<f64>,
}

/// The forms of `invert`, for the schema.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "describes the schema only")]
enum InvertForms {
    Flag(bool),
    What(InvertFile),
}

fn invert<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<InvertFile>, D::Error> {
    struct Forms;
    impl Visitor<'_> for Forms {
        type Value = Option<InvertFile>;
        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("'weight', 'distance', true, false or null")
        }
        fn visit_bool<E>(self, flag: bool) -> Result<Self::Value, E> {
            Ok(flag.then_some(InvertFile::Weight))
        }
        fn visit_str<E: serde::de::Error>(self, what: &str) -> Result<Self::Value, E> {
            match what {
                "weight" => Ok(Some(InvertFile::Weight)),
                "distance" => Ok(Some(InvertFile::Distance)),
                _ => Err(E::invalid_value(serde::de::Unexpected::Str(what), &self)),
            }
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
