//! The rigid shape that many molecules of a scene share.

use glam::{DMat3, DVec3, Quat, Vec3};
use smol_str::SmolStr;
use thiserror::Error;

use super::Element;
use crate::pose::Pose;

/// Largest distance from the file's origin that an atom may have, nm.
///
/// A tenth of a millimeter: no structure file holds anything larger, and it
/// keeps squares and sums of coordinates far away from overflow.
pub const MAX_COORDINATE_NM: f32 = 1.0e5;

/// Why a set of atoms is not a rigid molecule.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum TemplateError {
    /// There is nothing to build from.
    #[error("molecule '{name}' has no atoms")]
    NoAtoms {
        /// Name of the molecule.
        name: String,
    },
    /// A position is NaN, infinite or further out than [`MAX_COORDINATE_NM`].
    #[error(
        "atom {index} ('{atom}') of molecule '{name}' has an impossible position {position} nm"
    )]
    BadPosition {
        /// Name of the molecule.
        name: String,
        /// Index of the atom, from 0.
        index: usize,
        /// Name of the atom.
        atom: SmolStr,
        /// The position that was given, nm.
        position: Vec3,
    },
    /// A radius is zero, negative, not finite or larger than [`MAX_COORDINATE_NM`].
    #[error(
        "atom {index} ('{atom}') of molecule '{name}' has radius {radius} nm, which is not between 0 and {MAX_COORDINATE_NM} nm"
    )]
    BadRadius {
        /// Name of the molecule.
        name: String,
        /// Index of the atom, from 0.
        index: usize,
        /// Name of the atom.
        atom: SmolStr,
        /// The radius that was given, nm.
        radius: f32,
    },
    /// An atom names a residue that is not in the list.
    #[error(
        "atom {index} of molecule '{name}' belongs to residue {residue}, but there are {residues}, counted from 0"
    )]
    BadResidue {
        /// Name of the molecule.
        name: String,
        /// Index of the atom, from 0.
        index: usize,
        /// The residue index that was given.
        residue: u32,
        /// How many residues there are.
        residues: usize,
    },
}

/// One atom on its way into a [`MoleculeTemplate`].
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

/// What a group of atoms is called in a structure file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Residue {
    /// Name, such as `ALA` or `POP`.
    pub name: SmolStr,
    /// Sequence number in the file.
    pub number: i32,
    /// Insertion code, if the file has one.
    pub insertion_code: Option<char>,
    /// Chain, empty if the file has none.
    pub chain: SmolStr,
}

/// The rigid shape that many molecules share: atoms in the body frame.
///
/// The body frame has its origin at the center of mass and its axes parallel to
/// those of the file. Lengths are nm, masses dalton.
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
/// // The origin of the body frame is the center of mass, nearer to the heavier oxygen.
/// let [carbon, oxygen] = [0, 1].map(|atom| monoxide.positions()[atom].x);
/// assert!(carbon < 0.0 && oxygen > 0.0 && -carbon > oxygen, "nm");
/// assert!((monoxide.file_pose().transform_point(Vec3::X * carbon).x - 1.0).abs() < 1e-6);
/// # Ok::<(), bevy_rapier_molecules::molecule::TemplateError>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MoleculeTemplate {
    name: String,
    positions: Vec<Vec3>,
    radii: Vec<f32>,
    elements: Vec<Element>,
    atom_names: Vec<SmolStr>,
    residue_indices: Vec<u32>,
    residues: Vec<Residue>,
    mass: f32,
    inertia: DMat3,
    principal_inertia: Vec3,
    principal_axes: Quat,
    bounding_radius: f32,
    file_pose: Pose,
}

impl MoleculeTemplate {
    /// Builds the template of `atoms`, moving their center of mass to the origin.
    ///
    /// # Errors
    /// [`TemplateError`] if there are no atoms, or one of them has an impossible
    /// position, radius or residue.
    pub fn new(
        name: impl Into<String>,
        atoms: Vec<Atom>,
        residues: Vec<Residue>,
    ) -> Result<Self, TemplateError> {
        let name = name.into();
        check(&name, &atoms, residues.len())?;

        let mass: f64 = atoms
            .iter()
            .map(|atom| f64::from(atom.element.mass()))
            .sum();
        let center = atoms
            .iter()
            .map(|atom| atom.position.as_dvec3() * f64::from(atom.element.mass()))
            .sum::<DVec3>()
            / mass;
        let positions: Vec<Vec3> = atoms
            .iter()
            .map(|atom| (atom.position.as_dvec3() - center).as_vec3())
            .collect();
        let inertia = inertia_tensor(&atoms, &positions);
        let (principal_inertia, principal_axes) = principal_frame(inertia);
        let bounding_radius = positions
            .iter()
            .zip(&atoms)
            .map(|(position, atom)| position.length() + atom.radius)
            .fold(0.0, f32::max);

        Ok(Self {
            positions,
            radii: atoms.iter().map(|atom| atom.radius).collect(),
            elements: atoms.iter().map(|atom| atom.element).collect(),
            residue_indices: atoms.iter().map(|atom| atom.residue).collect(),
            atom_names: atoms.into_iter().map(|atom| atom.name).collect(),
            residues,
            mass: mass as f32,
            inertia,
            principal_inertia,
            principal_axes,
            bounding_radius,
            file_pose: Pose::from_translation(center.as_vec3()),
            name,
        })
    }

