//! What stays when a recipe is replaced.

use std::collections::{HashMap, HashSet};

use super::{LivePacking, MoleculeId, RecipeChange};
use crate::crowd::{Crowd, CrowdJoint, CrowdMember};
use crate::halton::spread_point;
use crate::molecule::MoleculeTemplate;
use crate::recipe::model::{Compartment, Entry, FiberKind, Region, Row};
use crate::recipe::population::{Population, RowMaker};
use crate::recipe::rule::Rule;
use crate::recipe::{Recipe, RecipeError, populate};

/// Points at which two surfaces are compared.
const PROBES: u32 = 256;

/// What a row is recognized by: names of compartment, region, object and entry, and which one of
/// several with these names.
type RowKey<'a> = (&'a str, Region, &'a str, &'a str, usize);

impl LivePacking {
    /// A packing of `recipe` with the molecules of this one, and what has changed.
    pub(super) fn with_recipe(&self, recipe: Recipe) -> Result<(Self, RecipeChange), RecipeError> {
        let population = populate(&recipe, self.options.seed)?;
        let warnings = recipe.warnings.iter().chain(&population.warnings);
        let mut change = RecipeChange {
            warnings: warnings.cloned().collect(),
            ..RecipeChange::default()
        };
        if !have_same_spaces(&self.recipe, &recipe) {
            let packing = Self::from_population(recipe, population, &self.options, self.next_id)?;
            change.repopulated = true;
            change.added.clone_from(&packing.ids);
            change.removed.clone_from(&self.ids);
            return Ok((packing, change));
        }
        let mut matches = self.matches(&recipe, &population);
        self.part_groups(&recipe, &population, &mut matches);
        let wanted: Vec<Option<u32>> = matches
            .iter()
            .enumerate()
            .map(|(row, matched)| {
                let matched = matched.as_ref()?;
                let placed = population.report.entries[row].placed;
                let is_bound = recipe.entries.get(row).is_some_and(Entry::is_bound);
                let is_same = is_bound || self.asks_same(matched.row, &recipe, row, placed);
                (!is_same).then_some(placed)
            })
            .collect();
        let populated = counts_of(&population);
        let mut packing = self.keep(recipe, population, &mut matches)?;
        packing.populated = populated;
        for (row, matched) in matches.iter().enumerate() {
            if let Some(matched) = matched {
                packing.entries[row].asked = self.entries[matched.row].asked;
            }
        }
        for (row, count) in wanted.into_iter().enumerate() {
            if let Some(count) = count {
                let mut changed = packing.set_count(row, count)?;
                packing.make(&mut changed)?;
            }
        }
        let before: HashSet<MoleculeId> = self.ids.iter().copied().collect();
        let ids = packing.ids.iter().copied();
        change.added = ids.filter(|id| !before.contains(id)).collect();
        change.kept = packing.ids.len() - change.added.len();
        let ids = self.ids.iter().copied();
        change.removed = ids.filter(|id| packing.index_of(*id).is_none()).collect();
        Ok((packing, change))
    }

    /// The row of this packing that each row of a new recipe is, if its molecules can stay.
    fn matches(&self, recipe: &Recipe, population: &Population) -> Vec<Option<Match>> {
        let known: HashMap<RowKey<'_>, usize> = keys(&self.recipe).into_iter().zip(0..).collect();
        let matched = keys(recipe).into_iter().zip(&population.makers).enumerate();
        matched
            .map(|(new, (key, maker))| {
                let row = *known.get(&key)?;
                let entries = (self.recipe.entries.get(row), recipe.entries.get(new));
                let has_same_places = match entries {
                    (Some(old), Some(new)) => {
                        let kinds = (fiber_of(&self.recipe, old), fiber_of(recipe, new));
                        let rules = (old.rule.as_ref(), new.rule.as_ref());
                        old.places == new.places
                            && old.fixed == new.fixed
                            && old.fiber == new.fiber
                            && kinds.0 == kinds.1
                            && rules.0.map(|rule| (&rule.of, rule.kind))
                                == rules.1.map(|rule| (&rule.of, rule.kind))
                    }
                    (None, None) => true,
                    _ => false,
                };
                let variants = self.variants_in(row, maker, &population.crowd)?;
                has_same_places.then_some(Match { row, variants })
            })
            .collect()
    }

