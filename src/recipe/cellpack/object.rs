//! Objects of a cellPACK recipe: what is packed, and the shapes of compartments.

use std::collections::BTreeMap;
use std::fmt;

use schemars::JsonSchema;
use serde::de::value::{MapAccessDeserializer, SeqAccessDeserializer};
use serde::de::{MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};
use serde_json::Value;

use super::gradient::GradientFile;

/// Type of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum ObjectType {
    SingleSphere,
    MultiSphere,
    SingleCube,
    SingleCylinder,
    MultiCylinder,
    Grow,
    Mesh,
}

impl ObjectType {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::SingleSphere => "single_sphere",
            Self::MultiSphere => "multi_sphere",
            Self::SingleCube => "single_cube",
            Self::SingleCylinder => "single_cylinder",
            Self::MultiCylinder => "multi_cylinder",
            Self::Grow => "grow",
            Self::Mesh => "mesh",
        }
    }
}

/// How the places of an ingredient are chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) enum PackingMode {
    #[default]
    Random,
    /// Next to what is already there.
    Close,
    ClosePartner,
    RandomPartner,
    Gradient,
    #[serde(rename = "hexatile")]
    HexagonalTiles,
    #[serde(rename = "squaretile")]
    SquareTiles,
    #[serde(rename = "triangletile")]
    TriangleTiles,
}

/// An object: an ingredient, or the shape of a compartment. Each field may be inherited.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct ObjectFile {
    /// Type of the object.
    #[serde(rename = "type")]
    pub kind: Option<ObjectType>,
    /// Name of another object whose fields are the defaults of this one.
    pub inherit: Option<String>,
    /// Radius of a single sphere.
    pub radius: Option<f64>,
    /// Red, green and blue, from 0 to 1.
    pub color: Option<[f64; 3]>,
    /// How places are chosen.
    pub packing_mode: Option<PackingMode>,
    /// Body axis that points along the outward normal on a surface.
    pub principal_vector: Option<[f64; 3]>,
    /// Axis of the random rotation inside of a region, with `use_rotation_axis`.
    pub rotation_axis: Option<[f64; 3]>,
    /// Largest angle about `rotation_axis`, radian.
    pub rotation_range: Option<f64>,
    /// Whether to rotate about `rotation_axis` only.
    pub use_rotation_axis: Option<bool>,
    /// Random tilt of `principal_vector` on a surface, radian.
    pub perturb_axis_amplitude: Option<f64>,
    /// Least distance of the center from the bounding box.
    pub cutoff_boundary: Option<f64>,
    /// Least distance of the center from surfaces.
    pub cutoff_surface: Option<f64>,
    /// Molecules that this one binds to.
    pub partners: Option<PartnersFile>,
    /// Gradients of the density.
    pub gradient: Option<GradientsFile>,
    /// Weights of several gradients, in their order or by name.
    pub gradient_weights: Option<GradientWeightsFile>,
    /// Order of packing: negative first, one after the other.
    pub priority: Option<f64>,
    /// Files with the shape.
    pub representations: Option<RepresentationsFile>,
    /// Corners of a cube, or ends of the axis of a cylinder.
    pub bounds: Option<[[f64; 3]; 2]>,

    // Read by cellPACK only.
    /// Ignored: there is no grid.
    pub jitter_attempts: Option<Value>,
    /// Ignored: there is no grid.
    pub max_jitter: Option<Value>,
    /// Ignored: there is no grid.
    #[serde(rename = "jitterMax")]
    pub jitter_max: Option<Value>,
    /// Ignored: nothing is rejected.
    pub rejection_threshold: Option<Value>,
    /// Ignored: any angle about `principal_vector` is equally likely.
    pub orient_bias_range: Option<Value>,
    /// Ignored: there is one way to place.
    pub place_method: Option<Value>,
    /// Ignored: the order of sizes replaces it.
    pub weight: Option<Value>,
    /// Ignored: partners replace it.
    pub is_attractor: Option<Value>,
    /// Ignored: computed from the shape.
    pub encapsulating_radius: Option<Value>,
    /// Ignored: regions follow from the composition.
    pub available_regions: Option<Value>,
    /// Ignored: the packing mode of old recipes.
    pub packing: Option<Value>,
    /// Ignored: a name of the object.
    pub name: Option<Value>,
    /// Ignored: a description.
    pub description: Option<Value>,
}

/// Files with the shape of an object.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct RepresentationsFile {
    /// Triangle mesh.
    pub mesh: Option<RepresentationFile>,
    /// Structure file.
    pub atomic: Option<RepresentationFile>,
    /// Sphere tree, or spheres.
    pub packing: Option<RepresentationFile>,
}

