//! [`populate`]: fills a recipe with molecules, not yet relaxed.
//!
//! 1. Numbers: counts, distributions, and concentrations times the volume of the region.
//! 2. Membranes with their proteins, compartment by compartment.
//! 3. Fibers, link by link along their paths. Confined walks keep from crossing other links.
//! 4. All other molecules, the largest first: at given places, next to their partners, or at random
//!    by the weights of their gradients ([`scatter`]). Molecules with a [`Rule`] follow as soon as
//!    those that it refers to are there; regions are filled last.
//!
//! Each entry has random numbers of its own, so that a change of one leaves the others alone.

mod body;
mod bonds;
mod fibers;
mod membranes;
mod places;
mod report;
mod restored;
mod row_maker;
mod rules;
mod scatter;
mod touch;

pub use body::IngredientBody;
pub use report::{EntryReport, PopulationReport, RegionReport};

use std::collections::HashMap;
use std::hash::Hasher;
use std::ops::Range;
use std::sync::Arc;

use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use self::body::ball;
use self::places::Places;
pub(super) use self::places::{Brush, Surroundings};
use self::row_maker::Variant;
pub(super) use self::row_maker::{RowMaker, radii_of_templates, scatter_around};
use self::scatter::Scatter;
use super::distribution::round_at_random;
use super::error::RecipeProblem;
use super::geometry::SAMPLES;
use super::model::{Compartment, Entry, IngredientShape, Recipe, Region, Row};
use super::rule::Rule;
use super::{RecipeError, RecipeWarning};
use crate::compartment::Surface;
use crate::crowd::{Crowd, CrowdMember};
use crate::fiber::AvoidedLinks;
use crate::fnv::Fnv;
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;

/// Molecules per nm³ at 1 mol/l: the number of Avogadro times 10⁻²⁴.
const PER_NM3_AND_MOLAR: f64 = 0.602_214_076;

/// Largest number of molecules of a scene.
pub(super) const MAX_MOLECULES: u32 = 100_000_000;

/// Seed of recipes that have none.
const DEFAULT_SEED: u64 = 1;

/// Sizes that are drawn for an entry with a distribution of sizes but without molecules: more
/// molecules have one of them.
const SIZES_OF_NO_MOLECULES: usize = 16;

/// Molecules at their first places, which overlap.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Population {
    /// The molecules.
    pub crowd: Crowd,
    /// Seed of the random choices.
    pub seed: u64,
    /// Row of the report of each member of the crowd.
    pub rows: Vec<u32>,
    /// Numbers and volumes.
    pub report: PopulationReport,
    /// What may surprise, beside the warnings of the recipe.
    pub warnings: Vec<RecipeWarning>,
    /// How more molecules of each row of the report are made.
    pub(super) makers: Vec<RowMaker>,
}

/// A molecule whose place is given.
#[derive(Clone, Copy, Debug)]
struct GivenMolecule {
    pose: Pose,
    conformer: u32,
    radius: Option<f32>,
    fixed: bool,
    /// Index of the saved molecule, if it was saved: its pose keeps its bits.
    saved: Option<u32>,
}

impl Population {
    /// A number that tells populations apart, the same on all platforms: a hash of the seed and of
    /// where each molecule is at first. For [`RelaxCheckpoint::origin`].
    ///
    /// [`RelaxCheckpoint::origin`]: crate::relax::RelaxCheckpoint::origin
    #[must_use]
    pub fn number(&self) -> u64 {
        let mut hash = Fnv::default();
        hash.write(&self.seed.to_le_bytes());
        for member in self.crowd.members() {
            let Pose { position, rotation } = member.pose;
            for number in position.to_array().into_iter().chain(rotation.to_array()) {
                hash.write(&number.to_le_bytes());
            }
        }
        hash.finish()
    }
}

impl GivenMolecule {
    /// A molecule of the first shape and size.
    fn new(pose: Pose, fixed: bool) -> Self {
        Self {
            pose,
            conformer: 0,
            radius: None,
            fixed,
            saved: None,
        }
    }
}

/// Fills a recipe with molecules. The seed is the given one, else that of the recipe, else 1; the
/// same seed gives the same bits.
///
/// Molecules overlap; [`pack`](super::pack) relaxes them.
///
/// # Errors
/// [`RecipeError`] names the entry that cannot be placed.
pub fn populate(recipe: &Recipe, seed: Option<u64>) -> Result<Population, RecipeError> {
    let seed = seed.or(recipe.seed).unwrap_or(DEFAULT_SEED);
    Builder::new(recipe, seed)?.build()
}

