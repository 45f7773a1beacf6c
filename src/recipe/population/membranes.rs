//! Membranes of the compartments that have lipids, and the volumes that are left.

use std::sync::Arc;

use super::body::{orientation, species_of};
use super::row_maker::scatter_around;
use super::{Amount, Builder, Surroundings};
use crate::compartment::{Leaflet, Surface};
use crate::crowd::{CrowdError, CrowdMember};
use crate::membrane::{
    Composition, MemberKind, MembraneConfig, MembraneProtein, ProteinEntry, ProteinPlace,
    ProteinPlaces, Share, Species, membrane,
};
use crate::pose::Pose;
use crate::recipe::error::RecipeProblem;
use crate::recipe::model::{Entry, Region};
use crate::recipe::population::report::{EntryReport, RegionReport};
use crate::recipe::{RecipeError, RecipeWarning};

/// A lipid of a leaflet.
struct Lipid {
    species: usize,
    share: Share,
    /// Row of the report.
    row: usize,
}

/// What the molecules of a membrane are made from.
pub(super) struct MembraneKit {
    /// Its surface.
    pub surface: Arc<dyn Surface>,
    /// Index of the surface in the crowd.
    pub compartment: u32,
    /// The species of its lipids, by ingredient.
    pub species: Vec<(usize, Species)>,
}

