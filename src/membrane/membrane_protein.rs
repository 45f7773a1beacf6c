//! [`MembraneProtein`]: a protein with its orientation and depth in a membrane.

use std::path::Path;
use std::sync::Arc;

use glam::{Quat, Vec3};
use thiserror::Error;

use super::slab_scan;
use crate::molecule::{
    LoadOptions, MAX_COORDINATE_NM, MoleculeError, MoleculeTemplate, Structure, load_structure,
};
use crate::pose::Pose;

/// Why a membrane protein is invalid.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MembraneProteinError {
    /// The file cannot be loaded, or no atom of it is selected.
    #[error(transparent)]
    Molecule(#[from] MoleculeError),
    /// The file does not say where the membrane is.
    #[error(
        "'{name}' has no line 'REMARK      1/2 of bilayer thickness:' of the OPM database; pass an axis or guess it"
    )]
    NoOpmHeader {
        /// Name of the protein.
        name: String,
    },
    /// The direction to the outer side is zero or not finite.
    #[error("the up direction of '{name}' must be finite and not zero, not {up}")]
    NoDirection {
        /// Name of the protein.
        name: String,
        /// The given direction.
        up: Vec3,
    },
    /// The depth is not finite or too large.
    #[error("the depth of '{name}' must be within ±{MAX_COORDINATE_NM} nm, not {depth} nm")]
    InvalidDepth {
        /// Name of the protein.
        name: String,
        /// The given depth, nm.
        depth: f32,
    },
    /// There are too few amino acids to guess an axis.
    #[error(
        "'{name}' has {found} amino acids with a CA atom, too few to guess its axis from: {needed} are needed"
    )]
    TooFewResidues {
        /// Name of the protein.
        name: String,
        /// Number of amino acids with a CA atom.
        found: usize,
        /// Smallest number.
        needed: usize,
    },
}

/// A protein with its orientation and depth in a membrane.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::membrane::MembraneProtein;
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let porin = Arc::new(load("assets/molecules/2por.pdb", &LoadOptions::default())?);
/// let porin = MembraneProtein::with_axis("porin", porin, Vec3::new(-0.69, 0.62, 0.36), 0.3)?;
/// // Upright in a membrane at y = 5 nm.
/// let pose = porin.pose_at(Vec3::Y * 5.0, Vec3::Y, 0.0);
/// assert!((pose.rotation * porin.up).abs_diff_eq(Vec3::Y, 1e-5));
/// assert!((pose.position.y - 5.3).abs() < 1e-5);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct MembraneProtein {
    /// Name of the protein.
    pub name: String,
    /// Its atoms.
    pub template: Arc<MoleculeTemplate>,
    /// Direction to the outer side of the membrane, a unit vector in the body frame.
    pub up: Vec3,
    /// Height of the center of mass above the mid-plane of the membrane, along `up`, nm.
    pub depth: f32,
    /// Half of the hydrophobic thickness of the membrane, nm, if known.
    pub half_thickness: Option<f32>,
}

impl MembraneProtein {
    /// Loads a file of the OPM database (Orientations of Proteins in Membranes).
    ///
    /// In these files the mid-plane of the membrane is z = 0, and z points to the outer side. A
    /// remark has the half thickness. The points that mark the membrane (residue `DUM`) are not
    /// part of the protein.
    ///
    /// # Errors
    /// [`MembraneProteinError`] if the file cannot be loaded, no atom is selected, or the remark
    /// is missing.
    pub fn from_opm(
        path: impl AsRef<Path>,
        options: &LoadOptions,
    ) -> Result<Self, MembraneProteinError> {
        Self::from_opm_structure(&load_structure(path, options)?, options)
    }

