//! The templates of the ingredients, and how they sit in surfaces.

use std::f32::consts::PI;
use std::sync::Arc;

use glam::Vec3;

use crate::fiber::{FiberError, FiberLink};
use crate::membrane::{MembraneProtein, Species, known_area};
use crate::molecule::{BodySpheres, MoleculeTemplate, Structure, occupied_volume};
use crate::proxy::{PROXY_SEED, ProxySet};
use crate::recipe::RecipeError;
use crate::recipe::error::RecipeProblem;
use crate::recipe::model::{BodyAxis, FiberKind, Ingredient, IngredientShape, Recipe};

/// The spheres of an ingredient, its volume and its size.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct IngredientBody {
    /// Its spheres: atoms of half the tolerance in radius, or coarse spheres.
    pub template: Arc<MoleculeTemplate>,
    /// Volume of its spheres; of atoms with their van der Waals radii, nm³.
    pub volume: f32,
    /// Radius by which scattered molecules are kept apart, nm: between that of a ball of this
    /// volume and that of the smallest ball around the center of mass that encloses it.
    pub radius: f32,
    /// The link of a fiber, if it is one.
    pub link: Option<FiberLink>,
}

/// Which direction of a body points outwards on a surface, and at which height.
#[derive(Clone, Copy, Debug)]
pub(super) struct Orientation {
    /// Unit vector in the body frame.
    pub up: Vec3,
    /// Height of the center of mass above the surface, nm.
    pub depth: f32,
    /// Whether it was guessed from the atoms.
    pub is_guess: bool,
}

impl Recipe {
    /// The spheres of an ingredient of this recipe.
    ///
    /// # Errors
    /// [`RecipeError`] if its shape cannot be a molecule.
    pub fn body(&self, ingredient: &Ingredient) -> Result<IngredientBody, RecipeError> {
        let body = body_of(ingredient, self.tolerance);
        let mut body = body.map_err(|problem| problem.at(&self.source, &*ingredient.place))?;
        if let Some(kind) = &ingredient.fiber {
            let link = link_of(kind, &body, &ingredient.shape);
            let link = link.map_err(|e| RecipeProblem::from(e).at(&self.source, &*kind.place))?;
            body.link = Some(link);
        }
        Ok(body)
    }
}

/// The link of a fiber, with the body as its template.
fn link_of(
    kind: &FiberKind,
    body: &IngredientBody,
    shape: &IngredientShape,
) -> Result<FiberLink, FiberError> {
    let mut link = match shape {
        IngredientShape::Rod { radius, length } => {
            FiberLink::rod(body.template.name(), *radius, *length)?
        }
        _ => FiberLink::from_template(body.template.clone())?,
    };
    if let Some(twist) = kind.twist {
        link = link.with_twist(twist)?;
    }
    match kind.rise {
        Some(rise) => link.with_rise(rise),
        None => Ok(link),
    }
}

/// The body of an ingredient with atoms of half the tolerance in radius.
fn body_of(ingredient: &Ingredient, tolerance: f32) -> Result<IngredientBody, RecipeProblem> {
    let name = &ingredient.name;
    match &ingredient.shape {
        IngredientShape::Sphere { radius } => ball(name, *radius),
        IngredientShape::Rod { radius, length } => {
            let template = FiberLink::rod(name, *radius, *length)?.template().clone();
            Ok(IngredientBody::new(Arc::unwrap_or_clone(template), None))
        }
        IngredientShape::Spheres(spheres) => {
            let template = MoleculeTemplate::coarse(name, spheres)?;
            Ok(IngredientBody::new(template, None))
        }
        IngredientShape::Atoms {
            structure,
            options,
            proxies,
        } => {
            let atoms = structure.template(options)?;
            let van_der_waals: Vec<f32> = atoms.elements().iter().map(|e| e.vdw_radius()).collect();
            let volume = occupied_volume(BodySpheres {
                centers: atoms.positions(),
                radii: &van_der_waals,
            });
            let template = match proxies {
                None => atoms.with_uniform_radius(0.5 * tolerance)?,
                Some(number) => proxy_template(name, &atoms, *number)?,
            };
            Ok(IngredientBody::new(template, Some(volume)))
        }
    }
}

/// The body of a single sphere.
pub(super) fn ball(name: &str, radius: f32) -> Result<IngredientBody, RecipeProblem> {
    let template = MoleculeTemplate::coarse(name, &[(Vec3::ZERO, radius)])?;
    Ok(IngredientBody::new(template, None))
}