/// A compartment with what is known of its membrane.
struct Space {
    /// Thickness that the lipids take on the outer side and on the inner side, nm.
    thickness: [f32; 2],
    /// Volume without the compartments inside, nm³.
    volume: f64,
}

struct Builder<'a> {
    recipe: &'a Recipe,
    seed: u64,
    bodies: Vec<IngredientBody>,
    spaces: Vec<Space>,
    crowd: Crowd,
    rows: Vec<u32>,
    report: PopulationReport,
    warnings: Vec<RecipeWarning>,
    scatter: Scatter,
    /// Center, radius and member of the molecules of each entry.
    placed: Vec<Vec<(Pose, f32)>>,
    /// Members of each fiber of each entry.
    fibers: Vec<Vec<Range<u32>>>,
    /// The links of all fibers, along their paths.
    links: AvoidedLinks,
    /// Spaces by compartment, inset of the box and extra distance, with their index in the crowd.
    regions: HashMap<RegionKey, (u32, Arc<dyn Surface>)>,
    /// Templates of the bodies in the crowd.
    templates: HashMap<usize, u32>,
    /// Molecules of each row whose places are given.
    given: Vec<Vec<GivenMolecule>>,
    /// Member of each saved molecule.
    restored: Vec<Option<u32>>,
    /// How more molecules of each row are made.
    makers: Vec<RowMaker>,
}

/// A space in which molecules of one size are: compartment, bits of the inset of the box and of
/// the distance from other compartments.
type RegionKey = (usize, Option<[u32; 3]>, u32);

/// Where the molecules of one entry go.
struct Amount {
    entry: usize,
    /// Number of molecules, or of fibers.
    count: u32,
    /// Number of molecules, or of links of all fibers; none if it follows from their paths or from
    /// a rule.
    molecules: Option<u32>,
    /// Radii of single spheres with a distribution, nm.
    sizes: Vec<f32>,
}

impl<'a> Builder<'a> {
    fn new(recipe: &'a Recipe, seed: u64) -> Result<Self, RecipeError> {
        let mut bodies = Vec::new();
        for ingredient in &recipe.ingredients {
            bodies.push(recipe.body(ingredient)?);
        }
        let periodic = if recipe.periodic {
            let periodic = PeriodicBox::new(recipe.size());
            let at = |problem: RecipeProblem| problem.at(&recipe.source, "bounding_box");
            Some(periodic.map_err(|error| at(error.into()))?)
        } else {
            None
        };
        let mut crowd = Crowd::new();
        crowd.set_periodic_box(periodic);
        Ok(Self {
            recipe,
            seed,
            bodies,
            spaces: spaces_of(recipe),
            crowd,
            rows: Vec::new(),
            report: PopulationReport::default(),
            warnings: Vec::new(),
            scatter: Scatter::new(periodic),
            placed: vec![Vec::new(); recipe.entries.len()],
            fibers: vec![Vec::new(); recipe.entries.len()],
            links: AvoidedLinks::default(),
            regions: HashMap::new(),
            templates: HashMap::new(),
            given: given_molecules(recipe),
            restored: vec![None; recipe.saved.iter().map(|saved| saved.poses.len()).sum()],
            makers: vec![RowMaker::default(); recipe.rows().len()],
        })
    }

    fn build(mut self) -> Result<Population, RecipeError> {
        self.check_rules()?;
        let mut amounts = self.amounts()?;
        self.report_entries(&amounts);
        for compartment in 1..self.recipe.compartments.len() {
            self.add_membrane(compartment, &amounts)?;
        }
        let recipe = self.recipe;
        amounts.retain(|amount| !self.is_in_membrane(&recipe.entries[amount.entry]));
        self.order(&mut amounts);
        for amount in &amounts {
            self.add_entry(amount)?;
        }
        self.restore_joints()?;
        self.check_volumes(&amounts);
        self.report.molecules = self.crowd.members().len();
        self.report.atoms = self.crowd.atom_count();
        Ok(Population {
            crowd: self.crowd,
            seed: self.seed,
            rows: self.rows,
            report: self.report,
            warnings: self.warnings,
            makers: self.makers,
        })
    }

