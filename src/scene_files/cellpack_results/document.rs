//! The JSON document of results.

use std::fmt;

use serde::de::{IgnoredAny, MapAccess, SeqAccess, Visitor};
use serde::{Deserialize, Deserializer};

use super::Region;
use crate::scene_files::additions::{KEY, KindAdditions, SceneAdditions};
use crate::scene_files::json::Ordered;

/// Ingredients of a place, by their keys.
pub(super) type Ingredients = Vec<(String, Ingredient)>;

/// Where ingredients are: nothing for outside, else compartment and region.
pub(super) type Place = Option<(String, Region)>;

/// Results of cellPACK.
#[derive(Default)]
pub(super) struct Document {
    pub name: Option<String>,
    /// Lowest and highest corner, Å.
    pub bounding_box: Option<[[f32; 3]; 2]>,
    /// Path of keys, place and ingredients.
    pub recipes: Vec<(String, Place, Ingredients)>,
    pub additions: Option<SceneAdditions>,
}

#[derive(Deserialize)]
struct RecipeInfo {
    name: Option<String>,
}

#[derive(Deserialize)]
struct Options {
    #[serde(rename = "boundingBox")]
    bounding_box: Option<[[f32; 3]; 2]>,
}

#[derive(Default, Deserialize)]
struct Recipe {
    #[serde(default)]
    ingredients: Ordered<Ingredient>,
}

#[derive(Deserialize)]
struct Compartment {
    surface: Option<Recipe>,
    interior: Option<Recipe>,
}

/// One kind of molecules.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Ingredient {
    pub name: Option<String>,
    pub color: Option<[f32; 3]>,
    pub source: Option<Source>,
    pub positions: Option<Vec<Level>>,
    pub radii: Option<Vec<Radii>>,
    pub results: Option<Vec<Placed>>,
    #[serde(rename = "bevy_rapier_molecules")]
    pub additions: Option<KindAdditions>,
}

/// The structure file.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Source {
    pub pdb: Option<String>,
    pub transform: Option<Transform>,
}

/// From the frame of the structure file to that of the spheres, Å.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct Transform {
    pub center: bool,
    pub translate: Option<[f64; 3]>,
}

/// Centers of the spheres of a level, Å.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Level {
    Keyed { coords: Points },
    Plain(Points),
}

impl Level {
    /// The coordinates one after the other.
    pub fn flat(&self) -> Vec<f32> {
        let (Self::Keyed { coords: points } | Self::Plain(points)) = self;
        match points {
            Points::Flat(numbers) => numbers.clone(),
            Points::Nested(points) => points.concat(),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Points {
    Flat(Vec<f32>),
    Nested(Vec<[f32; 3]>),
}

/// Radii of the spheres of a level, Å.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum Radii {
    Keyed { radii: Vec<f32> },
    Plain(Vec<f32>),
}

impl Radii {
    pub fn numbers(&self) -> &[f32] {
        let (Self::Keyed { radii } | Self::Plain(radii)) = self;
        radii
    }
}

/// A molecule: position (Å) and rotation. Further entries of the list are ignored.
#[derive(Debug)]
pub(super) struct Placed {
    pub position: [f64; 3],
    pub rotation: Rotation,
}

#[derive(Debug)]
pub(super) enum Rotation {
    /// In the order of the file.
    Quaternion([f32; 4]),
    /// Rows.
    Matrix([[f32; 3]; 3]),
}

impl<'de> Deserialize<'de> for Placed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct PlacedVisitor;
        impl<'de> Visitor<'de> for PlacedVisitor {
            type Value = Placed;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a list of position and rotation")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Placed, A::Error> {
                let missing = |index| serde::de::Error::invalid_length(index, &self);
                let position = seq.next_element()?.ok_or_else(|| missing(0))?;
                let rotation = seq.next_element()?.ok_or_else(|| missing(1))?;
                while seq.next_element::<IgnoredAny>()?.is_some() {}
                Ok(Placed { position, rotation })
            }
        }
        deserializer.deserialize_seq(PlacedVisitor)
    }
}

/// A number, or a row of a matrix.
enum Cell {
    Number(f32),
    /// With the number of its numbers.
    Row([f32; 4], usize),
}

impl<'de> Deserialize<'de> for Cell {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct CellVisitor;
        impl<'de> Visitor<'de> for CellVisitor {
            type Value = Cell;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a number, or a row of three or four numbers")
            }

            fn visit_f64<E>(self, number: f64) -> Result<Cell, E> {
                Ok(Cell::Number(number as f32))
            }

            fn visit_i64<E>(self, number: i64) -> Result<Cell, E> {
                Ok(Cell::Number(number as f32))
            }

            fn visit_u64<E>(self, number: u64) -> Result<Cell, E> {
                Ok(Cell::Number(number as f32))
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Cell, A::Error> {
                let mut row = [0.0; 4];
                let mut count = 0;
                while let Some(number) = seq.next_element()? {
                    let too_many = || serde::de::Error::invalid_length(count + 1, &self);
                    *row.get_mut(count).ok_or_else(too_many)? = number;
                    count += 1;
                }
                if count < 3 {
                    return Err(serde::de::Error::invalid_length(count, &self));
                }
                Ok(Cell::Row(row, count))
            }
        }
        deserializer.deserialize_any(CellVisitor)
    }
}

