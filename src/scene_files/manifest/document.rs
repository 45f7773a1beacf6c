//! The JSON document of a manifest.

use std::fmt;

use serde::de::{SeqAccess, Visitor, value::MapAccessDeserializer};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::scene_files::additions::{KindAdditions, SceneAdditions};

/// A manifest.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Manifest {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default)]
    pub roots: Vec<Root>,
    pub entities: Vec<Entity>,
    #[serde(
        default,
        rename = "bevy_rapier_molecules",
        skip_serializing_if = "Option::is_none"
    )]
    pub additions: Option<SceneAdditions>,
}

/// The root of a tree of groups.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Root {
    pub id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default)]
    pub children: Vec<Group>,
}

/// A group of entities and groups.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Group {
    pub id: String,
    pub root: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub children: Vec<Group>,
}

/// The name of a group.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub(super) struct GroupId {
    pub id: String,
    pub root: String,
}

/// A kind of molecules.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct Entity {
    pub file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub label: Option<String>,
    /// 0 to 255.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub color: Option<[f32; 3]>,
    #[serde(default)]
    pub groups: Vec<GroupId>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instances: Option<Instances>,
    #[serde(
        default,
        rename = "bevy_rapier_molecules",
        skip_serializing_if = "Option::is_none"
    )]
    pub additions: Option<KindAdditions>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Instances {
    pub positions: Positions,
    pub rotations: Rotations,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Positions {
    pub data: Data,
}

#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Rotations {
    pub variant: RotationVariant,
    pub data: Data,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum RotationVariant {
    /// x, y, z, w.
    Quaternion,
    /// Rows.
    Matrix,
    /// Angles about x, y and z, radian. The matrix is that about x times that about y times that
    /// about z.
    Euler,
}

/// Numbers.
#[derive(Debug)]
pub(super) enum Data {
    Numbers(Vec<f32>),
    File(DataFile),
}

/// Little-endian numbers in a file of the archive.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct DataFile {
    pub file: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub view: Option<View>,
}

/// A part of a file, bytes.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct View {
    #[serde(default)]
    pub byte_offset: u64,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub byte_length: Option<u64>,
}

impl Serialize for Data {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Numbers(numbers) => numbers.serialize(serializer),
            Self::File(file) => file.serialize(serializer),
        }
    }
}

impl<'de> Deserialize<'de> for Data {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DataVisitor;
        impl<'de> Visitor<'de> for DataVisitor {
            type Value = Data;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of numbers, or an object with a file")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Data, A::Error> {
                let mut numbers = Vec::new();
                while let Some(number) = seq.next_element()? {
                    numbers.push(number);
                }
                Ok(Data::Numbers(numbers))
            }

            fn visit_map<A: serde::de::MapAccess<'de>>(self, map: A) -> Result<Data, A::Error> {
                DataFile::deserialize(MapAccessDeserializer::new(map)).map(Data::File)
            }
        }
        deserializer.deserialize_any(DataVisitor)
    }
}