    /// Checks that no rule is for molecules of a membrane.
    fn check_rules(&self) -> Result<(), RecipeError> {
        let recipe = self.recipe;
        let ruled = |entry: &'_ Entry| entry.rule.clone().filter(|_| self.is_in_membrane(entry));
        let Some(rule) = recipe.entries.iter().find_map(ruled) else {
            return Ok(());
        };
        let problem = RecipeProblem::Unsupported {
            what: format!("the rule {} in a membrane with lipids", rule.name()),
            instead: "give a count",
        };
        Err(problem.at(&recipe.source, format!("{}.{}", rule.place, rule.name())))
    }

    /// Random numbers of an entry or compartment.
    fn random(&self, index: usize, purpose: u64) -> Pcg64Mcg {
        // Far apart for all small numbers.
        let stream = (index as u64).wrapping_mul(4).wrapping_add(purpose);
        Pcg64Mcg::seed_from_u64(self.seed ^ stream.wrapping_mul(0x9e37_79b9_7f4a_7c15))
    }

    /// The number of molecules of each entry.
    fn amounts(&self) -> Result<Vec<Amount>, RecipeError> {
        let mut amounts = Vec::new();
        let mut total = 0.0;
        for (index, entry) in self.recipe.entries.iter().enumerate() {
            let mut random = self.random(index, 0);
            let mut count = entry.count.sample_count(&mut random);
            if entry.molarity > 0.0 {
                let volume = self.spaces[entry.compartment].volume;
                let exact = entry.molarity * PER_NM3_AND_MOLAR * volume;
                count += round_at_random(exact, &mut random);
            }
            let given = &self.given[index];
            let mut count = count.max(given.len() as f64).max(0.0);
            let is_known = !entry.rule.as_ref().is_some_and(Rule::determines_count);
            let links = self.links_of(entry)?.filter(|_| is_known);
            let mut molecules = links.map(|links| count * f64::from(links));
            if self.is_restored(index) {
                let saved = self.saved_of(index).count() as f64;
                molecules = Some(saved);
                count = match entry.fiber {
                    Some(_) => self.saved_fibers(index).len() as f64,
                    None => saved,
                };
            }
            total += molecules.unwrap_or(count);
            if total > f64::from(MAX_MOLECULES) {
                let problem = RecipeProblem::TooMany {
                    count: total,
                    max: MAX_MOLECULES,
                };
                return Err(problem.at(&self.recipe.source, &*entry.place));
            }
            let sizes = entry.sizes.as_ref().map_or_else(Vec::new, |sizes| {
                let draw = |_| sizes.sample(&mut random) as f32;
                let mut sizes: Vec<f32> = (0..count as u32).map(draw).collect();
                for (size, given) in sizes.iter_mut().zip(given) {
                    *size = given.radius.unwrap_or(*size);
                }
                sizes
            });
            amounts.push(Amount {
                entry: index,
                count: count as u32,
                molecules: molecules.map(|molecules| molecules as u32),
                sizes,
            });
        }
        Ok(amounts)
    }

    /// Whether the molecules of a row are part of a membrane with lipids.
    fn is_row_in_membrane(&self, row: &Row<'_>) -> bool {
        match row.entry {
            Some(entry) => self.is_in_membrane(&self.recipe.entries[entry]),
            None => true,
        }
    }

    /// Whether the molecules of an entry are part of a membrane with lipids.
    fn is_in_membrane(&self, entry: &Entry) -> bool {
        let is_membrane = self.has_lipids(entry.compartment);
        match entry.region {
            Region::Interior => false,
            Region::Surface => is_membrane,
            Region::OuterLeaflet | Region::InnerLeaflet => self.is_lipid(entry),
        }
    }

    /// Whether an entry of a leaflet is a lipid with atoms; others are placed like molecules of
    /// the surface.
    fn is_lipid(&self, entry: &Entry) -> bool {
        let shape = &self.recipe.ingredients[entry.ingredient].shape;
        let is_leaflet = matches!(entry.region, Region::OuterLeaflet | Region::InnerLeaflet);
        is_leaflet && matches!(shape, IngredientShape::Atoms { proxies: None, .. })
    }

    /// Whether a compartment has leaflets of lipids.
    fn has_lipids(&self, compartment: usize) -> bool {
        let ratios = &self.recipe.compartments[compartment].leaflets;
        let mut entries = self.recipe.entries.iter();
        ratios.iter().any(|ratios| !ratios.is_empty())
            || entries.any(|entry| entry.compartment == compartment && self.is_lipid(entry))
    }