    /// The same molecule with every radius set to `radius` nm.
    ///
    /// With half a distance as radius, "overlap" means "closer than that distance". Mass and
    /// inertia stay.
    ///
    /// # Errors
    /// [`TemplateError::BadRadius`] if `radius` is not between 0 and [`MAX_COORDINATE_NM`].
    pub fn with_uniform_radius(mut self, radius: f32) -> Result<Self, TemplateError> {
        if !is_radius(radius) {
            return Err(TemplateError::BadRadius {
                name: self.name,
                index: 0,
                atom: self.atom_names[0].clone(),
                radius,
            });
        }
        self.radii.fill(radius);
        self.bounding_radius = self
            .positions
            .iter()
            .map(|position| position.length() + radius)
            .fold(0.0, f32::max);
        Ok(self)
    }

    /// The same molecule with every radius multiplied by `factor`. Mass and inertia stay.
    ///
    /// # Errors
    /// [`TemplateError::BadRadius`] if a radius would not be between 0 and [`MAX_COORDINATE_NM`].
    pub fn with_scaled_radii(mut self, factor: f32) -> Result<Self, TemplateError> {
        for (index, radius) in self.radii.iter_mut().enumerate() {
            *radius *= factor;
            if !is_radius(*radius) {
                return Err(TemplateError::BadRadius {
                    name: self.name,
                    index,
                    atom: self.atom_names[index].clone(),
                    radius: *radius,
                });
            }
        }
        let atoms = self.positions.iter().zip(&self.radii);
        self.bounding_radius = atoms
            .map(|(position, radius)| position.length() + radius)
            .fold(0.0, f32::max);
        Ok(self)
    }

    /// Name of the molecule, usually the file it came from.
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

    /// For each atom the index of its residue in [`residues`](Self::residues).
    #[must_use]
    pub fn residue_indices(&self) -> &[u32] {
        &self.residue_indices
    }

    /// The residues, in file order.
    #[must_use]
    pub fn residues(&self) -> &[Residue] {
        &self.residues
    }

    /// The residue of one atom, by its index from 0.
    ///
    /// # Panics
    /// If there is no such atom.
    #[must_use]
    pub fn residue_of(&self, atom: usize) -> &Residue {
        &self.residues[self.residue_indices[atom] as usize]
    }

    /// Total mass, dalton.
    #[must_use]
    pub fn mass(&self) -> f32 {
        self.mass
    }

    /// Inertia tensor about the center of mass in the body frame, Da·nm².
    ///
    /// Each atom counts as a solid ball, so a single atom has inertia too.
    #[must_use]
    pub fn inertia(&self) -> DMat3 {
        self.inertia
    }

    /// Principal moments of inertia about the center of mass, Da·nm², smallest first.
    #[must_use]
    pub fn principal_inertia(&self) -> Vec3 {
        self.principal_inertia
    }

    /// Rotation from the principal frame to the body frame.
    #[must_use]
    pub fn principal_axes(&self) -> Quat {
        self.principal_axes
    }

    /// Radius (nm) of the sphere about the center of mass that holds every atom sphere.
    #[must_use]
    pub fn bounding_radius(&self) -> f32 {
        self.bounding_radius
    }

    /// The pose that puts the molecule back where its file had it, nm in the frame of the file.
    #[must_use]
    pub fn file_pose(&self) -> Pose {
        self.file_pose
    }
}

/// Whether an atom can have this radius, nm.
fn is_radius(radius: f32) -> bool {
    radius > 0.0 && radius <= MAX_COORDINATE_NM
}

fn check(name: &str, atoms: &[Atom], residues: usize) -> Result<(), TemplateError> {
    if atoms.is_empty() {
        return Err(TemplateError::NoAtoms {
            name: name.to_owned(),
        });
    }
    for (index, atom) in atoms.iter().enumerate() {
        let largest = atom.position.abs().max_element();
        if !(atom.position.is_finite() && largest <= MAX_COORDINATE_NM) {
            return Err(TemplateError::BadPosition {
                name: name.to_owned(),
                index,
                atom: atom.name.clone(),
                position: atom.position,
            });
        }
        if !is_radius(atom.radius) {
            return Err(TemplateError::BadRadius {
                name: name.to_owned(),
                index,
                atom: atom.name.clone(),
                radius: atom.radius,
            });
        }
        if atom.residue as usize >= residues {
            return Err(TemplateError::BadResidue {
                name: name.to_owned(),
                index,
                residue: atom.residue,
                residues,
            });
        }
    }
    Ok(())
}

/// Sum over atoms of the inertia of a solid ball, `2/5 m r²`, moved out to its
/// place by the parallel axis theorem, `m (|p|² 1 − p pᵀ)`.
fn inertia_tensor(atoms: &[Atom], positions: &[Vec3]) -> DMat3 {
    let mut inertia = DMat3::ZERO;
    for (atom, position) in atoms.iter().zip(positions) {
        let mass = f64::from(atom.element.mass());
        let p = position.as_dvec3();
        let own = 0.4 * f64::from(atom.radius).powi(2);
        let diagonal = DMat3::from_diagonal(DVec3::splat(p.length_squared() + own));
        let outer = DMat3::from_cols(p * p.x, p * p.y, p * p.z);
        inertia += (diagonal - outer) * mass;
    }
    inertia
}

/// Principal moments (ascending) and the rotation from the principal to the body frame.
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
