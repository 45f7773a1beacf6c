//! The rigid shape of a molecule, shared by all its copies.

use std::any::Any;
use std::fmt;
use std::sync::{Arc, OnceLock};

use glam::{DMat3, DVec3, Quat, Vec3};
use smol_str::SmolStr;
use thiserror::Error;

use super::{Element, LoadWarnings};
use crate::pose::Pose;

/// Maximum coordinate of an atom in the frame of its file, nm.
///
/// A tenth of a millimeter is larger than any structure, and keeps squares and sums of
/// coordinates far from overflow.
pub const MAX_COORDINATE_NM: f32 = 1.0e5;

/// Mass of coarse molecules per volume, Da/nm³: that of protein, 1.35 g/cm³.
pub const COARSE_DENSITY: f32 = 813.0;

/// Atom name of the balls of coarse molecules.
pub(super) const COARSE_ATOM: &str = "S";

/// Residue name of coarse molecules.
pub(super) const COARSE_RESIDUE: &str = "SPH";

/// Atoms do not make a rigid molecule.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// There are no atoms.
    #[error("molecule '{name}' has no atoms")]
    NoAtoms {
        /// Name of the molecule.
        name: String,
    },
    /// The position, radius or residue of an atom is invalid.
    #[error("atom {index} ('{atom}') of molecule '{name}' has {problem}")]
    InvalidAtom {
        /// Name of the molecule.
        name: String,
        /// Index of the atom, from 0.
        index: usize,
        /// Name of the atom.
        atom: SmolStr,
        /// The invalid value and the expected range.
        problem: String,
    },
}

/// An atom of a new [`MoleculeTemplate`].
#[derive(Clone, Debug, PartialEq)]
pub struct Atom {
    /// Position in the frame of the file, nm.
    pub position: Vec3,
    /// Collision radius, nm.
    pub radius: f32,
    /// Chemical element.
    pub element: Element,
    /// Name inside the residue, such as `CA`.
    pub name: SmolStr,
    /// Index into the list of residues.
    pub residue: u32,
}

/// A group of atoms in a structure file, such as an amino acid, a lipid or an ion.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Residue {
    /// Name, such as `ALA` or `POP`.
    pub name: SmolStr,
    /// Sequence number in the file.
    pub number: i32,
    /// Insertion code, if any.
    pub insertion_code: Option<char>,
    /// Name of the chain; empty if the file has none.
    pub chain: SmolStr,
}

/// The rigid shape of a molecule, shared by all its copies: atoms in the body frame.
///
/// The body frame has its origin at the center of mass and its axes parallel to those of the
/// file. Lengths are nm, masses dalton. Clones share their atoms.
///
/// ```
/// use bevy_rapier_molecules::molecule::{Atom, Element, MoleculeTemplate, Residue};
/// use glam::Vec3;
///
/// let atom = |name: &str, element, x| Atom {
///     position: Vec3::X * x,
///     radius: 0.1,
///     element,
///     name: name.into(),
///     residue: 0,
/// };
/// let atoms = vec![atom("C", Element::C, 1.0), atom("O", Element::O, 1.113)];
/// let residue = Residue { name: "CMO".into(), ..Residue::default() };
/// let monoxide = MoleculeTemplate::new("carbon monoxide", atoms, vec![residue])?;
///
/// assert!((monoxide.mass() - 28.01).abs() < 0.01, "dalton");
/// // The center of mass is closer to the heavier oxygen.
/// let [carbon, oxygen] = [0, 1].map(|atom| monoxide.positions()[atom].x);
/// assert!(carbon < 0.0 && oxygen > 0.0 && -carbon > oxygen, "nm");
/// assert!((monoxide.file_pose().transform_point(Vec3::X * carbon).x - 1.0).abs() < 1e-6);
/// # Ok::<(), bevy_rapier_molecules::molecule::TemplateError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(
    feature = "plugin",
    derive(bevy::asset::Asset, bevy::reflect::TypePath)
)]
pub struct MoleculeTemplate {
    name: String,
    positions: Arc<[Vec3]>,
    radii: Arc<[f32]>,
    elements: Arc<[Element]>,
    atom_names: Arc<[SmolStr]>,
    residue_indices: Arc<[u32]>,
    residues: Arc<[Residue]>,
    mass: f32,
    principal_inertia: Vec3,
    principal_axes: Quat,
    bounding_radius: f32,
    file_pose: Pose,
    load_warnings: LoadWarnings,
    derived: Derived,
}

