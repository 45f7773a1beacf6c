//! [`membrane`]: builds a membrane of lipids and proteins.

use std::f32::consts::TAU;
use std::ops::Range;

use glam::Vec2;
use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use super::leaflet_plan::LeafletPlan;
use super::leaflet_points::{LeafletPoints, free_points};
use super::protein_outline::{PlacedOutline, PlacedOutlines, ProteinOutline};
use super::protein_places::{PlacedProtein, ProteinKind, ProteinPlacer, images};
use super::report::{LeafletReport, MembraneReport, ProteinReport, SpeciesReport};
use super::{MembraneConfig, MembraneError, Species, box_check};
use crate::compartment::{Leaflet, Placement};
use crate::crowd::{Crowd, CrowdMember};

/// What a molecule of a membrane is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum MemberKind {
    /// A protein.
    Protein {
        /// Index of its entry in [`MembraneConfig::proteins`].
        entry: u32,
    },
    /// A lipid.
    Lipid {
        /// Index of its species.
        species: u32,
        /// Its leaflet.
        leaflet: Leaflet,
    },
}

/// A membrane of upright lipids and proteins, not yet relaxed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Membrane {
    /// The molecules: first the proteins, entry by entry, then the outer leaflet, then the inner
    /// one.
    pub crowd: Crowd,
    /// Numbers and areas.
    pub report: MembraneReport,
    /// What each member of the crowd is.
    pub kinds: Vec<MemberKind>,
    /// The members that are proteins.
    pub proteins: Range<usize>,
    /// The members of the outer leaflet.
    pub outer: Range<usize>,
    /// The members of the inner leaflet.
    pub inner: Range<usize>,
}

/// Builds a membrane of lipids of several species and of proteins along a surface.
///
/// # Numbers
///
/// A leaflet has its plane in its middle: halfway between the mid-surface and the heads, by the
/// mean over its composition. The number of lipids is the area of the surface there without the
/// proteins, divided by the mean area per lipid and by the area scale. Numbers of the species
/// follow from their ratios by the method of the largest remainder. Numbers that are given are
/// taken as they are; if there are more than the area allows, the report says how many would fit.
///
/// # Proteins
///
/// The atoms of a protein between the mid-surface and the heads of a leaflet have an outline, seen
/// along the axis of the protein. No center of mass of a lipid starts inside of it, and the area of
/// the outline is not available to lipids. On a curved surface the outline remains that of a rigid
/// body with straight walls: lipids are projected along the axis of the protein, not along the
/// surface. Each copy counts on its own: the area of a pore that several proteins surround is surface,
/// and where outlines of given places overlap, the overlap counts twice.
///
/// # Positions
///
/// Lipids are spread evenly between the proteins, each at the depth of its own conformer. Species,
/// conformer and spin of each lipid are random and independent of its place. Molecules overlap; a
/// [`Relaxer`](crate::relax::Relaxer) separates them. The same config gives
/// the same membrane, bit for bit.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::compartment::FlatPatch;
/// use bevy_rapier_molecules::membrane::{
///     Composition, MembraneConfig, MembraneProtein, ProteinEntry, ProteinPlaces, Species,
///     known_area, membrane,
/// };
/// use bevy_rapier_molecules::periodic_box::PeriodicBox;
/// use bevy_rapier_molecules::prelude::*;
/// use glam::{Vec2, Vec3};
///
/// let options = LoadOptions::default();
/// let species = |name, file| {
///     let path = format!("assets/lipids/{file}_conformers.pdb");
///     Species::load(name, &[path], &options, known_area(name).unwrap_or(0.65))
/// };
/// let species = [species("POPC", "popc")?, species("cholesterol", "cholesterol")?];
/// let porin = Arc::new(load("assets/molecules/2por.pdb", &options)?);
/// let porin = MembraneProtein::with_axis("porin", porin, Vec3::new(-0.69, 0.62, 0.36), 0.3)?;
///
/// let patch = FlatPatch::new(Vec2::splat(15.0), 6.0)?;
/// let membrane = membrane(&species, &MembraneConfig {
///     periodic_box: Some(PeriodicBox::new(Vec3::new(15.0, 15.0, 12.0))?),
///     outer: Some(Composition::ratios(&[(0, 2.0), (1, 1.0)])),
///     inner: Some(Composition::ratios(&[(0, 1.0)])),
///     proteins: vec![ProteinEntry::new(porin, ProteinPlaces::Random(2))],
///     ..MembraneConfig::new(Arc::new(patch))
/// })?;
/// assert_eq!(membrane.proteins, 0..2);
/// assert!(membrane.outer.len() > membrane.inner.len(), "cholesterol needs less area");
/// println!("{}", membrane.report);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`MembraneError`] if a part of the config is invalid, or if the molecules do not fit; nothing is
/// built.
pub fn membrane(species: &[Species], config: &MembraneConfig) -> Result<Membrane, MembraneError> {
    let scale = config.area_scale;
    if !(scale.is_finite() && scale > 0.0) {
        return Err(MembraneError::BadAreaScale { scale });
    }
    let mut plans = Vec::new();
    for leaflet in [Leaflet::Outer, Leaflet::Inner] {
        plans.extend(LeafletPlan::new(leaflet, species, config)?);
    }
    if plans.is_empty() {
        return Err(MembraneError::NoLeaflet);
    }
    box_check::check(species, config, &plans)?;
    let mut builder = Builder {
        species,
        config,
        period: config.surface.period(),
        crowd: Crowd::new(),
        kinds: Vec::new(),
        random: Pcg64Mcg::seed_from_u64(config.seed),
        templates: vec![Vec::new(); species.len()],
    };
    builder.crowd.set_periodic_box(config.periodic_box);
    builder.crowd.add_compartment(config.surface.clone());
    builder.build(&plans)
}