    /// Sorts by priority, then fibers first, then by size; partners and the molecules that rules refer
    /// to come before those that depend on them. Molecules that fill a region are last.
    fn order(&self, amounts: &mut Vec<Amount>) {
        let radius = |amount: &Amount| {
            let own = self.bodies[self.recipe.entries[amount.entry].ingredient].radius;
            amount.sizes.iter().copied().fold(own, f32::max)
        };
        let is_single = |amount: &Amount| self.recipe.entries[amount.entry].fiber.is_none();
        let priority = |amount: &Amount| self.recipe.entries[amount.entry].priority.min(0.0);
        let rule = |amount: &Amount| self.recipe.entries[amount.entry].rule.as_ref();
        let is_fill = |amount: &Amount| rule(amount).is_some_and(Rule::is_fill);
        amounts.sort_by(|a, b| {
            priority(a)
                .total_cmp(&priority(b))
                .then(is_fill(a).cmp(&is_fill(b)))
                .then(is_single(a).cmp(&is_single(b)))
                .then(radius(b).total_cmp(&radius(a)))
                .then(a.entry.cmp(&b.entry))
        });
        let mut sorted: Vec<Amount> = Vec::with_capacity(amounts.len());
        let mut left = std::mem::take(amounts);
        while !left.is_empty() {
            let is_left = |entry: usize, own: usize| {
                entry != own && left.iter().any(|amount| amount.entry == entry)
            };
            let follows_rule = |amount: &Amount| {
                let mut needed = rule(amount).into_iter().flat_map(|rule| &rule.entries);
                !needed.any(|entry| is_left(*entry, amount.entry))
            };
            let is_ready = |amount: &Amount| {
                let partners = &self.recipe.entries[amount.entry].partners;
                let mut needed = partners.iter().flat_map(|partner| &partner.entries);
                follows_rule(amount) && !needed.any(|entry| is_left(*entry, amount.entry))
            };
            // Molecules that depend on others have least choice.
            let is_bound = |amount: &Amount| {
                let has_rule = rule(amount).is_some() && !is_fill(amount);
                has_rule && priority(amount) <= priority(&left[0]) && is_ready(amount)
            };
            let next = left.iter().position(is_bound);
            let next = next.or_else(|| left.iter().position(is_ready));
            // In a circle of partners, the first.
            let next = next.or_else(|| left.iter().position(follows_rule));
            sorted.push(left.remove(next.unwrap_or(0)));
        }
        *amounts = sorted;
    }

    /// Adds the molecules of an entry that is not part of a membrane.
    fn add_entry(&mut self, amount: &Amount) -> Result<(), RecipeError> {
        let recipe = self.recipe;
        let entry = &recipe.entries[amount.entry];
        let mut random = self.random(amount.entry, 1);
        if let Some(fiber) = &entry.fiber {
            return self.add_fibers(amount, fiber, &mut random);
        }
        if let Some(rule) = &entry.rule {
            return self.add_by_rule(amount, rule, &mut random);
        }
        let mut variants = Vec::new();
        let Some(distribution) = &entry.sizes else {
            let body = self.bodies[entry.ingredient].clone();
            let template = self.template(entry.ingredient);
            let places = Places::new(self, amount.entry, &body)?;
            for index in 0..amount.count {
                self.add_member(amount.entry, index, template, &places, &mut random)?;
            }
            variants.push(Variant { template, places });
            self.set_variants(amount.entry, variants);
            return Ok(());
        };
        let mut sizes = amount.sizes.clone();
        let given = self.given[amount.entry].iter();
        let saved = given.filter(|given| given.radius.is_some()).count();
        if let Some(others) = sizes.get_mut(saved..) {
            others.sort_by(|a, b| b.total_cmp(a));
        }
        let count = sizes.len();
        if sizes.is_empty() {
            let more = (0..SIZES_OF_NO_MOLECULES).map(|_| distribution.sample(&mut random) as f32);
            sizes.extend(more);
        }
        for (index, radius) in sizes.into_iter().enumerate() {
            let name = &recipe.ingredients[entry.ingredient].name;
            let body = ball(name, radius);
            let body = body.map_err(|p| p.at(&recipe.source, &*entry.place))?;
            let template = self.crowd.add_template(body.template.clone());
            let places = Places::new(self, amount.entry, &body)?;
            if index < count {
                self.add_member(amount.entry, index as u32, template, &places, &mut random)?;
            }
            variants.push(Variant { template, places });
        }
        self.set_variants(amount.entry, variants);
        Ok(())
    }

    /// Sets how more molecules of an entry that is not part of a membrane are made.
    fn set_variants(&mut self, entry: usize, variants: Vec<Variant>) {
        self.makers[entry] = RowMaker {
            variants,
            is_lipid: false,
            fixed: self.recipe.entries[entry].fixed,
        };
    }

