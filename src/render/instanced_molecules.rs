//! [`InstancedMolecules`]: many molecules drawn by one entity.

use std::sync::Arc;

use bevy::prelude::*;
use thiserror::Error;

use super::tint::{MoleculeHighlight, MoleculeTint};
use crate::crowd::Crowd;
use crate::gpu::DevicePoses;
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Why molecules are not drawn.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DrawError {
    /// The template index of a molecule is out of range.
    #[error("molecule {molecule} refers to template {template}, but there are {count}")]
    NoSuchTemplate {
        /// Index of the molecule.
        molecule: usize,
        /// Its template index.
        template: u32,
        /// Number of templates.
        count: usize,
    },
    /// A pose is NaN or infinite, or its rotation is not a unit quaternion.
    #[error(
        "molecule {molecule} needs a finite position and a unit rotation, not {} nm and {}",
        pose.position, pose.rotation
    )]
    BadPose {
        /// Index of the molecule.
        molecule: usize,
        /// The given pose.
        pose: Pose,
    },
    /// The transform of the entity is not finite, or its scale is not positive and uniform, which
    /// would deform spheres.
    #[error("the transform {transform:?} must be finite, with a positive and uniform scale")]
    BadTransform {
        /// The entity's global transform.
        transform: GlobalTransform,
    },
    /// The number of poses on the device differs from the number of molecules.
    #[error("there are {poses} poses on the device for {molecules} molecules")]
    PoseCountMismatch {
        /// Number of molecules.
        molecules: usize,
        /// Number of poses.
        poses: usize,
    },
    /// A buffer would exceed the limits of the device.
    #[error(
        "the {what} need {bytes} bytes, but a buffer of this device has at most {limit}: draw fewer molecules per entity"
    )]
    TooLarge {
        /// Content of the buffer.
        what: &'static str,
        /// Required size, bytes.
        bytes: u64,
        /// Maximum size, bytes.
        limit: u64,
    },
}

/// One molecule of [`InstancedMolecules`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoleculeInstance {
    /// Index of its template in [`InstancedMolecules::templates`]. Default: 0.
    pub template: u32,
    /// Pose in the frame of the entity, nm. Default: identity.
    pub pose: Pose,
    /// Group, such as a compartment or a leaflet, for
    /// [`ColorMode::Group`](super::ColorMode::Group). Default: 0.
    pub group: u32,
    /// Whether it overlaps others, for
    /// [`ColorMode::Collision`](super::ColorMode::Collision). Default: false.
    pub colliding: bool,
    /// Its deepest overlap, nm, for
    /// [`ColorMode::Penetration`](super::ColorMode::Penetration). Default: 0.
    pub penetration: f32,
    /// Color and opacity, in addition to the [`MoleculeTint`] of the entity. Default: none.
    pub tint: MoleculeTint,
    /// Highlight, instead of the [`MoleculeHighlight`] of the entity. Default: none.
    pub highlight: Option<MoleculeHighlight>,
}

impl MoleculeInstance {
    /// A free molecule of group 0.
    #[must_use]
    pub fn new(template: u32, pose: Pose) -> Self {
        Self {
            template,
            pose,
            ..Self::default()
        }
    }
}

/// Many molecules drawn by one entity. Only the poses are uploaded per molecule, not the atoms.
///
/// Poses are in the frame of the entity, whose scale must be uniform. Molecules with an invalid
/// template index or pose are skipped, and the first of them is logged.
///
/// A [`MoleculeTint`] and a [`MoleculeHighlight`] of the entity apply to all its molecules. Molecules
/// are compared with those of the last frame when change detection reports a change, and only
/// those that differ are uploaded.
///
/// ```
/// use std::sync::Arc;
/// use bevy::prelude::*;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::render::MoleculeInstance;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let lipid = Arc::new(load("assets/molecules/popc.pdb", &LoadOptions::default())?);
/// let row = (0..10).map(|k| Pose::from_translation(Vec3::X * k as f32));
/// let instances = InstancedMolecules {
///     templates: vec![Arc::clone(&lipid)],
///     molecules: row.map(|pose| MoleculeInstance::new(0, pose)).collect(),
///     ..default()
/// };
/// instances.check()?;
/// assert_eq!(instances.atom_count(), 10 * lipid.atom_count());
///
/// // Pick the first atom of the fourth molecule along a ray from above.
/// let atom = lipid.positions()[0] + 3.0 * Vec3::X;
/// let ray = Ray3d::new(atom + 20.0 * Vec3::Y, Dir3::NEG_Y);
/// let hit = instances.pick(&GlobalTransform::IDENTITY, ray, 1.0).ok_or("nothing is hit")?;
/// assert!(hit.distance < 20.0 && hit.normal.y > 0.0);
/// # App::new().world_mut().spawn((instances, MoleculeTint::from_opacity(0.5)));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Default, Component, Reflect)]
#[reflect(opaque)]
#[reflect(Component, Clone, Debug, Default)]
#[require(Transform, Visibility)]
pub struct InstancedMolecules {
    /// The templates that molecules refer to by index. Default: none.
    pub templates: Vec<Arc<MoleculeTemplate>>,
    /// The molecules. Default: none.
    pub molecules: Vec<MoleculeInstance>,
    /// Current poses of all molecules on the [renderer's device](super::SharedGpuDevice), from
    /// the relaxer whose crowd these molecules are. Then no poses are uploaded: those of
    /// [`molecules`](Self::molecules) only select the level of detail, and nothing is culled.
    /// Ignored if they are on another device. Default: none.
    pub device_poses: Option<DevicePoses>,
}

