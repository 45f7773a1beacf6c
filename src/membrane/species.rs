//! [`Species`]: a kind of lipid, with its conformers and the area of a molecule.

use std::path::Path;
use std::sync::Arc;

use glam::Vec3;
use rayon::prelude::*;

use super::{MembraneError, slim};
use crate::compartment::{bilayer_depth_along, up_and_head};
use crate::molecule::{LoadOptions, MoleculeTemplate, SplitBy, Structure, load_structure};

/// Areas of a molecule in a fluid bilayer, nm²: typical values of the literature, rounded. They
/// depend on temperature and on the other lipids; cholesterol in particular makes them smaller.
const KNOWN_AREAS: [(&[&str], f32); 17] = [
    (&["POPC"], 0.65),
    (&["POPE"], 0.58),
    (&["POPS"], 0.60),
    (&["POPG"], 0.66),
    (&["POPI", "SAPI"], 0.66),
    (&["DPPC"], 0.63),
    (&["DPPE"], 0.57),
    (&["DOPC"], 0.68),
    (&["DOPE"], 0.61),
    (&["DOPS"], 0.65),
    (&["DLPC"], 0.61),
    (&["DMPC"], 0.60),
    (&["DSPC"], 0.66),
    (&["PSM", "SM", "sphingomyelin"], 0.53),
    (&["SSM"], 0.55),
    (&["CHL1", "CHOL", "CHL", "CLR", "cholesterol"], 0.38),
    (&["cardiolipin", "TOCL", "TOCL2", "CDL", "CL"], 1.1),
];

/// Area of a molecule (nm²) of a well-known lipid in a fluid bilayer, by its usual name in capital
/// or small letters.
///
/// ```
/// use bevy_rapier_molecules::membrane::known_area;
///
/// assert_eq!(known_area("popc"), Some(0.65));
/// assert_eq!(known_area("Cholesterol"), known_area("CHL1"));
/// assert_eq!(known_area("water"), None);
/// ```
#[must_use]
pub fn known_area(name: &str) -> Option<f32> {
    let is_known = |names: &[&str]| names.iter().any(|known| known.eq_ignore_ascii_case(name));
    let known = KNOWN_AREAS.iter().find(|(names, _)| is_known(names));
    known.map(|(_, area)| *area)
}

/// Width of a slim conformer (root mean square distance of its atoms from the axis), as a fraction
/// of the root of its area. With 0.34, POPC jams at 0.65 nm² a lipid; with 0.32 it relaxes in about
/// 100 iterations.
const SLIMNESS: f64 = 0.32;

/// One shape of a lipid, and how it sits in a leaflet.
#[derive(Clone, Debug, PartialEq)]
pub struct Conformer {
    /// Its atoms.
    pub template: Arc<MoleculeTemplate>,
    /// Direction from tail to head, a unit vector in the body frame.
    pub up: Vec3,
    /// Distance of the center of mass from the mid-surface, toward the side of the leaflet, nm.
    pub depth: f32,
    /// Height of the head above the center of mass, along `up`, nm.
    pub head_height: f32,
}

impl Conformer {
    /// A conformer along its longest axis, at the depth at which the tails of two leaflets meet.
    #[must_use]
    pub fn new(template: Arc<MoleculeTemplate>) -> Self {
        let (up, head_height) = up_and_head(&template);
        Self::along(template, up, head_height)
    }

    fn along(template: Arc<MoleculeTemplate>, up: Vec3, head_height: f32) -> Self {
        let depth = bilayer_depth_along(&template, up, head_height);
        Self {
            template,
            up,
            depth,
            head_height,
        }
    }

    /// The atom whose height is closest to that of the head.
    fn head_atom(&self) -> usize {
        let positions = self.template.positions().iter();
        let apart = positions.map(|point| (point.dot(self.up) - self.head_height).abs());
        let closest = apart.enumerate().min_by(|a, b| a.1.total_cmp(&b.1));
        closest.map_or(0, |(atom, _)| atom)
    }
}