/// Data that a higher module computes from a template, once. Clones share it. It is not part of
/// the value of the template: all are equal.
#[derive(Clone, Default)]
struct Derived(OnceLock<Arc<dyn Any + Send + Sync>>);

impl PartialEq for Derived {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Derived")
            .field(&self.0.get().is_some())
            .finish()
    }
}

impl MoleculeTemplate {
    /// Builds a template from `atoms`, moving their center of mass to the origin.
    ///
    /// # Errors
    /// [`TemplateError`] if there are no atoms, or a position, radius or residue is invalid.
    pub fn new(
        name: impl Into<String>,
        atoms: Vec<Atom>,
        residues: Vec<Residue>,
    ) -> Result<Self, TemplateError> {
        Self::with_masses(name.into(), atoms, residues, |atom| {
            f64::from(atom.element.mass())
        })
    }

    /// Builds the template of a coarse molecule: balls of equal density (center and radius, nm)
    /// instead of atoms.
    ///
    /// The mass is that of protein of the same volume, [`COARSE_DENSITY`]; where balls overlap,
    /// both count.
    ///
    /// ```
    /// use bevy_rapier_molecules::prelude::*;
    /// use glam::Vec3;
    ///
    /// let granule = MoleculeTemplate::coarse("granule", &[(Vec3::X * 3.0, 20.0)])?;
    /// assert_eq!((granule.atom_count(), granule.bounding_radius()), (1, 20.0));
    /// assert!((granule.mass() - 2.7e7).abs() < 0.1e7, "dalton");
    /// # Ok::<(), bevy_rapier_molecules::molecule::TemplateError>(())
    /// ```
    ///
    /// # Errors
    /// [`TemplateError`] if there are no balls, or a center or radius is invalid.
    pub fn coarse(name: impl Into<String>, balls: &[(Vec3, f32)]) -> Result<Self, TemplateError> {
        let atoms = balls.iter().map(|&(position, radius)| Atom {
            position,
            radius,
            element: Element::UNKNOWN,
            name: COARSE_ATOM.into(),
            residue: 0,
        });
        let residue = Residue {
            name: COARSE_RESIDUE.into(),
            number: 1,
            ..Residue::default()
        };
        Self::with_masses(name.into(), atoms.collect(), vec![residue], ball_mass)
    }

    /// Builds a template from atoms with radii of their own: a [coarse](Self::coarse) one if all of
    /// them are its balls.
    pub(super) fn new_maybe_coarse(
        name: String,
        atoms: Vec<Atom>,
        residues: Vec<Residue>,
    ) -> Result<Self, TemplateError> {
        let is_ball = |atom: &Atom| {
            let residue = residues.get(atom.residue as usize);
            atom.element == Element::UNKNOWN
                && atom.name == COARSE_ATOM
                && residue.is_some_and(|residue| residue.name == COARSE_RESIDUE)
        };
        if atoms.iter().all(is_ball) {
            Self::with_masses(name, atoms, residues, ball_mass)
        } else {
            Self::new(name, atoms, residues)
        }
    }

