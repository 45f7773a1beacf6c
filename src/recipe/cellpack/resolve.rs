//! From the file of cellPACK to a [`Recipe`]: tree of compartments, ingredients, units.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use glam::Vec3;
use serde_json::Value;

use super::additions::{AdditionsFile, EntryAdditions, UnitFile};
use super::file::{DistributionFile, DistributionKind, ItemFile, RegionsFile};
use super::inheritance::{inherited, overlay};
use super::object::{ObjectFile, PackingMode};
use super::unknown_keys::unknown_keys;
use super::{CellpackFile, join, kind_of, typed};
use crate::names::closest_name;
use crate::pose::Pose;
use crate::recipe::defaults;
use crate::recipe::error::RecipeProblem;
use crate::recipe::files::FileFinder;
use crate::recipe::model::{Entry, Recipe, Region, rotation};
use crate::recipe::rule::Rule;
use crate::recipe::{Distribution, RecipeError, RecipeWarning};

mod compartments;
mod fibers;
mod gradients;
mod ingredients;
mod partners;
mod rules;
mod saved;

use gradients::NamedGradient;

/// Nanometers in an ångström.
pub(super) const NM_PER_ANGSTROM: f64 = 0.1;

/// Default bounding box, in the unit of the recipe.
const DEFAULT_BOX: [[f64; 3]; 2] = [[0.0; 3], [100.0; 3]];

/// Fields of items that say where and how many, and do not change the molecule.
const PLACEMENT_KEYS: [&str; 13] = [
    "object",
    "count",
    "molarity",
    "count_options",
    "size_options",
    "priority",
    "partners",
    "gradient",
    "gradient_weights",
    "packing_mode",
    "regions",
    "cutoff_boundary",
    "cutoff_surface",
];

/// An entry of the composition.
struct RawEntry<'a> {
    value: &'a Value,
    item: ItemFile,
    regions: Option<RegionsFile>,
}

/// An item of a region, before it is resolved.
struct RawItem<'a> {
    /// Name of the entry, if it has one.
    name: Option<&'a str>,
    place: String,
    value: &'a Value,
    item: ItemFile,
    compartment: usize,
    region: Region,
}

struct Resolver<'a> {
    source: &'a str,
    files: &'a FileFinder<'a>,
    objects: BTreeMap<String, Value>,
    additions: AdditionsFile,
    /// Nanometers in the unit of the recipe.
    nm: f64,
    raw: BTreeMap<&'a str, RawEntry<'a>>,
    recipe: Recipe,
    /// Object and overridden fields of each ingredient.
    ingredient_keys: Vec<(String, Value)>,
}

/// Resolves a file.
pub(in crate::recipe) fn resolve(
    cellpack: &CellpackFile,
    files: &FileFinder<'_>,
) -> Result<Recipe, RecipeError> {
    let (file, source) = (&cellpack.file, &*cellpack.source);
    let name = file.name.as_deref().unwrap_or_default().trim();
    if name.is_empty() {
        let expected = "expected the name of the recipe, found none";
        return Err(RecipeProblem::Missing(expected.into()).at(source, "name"));
    }
    let additions = file.bevy_rapier_molecules.clone().unwrap_or_default();
    let nm = match additions.unit.unwrap_or_default() {
        UnitFile::Angstrom => NM_PER_ANGSTROM,
        UnitFile::Nm => 1.0,
    };
    let mut resolver = Resolver {
        source,
        files,
        objects: inherited(&file.objects, source)?,
        nm,
        raw: BTreeMap::new(),
        recipe: Recipe {
            source: source.to_owned(),
            name: name.to_owned(),
            seed: file.randomness_seed,
            bounds: [Vec3::ZERO; 2],
            periodic: additions.periodic.unwrap_or(false),
            tolerance: defaults::TOLERANCE,
            includes: additions.includes.clone(),
            ingredients: Vec::new(),
            compartments: Vec::new(),
            entries: Vec::new(),
            saved: Vec::new(),
            saved_joints: Vec::new(),
            warnings: unknown_keys(&cellpack.value),
            document: Some(Arc::new(cellpack.value.clone())),
        },
        additions,
        ingredient_keys: Vec::new(),
    };
    resolver.set_box(file.bounding_box)?;
    resolver.set_tolerance()?;
    for (name, value) in &file.composition {
        let entry = resolver.raw_entry(value, &join("composition", name))?;
        resolver.raw.insert(name, entry);
    }
    resolver.check_additions(&file.composition)?;
    let gradients = resolver.named_gradients(file.gradients.as_ref())?;
    let items = resolver.walk()?;
    let mut partners = Vec::new();
    for item in &items {
        partners.push(resolver.add_item(item, &gradients)?);
    }
    resolver.add_ratios()?;
    for (index, (object, item)) in partners.iter().zip(&items).enumerate() {
        resolver.recipe.entries[index].partners = resolver.partners(object, item)?;
    }
    resolver.add_saved()?;
    resolver.connect_rules()?;
    Ok(resolver.recipe)
}