/// A kind of lipid: conformers that may replace each other, and the area of a molecule.
///
/// ```
/// use bevy_rapier_molecules::membrane::Species;
/// use bevy_rapier_molecules::molecule::LoadOptions;
///
/// let options = LoadOptions::default();
/// // The models of the file are the conformers.
/// let popc = Species::load("POPC", &["assets/lipids/popc_conformers.pdb"], &options, 0.65)?
///     .take(8)
///     // Atoms overlap if their centers are closer than 0.2 nm.
///     .with_radius(0.1)?;
/// assert_eq!(popc.conformers().len(), 8);
/// assert!((1.6..2.2).contains(&popc.head_distance()), "nm from the mid-surface");
/// # Ok::<(), bevy_rapier_molecules::membrane::MembraneError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Species {
    name: String,
    conformers: Vec<Conformer>,
    area: f32,
}

impl Species {
    /// A species with one conformer per template, along its longest axis, and the area of a
    /// molecule, nm² (see [`known_area`]).
    ///
    /// # Errors
    /// [`MembraneError`] if there are no templates, their numbers of atoms differ, or the area is
    /// not positive.
    pub fn new(
        name: impl Into<String>,
        templates: Vec<Arc<MoleculeTemplate>>,
        area: f32,
    ) -> Result<Self, MembraneError> {
        let conformers = templates.into_iter().map(Conformer::new).collect();
        Self::from_conformers(name, conformers, area)
    }

    /// A species with given conformers and the area of a molecule, nm².
    ///
    /// # Errors
    /// As [`new`](Self::new), and if the axis or a height of a conformer is invalid.
    pub fn from_conformers(
        name: impl Into<String>,
        conformers: Vec<Conformer>,
        area: f32,
    ) -> Result<Self, MembraneError> {
        let species = Self {
            name: name.into(),
            conformers,
            area,
        };
        species.checked()
    }

    /// A species from structure files. Each model of each file is a conformer, unless the options
    /// select one.
    ///
    /// # Errors
    /// As [`new`](Self::new), and if a file is missing or invalid.
    pub fn load(
        name: impl Into<String>,
        paths: &[impl AsRef<Path>],
        options: &LoadOptions,
        area: f32,
    ) -> Result<Self, MembraneError> {
        let structures = paths.iter().map(|path| load_structure(path, options));
        let structures: Vec<Structure> = structures.collect::<Result<_, _>>()?;
        Self::from_structures(name, &structures, options, area)
    }

    /// As [`load`](Self::load), for files that are already read, such as bytes in the program.
    ///
    /// # Errors
    /// As [`new`](Self::new), and if no atom of a structure is selected.
    pub fn from_structures(
        name: impl Into<String>,
        structures: &[Structure],
        options: &LoadOptions,
        area: f32,
    ) -> Result<Self, MembraneError> {
        let mut templates = Vec::new();
        for structure in structures {
            let models = structure.split_by(SplitBy::Model, options)?;
            templates.extend(models.into_iter().map(|model| model.template));
        }
        Self::new(name, templates, area)
    }

    /// The same species with every collision radius set to `radius` nm: half of the distance below
    /// which atoms overlap.
    ///
    /// # Errors
    /// [`MembraneError::Template`] if the radius is not positive.
    pub fn with_radius(mut self, radius: f32) -> Result<Self, MembraneError> {
        for conformer in &mut self.conformers {
            let template = MoleculeTemplate::clone(&conformer.template);
            conformer.template = Arc::new(template.with_uniform_radius(radius)?);
        }
        Ok(self)
    }

