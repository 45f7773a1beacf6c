//! From a file of bentopy to a [`Recipe`]: compartments, ingredients, numbers.

use std::collections::HashMap;
use std::f32::consts::TAU;
use std::path::Path;
use std::sync::Arc;

use glam::Vec3;

use super::bent::{BentFile, Quantity, Segment};
use super::bent_space::BentSpace;
use super::defaults;
use super::error::RecipeProblem;
use super::files::FileFinder;
use super::model::{
    BodyAxis, Compartment, Entry, Ingredient, IngredientShape, Region, RotationRange,
};
use super::{Distribution, Recipe, RecipeError, RecipeWarning};
use crate::molecule::{Element, LoadOptions, MoleculeTemplate, Structure};
use crate::scene_files::Topology;

/// Name of the box in reports.
const BOX: &str = "box";

/// Atoms per residue below which a structure without hydrogens is taken for a coarse-grained one.
const FEW_ATOMS: usize = 3;

/// Distance of beads of coarse-grained molecules, nm: twice the default radius of bentopy.
const COARSE_TOLERANCE: &str = "0.4";

struct Resolver<'a> {
    file: &'a BentFile,
    source: &'a str,
    files: &'a FileFinder<'a>,
    space: BentSpace<'a>,
    recipe: Recipe,
    /// Index of each compartment by the ids it is the union of, sorted.
    compartments: HashMap<Vec<&'a str>, usize>,
    structures: HashMap<&'a str, Arc<Structure>>,
}

/// Resolves a file; `source` is its name.
pub(super) fn resolve(
    file: &BentFile,
    source: &str,
    files: &FileFinder<'_>,
) -> Result<Recipe, RecipeError> {
    let is_periodic = file.space.periodic.unwrap_or(true);
    let stem = Path::new(source).file_stem().unwrap_or_default();
    let title = file.general.title.as_deref().unwrap_or_default().trim();
    let name = if title.is_empty() {
        stem.to_string_lossy().into_owned()
    } else {
        title.to_owned()
    };
    let mut resolver = Resolver {
        file,
        source,
        files,
        space: BentSpace::new(file, source, is_periodic),
        recipe: Recipe {
            source: source.to_owned(),
            name,
            seed: file.general.seed,
            bounds: [Vec3::ZERO; 2],
            periodic: is_periodic,
            tolerance: defaults::TOLERANCE,
            includes: file.includes.clone(),
            ingredients: Vec::new(),
            compartments: Vec::new(),
            entries: Vec::new(),
            saved: Vec::new(),
            saved_joints: Vec::new(),
            warnings: Vec::new(),
            document: None,
        },
        compartments: HashMap::new(),
        structures: HashMap::new(),
    };
    resolver.set_box()?;
    resolver.set_tolerance()?;
    for segment in &file.segments {
        resolver.add_segment(segment)?;
    }
    Ok(resolver.recipe)
}

/// Asks for the structure files of all segments.
pub(super) fn request_files(file: &BentFile, files: &FileFinder<'_>) {
    for segment in &file.segments {
        files.request_structure(None, &segment.path);
    }
}

impl<'a> Resolver<'a> {
    fn error(&self, place: impl Into<String>, problem: impl Into<RecipeProblem>) -> RecipeError {
        problem.into().at(self.source, place)
    }

    fn warn(&mut self, place: impl Into<String>, text: impl Into<String>) {
        let (place, text) = (place.into(), text.into());
        let warning = RecipeWarning { place, text };
        if !self.recipe.warnings.contains(&warning) {
            self.recipe.warnings.push(warning);
        }
    }

    /// A length in nm that is in range.
    fn length(&self, value: f64, what: &'static str, place: &str) -> Result<f32, RecipeError> {
        let nm = value as f32;
        if nm > 0.0 && nm <= defaults::MAX_LENGTH_NM {
            return Ok(nm);
        }
        let problem = RecipeProblem::OutOfRange {
            what,
            allowed: "positive and at most 0.1 mm",
            value: value.to_string(),
        };
        Err(self.error(place, problem))
    }