impl<'a> Resolver<'a> {
    fn error(&self, place: impl Into<String>, problem: impl Into<RecipeProblem>) -> RecipeError {
        problem.into().at(self.source, place)
    }

    fn out_of_range(
        &self,
        place: impl Into<String>,
        what: &'static str,
        allowed: &'static str,
        value: impl std::fmt::Display,
    ) -> RecipeError {
        let value = value.to_string();
        let problem = RecipeProblem::OutOfRange {
            what,
            allowed,
            value,
        };
        self.error(place, problem)
    }

    fn unknown_name<'n>(
        &self,
        place: impl Into<String>,
        kind: &'static str,
        name: &str,
        known: impl IntoIterator<Item = &'n str>,
    ) -> RecipeError {
        let problem = RecipeProblem::UnknownName {
            kind,
            name: name.to_owned(),
            suggestion: closest_name(name, known),
        };
        self.error(place, problem)
    }

    fn warn(&mut self, place: impl Into<String>, text: impl Into<String>) {
        self.recipe.warnings.push(RecipeWarning {
            place: place.into(),
            text: text.into(),
        });
    }

    /// A length in nm that is positive and in range.
    fn positive(&self, value: f64, what: &'static str, place: &str) -> Result<f32, RecipeError> {
        let nm = (value * self.nm) as f32;
        if nm > 0.0 && nm <= defaults::MAX_LENGTH_NM {
            Ok(nm)
        } else {
            Err(self.out_of_range(place, what, "positive and at most 0.1 mm", value))
        }
    }

    /// A length in nm that is finite and in range.
    fn length(&self, value: f64, what: &'static str, place: &str) -> Result<f32, RecipeError> {
        let nm = (value * self.nm) as f32;
        if nm.abs() <= defaults::MAX_LENGTH_NM {
            Ok(nm)
        } else {
            Err(self.out_of_range(place, what, "finite and at most 0.1 mm", value))
        }
    }

    /// A point in nm.
    fn point(&self, point: [f64; 3], what: &'static str, place: &str) -> Result<Vec3, RecipeError> {
        let mut nm = [0.0; 3];
        for (nm, value) in nm.iter_mut().zip(point) {
            *nm = self.length(value, what, place)?;
        }
        Ok(Vec3::from_array(nm))
    }

    /// A unit vector.
    fn direction(
        &self,
        vector: [f64; 3],
        what: &'static str,
        place: &str,
    ) -> Result<Vec3, RecipeError> {
        let unit = glam::DVec3::from_array(vector).try_normalize();
        unit.map(glam::DVec3::as_vec3).ok_or_else(|| {
            let value = format!("{vector:?}");
            self.out_of_range(place, what, "finite and not zero", value)
        })
    }

    fn set_box(&mut self, bounding_box: Option<[[f64; 3]; 2]>) -> Result<(), RecipeError> {
        let [low, high] = bounding_box.unwrap_or(DEFAULT_BOX);
        let place = "bounding_box";
        let bounds = [
            self.point(low, "a corner", place)?,
            self.point(high, "a corner", place)?,
        ];
        for (axis, name) in ["x", "y", "z"].into_iter().enumerate() {
            let is_wide = bounds[0][axis] < bounds[1][axis];
            if !is_wide {
                let value = format!("{} to {} along {name}", low[axis], high[axis]);
                let what = "the first corner";
                return Err(self.out_of_range(place, what, "below the second one", value));
            }
        }
        self.recipe.bounds = bounds;
        Ok(())
    }

    fn set_tolerance(&mut self) -> Result<(), RecipeError> {
        if let Some(tolerance) = self.additions.tolerance {
            let place = "bevy_rapier_molecules.tolerance";
            self.recipe.tolerance = self.positive(tolerance, "the tolerance", place)?;
        }
        Ok(())
    }

    fn raw_entry(&self, value: &'a Value, place: &str) -> Result<RawEntry<'a>, RecipeError> {
        let item: ItemFile = typed(value, self.source, place)?;
        let regions = match value.get("regions") {
            None | Some(Value::Null) => None,
            Some(regions) => Some(typed(regions, self.source, &join(place, "regions"))?),
        };
        if item.object.is_none() && regions.is_none() {
            let expected = "expected an object, regions, or both";
            return Err(self.error(place, RecipeProblem::Missing(expected.into())));
        }
        Ok(RawEntry {
            value,
            item,
            regions,
        })
    }

    /// Checks that our additions refer to something.
    fn check_additions(&self, composition: &BTreeMap<String, Value>) -> Result<(), RecipeError> {
        let block = "bevy_rapier_molecules";
        for name in self.additions.objects.keys() {
            if !self.objects.contains_key(name) {
                let place = format!("{block}.objects.{name}");
                let known = self.objects.keys().map(String::as_str);
                return Err(self.unknown_name(place, "object", name, known));
            }
        }
        for name in self.additions.composition.keys() {
            if !composition.contains_key(name) {
                let place = format!("{block}.composition.{name}");
                let known = composition.keys().map(String::as_str);
                return Err(self.unknown_name(place, "entry of the composition", name, known));
            }
        }
        Ok(())
    }

    /// The additions to an entry of the composition.
    fn additions_of(&self, name: Option<&str>) -> EntryAdditions {
        let additions = name.and_then(|name| self.additions.composition.get(name));
        additions.cloned().unwrap_or_default()
    }

    /// The entry that no region refers to.
    fn root(&self) -> Result<&'a str, RecipeError> {
        let mut referred = BTreeSet::new();
        for entry in self.raw.values() {
            for (_, items) in entry.regions.iter().flat_map(regions_of) {
                referred.extend(items.iter().filter_map(Value::as_str));
            }
        }
        let mut roots = self.raw.keys().filter(|name| !referred.contains(**name));
        let wrong = |text: String| Err(self.error("composition", RecipeProblem::Root(text)));
        match (roots.next(), roots.next()) {
            (Some(root), None) => Ok(root),
            (Some(first), Some(second)) => wrong(format!(
                "expected one entry that no region refers to, found '{first}' and '{second}'; list all others in a region"
            )),
            (None, _) if self.raw.is_empty() => {
                wrong("expected an entry with regions, found none".to_owned())
            }
            (None, _) => wrong(
                "expected one entry that no region refers to, but each is in a region of another"
                    .to_owned(),
            ),
        }
    }

    /// Adds the compartments from the root inwards, and returns all items of regions.
    fn walk(&mut self) -> Result<Vec<RawItem<'a>>, RecipeError> {
        let root = self.root()?;
        self.add_box(root)?;
        let mut items = Vec::new();
        let mut known = BTreeSet::from([root]);
        // Compartments whose regions are still to be read.
        let mut left = vec![(root, 0)];
        while let Some((name, compartment)) = left.pop() {
            let regions = self.raw.get(name).and_then(|entry| entry.regions.clone());
            for (region, values) in regions.iter().flat_map(regions_of) {
                let base = format!("composition.{name}.regions.{}", region.name());
                for (index, _) in values.iter().enumerate() {
                    let place = format!("{base}[{index}]");
                    // The value in the file, which outlives the copy of the regions.
                    let Some(value) = self.region_value(name, region, index) else {
                        continue;
                    };
                    let Some(entry) = value.as_str() else {
                        items.push(self.inline_item(value, place, compartment, region)?);
                        continue;
                    };
                    let Some((&entry, raw)) = self.raw.get_key_value(entry) else {
                        let known: Vec<&str> = self.raw.keys().copied().collect();
                        let kind = "entry of the composition";
                        return Err(self.unknown_name(place, kind, entry, known));
                    };
                    if raw.regions.is_none() {
                        items.push(RawItem {
                            name: Some(entry),
                            place: join("composition", entry),
                            value: raw.value,
                            item: raw.item.clone(),
                            compartment,
                            region,
                        });
                        continue;
                    }
                    if region != Region::Interior {
                        let what =
                            format!("the compartment '{entry}' in a region {}", region.name());
                        let instead = "put it into interior";
                        return Err(self.error(place, RecipeProblem::Unsupported { what, instead }));
                    }
                    if !known.insert(entry) {
                        let text = format!("the compartment '{entry}' is in two regions");
                        return Err(self.error(place, RecipeProblem::Root(text)));
                    }
                    self.add_compartment(entry, compartment)?;
                    left.push((entry, self.recipe.compartments.len() - 1));
                }
            }
        }
        Ok(items)
    }

    /// An item of a region in the file.
    fn region_value(&self, name: &str, region: Region, index: usize) -> Option<&'a Value> {
        let regions = self.raw.get(name)?.value.get("regions")?;
        let spellings = match region {
            Region::Interior => ["interior", "interior"],
            Region::Surface => ["surface", "surface"],
            Region::OuterLeaflet => ["outer_leaflet", "outer-leaflet"],
            Region::InnerLeaflet => ["inner_leaflet", "inner-leaflet"],
        };
        let items = spellings.iter().find_map(|key| regions.get(*key))?;
        items.get(index)
    }

    fn inline_item(
        &self,
        value: &'a Value,
        place: String,
        compartment: usize,
        region: Region,
    ) -> Result<RawItem<'a>, RecipeError> {
        if !value.is_object() {
            let found = kind_of(value);
            let text = format!("expected the name of an entry or an object, found {found}");
            return Err(self.error(place, RecipeProblem::Json(text)));
        }
        let item: ItemFile = typed(value, self.source, &place)?;
        Ok(RawItem {
            name: None,
            place,
            value,
            item,
            compartment,
            region,
        })
    }

    /// The object of an item with the fields that the item overrides.
    fn merged_object(
        &self,
        object: &str,
        value: &Value,
        place: &str,
    ) -> Result<(ObjectFile, Value), RecipeError> {
        let Some(base) = self.objects.get(object) else {
            let known = self.objects.keys().map(String::as_str);
            return Err(self.unknown_name(join(place, "object"), "object", object, known));
        };
        // By itself first, so that errors have the place of the item.
        let _: ObjectFile = typed(value, self.source, place)?;
        let mut merged = base.clone();
        overlay(&mut merged, value);
        let read = typed(&merged, self.source, place)?;
        Ok((read, merged))
    }

    /// Adds an item, except for its partners, and returns its object.
    fn add_item(
        &mut self,
        raw: &RawItem<'a>,
        gradients: &BTreeMap<String, NamedGradient>,
    ) -> Result<ObjectFile, RecipeError> {
        let place = &*raw.place;
        let Some(object) = &raw.item.object else {
            let expected = "expected the name of an object";
            return Err(self.error(
                join(place, "object"),
                RecipeProblem::Missing(expected.into()),
            ));
        };
        let (file, merged) = self.merged_object(object, raw.value, place)?;
        let ingredient = self.ingredient(object, &file, &merged, raw)?;
        let additions = self.additions_of(raw.name);
        let mut places = Vec::new();
        for (index, given) in additions.places.iter().enumerate() {
            let name = raw.name.unwrap_or_default();
            let at = format!("bevy_rapier_molecules.composition.{name}.places[{index}]");
            places.push(self.pose(given.position, given.rotation, &at)?);
        }
        let rule = self.rule(raw, ingredient)?;
        let count = self.count(&raw.item, place, places.len(), rule.as_ref())?;
        let molarity = raw.item.molarity.unwrap_or(0.0);
        if !(molarity.is_finite() && molarity >= 0.0) {
            let at = join(place, "molarity");
            return Err(self.out_of_range(at, "molarity", "at least 0 mol/l", molarity));
        }
        let sizes = match &raw.item.size_options {
            Some(sizes) => {
                let at = join(place, "size_options");
                let sizes = self.distribution(sizes, &at)?.scaled(self.nm);
                self.check_sizes(&sizes, ingredient, &at)?;
                Some(sizes)
            }
            None => None,
        };
        let cutoff = |value: Option<f64>, what, key| {
            let cutoff = value.map(|value| self.length(value, what, &join(place, key)));
            cutoff.transpose().map(|cutoff| cutoff.map(|c| c.max(0.0)))
        };
        let priority = file.priority.unwrap_or(0.0);
        let entry = Entry {
            name: raw.name.unwrap_or(object).to_owned(),
            place: raw.place.clone(),
            ingredient,
            compartment: raw.compartment,
            region: raw.region,
            count,
            molarity,
            sizes,
            priority: if priority.is_nan() { 0.0 } else { priority },
            gradients: self.gradients_of(&file, gradients, raw)?,
            partners: Vec::new(),
            close: file.packing_mode == Some(PackingMode::Close),
            cutoff_boundary: cutoff(file.cutoff_boundary, "the distance", "cutoff_boundary")?,
            cutoff_surface: cutoff(file.cutoff_surface, "the distance", "cutoff_surface")?,
            places,
            fixed: additions.fixed,
            fiber: self.fiber_entry(raw, ingredient, object)?,
            rule,
        };
        if let Some(
            PackingMode::HexagonalTiles | PackingMode::SquareTiles | PackingMode::TriangleTiles,
        ) = file.packing_mode
        {
            self.warn(
                join(place, "packing_mode"),
                "tiles are not supported; places are random",
            );
        }
        self.recipe.entries.push(entry);
        Ok(file)
    }

    fn pose(
        &self,
        position: [f64; 3],
        turned: Option<[f64; 4]>,
        place: &str,
    ) -> Result<Pose, RecipeError> {
        let position = self.point(position, "a position", &join(place, "position"))?;
        let Some(parts) = turned else {
            return Ok(Pose::from_translation(position));
        };
        match rotation(parts) {
            Some(rotation) => Ok(Pose::new(position, rotation)),
            None => {
                let value = format!("{parts:?}");
                let at = join(place, "rotation");
                let allowed = "a quaternion x, y, z, w that is finite and not zero";
                Err(self.out_of_range(at, "a rotation", allowed, value))
            }
        }
    }

    /// The number of molecules of an item, without those of its molarity.
    fn count(
        &self,
        item: &ItemFile,
        place: &str,
        places: usize,
        rule: Option<&Rule>,
    ) -> Result<Distribution, RecipeError> {
        let in_range = |count: f64, at: &str| {
            if (0.0..=defaults::MAX_COUNT).contains(&count) {
                Ok(())
            } else {
                Err(self.out_of_range(at, "a count", "from 0 to 100,000,000", count))
            }
        };
        if let Some(options) = &item.count_options {
            let at = join(place, "count_options");
            let distribution = self.distribution(options, &at)?;
            for value in values_of(&distribution) {
                in_range(value, &at)?;
            }
            return Ok(distribution);
        }
        match item.count {
            Some(count) => {
                in_range(count, &join(place, "count"))?;
                Ok(Distribution::Constant(count))
            }
            None if item.molarity.is_some() => Ok(Distribution::Constant(0.0)),
            None if rule.is_some_and(Rule::determines_count) => Ok(Distribution::Constant(0.0)),
            None if places > 0 => Ok(Distribution::Constant(places as f64)),
            None => {
                let expected = "expected a count or a molarity";
                Err(self.error(place, RecipeProblem::Missing(expected.into())))
            }
        }
    }

    fn check_sizes(
        &self,
        sizes: &Distribution,
        ingredient: usize,
        place: &str,
    ) -> Result<(), RecipeError> {
        let shape = &self.recipe.ingredients[ingredient].shape;
        if !matches!(shape, crate::recipe::IngredientShape::Sphere { .. }) {
            let what = "a distribution of sizes of another shape than a single sphere".to_owned();
            let instead = "use the type single_sphere";
            return Err(self.error(place, RecipeProblem::Unsupported { what, instead }));
        }
        for nm in values_of(sizes) {
            self.positive(nm / self.nm, "a radius", place)?;
        }
        Ok(())
    }

    fn distribution(
        &self,
        file: &DistributionFile,
        place: &str,
    ) -> Result<Distribution, RecipeError> {
        let needed = |value: Option<f64>, key: &'static str| match value {
            Some(value) if value.is_finite() => Ok(value),
            Some(value) => Err(self.out_of_range(join(place, key), "a value", "finite", value)),
            None => {
                let text = format!("expected {key}");
                Err(self.error(place, RecipeProblem::Missing(text)))
            }
        };
        match file.distribution {
            DistributionKind::Uniform => {
                let (min, max) = (needed(file.min, "min")?, needed(file.max, "max")?);
                if min > max {
                    let at = join(place, "min");
                    return Err(self.out_of_range(at, "min", "at most max", min));
                }
                Ok(Distribution::Uniform { min, max })
            }
            DistributionKind::Normal => {
                let mean = needed(file.mean, "mean")?;
                let deviation = needed(file.std, "std")?;
                if deviation < 0.0 {
                    let at = join(place, "std");
                    return Err(self.out_of_range(at, "std", "at least 0", deviation));
                }
                Ok(Distribution::Normal { mean, deviation })
            }
            DistributionKind::List => {
                let values = file.list_values.clone().unwrap_or_default();
                let is_valid = !values.is_empty() && values.iter().all(|value| value.is_finite());
                if is_valid {
                    Ok(Distribution::List(values))
                } else {
                    let text = "expected list_values with at least one value".to_owned();
                    Err(self.error(place, RecipeProblem::Missing(text)))
                }
            }
        }
    }

    /// Adds the lipids whose ratios are in our additions.
    fn add_ratios(&mut self) -> Result<(), RecipeError> {
        for index in 0..self.recipe.compartments.len() {
            let name = self.recipe.compartments[index].name.clone();
            let additions = self.additions_of(Some(&name));
            for (side, ratios) in [additions.outer_leaflet, additions.inner_leaflet]
                .into_iter()
                .enumerate()
            {
                let key = ["outer_leaflet", "inner_leaflet"][side];
                let place = format!("bevy_rapier_molecules.composition.{name}.{key}");
                if index == 0 && !ratios.is_empty() {
                    let what = "a leaflet of the bounding box".to_owned();
                    let instead = "give it to a compartment with a surface";
                    return Err(self.error(place, RecipeProblem::Unsupported { what, instead }));
                }
                for (object, ratio) in ratios {
                    let at = join(&place, &object);
                    if !(ratio.is_finite() && ratio >= 0.0) {
                        return Err(self.out_of_range(at, "a ratio", "at least 0", ratio));
                    }
                    let ingredient = self.ingredient_of_object(&object, &at)?;
                    self.recipe.compartments[index].leaflets[side].push((ingredient, ratio as f32));
                }
            }
        }
        Ok(())
    }
}

/// The values at the limits of a distribution.
fn values_of(distribution: &Distribution) -> Vec<f64> {
    match distribution {
        Distribution::Constant(value) => vec![*value],
        Distribution::Uniform { min, max } => vec![*min, *max],
        Distribution::Normal { mean, .. } => vec![*mean],
        Distribution::List(values) => values.clone(),
    }
}

fn regions_of(regions: &RegionsFile) -> [(Region, &Vec<Value>); 4] {
    [
        (Region::OuterLeaflet, &regions.outer_leaflet),
        (Region::InnerLeaflet, &regions.inner_leaflet),
        (Region::Surface, &regions.surface),
        (Region::Interior, &regions.interior),
    ]
}

/// Whether a field of an item changes its molecule.
fn changes_molecule(key: &str) -> bool {
    !PLACEMENT_KEYS.contains(&key)
}