    /// The same species with a given axis for all conformers: `up` points from tail to head (body
    /// frame, any length), and the heads are `head_height` nm above the centers of mass.
    ///
    /// # Errors
    /// [`MembraneError::BadConformer`] if `up` has no direction or the height is not finite.
    pub fn with_axis(mut self, up: Vec3, head_height: f32) -> Result<Self, MembraneError> {
        let unit = crate::compartment::direction(up).unwrap_or(up);
        for conformer in &mut self.conformers {
            *conformer = Conformer::along(Arc::clone(&conformer.template), unit, head_height);
        }
        self.checked()
    }

    /// The same species with conformers that are slim enough to pack at its area.
    ///
    /// Bent conformers jam at about 0.8 nm² a lipid, as they are rigid. This turns single bonds,
    /// no more than needed, until the root mean square distance of the atoms from the axis is at
    /// most 0.32 times the root of the area: 0.26 nm for POPC. Bond lengths, bond angles, rings,
    /// double bonds and chirality are kept. Slim conformers are not changed, and the same
    /// conformer always gives the same result. Set axis and area before.
    ///
    /// # Errors
    /// [`MembraneError::Template`] if a conformer cannot be rebuilt from its atoms.
    pub fn slimmed(mut self) -> Result<Self, MembraneError> {
        let target = SLIMNESS * f64::from(self.area).sqrt();
        let slim = |(index, conformer): (usize, &Conformer)| {
            let Conformer { template, up, .. } = conformer;
            if slim::width(template, *up) <= target {
                return Ok(conformer.clone());
            }
            let head = conformer.head_atom();
            let template = slim::slimmed(template, *up, target, index as u64)?;
            let head_height = template.positions()[head].dot(*up);
            Ok(Conformer::along(Arc::new(template), *up, head_height))
        };
        let conformers = self.conformers.par_iter().enumerate();
        self.conformers = conformers.map(slim).collect::<Result<_, MembraneError>>()?;
        self.checked()
    }

    /// The same species with its first `count` conformers, or all if there are fewer.
    #[must_use]
    pub fn take(mut self, count: usize) -> Self {
        self.conformers.truncate(count);
        self
    }

    /// Name of the species.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The conformers.
    #[must_use]
    pub fn conformers(&self) -> &[Conformer] {
        &self.conformers
    }

    /// Area of a molecule in the plane of its leaflet, nm².
    #[must_use]
    pub fn area(&self) -> f32 {
        self.area
    }

    /// Distance of the heads from the mid-surface, nm: the mean over the conformers, or 0 without
    /// any.
    #[must_use]
    pub fn head_distance(&self) -> f32 {
        let heads = self.conformers.iter().map(|c| c.depth + c.head_height);
        heads.sum::<f32>() / self.conformers.len().max(1) as f32
    }

    /// The species, if it is valid.
    pub(super) fn checked(self) -> Result<Self, MembraneError> {
        self.check()?;
        Ok(self)
    }

    pub(super) fn check(&self) -> Result<(), MembraneError> {
        let species = || self.name.clone();
        let Some(first) = self.conformers.first() else {
            return Err(MembraneError::NoConformers { species: species() });
        };
        if !(self.area.is_finite() && self.area > 0.0) {
            let area = self.area;
            return Err(MembraneError::BadArea {
                species: species(),
                area,
            });
        }
        let expected = first.template.atom_count();
        for (conformer, shape) in self.conformers.iter().enumerate() {
            let atoms = shape.template.atom_count();
            if atoms != expected {
                return Err(MembraneError::UnequalConformers {
                    species: species(),
                    conformer,
                    atoms,
                    expected,
                });
            }
            let is_placed = shape.depth.is_finite() && shape.head_height.is_finite();
            if !(is_placed && shape.up.is_normalized()) {
                return Err(MembraneError::BadConformer {
                    species: species(),
                    conformer,
                    up: shape.up,
                    depth: shape.depth,
                    head_height: shape.head_height,
                });
            }
        }
        let head = self.head_distance();
        // False for NaN.
        let is_above = head > 0.0;
        if !is_above {
            return Err(MembraneError::HeadInMidSurface {
                species: species(),
                head,
            });
        }
        Ok(())
    }
}