impl<'de> Deserialize<'de> for Rotation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RotationVisitor;
        impl<'de> Visitor<'de> for RotationVisitor {
            type Value = Rotation;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a matrix of 4×4 or 3×3 numbers, or a quaternion")
            }

            fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Rotation, A::Error> {
                let wrong = |count| serde::de::Error::invalid_length(count, &self);
                let mut rows = [[0.0; 4]; 4];
                let mut numbers = [0.0; 4];
                let (mut row_count, mut number_count, mut width) = (0, 0, 0);
                while let Some(cell) = seq.next_element()? {
                    let count = row_count + number_count;
                    if count == 4 {
                        return Err(wrong(count + 1));
                    }
                    match cell {
                        Cell::Number(number) => {
                            numbers[count] = number;
                            number_count += 1;
                        }
                        Cell::Row(row, length) => {
                            rows[count] = row;
                            row_count += 1;
                            width = if count == 0 {
                                length
                            } else {
                                width.min(length)
                            };
                        }
                    }
                }
                match (row_count, number_count, width) {
                    (0, 4, _) => Ok(Rotation::Quaternion(numbers)),
                    (4, 0, 4) => matrix_of(&rows),
                    (3, 0, 3 | 4) => Ok(Rotation::Matrix(upper_left(&rows))),
                    _ => Err(wrong(row_count + number_count)),
                }
            }
        }
        deserializer.deserialize_seq(RotationVisitor)
    }
}

fn upper_left(rows: &[[f32; 4]; 4]) -> [[f32; 3]; 3] {
    [0, 1, 2].map(|k| [rows[k][0], rows[k][1], rows[k][2]])
}

/// The rotation of an affine matrix. Its translation is not used, as in cellPACK.
fn matrix_of<E: serde::de::Error>(rows: &[[f32; 4]; 4]) -> Result<Rotation, E> {
    const TOLERANCE: f32 = 1.0e-4;
    let last = rows[3].iter().zip([0.0, 0.0, 0.0, 1.0]);
    let is_affine = last
        .into_iter()
        .all(|(found, expected)| (found - expected).abs() < TOLERANCE);
    if !is_affine {
        return Err(E::custom(format!(
            "the last row of the matrix is {:?}, expected [0, 0, 0, 1]; is it transposed?",
            rows[3]
        )));
    }
    Ok(Rotation::Matrix(upper_left(rows)))
}

impl<'de> Deserialize<'de> for Document {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct DocumentVisitor;
        impl<'de> Visitor<'de> for DocumentVisitor {
            type Value = Document;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with results of cellPACK")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Document, A::Error> {
                let mut document = Document::default();
                let mut has_recipes = false;
                while let Some(key) = map.next_key::<String>()? {
                    has_recipes |= document.take(&key, &mut map)?;
                }
                if has_recipes {
                    return Ok(document);
                }
                Err(serde::de::Error::custom(
                    "these are no results of cellPACK: there is neither 'cytoplasme' nor 'compartments'",
                ))
            }
        }
        deserializer.deserialize_map(DocumentVisitor)
    }
}

impl Document {
    /// Takes the value of a key. Returns whether the key may have ingredients.
    fn take<'de, A: MapAccess<'de>>(&mut self, key: &str, map: &mut A) -> Result<bool, A::Error> {
        let older = [
            ("_surfaceRecipe", Region::Surface),
            ("_innerRecipe", Region::Interior),
        ];
        let older = older.iter().find_map(|(ending, region)| {
            let compartment = key.strip_suffix(ending)?;
            Some(Some((compartment.to_owned(), *region)))
        });
        let older = older.or_else(|| (key == "exteriorRecipe").then_some(None));
        if let Some(place) = older {
            let recipe: OlderRecipe = map.next_value()?;
            self.recipes.push((key.to_owned(), place, recipe.0));
            return Ok(true);
        }
        match key {
            "recipe" => self.name = map.next_value::<Option<RecipeInfo>>()?.and_then(|r| r.name),
            "options" => {
                let options: Option<Options> = map.next_value()?;
                self.bounding_box = options.and_then(|options| options.bounding_box);
            }
            KEY => self.additions = map.next_value()?,
            "cytoplasme" => {
                let recipe: Option<Recipe> = map.next_value()?;
                let ingredients = recipe.unwrap_or_default().ingredients.0;
                let path = format!("{key}.ingredients");
                self.recipes.push((path, None, ingredients));
            }
            "compartments" => {
                let compartments: Option<Ordered<Compartment>> = map.next_value()?;
                for (name, compartment) in compartments.unwrap_or_default().0 {
                    self.add_compartment(&name, compartment);
                }
            }
            _ => {
                map.next_value::<IgnoredAny>()?;
                return Ok(false);
            }
        }
        Ok(matches!(key, "cytoplasme" | "compartments"))
    }

    fn add_compartment(&mut self, name: &str, compartment: Compartment) {
        let recipes = [
            (Region::Surface, compartment.surface),
            (Region::Interior, compartment.interior),
        ];
        for (region, recipe) in recipes {
            if let Some(recipe) = recipe {
                let path = format!("compartments.{name}.{}.ingredients", region.name());
                let place = Some((name.to_owned(), region));
                self.recipes.push((path, place, recipe.ingredients.0));
            }
        }
    }
}

/// Ingredients by their keys, or under the key `ingredients`.
struct OlderRecipe(Ingredients);

impl<'de> Deserialize<'de> for OlderRecipe {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct RecipeVisitor;
        impl<'de> Visitor<'de> for RecipeVisitor {
            type Value = OlderRecipe;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object with ingredients")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<OlderRecipe, A::Error> {
                let mut ingredients = Vec::new();
                while let Some(key) = map.next_key::<String>()? {
                    if key == "ingredients" {
                        ingredients.extend(map.next_value::<Ordered<Ingredient>>()?.0);
                    } else {
                        ingredients.push((key, map.next_value()?));
                    }
                }
                Ok(OlderRecipe(ingredients))
            }
        }
        deserializer.deserialize_map(RecipeVisitor)
    }
}