impl Builder<'_> {
    /// The rows of the report, before anything is placed.
    pub(super) fn report_entries(&mut self, amounts: &[Amount]) {
        for amount in amounts {
            let entry = &self.recipe.entries[amount.entry];
            let row = EntryReport {
                region: self.describe_region(entry),
                object: self.recipe.ingredients[entry.ingredient].name.clone(),
                name: entry.name.clone(),
                asked: amount.molecules,
                placed: 0,
                fibers: entry.fiber.as_ref().map(|_| amount.count),
                volume_nm3: self.bodies[entry.ingredient].volume,
            };
            self.report.entries.push(row);
        }
    }

    /// Adds the membrane of a compartment, if it has lipids.
    pub(super) fn add_membrane(
        &mut self,
        index: usize,
        amounts: &[Amount],
    ) -> Result<(), RecipeError> {
        let recipe = self.recipe;
        let compartment = &recipe.compartments[index];
        let Some(surface) = compartment
            .surface
            .clone()
            .filter(|_| self.has_lipids(index))
        else {
            return Ok(());
        };
        let at = |problem: RecipeProblem, place: &str| problem.at(&recipe.source, place);
        let mut species: Vec<(usize, Species)> = Vec::new();
        let mut leaflets = [Vec::new(), Vec::new()];
        for (side, leaflet) in leaflets.iter_mut().enumerate() {
            let region = [Region::OuterLeaflet, Region::InnerLeaflet][side];
            for &(ingredient, ratio) in &compartment.leaflets[side] {
                let species = self.species(&mut species, ingredient)?;
                let row = self.report.entries.len();
                self.report.entries.push(EntryReport {
                    region: format!("{}.{}", compartment.name, region.name()),
                    object: recipe.ingredients[ingredient].name.clone(),
                    name: recipe.ingredients[ingredient].name.clone(),
                    asked: None,
                    placed: 0,
                    fibers: None,
                    volume_nm3: self.bodies[ingredient].volume,
                });
                let share = Share::Ratio(ratio);
                leaflet.push(Lipid {
                    species,
                    share,
                    row,
                });
            }
            for amount in amounts {
                let entry = &recipe.entries[amount.entry];
                let is_here = entry.compartment == index && entry.region == region;
                if !(is_here && self.is_lipid(entry)) {
                    continue;
                }
                let species = self.species(&mut species, entry.ingredient)?;
                if amount.count > 0 {
                    let (share, row) = (Share::Number(amount.count), amount.entry);
                    leaflet.push(Lipid {
                        species,
                        share,
                        row,
                    });
                }
            }
        }
        let mut kit = MembraneKit {
            surface: surface.clone(),
            compartment: 0,
            species,
        };
        let thickness = leaflets
            .each_ref()
            .map(|leaflet| thickness_of(&kit.species, leaflet));
        self.spaces[index].thickness = thickness;
        if self.has_saved_membrane(index) {
            kit.compartment = self.crowd.add_compartment(surface);
            self.add_membrane_makers(index, &kit)?;
            return self.restore_membrane(index, amounts);
        }
        let mut proteins = Vec::new();
        let mut rows_of_proteins = Vec::new();
        for amount in amounts {
            let entry = &recipe.entries[amount.entry];
            let is_here = entry.compartment == index && entry.region == Region::Surface;
            if is_here && amount.count > 0 {
                proteins.push(self.protein(entry, amount.count)?);
                rows_of_proteins.push(amount.entry);
            }
        }
        let species = kit.species.iter().map(|(_, species)| species.clone());
        let species: Vec<Species> = species.collect();
        let composition = |leaflet: &[Lipid]| {
            let shares = leaflet.iter().map(|lipid| (lipid.species, lipid.share));
            (!leaflet.is_empty()).then(|| Composition {
                shares: shares.collect(),
            })
        };
        let built = membrane(
            &species,
            &MembraneConfig {
                outer: composition(&leaflets[0]),
                inner: composition(&leaflets[1]),
                area_scale: compartment.area_scale,
                proteins,
                seed: self.random_seed(index),
                ..MembraneConfig::new(surface)
            },
        );
        let built = built.map_err(|error| at(error.into(), &compartment.place))?;
        for report in [&built.report.outer, &built.report.inner]
            .into_iter()
            .flatten()
        {
            if let Some(fitting) = report.overfull {
                let asked: u32 = report.species.iter().map(|species| species.number).sum();
                let text = format!(
                    "{asked} lipids are more than the area of a leaflet allows, about {fitting}"
                );
                self.warnings.push(RecipeWarning {
                    place: compartment.place.clone(),
                    text,
                });
            }
        }
        kit.compartment = self.append(&built, &leaflets, &rows_of_proteins, &compartment.place)?;
        self.add_membrane_makers(index, &kit)
    }

    /// Whether anything of a membrane was saved.
    fn has_saved_membrane(&self, compartment: usize) -> bool {
        let rows = self.recipe.rows();
        let mut saved = self.recipe.saved.iter();
        saved.any(|saved| {
            let row = rows.get(saved.row);
            row.is_some_and(|r| r.compartment == compartment && self.is_row_in_membrane(r))
        })
    }

    /// Adds the saved molecules of a membrane, and those of its entries beyond them.
    fn restore_membrane(&mut self, index: usize, amounts: &[Amount]) -> Result<(), RecipeError> {
        let recipe = self.recipe;
        let place = &*recipe.compartments[index].place;
        let failed = |error: CrowdError| RecipeProblem::from(error).at(&recipe.source, place);
        let mut more = Vec::new();
        for (row, at) in recipe.rows().iter().zip(0..) {
            if row.compartment != index || !self.is_row_in_membrane(row) {
                continue;
            }
            let given = std::mem::take(&mut self.given[at]);
            let count = row.entry.map_or(0, |entry| amounts[entry].count);
            more.push((at, count.saturating_sub(given.len() as u32)));
            for molecule in given {
                let variants = &self.makers[at].variants;
                let Some(variant) = variants.get(molecule.conformer as usize) else {
                    continue;
                };
                let member = CrowdMember {
                    template: variant.template,
                    placement: variant.places.placement,
                    pose: molecule.pose,
                    fixed: molecule.fixed,
                };
                let radius = variant.places.radius;
                self.note_restored(&molecule, self.crowd.members().len() as u32);
                self.crowd.add_exact_member(member).map_err(failed)?;
                self.note_membrane_member(at, molecule.pose, radius);
            }
        }
        for (row, count) in more {
            let mut random = self.random(row, 3);
            let maker = self.makers[row].clone();
            let mut scatter = scatter_around(recipe, &self.makers, &self.crowd, &self.rows, row);
            for _ in 0..count {
                let around = Surroundings {
                    scatter: &scatter,
                    ..self.surroundings()
                };
                let Some(member) = maker.draw(&around, None, &mut random) else {
                    break;
                };
                self.crowd.add_member(member).map_err(failed)?;
                let at = maker.variant_of(member.template).unwrap_or_default();
                let radius = maker.variants[at].places.radius;
                let owner = self.rows.len() as u32;
                scatter.push(owner, member.pose.position, radius);
                self.note_membrane_member(row, member.pose, radius);
            }
        }
        Ok(())
    }

    /// Counts a molecule of a membrane that was added to the crowd.
    fn note_membrane_member(&mut self, row: usize, pose: Pose, radius: f32) {
        if !self.makers[row].is_lipid {
            let owner = self.rows.len() as u32;
            self.scatter.push(owner, pose.position, radius);
            self.placed[row].push((pose, radius));
        }
        self.rows.push(row as u32);
        self.report.count(row);
    }

    fn random_seed(&self, compartment: usize) -> u64 {
        use rand::RngExt;
        self.random(compartment, 2).random()
    }

    /// The index of the species of an ingredient, which is added if it is new.
    fn species(
        &self,
        species: &mut Vec<(usize, Species)>,
        ingredient: usize,
    ) -> Result<usize, RecipeError> {
        if let Some(known) = species.iter().position(|(known, _)| *known == ingredient) {
            return Ok(known);
        }
        let recipe = self.recipe;
        let file = &recipe.ingredients[ingredient];
        let made = species_of(file, recipe.tolerance);
        let made = made.map_err(|problem| problem.at(&recipe.source, &*file.place))?;
        species.push((ingredient, made));
        Ok(species.len() - 1)
    }

    fn protein(&mut self, entry: &Entry, count: u32) -> Result<ProteinEntry, RecipeError> {
        let recipe = self.recipe;
        let ingredient = &recipe.ingredients[entry.ingredient];
        let body = &self.bodies[entry.ingredient];
        let orientation = orientation(ingredient, body);
        if orientation.is_guess {
            self.warnings.push(RecipeWarning {
                place: ingredient.place.clone(),
                text: format!(
                    "the orientation of '{}' in the membrane is a guess; give up and depth in the block bevy_rapier_molecules",
                    ingredient.name
                ),
            });
        }
        let template = body.template.clone();
        let (up, depth) = (orientation.up, orientation.depth);
        let protein = MembraneProtein::with_axis(&ingredient.name, template, up, depth);
        let problem = |p: RecipeProblem| p.at(&recipe.source, &*ingredient.place);
        let protein = protein.map_err(|error| problem(error.into()))?;
        let places = if entry.places.is_empty() {
            ProteinPlaces::Random(count)
        } else {
            let places = entry.places.iter().map(|pose| ProteinPlace {
                point: pose.position,
                ..ProteinPlace::default()
            });
            ProteinPlaces::At(places.collect())
        };
        let made = ProteinEntry::new(protein, places);
        Ok(ProteinEntry {
            fixed: entry.fixed,
            keep_pore_empty: ingredient.keep_pore_empty,
            tilt_leeway: made.tilt_leeway.max(ingredient.tilt),
            ..made
        })
    }

    /// Adds the molecules of a membrane. Returns the index of its surface in the crowd.
    fn append(
        &mut self,
        built: &crate::membrane::Membrane,
        leaflets: &[Vec<Lipid>; 2],
        proteins: &[usize],
        place: &str,
    ) -> Result<u32, RecipeError> {
        let source = &*self.recipe.source;
        let invalid = |error: CrowdError| RecipeProblem::from(error).at(source, place);
        let added = &built.crowd;
        let crowd = &mut self.crowd;
        let templates = added.templates().iter();
        let templates: Vec<u32> = templates.map(|t| crowd.add_template(t.clone())).collect();
        let compartments = added.compartments().iter();
        let compartments: Vec<u32> = compartments
            .map(|c| crowd.add_compartment(c.clone()))
            .collect();
        let mut placements = Vec::new();
        for placement in added.placements() {
            let compartment = compartments[placement.compartment as usize];
            let index = crowd.add_placement(compartment, placement.confinement);
            placements.push(index.map_err(invalid)?);
        }
        for (member, kind) in added.members().iter().zip(&built.kinds) {
            let index = crowd.members().len() as u32;
            crowd
                .add_member(CrowdMember {
                    template: templates[member.template as usize],
                    placement: member.placement.map(|index| placements[index as usize]),
                    ..*member
                })
                .map_err(invalid)?;
            let row = match *kind {
                MemberKind::Protein { entry } => proteins[entry as usize],
                MemberKind::Lipid { species, leaflet } => {
                    let side = usize::from(leaflet == Leaflet::Inner);
                    let mut lipids = leaflets[side].iter();
                    let found = lipids.find(|lipid| lipid.species == species as usize);
                    found.map_or(0, |lipid| lipid.row)
                }
            };
            if let MemberKind::Protein { .. } = kind {
                let radius = added.template_of(member).bounding_radius();
                self.scatter.push(index, member.pose.position, radius);
                self.placed[row].push((member.pose, radius));
            }
            self.rows.push(row as u32);
            self.report.count(row);
        }
        Ok(compartments.first().copied().unwrap_or_default())
    }

    /// Compares the volumes of the molecules inside of each compartment with that of the space.
    pub(super) fn check_volumes(&mut self, amounts: &[Amount]) {
        for index in 0..self.recipe.compartments.len() {
            let report = self.region_report(index, amounts);
            let place = &self.recipe.compartments[index].place;
            if let Some(text) = report.warning() {
                self.warnings.push(RecipeWarning {
                    place: place.clone(),
                    text,
                });
            }
            self.report.regions.push(report);
        }
    }

    fn region_report(&self, index: usize, amounts: &[Amount]) -> RegionReport {
        let recipe = self.recipe;
        let compartment = &recipe.compartments[index];
        let here: Vec<(&Entry, &Amount)> = amounts
            .iter()
            .map(|amount| (&recipe.entries[amount.entry], amount))
            .filter(|(entry, _)| entry.compartment == index && entry.region == Region::Interior)
            .collect();
        // Radii or volumes of all molecules.
        let mut molecules = 0;
        let (mut volume, mut area, mut reach) = (0.0, 0.0, 0.0);
        let mut thickest: f32 = f32::INFINITY;
        for (entry, amount) in here {
            let body = &self.bodies[entry.ingredient];
            let radii = if amount.sizes.is_empty() {
                std::slice::from_ref(&body.radius)
            } else {
                &amount.sizes
            };
            let count = self.report.entries[amount.entry].placed;
            let each = f64::from(count) / radii.len() as f64;
            for radius in radii {
                let ball = 4.0 / 3.0 * std::f64::consts::PI * f64::from(*radius).powi(3);
                let own = if amount.sizes.is_empty() {
                    f64::from(body.volume)
                } else {
                    ball
                };
                volume += each * own;
                area += each * std::f64::consts::PI * f64::from(*radius).powi(2);
                if let Some(cutoff) = entry.cutoff_boundary {
                    reach += each * own * f64::from(radius - cutoff).max(0.0);
                }
                thickest = thickest.min(*radius);
            }
            molecules += count;
        }
        // By which the molecules may reach beyond the box, on average.
        let beyond = if volume > 0.0 { reach / volume } else { 0.0 };
        let size = recipe.size().as_dvec3() + 2.0 * beyond;
        let is_flat = index == 0
            && !recipe.periodic
            && recipe.size().min_element() < 2.0 * thickest
            && recipe.compartments.len() == 1
            && molecules > 0;
        let space = if is_flat {
            size.element_product() / size[recipe.size().min_position()]
        } else if index == 0 {
            let outside = self.spaces[0].volume - recipe.size().as_dvec3().element_product();
            (size.element_product() + outside - self.lipids_around(0)).max(0.0)
        } else {
            (self.spaces[index].volume - self.lipids_inside(index) - self.lipids_around(index))
                .max(0.0)
        };
        RegionReport {
            compartment: compartment.name.clone(),
            molecules,
            is_flat,
            size: space,
            filled: if is_flat { area } else { volume },
        }
    }

    /// Volume of the inner leaflet of a compartment, nm³.
    fn lipids_inside(&self, index: usize) -> f64 {
        let thickness = self.spaces[index].thickness[1];
        self.layer(index, -thickness)
    }

    /// Volume of the outer leaflets of the compartments inside of another, nm³.
    fn lipids_around(&self, index: usize) -> f64 {
        let all = self.recipe.compartments.iter().enumerate();
        let inside = all.filter(|(_, child)| child.parent == Some(index));
        inside
            .map(|(child, _)| self.layer(child, self.spaces[child].thickness[0]))
            .sum()
    }

    /// Volume between the surface of a compartment and a parallel one, nm³.
    fn layer(&self, index: usize, offset: f32) -> f64 {
        let Some(surface) = &self.recipe.compartments[index].surface else {
            return 0.0;
        };
        let area = |part: f32| f64::from(surface.area_at(part * offset));
        f64::from(offset.abs()) * (area(0.0) + 4.0 * area(0.5) + area(1.0)) / 6.0
    }
}

/// How far the lipids of a leaflet reach from the middle of the membrane, nm.
fn thickness_of(species: &[(usize, Species)], leaflet: &[Lipid]) -> f32 {
    let heights = leaflet.iter().flat_map(|lipid| {
        let (_, species) = &species[lipid.species];
        species.conformers().iter().map(|conformer| {
            let template = &conformer.template;
            let atoms = template.positions().iter().zip(template.radii());
            let tops = atoms.map(|(position, radius)| position.dot(conformer.up) + radius);
            conformer.depth + tops.fold(0.0, f32::max)
        })
    });
    heights.fold(0.0, f32::max)
}