    fn with_masses(
        name: String,
        atoms: Vec<Atom>,
        residues: Vec<Residue>,
        mass_of: impl Fn(&Atom) -> f64,
    ) -> Result<Self, TemplateError> {
        if atoms.is_empty() {
            return Err(TemplateError::NoAtoms { name });
        }
        for (index, atom) in atoms.iter().enumerate() {
            if let Some(problem) = problem_of(atom, residues.len()) {
                let atom = atom.name.clone();
                return Err(TemplateError::InvalidAtom {
                    name,
                    index,
                    atom,
                    problem,
                });
            }
        }

        let mass: f64 = atoms.iter().map(&mass_of).sum();
        let center = atoms
            .iter()
            .map(|atom| atom.position.as_dvec3() * mass_of(atom))
            .sum::<DVec3>()
            / mass;
        let positions: Arc<[Vec3]> = atoms
            .iter()
            .map(|atom| (atom.position.as_dvec3() - center).as_vec3())
            .collect();
        let (principal_inertia, principal_axes) =
            principal_frame(inertia_tensor(&atoms, &positions, mass_of));
        let radii: Arc<[f32]> = atoms.iter().map(|atom| atom.radius).collect();

        Ok(Self {
            bounding_radius: bounding_radius(&positions, &radii),
            positions,
            radii,
            elements: atoms.iter().map(|atom| atom.element).collect(),
            residue_indices: atoms.iter().map(|atom| atom.residue).collect(),
            atom_names: atoms.into_iter().map(|atom| atom.name).collect(),
            residues: residues.into(),
            mass: mass as f32,
            principal_inertia,
            principal_axes,
            file_pose: Pose::from_translation(center.as_vec3()),
            load_warnings: LoadWarnings::default(),
            derived: Derived::default(),
            name,
        })
    }

    /// The same molecule with every radius set to `radius` nm.
    ///
    /// With half a distance as radius, atoms overlap if they are closer than that distance. Mass
    /// and inertia do not change.
    ///
    /// # Errors
    /// [`TemplateError::InvalidAtom`] if `radius` is not between 0 and [`MAX_COORDINATE_NM`].
    pub fn with_uniform_radius(self, radius: f32) -> Result<Self, TemplateError> {
        self.with_radii(|_| radius)
    }

    /// The same molecule with every radius multiplied by `factor`. Mass and inertia do not change.
    ///
    /// # Errors
    /// [`TemplateError::InvalidAtom`] if a radius is then not between 0 and
    /// [`MAX_COORDINATE_NM`].
    pub fn with_scaled_radii(self, factor: f32) -> Result<Self, TemplateError> {
        self.with_radii(|radius| radius * factor)
    }

    fn with_radii(mut self, new_radius: impl Fn(f32) -> f32) -> Result<Self, TemplateError> {
        self.radii = self
            .radii
            .iter()
            .map(|radius| new_radius(*radius))
            .collect();
        for (index, radius) in self.radii.iter().enumerate() {
            if let Some(problem) = radius_problem(*radius) {
                return Err(TemplateError::InvalidAtom {
                    name: self.name,
                    index,
                    atom: self.atom_names[index].clone(),
                    problem,
                });
            }
        }
        self.bounding_radius = bounding_radius(&self.positions, &self.radii);
        self.derived = Derived::default();
        Ok(self)
    }

    /// The same atoms at other positions in this body frame, nm, and their center of mass in it.
    pub(super) fn with_positions(
        &self,
        positions: &[DVec3],
    ) -> Result<(Self, Vec3), TemplateError> {
        let atoms = positions.iter().enumerate().map(|(index, position)| Atom {
            position: position.as_vec3(),
            radius: self.radii[index],
            element: self.elements[index],
            name: self.atom_names[index].clone(),
            residue: self.residue_indices[index],
        });
        let moved =
            Self::new_maybe_coarse(self.name.clone(), atoms.collect(), self.residues.to_vec())?;
        let center = moved.file_pose.position;
        let file_pose = self.file_pose * moved.file_pose;
        let load_warnings = self.load_warnings;
        Ok((
            Self {
                file_pose,
                load_warnings,
                ..moved
            },
            center,
        ))
    }