    fn set_box(&mut self) -> Result<(), RecipeError> {
        let mut size = [0.0; 3];
        for (size, edge) in size.iter_mut().zip(self.file.space.dimensions) {
            *size = self.length(edge, "an edge of the box", "space.dimensions")?;
        }
        self.recipe.bounds = [Vec3::ZERO, Vec3::from_array(size)];
        self.recipe.compartments.push(Compartment {
            name: BOX.to_owned(),
            place: "space".to_owned(),
            parent: None,
            surface: None,
            bounds: self.recipe.bounds,
            leaflets: [Vec::new(), Vec::new()],
            area_scale: 1.0,
        });
        Ok(())
    }

    fn set_tolerance(&mut self) -> Result<(), RecipeError> {
        if let Some(radius) = self.file.general.bead_radius {
            let radius = self.length(radius, "the radius of beads", "general.bead-radius")?;
            self.recipe.tolerance = 2.0 * radius;
        }
        Ok(())
    }

    fn add_segment(&mut self, segment: &'a Segment) -> Result<(), RecipeError> {
        let place = format!("segments.{}", segment.name);
        let (count, molarity) = self.quantity(segment.quantity, &place)?;
        let ingredient = Ingredient {
            name: segment.name.clone(),
            place: place.clone(),
            shape: self.atoms(segment, &place)?,
            axis: BodyAxis::Unknown,
            depth: None,
            area: None,
            conformers: defaults::CONFORMERS,
            keep_pore_empty: true,
            rotation: self.rotation_range(segment, &place)?,
            tilt: defaults::TILT as f32,
            color: None,
            topology: Topology {
                molecule_type: Some(segment.name.clone()),
                ..Topology::default()
            },
            fiber: None,
        };
        let name = match &segment.tag {
            Some(tag) => format!("{}:{tag}", segment.name),
            None => segment.name.clone(),
        };
        let entry = Entry {
            name,
            ingredient: self.recipe.ingredients.len(),
            compartment: self.compartment(segment, &place)?,
            place,
            region: Region::Interior,
            count: Distribution::Constant(count),
            molarity,
            sizes: None,
            priority: 0.0,
            gradients: Vec::new(),
            partners: Vec::new(),
            close: false,
            cutoff_boundary: None,
            cutoff_surface: None,
            places: Vec::new(),
            fixed: false,
            fiber: None,
            rule: None,
        };
        self.recipe.ingredients.push(ingredient);
        self.recipe.entries.push(entry);
        Ok(())
    }

    /// The number of molecules and their concentration, mol/l.
    fn quantity(&self, quantity: Quantity, place: &str) -> Result<(f64, f64), RecipeError> {
        let out_of_range = |what, allowed, value: String| {
            let problem = RecipeProblem::OutOfRange {
                what,
                allowed,
                value,
            };
            Err(self.error(place, problem))
        };
        match quantity {
            Quantity::Number(number) if number as f64 <= defaults::MAX_COUNT => {
                Ok((number as f64, 0.0))
            }
            Quantity::Number(number) => {
                out_of_range("a count", "from 0 to 100,000,000", number.to_string())
            }
            Quantity::Molarity(molarity) if molarity.is_finite() && molarity >= 0.0 => {
                Ok((0.0, molarity))
            }
            Quantity::Molarity(molarity) => {
                out_of_range("molarity", "at least 0 mol/l", molarity.to_string())
            }
        }
    }