    /// As [`from_opm`](Self::from_opm), for a file that is already read.
    ///
    /// # Errors
    /// [`MembraneProteinError`] if no atom is selected, or the remark is missing.
    pub fn from_opm_structure(
        structure: &Structure,
        options: &LoadOptions,
    ) -> Result<Self, MembraneProteinError> {
        let name = structure.name().to_owned();
        let Some(half_thickness) = structure.bilayer_half_thickness() else {
            return Err(MembraneProteinError::NoOpmHeader { name });
        };
        let template = structure.template(options)?;
        let depth = template.file_pose().position.z;
        Ok(Self {
            half_thickness: Some(half_thickness),
            ..Self::with_axis(name, Arc::new(template), Vec3::Z, depth)?
        })
    }

    /// A protein with a known orientation: `up` is the direction to the outer side in the body
    /// frame, of any length, and `depth` the height of the center of mass above the mid-plane, nm.
    ///
    /// # Errors
    /// [`MembraneProteinError`] if `up` has no direction or `depth` is not finite.
    pub fn with_axis(
        name: impl Into<String>,
        template: Arc<MoleculeTemplate>,
        up: Vec3,
        depth: f32,
    ) -> Result<Self, MembraneProteinError> {
        let name = name.into();
        // In 64 bits, no square of a component overflows or vanishes.
        let Some(unit) = up.as_dvec3().try_normalize() else {
            return Err(MembraneProteinError::NoDirection { name, up });
        };
        if !depth.is_finite() || depth.abs() > MAX_COORDINATE_NM {
            return Err(MembraneProteinError::InvalidDepth { name, depth });
        }
        Ok(Self {
            name,
            template,
            up: unit.as_vec3(),
            depth,
            half_thickness: None,
        })
    }

    /// A protein with a guessed orientation, for files that do not say where the membrane is.
    ///
    /// The guess is the slab of 2.6 nm in which the surface is most hydrophobic, and that the
    /// backbone crosses most steeply. It is made for barrels and bundles of helices that span the
    /// membrane; the axis is typically off by 10° to 20°. Any other protein gets an axis too,
    /// without a meaning. The outer side is the one with more residues beyond the slab, as in
    /// barrels with long outer loops; [`flipped`](Self::flipped) if that is wrong. The same
    /// template gives the same guess.
    ///
    /// # Errors
    /// [`MembraneProteinError::TooFewResidues`] if the template is no protein.
    pub fn guess(
        name: impl Into<String>,
        template: Arc<MoleculeTemplate>,
    ) -> Result<Self, MembraneProteinError> {
        let name = name.into();
        let residues = slab_scan::surface_residues(&template);
        if residues.len() < slab_scan::MIN_RESIDUES {
            return Err(MembraneProteinError::TooFewResidues {
                name,
                found: residues.len(),
                needed: slab_scan::MIN_RESIDUES,
            });
        }
        let slab = slab_scan::most_hydrophobic_slab(&residues);
        Self::with_axis(name, template, slab.normal, -slab.height)
    }

    /// The same protein the other way round.
    #[must_use]
    pub fn flipped(&self) -> Self {
        Self {
            up: -self.up,
            depth: -self.depth,
            ..self.clone()
        }
    }

    /// Two directions in the body frame that span the plane of the membrane: x and y of the
    /// in-plane coordinates. With `up` they are right-handed.
    #[must_use]
    pub fn plane_axes(&self) -> [Vec3; 2] {
        let (x, y) = self.up.any_orthonormal_pair();
        if x.cross(y).dot(self.up) < 0.0 {
            [y, x]
        } else {
            [x, y]
        }
    }

    /// Height of a body-frame point (nm) above the mid-plane of the membrane, nm.
    #[must_use]
    pub fn height(&self, point: Vec3) -> f32 {
        point.dot(self.up) + self.depth
    }

    /// The pose of the protein at a point of the mid-plane (nm) of a membrane with this unit
    /// normal, turned by `spin` radian about it.
    ///
    /// The center of mass is above or below the point, at [`depth`](Self::depth).
    #[must_use]
    pub fn pose_at(&self, point: Vec3, normal: Vec3, spin: f32) -> Pose {
        let upright = Quat::from_rotation_arc(self.up, normal);
        let rotation = Quat::from_axis_angle(normal, spin) * upright;
        Pose::new(point + normal * self.depth, rotation.normalize())
    }
}