    /// The data that `build` computes from this template, on the first call; later calls, also of
    /// clones, return the same. A template has room for one type of data.
    #[cfg(feature = "plugin")]
    pub(crate) fn derived<T: Send + Sync + 'static>(&self, build: impl Fn() -> T) -> Arc<T> {
        let derived = self.derived.0.get_or_init(|| Arc::new(build()));
        let derived = Arc::clone(derived).downcast();
        derived.unwrap_or_else(|_| Arc::new(build()))
    }

    pub(super) fn set_load_warnings(&mut self, warnings: LoadWarnings) {
        self.load_warnings = warnings;
    }

    /// Name of the molecule, usually that of its file.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Number of atoms, at least one.
    #[must_use]
    pub fn atom_count(&self) -> usize {
        self.positions.len()
    }

    /// Atom centers in the body frame, nm.
    #[must_use]
    pub fn positions(&self) -> &[Vec3] {
        &self.positions
    }

    /// Collision radii of the atoms, nm.
    #[must_use]
    pub fn radii(&self) -> &[f32] {
        &self.radii
    }

    /// Elements of the atoms.
    #[must_use]
    pub fn elements(&self) -> &[Element] {
        &self.elements
    }

    /// Names of the atoms inside their residues.
    #[must_use]
    pub fn atom_names(&self) -> &[SmolStr] {
        &self.atom_names
    }

    /// Residue of each atom, as an index into [`residues`](Self::residues).
    #[must_use]
    pub fn residue_indices(&self) -> &[u32] {
        &self.residue_indices
    }

    /// The residues, in file order.
    #[must_use]
    pub fn residues(&self) -> &[Residue] {
        &self.residues
    }

    /// The residue of the atom with this index.
    ///
    /// # Panics
    /// If the index is out of range.
    #[must_use]
    pub fn residue_of(&self, atom: usize) -> &Residue {
        &self.residues[self.residue_indices[atom] as usize]
    }

    /// Total mass, dalton.
    #[must_use]
    pub fn mass(&self) -> f32 {
        self.mass
    }

    /// Principal moments of inertia about the center of mass, Da·nm², in ascending order.
    ///
    /// Each atom is a solid ball, so even a single atom has inertia.
    #[must_use]
    pub fn principal_inertia(&self) -> Vec3 {
        self.principal_inertia
    }

    /// Rotation from the principal frame to the body frame.
    #[must_use]
    pub fn principal_axes(&self) -> Quat {
        self.principal_axes
    }

    /// Radius of the sphere about the center of mass that contains all atoms, nm.
    #[must_use]
    pub fn bounding_radius(&self) -> f32 {
        self.bounding_radius
    }

    /// The pose of the molecule in the frame of its file.
    #[must_use]
    pub fn file_pose(&self) -> Pose {
        self.file_pose
    }

    /// How many values of the file of the molecule were replaced by defaults.
    #[must_use]
    pub fn load_warnings(&self) -> LoadWarnings {
        self.load_warnings
    }
}

/// The spheres of a molecule in its body frame: its atoms, or proxies for them.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BodySpheres<'a> {
    /// Centers in the body frame, nm.
    pub centers: &'a [Vec3],
    /// Radii, nm, one per center.
    pub radii: &'a [f32],
}

impl<'a> From<&'a MoleculeTemplate> for BodySpheres<'a> {
    /// The atoms of a template.
    fn from(template: &'a MoleculeTemplate) -> Self {
        Self {
            centers: template.positions(),
            radii: template.radii(),
        }
    }
}

/// The name of an atom in its file. Displayed as `HIS 68 A ND1`: residue, number, chain, atom;
/// missing names are omitted.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub struct AtomLabel {
    /// The residue of the atom.
    pub residue: Residue,
    /// Name of the atom inside the residue, such as `CA`.
    pub atom: SmolStr,
    /// Chemical element.
    pub element: Element,
}

