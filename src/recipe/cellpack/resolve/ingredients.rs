//! Ingredients: objects with their files.

use std::sync::Arc;

use serde_json::Value;

use super::super::additions::{DetailFile, ObjectAdditions};
use super::super::object::{ObjectFile, ObjectType, RepresentationFile};
use super::{RawItem, Resolver, changes_molecule, join};
use crate::molecule::{AssemblyChoice, LoadOptions, Structure};
use crate::recipe::bundled::bundled_structures;
use crate::recipe::defaults;
use crate::recipe::error::RecipeProblem;
use crate::recipe::model::{BodyAxis, Ingredient, IngredientShape, RotationRange};
use crate::recipe::{RecipeError, SphereTree};
use crate::scene_files::Topology;

/// Default number of proxies.
const DEFAULT_PROXIES: u32 = 8;

/// Largest number of proxies and conformers.
const MAX_PARTS: u32 = 10_000;

impl Resolver<'_> {
    /// The ingredient of an item, which is added if it is new.
    pub(super) fn ingredient(
        &mut self,
        object: &str,
        file: &ObjectFile,
        merged: &Value,
        raw: &RawItem<'_>,
    ) -> Result<usize, RecipeError> {
        let overrides = raw.value.as_object();
        let overrides = overrides.into_iter().flatten();
        let overrides: serde_json::Map<_, _> = overrides
            .filter(|(key, _)| changes_molecule(key))
            .map(|(key, value)| (key.clone(), value.clone()))
            .collect();
        let place = if overrides.is_empty() {
            join("objects", object)
        } else {
            raw.place.clone()
        };
        self.add_ingredient(object, file, Value::Object(overrides), &place, merged)
    }

    /// The ingredient of an object as it is.
    pub(super) fn ingredient_of_object(
        &mut self,
        object: &str,
        place: &str,
    ) -> Result<usize, RecipeError> {
        let empty = Value::Object(serde_json::Map::new());
        let Some(merged) = self.objects.get(object).cloned() else {
            let known = self.objects.keys().map(String::as_str);
            return Err(self.unknown_name(place, "object", object, known));
        };
        let (file, _) = self.merged_object(object, &empty, place)?;
        let place = join("objects", object);
        self.add_ingredient(object, &file, empty, &place, &merged)
    }

    fn add_ingredient(
        &mut self,
        object: &str,
        file: &ObjectFile,
        overrides: Value,
        place: &str,
        merged: &Value,
    ) -> Result<usize, RecipeError> {
        let key = (object.to_owned(), overrides);
        if let Some(known) = self.ingredient_keys.iter().position(|known| *known == key) {
            return Ok(known);
        }
        let additions = self
            .additions
            .objects
            .get(object)
            .cloned()
            .unwrap_or_default();
        let block = format!("bevy_rapier_molecules.objects.{object}");
        let shape = self.shape(object, file, &additions, place)?;
        let axis = match (additions.up, file.principal_vector) {
            (Some(up), _) => BodyAxis::Up(self.direction(up, "the axis", &join(&block, "up"))?),
            // The default of cellPACK, written by all of its tools, tells nothing of a structure.
            (None, Some(_)) if is_default_axis(merged) && is_structure(&shape) => BodyAxis::Unknown,
            (None, Some(axis)) => {
                let at = join(place, "principal_vector");
                BodyAxis::Principal(self.direction(axis, "the axis", &at)?)
            }
            (None, None) => BodyAxis::Unknown,
        };
        let depth = match additions.depth {
            Some(depth) => Some(self.length(depth, "the depth", &join(&block, "depth"))?),
            None => None,
        };
        let area = match additions.area {
            Some(area) => {
                let nm2 = (area * self.nm * self.nm) as f32;
                if !(nm2.is_finite() && nm2 > 0.0) {
                    let at = join(&block, "area");
                    return Err(self.out_of_range(at, "the area of a lipid", "positive", area));
                }
                Some(nm2)
            }
            None => None,
        };
        let tilt = file.perturb_axis_amplitude.unwrap_or(defaults::TILT);
        if !(tilt.is_finite() && tilt >= 0.0) {
            let at = join(place, "perturb_axis_amplitude");
            return Err(self.out_of_range(at, "the amplitude", "at least 0", tilt));
        }
        let conformers = additions.conformers.unwrap_or(defaults::CONFORMERS);
        if !(1..=MAX_PARTS).contains(&conformers) {
            let at = join(&block, "conformers");
            let allowed = "from 1 to 10,000";
            return Err(self.out_of_range(at, "the number of conformers", allowed, conformers));
        }
        let ingredient = Ingredient {
            name: object.to_owned(),
            place: place.to_owned(),
            shape,
            axis,
            depth,
            area,
            conformers,
            keep_pore_empty: additions.keep_pore_empty.unwrap_or(true),
            rotation: self.rotation_range(file, place)?,
            tilt: tilt as f32,
            fiber: self.fiber_kind(&additions, &block)?,
            topology: Topology {
                molecule_type: additions.molecule_type.clone(),
                includes: additions.includes.clone(),
            },
            color: match additions.tint {
                Some(tint) => self.color(Some(tint), &join(&block, "tint"))?,
                None => self.color(file.color, &join(place, "color"))?,
            },
        };
        self.recipe.ingredients.push(ingredient);
        self.ingredient_keys.push(key);
        Ok(self.recipe.ingredients.len() - 1)
    }

    fn color(&self, color: Option<[f64; 3]>, place: &str) -> Result<Option<[f32; 3]>, RecipeError> {
        let Some(color) = color else {
            return Ok(None);
        };
        for value in color {
            if !(0.0..=1.0).contains(&value) {
                return Err(self.out_of_range(place, "a color", "from 0 to 1", value));
            }
        }
        Ok(Some(color.map(|value| value as f32)))
    }

    fn rotation_range(&self, file: &ObjectFile, place: &str) -> Result<RotationRange, RecipeError> {
        if file.use_rotation_axis != Some(true) {
            return Ok(RotationRange::Any);
        }
        let axis = file.rotation_axis.unwrap_or_default();
        if axis.iter().sum::<f64>() == 0.0 {
            return Ok(RotationRange::None);
        }
        let range = file.rotation_range.unwrap_or(std::f64::consts::TAU);
        if !(range.is_finite() && range >= 0.0) {
            let at = join(place, "rotation_range");
            return Err(self.out_of_range(at, "the range", "at least 0", range));
        }
        let at = join(place, "rotation_axis");
        Ok(RotationRange::About {
            axis: self.direction(axis, "the axis", &at)?,
            range: range as f32,
        })
    }

    fn shape(
        &mut self,
        object: &str,
        file: &ObjectFile,
        additions: &ObjectAdditions,
        place: &str,
    ) -> Result<IngredientShape, RecipeError> {
        let files = file.representations.clone().unwrap_or_default();
        let block = format!("bevy_rapier_molecules.objects.{object}");
        let at = join(place, "representations.atomic");
        // Why there are no atoms.
        let mut missing = None;
        if let Some(atomic) = &files.atomic
            && additions.detail != Some(DetailFile::Spheres)
        {
            match self.structure(atomic, &at) {
                Ok(structure) => return self.atoms(structure, additions, &block),
                Err(error) => missing = Some(error),
            }
        }
        if let Some(detail @ (DetailFile::Atoms | DetailFile::Proxies)) = additions.detail {
            return Err(missing.unwrap_or_else(|| {
                let expected = format!("expected a structure file, since detail is {detail:?}");
                self.error(&*at, RecipeProblem::Missing(expected.to_lowercase()))
            }));
        }
        let shape = match self.rod(file, additions, &block, place) {
            Some(rod) => rod,
            None => self.spheres(file, files.packing.as_ref(), place),
        };
        match shape {
            Ok(shape) => {
                if let Some(error) = missing {
                    let text = format!("{}; its spheres are used instead", error.problem);
                    self.warn(error.place, text);
                }
                Ok(shape)
            }
            // The first file that is missing.
            Err(error) => Err(missing.unwrap_or(error)),
        }
    }

    /// The structure file of a representation.
    fn structure(
        &self,
        file: &RepresentationFile,
        place: &str,
    ) -> Result<Arc<Structure>, RecipeError> {
        if let Some(name) = &file.name {
            let found = self.files.structure(file.path.as_deref(), name);
            match (found, &file.id) {
                (Ok(structure), _) => return Ok(structure),
                (Err(problem @ RecipeProblem::OutsideFolder { .. }), _) | (Err(problem), None) => {
                    return Err(self.error(place, problem));
                }
                (Err(_), Some(_)) => {}
            }
        }
        let Some(id) = &file.id else {
            let expected = "expected the name or id of a structure file".to_owned();
            return Err(self.error(place, RecipeProblem::Missing(expected)));
        };
        self.files
            .structure(None, id)
            .map_err(|problem| match problem {
                RecipeProblem::NoFile { .. } => {
                    let kind = "structure file next to the recipe, nor a bundled one, named";
                    self.unknown_name(place, kind, id, bundled_structures())
                }
                problem => self.error(place, problem),
            })
    }

    fn atoms(
        &self,
        structure: Arc<Structure>,
        additions: &ObjectAdditions,
        block: &str,
    ) -> Result<IngredientShape, RecipeError> {
        let options = LoadOptions {
            chains: additions.chains.clone(),
            hydrogens: additions.hydrogens.unwrap_or(true),
            assembly: match &additions.assembly {
                Some(name) => AssemblyChoice::OneBody(name.clone()),
                None => AssemblyChoice::None,
            },
            ..LoadOptions::default()
        };
        // Wrong chains or assemblies are reported at their place.
        let check = structure.template(&options);
        check.map_err(|error| self.error(block, error))?;
        let proxies = match additions.detail {
            Some(DetailFile::Proxies) => {
                let number = additions.proxies.unwrap_or(DEFAULT_PROXIES);
                if !(1..=MAX_PARTS).contains(&number) {
                    let at = join(block, "proxies");
                    let what = "the number of proxies";
                    return Err(self.out_of_range(at, what, "from 1 to 10,000", number));
                }
                Some(number)
            }
            _ => None,
        };
        Ok(IngredientShape::Atoms {
            structure,
            options,
            proxies,
        })
    }

    fn spheres(
        &self,
        file: &ObjectFile,
        packing: Option<&RepresentationFile>,
        place: &str,
    ) -> Result<IngredientShape, RecipeError> {
        let unsupported = |kind: &str, instead| {
            let what = format!("an ingredient of type {kind}");
            let problem = RecipeProblem::Unsupported { what, instead };
            Err(self.error(join(place, "type"), problem))
        };
        match file.kind {
            Some(ObjectType::SingleSphere) => {
                let at = join(place, "radius");
                let Some(radius) = file.radius else {
                    let expected = "expected the radius of a single sphere".to_owned();
                    return Err(self.error(at, RecipeProblem::Missing(expected)));
                };
                let radius = self.positive(radius, "the radius", &at)?;
                Ok(IngredientShape::Sphere { radius })
            }
            Some(kind @ (ObjectType::Grow | ObjectType::MultiCylinder)) => unsupported(
                kind.name(),
                "make it a fiber in the block bevy_rapier_molecules: objects.NAME.fiber and composition.NAME.fiber",
            ),
            Some(kind @ (ObjectType::SingleCube | ObjectType::SingleCylinder)) => {
                unsupported(kind.name(), "use multi_sphere with spheres that fill it")
            }
            _ if packing.is_some() || file.kind == Some(ObjectType::MultiSphere) => {
                self.several_spheres(packing, place)
            }
            Some(kind) => unsupported(
                kind.name(),
                "give representations.packing (.sph) or representations.atomic, or use it as a compartment",
            ),
            None => {
                let expected = "expected a type: single_sphere, multi_sphere or mesh".to_owned();
                Err(self.error(join(place, "type"), RecipeProblem::Missing(expected)))
            }
        }
    }

    fn several_spheres(
        &self,
        packing: Option<&RepresentationFile>,
        place: &str,
    ) -> Result<IngredientShape, RecipeError> {
        let at = join(place, "representations.packing");
        let Some(packing) = packing else {
            let expected = "expected a .sph file, or positions and radii".to_owned();
            return Err(self.error(at, RecipeProblem::Missing(expected)));
        };
        let mut spheres = Vec::new();
        if let (Some(positions), Some(radii)) = (&packing.positions, &packing.radii) {
            let (Some(positions), Some(radii)) = (positions.last(), radii.last()) else {
                let expected = "expected at least one level of spheres".to_owned();
                return Err(self.error(at, RecipeProblem::Missing(expected)));
            };
            if positions.len() != radii.len() {
                let value = format!("{} and {}", positions.len(), radii.len());
                let what = "the numbers of positions and radii";
                return Err(self.out_of_range(at, what, "the same", value));
            }
            for (position, radius) in positions.iter().zip(radii) {
                let position = self.point(*position, "a position", &at)?;
                spheres.push((position, self.positive(*radius, "a radius", &at)?));
            }
        } else {
            let path = self.file_of(packing, &at)?;
            let source = path.to_string_lossy();
            let bytes = self
                .files
                .read(&path)
                .map_err(|error| self.error(&*at, error))?;
            let tree =
                SphereTree::read(&bytes, &source).map_err(|error| self.error(&*at, error))?;
            for &(position, radius) in tree.spheres() {
                let position = self.point(position.as_dvec3().to_array(), "a position", &at)?;
                spheres.push((position, self.positive(f64::from(radius), "a radius", &at)?));
            }
        }
        if spheres.is_empty() {
            let expected = "expected at least one sphere".to_owned();
            return Err(self.error(at, RecipeProblem::Missing(expected)));
        }
        Ok(IngredientShape::Spheres(spheres.into()))
    }
}

/// Whether `principal_vector` is the default of cellPACK.
fn is_default_axis(merged: &Value) -> bool {
    let axis = merged.get("principal_vector").and_then(Value::as_array);
    let parts = axis.map(|axis| axis.iter().filter_map(Value::as_f64).collect::<Vec<_>>());
    parts.is_some_and(|parts| parts == [1.0, 0.0, 0.0])
}

fn is_structure(shape: &IngredientShape) -> bool {
    matches!(shape, IngredientShape::Atoms { .. })
}