/// One file with a shape.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct RepresentationFile {
    /// Folder of the file, relative to the recipe.
    pub path: Option<String>,
    /// Name of the file.
    pub name: Option<String>,
    /// Identifier in the Protein Data Bank; a file of this name next to the recipe is used.
    pub id: Option<String>,
    /// Format of the file; its extension is used.
    pub format: Option<String>,
    /// Handedness of a mesh. Ignored, as in cellPACK.
    pub coordinate_system: Option<Value>,
    /// Moves the shape.
    pub transform: Option<TransformFile>,
    /// Radii of spheres, level by level.
    pub radii: Option<Vec<Vec<f64>>>,
    /// Centers of spheres, level by level.
    pub positions: Option<Vec<Vec<[f64; 3]>>>,
}

/// A movement of a shape.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct TransformFile {
    /// Translation.
    pub translate: Option<[f64; 3]>,
}

/// A molecule to bind to.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
pub(crate) struct PartnerFile {
    /// Name of an object or of an entry of the composition.
    pub name: String,
    /// Probability of a place next to it; negative for a repulsion. Default: 1.
    #[serde(default)]
    pub binding_probability: Option<f64>,
    /// Place relative to the partner. Default: anywhere next to it.
    #[serde(default)]
    pub position: Option<[f64; 3]>,
    /// Places relative to the partner.
    #[serde(default)]
    pub positions: Option<Vec<[f64; 3]>>,
    /// Names of molecules to stay away from.
    #[serde(default)]
    pub excluded_names: Option<Vec<String>>,
    /// Probability of staying away from those.
    #[serde(default)]
    pub probability_repelled: Option<f64>,
    /// How often this partner is chosen, relative to others. Default: 1.
    #[serde(default)]
    pub weight: Option<f64>,
}

/// Partners as lists by column.
#[derive(Clone, Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct PartnerColumns {
    /// Partners as a list.
    pub all_partners: Option<Vec<PartnerFile>>,
    /// Names.
    pub names: Option<Vec<String>>,
    /// Place relative to each partner.
    pub positions: Option<Vec<[f64; 3]>>,
    /// Probability of a place next to any.
    pub probability_binding: Option<f64>,
    /// Probability of staying away from the excluded ones.
    pub probability_repelled: Option<f64>,
    /// Names of molecules to stay away from.
    pub excluded_names: Option<Vec<String>>,
    /// Ignored.
    pub weight: Option<Value>,
}

/// Partners in any of their three forms.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum PartnersFile {
    List(Vec<PartnerFile>),
    Columns(Box<PartnerColumns>),
}

/// Gradients of an object: a name, an inline gradient, or a list of either.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum GradientsFile {
    One(GradientRef),
    List(Vec<GradientRef>),
}

/// A gradient by name or inline.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum GradientRef {
    Name(String),
    Inline(Box<GradientFile>),
}

/// Weights of several gradients.
#[derive(Clone, Debug, JsonSchema)]
#[schemars(untagged)]
pub(crate) enum GradientWeightsFile {
    List(Vec<f64>),
    ByName(BTreeMap<String, f64>),
}

impl<'de> Deserialize<'de> for PartnersFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = PartnersFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of partners")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(PartnersFile::List)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let columns = PartnerColumns::deserialize(MapAccessDeserializer::new(map))?;
                Ok(PartnersFile::Columns(Box::new(columns)))
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl<'de> Deserialize<'de> for GradientsFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = GradientsFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a gradient, a gradient, or a list of them")
            }
            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(GradientsFile::One(GradientRef::Name(name.to_owned())))
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(GradientsFile::List)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let inline = GradientFile::deserialize(MapAccessDeserializer::new(map))?;
                Ok(GradientsFile::One(GradientRef::Inline(Box::new(inline))))
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl<'de> Deserialize<'de> for GradientRef {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = GradientRef;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("the name of a gradient, or a gradient")
            }
            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(GradientRef::Name(name.to_owned()))
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let inline = GradientFile::deserialize(MapAccessDeserializer::new(map))?;
                Ok(GradientRef::Inline(Box::new(inline)))
            }
        }
        deserializer.deserialize_any(Forms)
    }
}

impl<'de> Deserialize<'de> for GradientWeightsFile {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Forms;
        impl<'de> Visitor<'de> for Forms {
            type Value = GradientWeightsFile;
            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of weights, or weights by name")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, list: A) -> Result<Self::Value, A::Error> {
                Vec::deserialize(SeqAccessDeserializer::new(list)).map(GradientWeightsFile::List)
            }
            fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Self::Value, A::Error> {
                let by_name = BTreeMap::deserialize(MapAccessDeserializer::new(map))?;
                Ok(GradientWeightsFile::ByName(by_name))
            }
        }
        deserializer.deserialize_any(Forms)
    }
}