    fn add_member(
        &mut self,
        index: usize,
        number: u32,
        template: u32,
        places: &Places,
        random: &mut Pcg64Mcg,
    ) -> Result<(), RecipeError> {
        let recipe = self.recipe;
        let entry = &recipe.entries[index];
        let molecule = match self.given[index].get(number as usize) {
            Some(given) => *given,
            None => {
                let pose = places.next(&self.surroundings(), random);
                GivenMolecule::new(pose, entry.fixed)
            }
        };
        self.place(index, template, places, molecule).map(|_| ())
    }

    /// Adds a molecule of an entry; returns its index in the crowd.
    fn place(
        &mut self,
        index: usize,
        template: u32,
        places: &Places,
        molecule: GivenMolecule,
    ) -> Result<u32, RecipeError> {
        let recipe = self.recipe;
        let entry = &recipe.entries[index];
        let owner = self.crowd.members().len() as u32;
        let member = CrowdMember {
            template,
            placement: places.placement,
            pose: molecule.pose,
            fixed: molecule.fixed,
        };
        let added = match molecule.saved {
            Some(_) => self.crowd.add_exact_member(member),
            None => self.crowd.add_member(member),
        };
        added.map_err(|error| RecipeProblem::from(error).at(&recipe.source, &*entry.place))?;
        self.note_restored(&molecule, owner);
        self.rows.push(self.report.row_of_entry(index));
        self.report.count(index);
        let pose = molecule.pose;
        self.scatter.push(owner, pose.position, places.radius);
        self.placed[index].push((pose, places.radius));
        Ok(owner)
    }

    /// What is there already.
    fn surroundings(&self) -> Surroundings<'_> {
        Surroundings {
            recipe: self.recipe,
            scatter: &self.scatter,
            placed: &self.placed,
        }
    }

    /// The template of an ingredient in the crowd.
    fn template(&mut self, ingredient: usize) -> u32 {
        let (crowd, bodies) = (&mut self.crowd, &self.bodies);
        let add = || crowd.add_template(bodies[ingredient].template.clone());
        *self.templates.entry(ingredient).or_insert_with(add)
    }

    /// The compartments inside of another, with the distance up to which their lipids reach.
    fn children(&self, compartment: usize) -> Vec<(Arc<dyn Surface>, f32)> {
        let all = self.recipe.compartments.iter().zip(&self.spaces);
        let inside = all.filter(|(child, _)| child.parent == Some(compartment));
        inside
            .filter_map(|(child, space)| Some((child.surface.clone()?, space.thickness[0])))
            .collect()
    }

    fn describe_region(&self, entry: &Entry) -> String {
        let compartment = &self.recipe.compartments[entry.compartment];
        format!("{}.{}", compartment.name, entry.region.name())
    }
}

/// Volumes of the compartments, without those inside of them.
fn spaces_of(recipe: &Recipe) -> Vec<Space> {
    let volume_of = |compartment: &Compartment| match &compartment.surface {
        Some(surface) => surface.volume().map_or(0.0, f64::from),
        None => recipe.size().as_dvec3().element_product(),
    };
    let all = recipe.compartments.iter().enumerate();
    all.map(|(index, compartment)| {
        let inside = recipe.compartments.iter();
        let inside = inside.filter(|child| child.parent == Some(index));
        let inside: f64 = inside.map(volume_of).sum();
        Space {
            thickness: [0.0; 2],
            volume: (volume_of(compartment) - inside).max(0.0),
        }
    })
    .collect()
}

/// The molecules of each row whose places are given: saved ones first.
fn given_molecules(recipe: &Recipe) -> Vec<Vec<GivenMolecule>> {
    let mut given = vec![Vec::new(); recipe.rows().len()];
    let mut first = 0;
    for saved in &recipe.saved {
        let poses = saved.poses.iter().zip(first..);
        first += saved.poses.len() as u32;
        let Some(row) = given.get_mut(saved.row) else {
            continue;
        };
        row.extend(poses.map(|(&pose, index)| GivenMolecule {
            pose,
            conformer: saved.conformer,
            radius: saved.radius,
            fixed: saved.fixed,
            saved: Some(index),
        }));
    }
    for (row, entry) in given.iter_mut().zip(&recipe.entries) {
        row.extend(entry.places.iter().map(|&pose| GivenMolecule {
            pose,
            conformer: 0,
            radius: None,
            fixed: entry.fixed,
            saved: None,
        }));
    }
    given
}
