//! [`RowMaker`]: how more molecules of a row are made after a recipe is populated.

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::Builder;
use super::body::orientation;
use super::membranes::MembraneKit;
use super::places::{Brush, Places, Surroundings};
use super::scatter::Scatter;
use crate::compartment::{Confinement, Leaflet, Placement};
use crate::crowd::{Crowd, CrowdError, CrowdMember, CrowdPlacement};
use crate::membrane::{MembraneConfig, MembraneProtein, ProteinEntry, ProteinPlaces};
use crate::recipe::RecipeError;
use crate::recipe::error::RecipeProblem;
use crate::recipe::model::{Recipe, Region, Row};

/// How more molecules of a row of the report are made.
#[derive(Clone, Debug, Default)]
pub(in crate::recipe) struct RowMaker {
    /// The conformers of a lipid, single spheres of several sizes, or the only shape.
    pub variants: Vec<Variant>,
    /// Whether they are lipids with atoms.
    pub is_lipid: bool,
    /// Whether they never move.
    pub fixed: bool,
}

/// One shape of the molecules of a row.
#[derive(Clone, Debug)]
pub(in crate::recipe) struct Variant {
    /// Index of its template in the crowd.
    pub template: u32,
    /// Where it may be.
    pub places: Places,
}

impl RowMaker {
    /// The variant with a template.
    pub fn variant_of(&self, template: u32) -> Option<usize> {
        let mut variants = self.variants.iter();
        variants.position(|variant| variant.template == template)
    }

    /// A new molecule: of a random variant, at its next place, or within a brush. None if the brush
    /// has no part of the region, or if there are no variants.
    pub fn draw(
        &self,
        around: &Surroundings<'_>,
        brush: Option<Brush>,
        random: &mut Pcg64Mcg,
    ) -> Option<CrowdMember> {
        let variant = match &*self.variants {
            [] => return None,
            [only] => only,
            variants => &variants[random.random_range(0..variants.len())],
        };
        let pose = match brush {
            Some(brush) => variant.places.next_within(around, brush, random)?,
            None => variant.places.next(around, random),
        };
        Some(CrowdMember {
            template: variant.template,
            placement: variant.places.placement,
            pose,
            fixed: self.fixed,
        })
    }
}

/// The balls of the molecules that new ones of a row should not overlap: lipids and proteins of the
/// same leaflet, or all molecules that are not lipids.
pub(in crate::recipe) fn scatter_around(
    recipe: &Recipe,
    makers: &[RowMaker],
    crowd: &Crowd,
    rows: &[u32],
    row: usize,
) -> Scatter {
    let kinds = recipe.rows();
    let own = &kinds[row];
    let is_near = |other: usize| {
        let (kind, is_lipid) = (&kinds[other], makers[other].is_lipid);
        if makers[row].is_lipid {
            let is_here = kind.compartment == own.compartment;
            is_here && (kind.region == own.region || kind.region == Region::Surface)
        } else {
            !is_lipid
        }
    };
    let is_near: Vec<bool> = (0..kinds.len()).map(is_near).collect();
    let radii = radii_of_templates(makers, crowd.templates().len());
    let mut scatter = Scatter::new(crowd.periodic_box());
    for (member, &row) in crowd.members().iter().zip(rows) {
        if is_near[row as usize] {
            scatter.push(member.pose.position, radii[member.template as usize]);
        }
    }
    scatter
}

/// The radius by which molecules of each template are kept apart, nm.
pub(in crate::recipe) fn radii_of_templates(makers: &[RowMaker], templates: usize) -> Vec<f32> {
    let mut radii = vec![0.0; templates];
    for variant in makers.iter().flat_map(|maker| &maker.variants) {
        radii[variant.template as usize] = variant.places.radius;
    }
    radii
}

