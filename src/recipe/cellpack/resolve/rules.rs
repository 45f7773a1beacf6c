//! Rules of entries: what they refer to, and their values.

use super::super::rule::RuleFile;
use super::{RawItem, Resolver, join};
use crate::recipe::RecipeError;
use crate::recipe::error::RecipeProblem;
use crate::recipe::model::{IngredientShape, Region};
use crate::recipe::rule::{Attachment, Interval, Rule, RuleKind};

/// Largest number of random places without room after which a region counts as full.
const MAX_FAILURES: u32 = 100_000;

impl Resolver<'_> {
    /// The rule of an item, if it has one. What it refers to is found by [`Self::connect_rules`].
    pub(super) fn rule(
        &self,
        raw: &RawItem<'_>,
        ingredient: usize,
    ) -> Result<Option<Rule>, RecipeError> {
        let Some(file) = self.additions_of(raw.name).rule else {
            return Ok(None);
        };
        let name = raw.name.unwrap_or("NAME");
        let place = format!("bevy_rapier_molecules.composition.{name}.rule");
        let item = &raw.item;
        let has_count =
            item.count.is_some() || item.molarity.is_some() || item.count_options.is_some();
        let (of, kind) = self.rule_kind(file, has_count, &place)?;
        let rule = Rule {
            place,
            of,
            entries: Vec::new(),
            kind,
        };
        if rule.determines_count() && has_count {
            let expected = format!(
                "expected no count and no molarity: the rule {} determines the number",
                rule.name()
            );
            return Err(self.error(&*raw.place, RecipeProblem::Missing(expected)));
        }
        self.check_rule(&rule, raw, ingredient)?;
        Ok(Some(rule))
    }

    /// The name that a rule refers to, and its kind.
    fn rule_kind(
        &self,
        file: RuleFile,
        has_count: bool,
        place: &str,
    ) -> Result<(String, RuleKind), RecipeError> {
        Ok(match file {
            RuleFile::OnSurfaceOf { of, per_instance } => {
                (of, RuleKind::OnSurfaceOf { per_instance })
            }
            RuleFile::DistanceFrom { of, min, max } => {
                let at = join(place, "distance_from.min");
                let min = min.unwrap_or(0.0);
                if !(0.0..=max).contains(&min) {
                    return Err(self.out_of_range(at, "min", "from 0 to max", min));
                }
                let max = self.positive(max, "max", &join(place, "distance_from.max"))?;
                let min = self.length(min, "min", &at)?;
                (of, RuleKind::DistanceFrom { min, max })
            }
            RuleFile::AttachedTo {
                to,
                site,
                axis,
                own_site,
                own_axis,
            } => {
                let at = |key| join(place, &format!("attached_to.{key}"));
                let direction = |vector: Option<[f64; 3]>, key| {
                    let unit = vector.map(|vector| self.direction(vector, "an axis", &at(key)));
                    unit.transpose()
                };
                let own = own_site.map(|site| self.point(site, "a site", &at("own_site")));
                let attachment = Attachment {
                    at_each: !has_count,
                    site: self.point(site, "a site", &at("site"))?,
                    axis: direction(axis, "axis")?,
                    own_site: own.transpose()?,
                    own_axis: direction(own_axis, "own_axis")?,
                };
                (to, RuleKind::AttachedTo(attachment))
            }
            RuleFile::Along {
                fiber,
                every,
                spacing,
                distance,
                angle,
                turn,
            } => {
                let at = |key| join(place, &format!("along.{key}"));
                let every = match (every, spacing) {
                    (Some(0), None) => {
                        let what = "the number of links";
                        return Err(self.out_of_range(at("every"), what, "at least 1", 0));
                    }
                    (Some(links), None) => Interval::Links(links),
                    (None, Some(nm)) => {
                        Interval::Spacing(self.positive(nm, "the spacing", &at("spacing"))?)
                    }
                    _ => {
                        let expected = "expected either every or spacing".to_owned();
                        let at = join(place, "along");
                        return Err(self.error(at, RecipeProblem::Missing(expected)));
                    }
                };
                for (value, key) in [(angle, "angle"), (turn, "turn")] {
                    if let Some(value) = value.filter(|value| !value.is_finite()) {
                        return Err(self.out_of_range(at(key), "an angle", "finite", value));
                    }
                }
                let distance =
                    distance.map(|nm| self.positive(nm, "the distance", &at("distance")));
                let is_random = angle.is_none() && turn.is_none();
                let turn = [angle, turn].map(|value| value.unwrap_or(0.0) as f32);
                let kind = RuleKind::Along {
                    every,
                    distance: distance.transpose()?,
                    turn: (!is_random).then_some(turn),
                };
                (fiber, kind)
            }
            RuleFile::Fill { failures } => {
                if !(1..=MAX_FAILURES).contains(&failures) {
                    let at = join(place, "fill.failures");
                    let what = "the number of failures";
                    return Err(self.out_of_range(at, what, "from 1 to 100,000", failures));
                }
                (String::new(), RuleKind::Fill { failures })
            }
        })
    }

    /// Checks that the rest of an entry fits to its rule.
    fn check_rule(
        &self,
        rule: &Rule,
        raw: &RawItem<'_>,
        ingredient: usize,
    ) -> Result<(), RecipeError> {
        let name = rule.name();
        let place = join(&rule.place, name);
        let unsupported = |at: &str, what: String, instead| {
            Err(self.error(at, RecipeProblem::Unsupported { what, instead }))
        };
        if raw.item.size_options.is_some() {
            let at = join(&raw.place, "size_options");
            let what = "a distribution of sizes with a rule".to_owned();
            return unsupported(&at, what, "give one radius");
        }
        let own = &self.recipe.ingredients[ingredient];
        if own.fiber.is_some() {
            let what = format!("the rule {name} for fibers");
            return unsupported(&place, what, "use it for other molecules");
        }
        if raw.region != Region::Interior && !(rule.is_fill() && raw.region == Region::Surface) {
            let what = format!("the rule {name} in a region {}", raw.region.name());
            return unsupported(&place, what, "put the entry into interior");
        }
        if let RuleKind::AttachedTo(attachment) = rule.kind
            && is_sphere(&own.shape)
        {
            for (is_given, key) in [
                (attachment.own_site.is_some(), "own_site"),
                (attachment.own_axis.is_some(), "own_axis"),
            ] {
                if is_given {
                    let what = format!("{key} of the single sphere '{}'", own.name);
                    return unsupported(&join(&place, key), what, "remove it");
                }
            }
        }
        Ok(())
    }

    /// Finds the entries that each rule refers to.
    pub(super) fn connect_rules(&mut self) -> Result<(), RecipeError> {
        for index in 0..self.recipe.entries.len() {
            let Some(rule) = &self.recipe.entries[index].rule else {
                continue;
            };
            if rule.is_fill() {
                continue;
            }
            let entries = self.entries_of_rule(rule)?;
            if let Some(rule) = &mut self.recipe.entries[index].rule {
                rule.entries = entries;
            }
        }
        self.check_circles()
    }

    fn entries_of_rule(&self, rule: &Rule) -> Result<Vec<usize>, RecipeError> {
        let key = match rule.kind {
            RuleKind::AttachedTo(_) => "to",
            RuleKind::Along { .. } => "fiber",
            _ => "of",
        };
        let place = join(&join(&rule.place, rule.name()), key);
        let entries = self.entries_named(&rule.of, &place)?;
        let recipe = &self.recipe;
        if entries.is_empty() {
            let expected = format!("'{}' is in no region; expected an entry that is", rule.of);
            return Err(self.error(place, RecipeProblem::Missing(expected)));
        }
        for &entry in &entries {
            let (entry, of) = (&recipe.entries[entry], &rule.of);
            let problem = match rule.kind {
                RuleKind::Along { .. } if entry.fiber.is_none() => RecipeProblem::Missing(format!(
                    "expected a fiber, but '{of}' is none; use on_surface_of or distance_from"
                )),
                RuleKind::AttachedTo(_)
                    if is_sphere(&recipe.ingredients[entry.ingredient].shape) =>
                {
                    RecipeProblem::Unsupported {
                        what: format!("a site of the single sphere '{of}'"),
                        instead: "use on_surface_of",
                    }
                }
                _ => continue,
            };
            return Err(self.error(place, problem));
        }
        Ok(entries)
    }

    /// Checks that no rules refer to each other in a circle.
    fn check_circles(&self) -> Result<(), RecipeError> {
        let entries = &self.recipe.entries;
        // Entries on the way, and those whose rules lead to no circle.
        let (mut is_on_way, mut is_safe) = (vec![false; entries.len()], vec![false; entries.len()]);
        for start in 0..entries.len() {
            // Each with the number of its parents that are done.
            let mut way = vec![(start, 0)];
            while let Some((entry, done)) = way.last_mut() {
                let entry = *entry;
                is_on_way[entry] = true;
                let parents = entries[entry].rule.as_ref().map(|rule| &rule.entries);
                let Some(&parent) = parents.and_then(|parents| parents.get(*done)) else {
                    (is_on_way[entry], is_safe[entry]) = (false, true);
                    way.pop();
                    continue;
                };
                *done += 1;
                if is_on_way[parent] {
                    return Err(self.circle(&way, parent));
                }
                if !is_safe[parent] {
                    way.push((parent, 0));
                }
            }
        }
        Ok(())
    }

    /// The error for rules that lead back to an entry on the way.
    fn circle(&self, way: &[(usize, usize)], back: usize) -> RecipeError {
        let entries = &self.recipe.entries;
        let circle = way.iter().map(|(entry, _)| *entry);
        let circle = circle.skip_while(|entry| *entry != back).chain([back]);
        let problem = RecipeProblem::Circle {
            what: "rules refer to each other",
            names: circle.map(|entry| entries[entry].name.clone()).collect(),
        };
        let rule = entries[back].rule.as_ref();
        self.error(rule.map_or("", |rule| &*rule.place), problem)
    }
}

fn is_sphere(shape: &IngredientShape) -> bool {
    matches!(shape, IngredientShape::Sphere { .. })
}