    /// Takes back the matches of all entries with joints to molecules that are placed again.
    fn part_groups(&self, recipe: &Recipe, population: &Population, matches: &mut [Option<Match>]) {
        let groups = groups_of(&recipe.entries);
        let mut is_parted = vec![false; recipe.entries.len()];
        for (new, entry) in recipe.entries.iter().enumerate() {
            let stays = matches[new].as_ref().is_some_and(|matched| {
                let old = matched.row;
                let placed = population.report.entries[new].placed;
                let needed = |rule: Option<&Rule>| -> Vec<usize> {
                    rule.map_or_else(Vec::new, |rule| rule.entries.clone())
                };
                let mut before = needed(self.recipe.entries[old].rule.as_ref());
                let after = needed(entry.rule.as_ref()).into_iter();
                let after = after.map(|entry| matches[entry].as_ref().map(|m| m.row));
                let mut after: Vec<Option<usize>> = after.collect();
                before.sort_unstable();
                after.sort_unstable();
                let has_same_others = before.into_iter().map(Some).eq(after);
                let has_same_number =
                    self.asks_same(old, recipe, new, placed) || placed == self.entries[old].count;
                has_same_others && has_same_number
            });
            is_parted[groups[new]] |= !stays;
        }
        for (new, entry) in recipe.entries.iter().enumerate() {
            let group = groups[new];
            let is_alone = groups.iter().filter(|other| **other == group).count() == 1;
            if is_parted[group] && (entry.is_bound() || !is_alone) {
                matches[new] = None;
            }
        }
    }

    /// The variant of `maker` that each variant of a row of this packing is; none if its molecules
    /// have another shape.
    fn variants_in(&self, row: usize, maker: &RowMaker, crowd: &Crowd) -> Option<Vec<usize>> {
        let used: HashSet<u32> = self
            .rows
            .iter()
            .zip(self.crowd().members())
            .filter_map(|(of, member)| (*of as usize == row).then_some(member.template))
            .collect();
        let variants = self.makers[row].variants.iter();
        let mut found = Vec::new();
        for variant in variants {
            let shape = &self.crowd().templates()[variant.template as usize];
            let is_same = |new: &u32| have_same_spheres(shape, &crowd.templates()[*new as usize]);
            let templates: Vec<u32> = maker.variants.iter().map(|new| new.template).collect();
            match templates.iter().position(is_same) {
                Some(new) => found.push(new),
                None if used.contains(&variant.template) => return None,
                // No molecule has this shape.
                None => found.push(0),
            }
        }
        (!maker.variants.is_empty()).then_some(found)
    }

    /// Whether the recipes ask for the same number of molecules of a row, of which `placed` are in
    /// the population of the new one.
    fn asks_same(&self, old: usize, recipe: &Recipe, new: usize, placed: u32) -> bool {
        match (self.recipe.entries.get(old), recipe.entries.get(new)) {
            (Some(old), Some(new)) => {
                let asks = |entry: &Entry| (entry.count.clone(), entry.molarity);
                asks(old) == asks(new)
            }
            _ => self.populated[old] == placed,
        }
    }

    /// A packing of a new population with the molecules of this one in the rows that are matched.
    fn keep(
        &self,
        recipe: Recipe,
        mut population: Population,
        matches: &mut [Option<Match>],
    ) -> Result<Self, RecipeError> {
        let mut of_old: HashMap<usize, (usize, &Match)> = HashMap::new();
        for (new, matched) in matches.iter().enumerate() {
            if let Some(matched) = matched {
                of_old.insert(matched.row, (new, matched));
            }
        }
        let mut crowd = population.crowd.clone();
        let all: Vec<u32> = (0..crowd.members().len() as u32).collect();
        let failed = |error: crate::crowd::CrowdError| {
            crate::recipe::RecipeProblem::from(error).at(&recipe.source, "")
        };
        crowd.remove_members(&all).map_err(failed)?;
        let (mut ids, mut rows) = (Vec::new(), Vec::new());
        let mut kept = vec![None; self.ids.len()];
        let members = self.crowd().members().iter().zip(&self.rows);
        for (index, ((member, row), id)) in members.zip(&self.ids).enumerate() {
            let Some((new, matched)) = of_old.get(&(*row as usize)) else {
                continue;
            };
            let Some(variant) = self.makers[*row as usize].variant_of(member.template) else {
                continue;
            };
            let variant = &population.makers[*new].variants[matched.variants[variant]];
            let member = CrowdMember {
                template: variant.template,
                placement: variant.places.placement,
                ..*member
            };
            crowd.add_exact_member(member).map_err(failed)?;
            kept[index] = Some(ids.len() as u32);
            ids.push(*id);
            rows.push(*new as u32);
        }
        let mut next_id = self.next_id;
        let mut placed = vec![None; population.rows.len()];
        let members = population.crowd.members().iter().zip(&population.rows);
        for (index, (member, row)) in members.enumerate() {
            if matches[*row as usize].is_none() {
                crowd.add_exact_member(*member).map_err(failed)?;
                placed[index] = Some(ids.len() as u32);
                ids.push(MoleculeId(next_id));
                rows.push(*row);
                next_id += 1;
            }
        }
        let joints = renumbered(self.crowd().joints(), &kept);
        for joint in joints.chain(renumbered(population.crowd.joints(), &placed)) {
            crowd.add_exact_joint(joint).map_err(failed)?;
        }
        (population.crowd, population.rows) = (crowd, rows);
        let mut packing = Self::from_population(recipe, population, &self.options, next_id)?;
        (packing.ids, packing.next_id) = (ids, next_id);
        packing.draws = self.draws;
        packing.recount();
        Ok(packing)
    }
}

