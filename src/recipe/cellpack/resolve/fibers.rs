//! Fibers: links and their paths.

use std::f64::consts::PI;

use super::super::additions::{FiberEntryFile, FiberPathFile, ObjectAdditions};
use super::super::object::{ObjectFile, ObjectType};
use super::{RawItem, Resolver, join};
use crate::fiber::MAX_LINKS;
use crate::recipe::RecipeError;
use crate::recipe::defaults;
use crate::recipe::error::RecipeProblem;
use crate::recipe::model::{
    FiberEntry, FiberKind, FiberLength, FiberPathKind, IngredientShape, Region,
};

impl Resolver<'_> {
    /// How the links of an object follow each other, if they do.
    pub(super) fn fiber_kind(
        &self,
        additions: &ObjectAdditions,
        block: &str,
    ) -> Result<Option<FiberKind>, RecipeError> {
        let Some(file) = &additions.fiber else {
            return Ok(None);
        };
        let place = join(block, "fiber");
        let length = |value: Option<f64>, what, key| {
            let length = value.map(|value| self.positive(value, what, &join(&place, key)));
            length.transpose()
        };
        let angle = |value: Option<f64>, what, key| match value {
            Some(value) if !(0.0..=PI).contains(&value) => {
                Err(self.out_of_range(join(&place, key), what, "from 0 to π", value))
            }
            value => Ok(value.map(|value| value as f32)),
        };
        if let Some(twist) = file.twist.filter(|twist| !twist.is_finite()) {
            let at = join(&place, "twist");
            return Err(self.out_of_range(at, "the twist", "finite", twist));
        }
        let persistence = length(
            file.persistence_length,
            "the persistence length",
            "persistence_length",
        )?;
        Ok(Some(FiberKind {
            rise: length(file.rise, "the rise", "rise")?,
            twist: file.twist.map(|twist| twist as f32),
            persistence_length: persistence.unwrap_or(defaults::PERSISTENCE_LENGTH),
            is_closed: file.closed,
            max_bend: angle(file.max_bend, "the largest bend", "max_bend")?,
            max_twist: angle(file.max_twist, "the largest twist", "max_twist")?,
            max_gap: length(file.max_gap, "the largest gap", "max_gap")?,
            place,
        }))
    }

    /// The rod of spheres of a link without a structure file; none for other shapes.
    pub(super) fn rod(
        &self,
        file: &ObjectFile,
        additions: &ObjectAdditions,
        block: &str,
        place: &str,
    ) -> Option<Result<IngredientShape, RecipeError>> {
        let fiber = additions.fiber.as_ref()?;
        let kinds = [
            ObjectType::Grow,
            ObjectType::MultiCylinder,
            ObjectType::SingleSphere,
        ];
        let is_rod = fiber.radius.is_some() || fiber.length.is_some();
        let is_rod = is_rod || file.kind.is_some_and(|kind| kinds.contains(&kind));
        is_rod.then(|| {
            let at = join(block, "fiber");
            let (radius, radius_at) = match (fiber.radius, file.radius) {
                (Some(radius), _) => (radius, join(&at, "radius")),
                (None, Some(radius)) => (radius, join(place, "radius")),
                (None, None) => {
                    let expected = "expected the radius of the links".to_owned();
                    return Err(self.error(join(&at, "radius"), RecipeProblem::Missing(expected)));
                }
            };
            let length = fiber.length.unwrap_or(2.0 * radius);
            let length_at = join(&at, "length");
            let rod = IngredientShape::Rod {
                radius: self.positive(radius, "the radius", &radius_at)?,
                length: self.positive(length, "the length", &length_at)?,
            };
            let allowed = "at least the diameter and at most 5,000 radii";
            if !(2.0 * radius..=5_000.0 * radius).contains(&length) {
                return Err(self.out_of_range(length_at, "the length", allowed, length));
            }
            Ok(rod)
        })
    }

    /// The fibers of an item, if its object is a link.
    pub(super) fn fiber_entry(
        &self,
        raw: &RawItem<'_>,
        ingredient: usize,
        object: &str,
    ) -> Result<Option<FiberEntry>, RecipeError> {
        let file = self.additions_of(raw.name).fiber;
        let is_link = self.recipe.ingredients[ingredient].fiber.is_some();
        let name = raw.name.unwrap_or("NAME");
        let place = format!("bevy_rapier_molecules.composition.{name}.fiber");
        let file = match (is_link, file) {
            (false, None) => return Ok(None),
            (false, Some(_)) => {
                let expected =
                    format!("expected bevy_rapier_molecules.objects.{object}.fiber as well");
                return Err(self.error(place, RecipeProblem::Missing(expected)));
            }
            (true, None) => {
                let expected = format!(
                    "'{object}' is the link of a fiber; expected its length in {place}, with links, length, base_pairs or points"
                );
                return Err(self.error(&*raw.place, RecipeProblem::Missing(expected)));
            }
            (true, Some(file)) => file,
        };
        if raw.region != Region::Interior {
            let what = format!("a fiber in a region {}", raw.region.name());
            let instead = "put it into interior";
            return Err(self.error(&*raw.place, RecipeProblem::Unsupported { what, instead }));
        }
        if raw.item.size_options.is_some() {
            let what = "a distribution of sizes of links".to_owned();
            let instead = "give objects.NAME.fiber.radius";
            let at = join(&raw.place, "size_options");
            return Err(self.error(at, RecipeProblem::Unsupported { what, instead }));
        }
        self.resolved_fiber(&file, place).map(Some)
    }

    fn resolved_fiber(
        &self,
        file: &FiberEntryFile,
        place: String,
    ) -> Result<FiberEntry, RecipeError> {
        let default = if file.points.is_empty() {
            FiberPathFile::RandomWalk
        } else {
            FiberPathFile::ControlPoints
        };
        let path = match file.path.unwrap_or(default) {
            FiberPathFile::RandomWalk => FiberPathKind::RandomWalk,
            FiberPathFile::Midpoint => FiberPathKind::Midpoint,
            FiberPathFile::ControlPoints => FiberPathKind::ControlPoints,
        };
        let length = self.fiber_length(file, &place)?;
        let unsupported = |what: &str, instead| {
            let what = what.to_owned();
            Err(self.error(&*place, RecipeProblem::Unsupported { what, instead }))
        };
        match (path, length) {
            (FiberPathKind::RandomWalk, None) => {
                let expected = "expected links, length or base_pairs of a random walk".to_owned();
                return Err(self.error(place, RecipeProblem::Missing(expected)));
            }
            (FiberPathKind::RandomWalk, _) if !file.points.is_empty() => {
                let instead = "use the path midpoint or control_points";
                return unsupported("a random walk with points", instead);
            }
            (FiberPathKind::Midpoint | FiberPathKind::ControlPoints, Some(_)) => {
                let instead = "remove the points, or links, length and base_pairs";
                return unsupported("a length of a path through points", instead);
            }
            _ => {}
        }
        let mut points = Vec::new();
        for (index, point) in file.points.iter().enumerate() {
            points.push(self.point(*point, "a point", &format!("{place}.points[{index}]"))?);
        }
        if let Some(roughness) = file.roughness.filter(|part| !(0.0..=0.5).contains(part)) {
            let at = join(&place, "roughness");
            return Err(self.out_of_range(at, "the roughness", "from 0 to 0.5", roughness));
        }
        Ok(FiberEntry {
            length,
            path,
            points,
            roughness: file.roughness.map(|part| part as f32),
            place,
        })
    }

    fn fiber_length(
        &self,
        file: &FiberEntryFile,
        place: &str,
    ) -> Result<Option<FiberLength>, RecipeError> {
        match (file.links, file.length, file.base_pairs) {
            (None, None, None) => Ok(None),
            (Some(links), None, None) => {
                if !(1..=MAX_LINKS).contains(&links) {
                    let at = join(place, "links");
                    let what = "the number of links";
                    return Err(self.out_of_range(at, what, "from 1 to 10,000,000", links));
                }
                Ok(Some(FiberLength::Links(links)))
            }
            (None, Some(length), None) => {
                // Longer than a coordinate may be.
                let nm = (length * self.nm) as f32;
                if !(nm > 0.0 && nm.is_finite()) {
                    let at = join(place, "length");
                    return Err(self.out_of_range(at, "the length", "positive", length));
                }
                Ok(Some(FiberLength::Contour(nm)))
            }
            (None, None, Some(pairs)) => {
                if !(pairs > 0.0 && pairs.is_finite()) {
                    let at = join(place, "base_pairs");
                    let what = "the number of base pairs";
                    return Err(self.out_of_range(at, what, "positive", pairs));
                }
                Ok(Some(FiberLength::BasePairs(pairs)))
            }
            _ => {
                let expected = "expected only one of links, length and base_pairs".to_owned();
                Err(self.error(place, RecipeProblem::Missing(expected)))
            }
        }
    }
}