impl IngredientBody {
    fn new(template: MoleculeTemplate, volume: Option<f32>) -> Self {
        let volume = volume.unwrap_or_else(|| {
            occupied_volume(BodySpheres {
                centers: template.positions(),
                radii: template.radii(),
            })
        });
        let bounding = template.bounding_radius();
        let ball = (0.75 * volume / PI).cbrt();
        Self {
            radius: if template.atom_count() == 1 {
                bounding
            } else {
                0.5 * (bounding + ball)
            },
            template: Arc::new(template),
            volume,
            link: None,
        }
    }
}

/// A template of a few spheres that enclose the atoms.
fn proxy_template(
    name: &str,
    atoms: &MoleculeTemplate,
    number: u32,
) -> Result<MoleculeTemplate, RecipeProblem> {
    let number = (number as usize).min(atoms.atom_count());
    let proxies = ProxySet::from_atoms(atoms, number, PROXY_SEED)?;
    let moved = atoms.file_pose();
    let spheres: Vec<(Vec3, f32)> = proxies
        .centers()
        .iter()
        .zip(proxies.radii())
        .map(|(center, radius)| (moved.transform_point(*center), *radius))
        .collect();
    Ok(MoleculeTemplate::coarse(name, &spheres)?)
}

/// How an ingredient sits in a surface.
pub(super) fn orientation(ingredient: &Ingredient, body: &IngredientBody) -> Orientation {
    let template = &body.template;
    let mut orientation = default_orientation(ingredient, body);
    if let BodyAxis::Up(up) | BodyAxis::Principal(up) = ingredient.axis {
        // The origin of the file is on the surface, unless the file is not around its origin.
        let center = template.file_pose().position;
        let is_around_origin = center.length() <= template.bounding_radius();
        orientation = Orientation {
            up,
            depth: if is_around_origin {
                center.dot(up)
            } else {
                0.0
            },
            is_guess: false,
        };
    }
    if let Some(depth) = ingredient.depth {
        orientation.depth = depth;
    }
    orientation
}

fn default_orientation(ingredient: &Ingredient, body: &IngredientBody) -> Orientation {
    let template = &body.template;
    if let IngredientShape::Atoms {
        structure, options, ..
    } = &ingredient.shape
    {
        if let Ok(known) = MembraneProtein::from_opm_structure(structure, options) {
            return Orientation {
                up: known.up,
                depth: known.depth,
                is_guess: false,
            };
        }
        if let Ok(guess) = guess(&ingredient.name, structure, options) {
            return guess;
        }
    }
    let center = template.file_pose().position;
    Orientation {
        up: Vec3::X,
        depth: if center.length() <= template.bounding_radius() {
            center.x
        } else {
            0.0
        },
        is_guess: matches!(ingredient.shape, IngredientShape::Atoms { .. }),
    }
}

fn guess(
    name: &str,
    structure: &Structure,
    options: &crate::molecule::LoadOptions,
) -> Result<Orientation, RecipeProblem> {
    // The guess needs the radii of the elements.
    let template = Arc::new(structure.template(options)?);
    let guess = MembraneProtein::guess(name, template)?;
    Ok(Orientation {
        up: guess.up,
        depth: guess.depth,
        is_guess: true,
    })
}

/// The species of a lipid, with slim conformers.
pub(super) fn species_of(
    ingredient: &Ingredient,
    tolerance: f32,
) -> Result<Species, RecipeProblem> {
    let IngredientShape::Atoms {
        structure, options, ..
    } = &ingredient.shape
    else {
        return Err(RecipeProblem::Unsupported {
            what: format!(
                "the ratio of '{}', which has no structure file,",
                ingredient.name
            ),
            instead: "give representations.atomic, or a count in the region of the leaflet",
        });
    };
    let name = &ingredient.name;
    let residue = || {
        let template = structure.template(options).ok()?;
        known_area(template.residues().first()?.name.as_str())
    };
    let area = ingredient
        .area
        .or_else(|| known_area(name))
        .or_else(residue);
    let Some(area) = area else {
        return Err(RecipeProblem::Missing(format!(
            "expected the area of the lipid '{name}' in the block bevy_rapier_molecules, objects.{name}.area"
        )));
    };
    let structures = [Structure::clone(structure)];
    let mut species = Species::from_structures(name, &structures, options, area)?
        .take(ingredient.conformers as usize);
    if let BodyAxis::Up(up) = ingredient.axis {
        let heads = species.conformers().iter().map(|conformer| {
            let positions = conformer.template.positions().iter();
            positions.map(|point| point.dot(up)).fold(0.0, f32::max)
        });
        let head = heads.fold(0.0, f32::max);
        species = species.with_axis(up, head)?;
    }
    Ok(species.slimmed()?.with_radius(0.5 * tolerance)?)
}