    /// The structure file of a segment.
    fn atoms(&mut self, segment: &'a Segment, place: &str) -> Result<IngredientShape, RecipeError> {
        let options = LoadOptions::default();
        let path = &*segment.path;
        let structure = match self.structures.get(path) {
            Some(known) => known.clone(),
            None => {
                let lower = path.to_ascii_lowercase();
                if lower.trim_end_matches(".gz").ends_with(".gro") {
                    let problem = RecipeProblem::Unsupported {
                        what: format!("the structure file '{path}'"),
                        instead: "convert it to PDB, such as with gmx editconf",
                    };
                    return Err(self.error(place, problem));
                }
                let read = self.files.structure(None, path);
                let read = read.map_err(|problem| self.error(place, problem))?;
                let template = read.template(&options);
                let template = template.map_err(|error| self.error(place, error))?;
                if self.file.general.bead_radius.is_none() && is_coarse(&template) {
                    let text = format!(
                        "'{path}' looks coarse-grained; give bead-radius, since atoms of different molecules stay only {} nm apart, but beads need {COARSE_TOLERANCE}",
                        defaults::TOLERANCE
                    );
                    self.warn(place, text);
                }
                self.structures.insert(path, read.clone());
                read
            }
        };
        Ok(IngredientShape::Atoms {
            structure,
            options,
            proxies: None,
        })
    }

    /// The rotations that all rules of a segment allow.
    fn rotation_range(
        &mut self,
        segment: &Segment,
        place: &str,
    ) -> Result<RotationRange, RecipeError> {
        let mut allowed = [true; 3];
        for rule in &segment.rules {
            let Some(constraint) = self.file.constraint(rule) else {
                let problem = RecipeProblem::UnknownName {
                    kind: "constraint",
                    name: rule.clone(),
                    suggestion: None,
                };
                return Err(self.error(place, problem));
            };
            for (allowed, rotates) in allowed.iter_mut().zip(constraint.rotates) {
                *allowed &= rotates;
            }
        }
        let about = |axis| RotationRange::About { axis, range: TAU };
        Ok(match allowed {
            [true, true, true] => RotationRange::Any,
            [false, false, false] => RotationRange::None,
            [true, false, false] => about(Vec3::X),
            [false, true, false] => about(Vec3::Y),
            [false, false, true] => about(Vec3::Z),
            _ => {
                let rules = segment.rules.join(", ");
                let text = format!(
                    "rotations about two axes ({rules}) are not supported; any rotation is allowed"
                );
                self.warn(place, text);
                RotationRange::Any
            }
        })
    }

    /// The union of the compartments of a segment.
    fn compartment(&mut self, segment: &'a Segment, place: &str) -> Result<usize, RecipeError> {
        let mut ids: Vec<&str> = segment.compartments.iter().map(String::as_str).collect();
        let name = ids.join("+");
        ids.sort_unstable();
        ids.dedup();
        if let Some(known) = self.compartments.get(&ids) {
            return Ok(*known);
        }
        let mut solids = Vec::with_capacity(ids.len());
        for id in &ids {
            solids.push(self.space.resolve(id)?);
        }
        let solid = self.space.solids.union(&solids);
        let index = if self.space.solids.is_everything(solid) {
            0
        } else {
            // A union of several is not in the file.
            let place = match *ids {
                [only] => format!("compartments.{only}"),
                _ => place.to_owned(),
            };
            let surface = self.space.solids.surface(solid);
            let (surface, bounds) = surface.map_err(|error| self.error(&*place, error))?;
            self.recipe.compartments.push(Compartment {
                name,
                place,
                parent: None,
                surface: Some(surface),
                bounds,
                leaflets: [Vec::new(), Vec::new()],
                area_scale: 1.0,
            });
            self.recipe.compartments.len() - 1
        };
        self.compartments.insert(ids, index);
        Ok(index)
    }
}

/// Whether a structure seems to have a bead for several atoms.
fn is_coarse(template: &MoleculeTemplate) -> bool {
    let residues = template.residues().len();
    let has_hydrogens = template.elements().contains(&Element::H);
    residues > 1 && !has_hydrogens && template.atom_count() < FEW_ATOMS * residues
}