impl AtomLabel {
    /// The label of the atom with this index, or `None` if it is out of range.
    #[must_use]
    pub fn new(template: &MoleculeTemplate, atom: usize) -> Option<Self> {
        let residue = *template.residue_indices().get(atom)?;
        Some(Self {
            residue: template.residues().get(residue as usize)?.clone(),
            atom: template.atom_names().get(atom)?.clone(),
            element: *template.elements().get(atom)?,
        })
    }
}

impl fmt::Display for AtomLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let residue = &self.residue;
        if !residue.name.is_empty() {
            write!(f, "{} ", residue.name)?;
        }
        write!(f, "{}", residue.number)?;
        if let Some(code) = residue.insertion_code {
            write!(f, "{code}")?;
        }
        for part in [&residue.chain, &self.atom] {
            if !part.is_empty() {
                write!(f, " {part}")?;
            }
        }
        Ok(())
    }
}

/// Mass of a ball of a coarse molecule, dalton.
fn ball_mass(ball: &Atom) -> f64 {
    let volume = 4.0 / 3.0 * std::f64::consts::PI * f64::from(ball.radius).powi(3);
    f64::from(COARSE_DENSITY) * volume
}

fn radius_problem(radius: f32) -> Option<String> {
    let is_valid = radius > 0.0 && radius <= MAX_COORDINATE_NM;
    (!is_valid)
        .then(|| format!("radius {radius} nm, expected between 0 and {MAX_COORDINATE_NM} nm"))
}

fn problem_of(atom: &Atom, residues: usize) -> Option<String> {
    let (position, residue) = (atom.position, atom.residue);
    if !(position.is_finite() && position.abs().max_element() <= MAX_COORDINATE_NM) {
        return Some(format!(
            "position {position} nm, expected finite coordinates of at most {MAX_COORDINATE_NM} nm"
        ));
    }
    if residue as usize >= residues {
        return Some(format!(
            "residue index {residue}, expected less than {residues}"
        ));
    }
    radius_problem(atom.radius)
}

fn bounding_radius(positions: &[Vec3], radii: &[f32]) -> f32 {
    let atoms = positions.iter().zip(radii);
    atoms
        .map(|(position, radius)| position.length() + radius)
        .fold(0.0, f32::max)
}

/// Sum over all atoms of the inertia of a solid ball, `2/5 m r²`, shifted to its position by the
/// parallel axis theorem, `m (|p|² 1 − p pᵀ)`.
fn inertia_tensor(atoms: &[Atom], positions: &[Vec3], mass_of: impl Fn(&Atom) -> f64) -> DMat3 {
    let mut inertia = DMat3::ZERO;
    for (atom, position) in atoms.iter().zip(positions) {
        let mass = mass_of(atom);
        let p = position.as_dvec3();
        let own = 0.4 * f64::from(atom.radius).powi(2);
        let diagonal = DMat3::from_diagonal(DVec3::splat(p.length_squared() + own));
        let outer = DMat3::from_cols(p * p.x, p * p.y, p * p.z);
        inertia += (diagonal - outer) * mass;
    }
    inertia
}

/// Principal moments in ascending order, and the rotation from the principal to the body frame.
fn principal_frame(inertia: DMat3) -> (Vec3, Quat) {
    let matrix = nalgebra::Matrix3::from_column_slice(&inertia.to_cols_array());
    let eigen = nalgebra::SymmetricEigen::new(matrix);
    let mut order = [0, 1, 2];
    order.sort_by(|&a, &b| eigen.eigenvalues[a].total_cmp(&eigen.eigenvalues[b]));
    let column = |k: usize| {
        let v = eigen.eigenvectors.column(order[k]);
        DVec3::new(v[0], v[1], v[2])
    };
    let (x, y) = (column(0), column(1));
    // The third axis by cross product, so that the frame is right-handed.
    let axes = DMat3::from_cols(x, y, x.cross(y));
    let moments = order.map(|k| eigen.eigenvalues[k] as f32);
    (
        Vec3::from_array(moments),
        glam::DQuat::from_mat3(&axes).as_quat().normalize(),
    )
}