struct Builder<'a> {
    species: &'a [Species],
    config: &'a MembraneConfig,
    /// The edges along x and y, nm, if the surface is periodic.
    period: Option<Vec2>,
    crowd: Crowd,
    kinds: Vec<MemberKind>,
    random: Pcg64Mcg,
    /// Template of each conformer of each species that is used, in the crowd.
    templates: Vec<Vec<u32>>,
}

impl Builder<'_> {
    fn build(mut self, plans: &[LeafletPlan]) -> Result<Membrane, MembraneError> {
        let kinds = ProteinKind::both(&self.config.proteins);
        let mut outlines = Vec::new();
        for plan in plans {
            let outline = |kind: &ProteinKind| {
                let keep_pore_empty = self.config.proteins[kind.entry].keep_pore_empty;
                ProteinOutline::new(&kind.protein, plan.slab(), keep_pore_empty)
            };
            outlines.push(kinds.iter().map(outline).collect::<Result<Vec<_>, _>>()?);
        }
        let placer = ProteinPlacer {
            surface: &*self.config.surface,
            period: self.period,
            entries: &self.config.proteins,
            kinds: &kinds,
            outlines: &outlines,
        };
        let placed = placer.place(self.random.random())?;
        let mut report = MembraneReport {
            outer: None,
            inner: None,
            proteins: self.add_proteins(&kinds, &placed)?,
        };
        let proteins = 0..placed.len();
        let [mut outer, mut inner] = [placed.len()..placed.len(), placed.len()..placed.len()];
        // All numbers first, so that errors come before the points are spread.
        let mut counts = Vec::new();
        for (plan, outlines) in plans.iter().zip(&outlines) {
            let areas = placed.iter().map(|p| f64::from(outlines[p.kind].area));
            let protein_area = areas.fold(0.0, |sum, area| sum + area) as f32;
            let free_area = plan.area - protein_area;
            if protein_area > 0.0 && free_area <= 0.0 {
                return Err(MembraneError::MoreProteinThanSurface {
                    leaflet: plan.leaflet,
                    protein_area,
                    area: plan.area,
                });
            }
            let (lipids, overfull) = plan.lipids(self.species, self.config, free_area)?;
            counts.push((lipids, overfull, protein_area));
        }
        for ((plan, outlines), (lipids, overfull, protein_area)) in
            plans.iter().zip(&outlines).zip(counts)
        {
            let numbers = plan.composition.split(lipids);
            let first = self.crowd.members().len();
            let free_part = 1.0 - protein_area / plan.area;
            let around = self.place_outlines(plan, outlines, &placed);
            self.add_lipids(plan, &numbers, &around, free_part)?;
            let range = first..self.crowd.members().len();
            let parts = plan.composition.parts.iter().zip(&numbers);
            let species = parts.map(|(&(index, _), &number)| SpeciesReport {
                name: self.species[index].name().to_owned(),
                number,
                ratio: number as f32 / lipids as f32,
                area: self.species[index].area(),
            });
            let leaflet_report = Some(LeafletReport {
                offset: plan.offset,
                area: plan.area,
                protein_area,
                species: species.collect(),
                overfull,
            });
            match plan.leaflet {
                Leaflet::Outer => (outer, report.outer) = (range, leaflet_report),
                Leaflet::Inner => (inner, report.inner) = (range, leaflet_report),
            }
        }
        if report.inner.is_none() {
            inner = outer.end..outer.end;
        }
        Ok(Membrane {
            crowd: self.crowd,
            report,
            kinds: self.kinds,
            proteins,
            outer,
            inner,
        })
    }

    fn add_proteins(
        &mut self,
        kinds: &[ProteinKind],
        placed: &[PlacedProtein],
    ) -> Result<Vec<ProteinReport>, MembraneError> {
        let mut templates = Vec::new();
        let mut placements = Vec::new();
        for kind in kinds {
            let entry = &self.config.proteins[kind.entry];
            if !kind.flipped {
                let template = kind.protein.template.clone();
                templates.push(self.crowd.add_template(template));
            }
            let placement = Placement {
                leaflet: Leaflet::Outer,
                depth: kind.protein.depth,
                up: kind.protein.up,
                leeway: entry.leeway,
                tilt_leeway: entry.tilt_leeway,
            };
            placements.push(self.crowd.add_placement(0, placement)?);
        }
        let entries = self.config.proteins.iter();
        let mut reports: Vec<ProteinReport> = entries
            .map(|entry| ProteinReport {
                name: entry.protein.name.clone(),
                number: 0,
            })
            .collect();
        for protein in placed {
            let entry = kinds[protein.kind].entry;
            self.crowd.add_member(CrowdMember {
                template: templates[entry],
                placement: Some(placements[protein.kind]),
                pose: protein.pose,
                fixed: self.config.proteins[entry].fixed,
            })?;
            self.kinds.push(MemberKind::Protein {
                entry: entry as u32,
            });
            reports[entry].number += 1;
        }
        Ok(reports)
    }

    /// The outlines of all proteins and of their periodic images in a leaflet.
    fn place_outlines<'o>(
        &self,
        plan: &LeafletPlan,
        outlines: &'o [ProteinOutline],
        placed: &[PlacedProtein],
    ) -> PlacedOutlines<'o> {
        let placed = placed.iter().flat_map(|protein| {
            images(self.period).map(|shift| {
                let mut pose = protein.pose;
                pose.position += shift;
                PlacedOutline {
                    outline: protein.kind,
                    pose,
                    normal: protein.normal,
                    foot: protein.anchor + shift + protein.normal * plan.offset,
                }
            })
        });
        PlacedOutlines::new(outlines, placed.collect())
    }

    /// Adds the lipids of a leaflet, with `numbers` of each species of its composition.
    fn add_lipids(
        &mut self,
        plan: &LeafletPlan,
        numbers: &[u32],
        proteins: &PlacedOutlines,
        free_part: f32,
    ) -> Result<(), MembraneError> {
        let sign = plan.leaflet.sign();
        // Members of the composition and their placements, by conformer.
        let mut placements = Vec::new();
        let mut heights = vec![0.0];
        for &(index, _) in &plan.composition.parts {
            placements.push(self.add_species(index, plan.leaflet)?);
            let conformers = self.species[index].conformers().iter();
            heights.extend(conformers.map(|conformer| sign * conformer.depth - plan.offset));
        }
        heights.sort_by(f32::total_cmp);
        heights.dedup();

        let lipids: u32 = numbers.iter().sum();
        let surface = &*self.config.surface;
        let places = LeafletPoints {
            surface,
            offset: plan.offset,
            heights: &heights,
            period: self.period,
            proteins,
            free_part,
        };
        let seed = self.random.random();
        let Some(points) = free_points(&places, lipids as usize, seed) else {
            let leaflet = plan.leaflet;
            return Err(MembraneError::NoPlaceBetweenProteins { leaflet, lipids });
        };
        let all = numbers.iter().enumerate();
        let mut of_points: Vec<usize> = all
            .flat_map(|(part, &number)| std::iter::repeat_n(part, number as usize))
            .collect();
        of_points.shuffle(&mut self.random);
        for (point, part) in points.into_iter().zip(of_points) {
            let conformer = self.random.random_range(0..placements[part].len());
            let spin = TAU * self.random.random::<f32>();
            let (template, index, placement) = placements[part][conformer];
            let position = point + surface.normal(point) * (placement.offset() - plan.offset);
            self.crowd.add_member(CrowdMember {
                template,
                placement: Some(index),
                pose: placement.upright_pose(surface, position, spin),
                ..CrowdMember::default()
            })?;
            self.kinds.push(MemberKind::Lipid {
                species: plan.composition.parts[part].0 as u32,
                leaflet: plan.leaflet,
            });
        }
        Ok(())
    }

    /// Adds the placements of a species in a leaflet as a set of conformers: template, index of the
    /// placement, placement.
    fn add_species(
        &mut self,
        index: usize,
        leaflet: Leaflet,
    ) -> Result<Vec<(u32, u32, Placement)>, MembraneError> {
        let conformers = self.species[index].conformers();
        if self.templates[index].is_empty() {
            let templates = conformers.iter();
            let crowd = &mut self.crowd;
            self.templates[index] = templates
                .map(|conformer| crowd.add_template(conformer.template.clone()))
                .collect();
        }
        let mut placements = Vec::new();
        for (conformer, &template) in conformers.iter().zip(&self.templates[index]) {
            let placement = Placement {
                leaflet,
                depth: conformer.depth,
                up: conformer.up,
                leeway: self.config.leeway,
                tilt_leeway: self.config.tilt_leeway,
            };
            let added = self.crowd.add_placement(0, placement)?;
            placements.push((template, added, placement));
        }
        Ok(placements)
    }
}