impl Builder<'_> {
    /// The makers of the rows of a membrane.
    pub(super) fn add_membrane_makers(
        &mut self,
        compartment: usize,
        kit: &MembraneKit,
    ) -> Result<(), RecipeError> {
        let recipe = self.recipe;
        let place = &*recipe.compartments[compartment].place;
        for (row, at) in recipe.rows().iter().zip(0..) {
            if row.compartment != compartment || !self.is_row_in_membrane(row) {
                continue;
            }
            let maker = match row.region {
                Region::Surface => self.protein_maker(row.entry, kit),
                _ => self.lipid_maker(row, kit),
            };
            self.makers[at] = maker.map_err(|problem| problem.at(&recipe.source, place))?;
        }
        Ok(())
    }

    /// The maker of the proteins of a membrane.
    fn protein_maker(
        &mut self,
        index: Option<usize>,
        kit: &MembraneKit,
    ) -> Result<RowMaker, RecipeProblem> {
        let Some(entry) = index.and_then(|index| self.recipe.entries.get(index)) else {
            return Ok(RowMaker::default());
        };
        let ingredient = &self.recipe.ingredients[entry.ingredient];
        let body = self.bodies[entry.ingredient].clone();
        let orientation = orientation(ingredient, &body);
        let name = &ingredient.name;
        let (up, depth) = (orientation.up, orientation.depth);
        let protein = MembraneProtein::with_axis(name, body.template.clone(), up, depth)?;
        let made = ProteinEntry::new(protein, ProteinPlaces::Random(0));
        let placement = Placement {
            leaflet: Leaflet::Outer,
            depth: made.protein.depth,
            up: made.protein.up,
            leeway: made.leeway,
            tilt_leeway: made.tilt_leeway.max(ingredient.tilt),
        };
        let placed = find_placement(&mut self.crowd, kit.compartment, placement)?;
        let template = self.crowd.find_template(&body.template);
        let radius = body.template.bounding_radius();
        let surface = kit.surface.clone();
        let places = Places::in_membrane(index, body.template, radius, surface, placed);
        Ok(RowMaker {
            variants: vec![Variant { template, places }],
            is_lipid: false,
            fixed: entry.fixed,
        })
    }

    /// The maker of the lipids of a row.
    fn lipid_maker(&mut self, row: &Row<'_>, kit: &MembraneKit) -> Result<RowMaker, RecipeProblem> {
        let mut species = kit.species.iter();
        let Some((_, species)) = species.find(|(known, _)| *known == row.ingredient) else {
            return Ok(RowMaker::default());
        };
        let config = MembraneConfig::new(kit.surface.clone());
        let radius = (species.area() / std::f32::consts::PI).sqrt();
        let mut variants = Vec::new();
        for conformer in species.conformers() {
            let placement = Placement {
                leaflet: match row.region {
                    Region::InnerLeaflet => Leaflet::Inner,
                    _ => Leaflet::Outer,
                },
                depth: conformer.depth,
                up: conformer.up,
                leeway: config.leeway,
                tilt_leeway: config.tilt_leeway,
            };
            let placed = find_placement(&mut self.crowd, kit.compartment, placement)?;
            let atoms = conformer.template.clone();
            let template = self.crowd.find_template(&atoms);
            let surface = kit.surface.clone();
            let places = Places::in_membrane(row.entry, atoms, radius, surface, placed);
            variants.push(Variant { template, places });
        }
        let entry = row.entry.map(|entry| &self.recipe.entries[entry]);
        Ok(RowMaker {
            variants,
            is_lipid: true,
            fixed: entry.is_some_and(|entry| entry.fixed),
        })
    }
}

/// The index of a placement in the crowd, which is added if there is none, and the placement.
fn find_placement(
    crowd: &mut Crowd,
    compartment: u32,
    placement: Placement,
) -> Result<(u32, Placement), RecipeProblem> {
    let placement = placement.checked().map_err(CrowdError::from)?;
    let confinement = Confinement::Surface(placement);
    let index = crowd.find_placement(CrowdPlacement {
        compartment,
        confinement,
    })?;
    Ok((index, placement))
}