/// A row whose molecules stay.
struct Match {
    /// The row before.
    row: usize,
    /// The new variant of each variant before.
    variants: Vec<usize>,
}

/// The joints whose members both have a new index.
fn renumbered<'a>(
    joints: &'a [CrowdJoint],
    indices: &'a [Option<u32>],
) -> impl Iterator<Item = CrowdJoint> + 'a {
    joints.iter().filter_map(|joint| {
        let [first, second] = joint.members.map(|member| indices[member as usize]);
        Some(CrowdJoint {
            members: [first?, second?],
            ..*joint
        })
    })
}

/// How the links of an entry follow each other.
fn fiber_of<'a>(recipe: &'a Recipe, entry: &Entry) -> Option<&'a FiberKind> {
    recipe.ingredients[entry.ingredient].fiber.as_ref()
}

/// A number for each entry that is the same for all that are connected by rules.
fn groups_of(entries: &[Entry]) -> Vec<usize> {
    let mut groups: Vec<usize> = (0..entries.len()).collect();
    for (index, entry) in entries.iter().enumerate() {
        for &other in entry.rule.iter().flat_map(|rule| &rule.entries) {
            let (own, old) = (groups[index], groups[other]);
            for group in &mut groups {
                if *group == old {
                    *group = own;
                }
            }
        }
    }
    groups
}

/// Number of molecules of each row of a population.
fn counts_of(population: &Population) -> Vec<u32> {
    let entries = population.report.entries.iter();
    entries.map(|entry| entry.placed).collect()
}

/// What the rows of a recipe are recognized by.
fn keys(recipe: &Recipe) -> Vec<RowKey<'_>> {
    let mut numbers = HashMap::new();
    let key = |row: Row<'_>| {
        let compartment: &Compartment = &recipe.compartments[row.compartment];
        let object = &*recipe.ingredients[row.ingredient].name;
        let names = (&*compartment.name, row.region, object);
        (names, row.entry.map(|entry| &*recipe.entries[entry].name))
    };
    let rows = recipe.rows().into_iter();
    rows.map(|row| {
        let ((compartment, region, object), name) = key(row);
        let name = name.unwrap_or(object);
        let number = numbers
            .entry((compartment, region, object, name))
            .or_insert(0);
        *number += 1;
        (compartment, region, object, name, *number)
    })
    .collect()
}

/// Whether two templates have the same spheres.
fn have_same_spheres(one: &MoleculeTemplate, other: &MoleculeTemplate) -> bool {
    one.positions() == other.positions() && one.radii() == other.radii()
}

/// Whether box, tolerance and compartments of two recipes are the same.
fn have_same_spaces(one: &Recipe, other: &Recipe) -> bool {
    let compartments = one.compartments.iter().zip(&other.compartments);
    one.bounds == other.bounds
        && one.periodic == other.periodic
        && one.tolerance == other.tolerance
        && one.compartments.len() == other.compartments.len()
        && compartments
            .into_iter()
            .all(|(one, other)| is_same_space(one, other))
}

/// Whether two compartments have the same name, place and shape. Surfaces are compared at points
/// around them.
fn is_same_space(one: &Compartment, other: &Compartment) -> bool {
    let is_same_surface = match (&one.surface, &other.surface) {
        (None, None) => true,
        (Some(first), Some(second)) => (0..PROBES).all(|index| {
            let point = spread_point(index, one.bounds);
            first.signed_distance(point).to_bits() == second.signed_distance(point).to_bits()
        }),
        _ => false,
    };
    one.name == other.name
        && one.parent == other.parent
        && one.bounds == other.bounds
        && is_same_surface
}