impl InstancedMolecules {
    /// The molecules of a crowd at their current poses, grouped by placement. Molecules without a
    /// placement are in the group after the last.
    #[must_use]
    pub fn from_crowd(crowd: &Crowd) -> Self {
        let unplaced = crowd.placements().len() as u32;
        let molecules = crowd.members().iter().map(|member| MoleculeInstance {
            group: member.placement.unwrap_or(unplaced),
            ..MoleculeInstance::new(member.template, member.pose)
        });
        Self {
            templates: crowd.templates().to_vec(),
            molecules: molecules.collect(),
            ..Self::default()
        }
    }

    /// Number of atoms of all molecules with a valid template index.
    #[must_use]
    pub fn atom_count(&self) -> usize {
        let template = |molecule: &MoleculeInstance| self.templates.get(molecule.template as usize);
        let templates = self.molecules.iter().filter_map(template);
        templates.map(|template| template.atom_count()).sum()
    }

    /// Validates all molecules.
    ///
    /// # Errors
    /// [`DrawError`] of the first invalid one.
    pub fn check(&self) -> Result<(), DrawError> {
        (0..self.molecules.len()).try_for_each(|index| self.check_molecule(index))
    }

    pub(super) fn check_molecule(&self, index: usize) -> Result<(), DrawError> {
        let Some(molecule) = self.molecules.get(index) else {
            return Err(DrawError::PoseCountMismatch {
                molecules: self.molecules.len(),
                poses: index + 1,
            });
        };
        if molecule.template as usize >= self.templates.len() {
            Err(DrawError::NoSuchTemplate {
                molecule: index,
                template: molecule.template,
                count: self.templates.len(),
            })
        } else if !molecule.pose.is_rigid() {
            Err(DrawError::BadPose {
                molecule: index,
                pose: molecule.pose,
            })
        } else {
            Ok(())
        }
    }
}

/// A rigid transform with a uniform scale, from the frame of an entity to the world.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Similarity {
    pub pose: Pose,
    pub scale: f32,
}

/// Maximum relative difference between the scales of two axes.
const SCALE_TOLERANCE: f32 = 1.0e-3;

impl Default for Similarity {
    fn default() -> Self {
        Self {
            pose: Pose::IDENTITY,
            scale: 1.0,
        }
    }
}

impl Similarity {
    /// The similarity of a transform, if its scale is uniform.
    pub fn of(transform: &GlobalTransform) -> Result<Self, DrawError> {
        let (scale, rotation, position) = transform.to_scale_rotation_translation();
        let pose = Pose::new(position, rotation);
        let (min, max) = (scale.min_element(), scale.max_element());
        let uniform = min > 0.0 && max - min <= SCALE_TOLERANCE * max;
        if uniform && max.is_finite() && pose.is_finite() {
            Ok(Self { pose, scale: max })
        } else {
            Err(DrawError::BadTransform {
                transform: *transform,
            })
        }
    }

    /// World position (nm) of a local point (nm).
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        self.pose.transform_point(point * self.scale)
    }

    /// Local position (nm) of a world point (nm).
    pub fn inverse_transform_point(&self, point: Vec3) -> Vec3 {
        self.pose.inverse_transform_point(point) / self.scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_positive_uniform_scales_are_valid() {
        let scaled = |scale| GlobalTransform::from(Transform::from_scale(scale));
        let doubled = Similarity::of(&scaled(Vec3::splat(2.0))).unwrap();
        assert_eq!(doubled.transform_point(Vec3::X), 2.0 * Vec3::X);
        assert_eq!(doubled.inverse_transform_point(2.0 * Vec3::X), Vec3::X);
        for scale in [
            Vec3::new(1.0, 1.0, 1.1),
            Vec3::ZERO,
            Vec3::splat(-1.0),
            Vec3::splat(f32::NAN),
            Vec3::splat(f32::INFINITY),
        ] {
            let result = Similarity::of(&scaled(scale));
            assert!(
                matches!(result, Err(DrawError::BadTransform { .. })),
                "{scale}: {result:?}"
            );
        }
    }
}
