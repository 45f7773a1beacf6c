//! Many molecules that one entity draws.

use std::sync::Arc;

use bevy::prelude::*;
use thiserror::Error;

use crate::crowd::Crowd;
use crate::gpu::DevicePoses;
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Why something is not drawn.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DrawError {
    /// A molecule names a template that is not in the list.
    #[error("molecule {molecule} has template {template}, but there are {count}, counted from 0")]
    NoSuchTemplate {
        /// Index of the molecule.
        molecule: usize,
        /// The template that it names.
        template: u32,
        /// How many templates there are.
        count: usize,
    },
    /// A pose is NaN or infinite, or its rotation is not a rotation.
    #[error(
        "molecule {molecule} needs a finite position and a unit rotation, not {} nm and {}",
        pose.position, pose.rotation
    )]
    BadPose {
        /// Index of the molecule.
        molecule: usize,
        /// The pose that was given.
        pose: Pose,
    },
    /// The transform of the entity is not finite, or its scale is not the same positive
    /// number along all axes: spheres would not stay spheres.
    #[error(
        "the transform {transform:?} must be finite and have the same positive scale along all axes"
    )]
    BadTransform {
        /// The entity's global transform.
        transform: GlobalTransform,
    },
    /// Poses on the device are not those of the molecules.
    #[error("{poses} poses on the device do not belong to {molecules} molecules")]
    WrongPoses {
        /// Number of molecules.
        molecules: usize,
        /// Number of poses.
        poses: usize,
    },
    /// There is more to draw than the device can hold in one array.
    #[error(
        "{what} need {bytes} bytes, but an array of this device has at most {limit}: draw fewer in one crowd"
    )]
    TooLarge {
        /// What does not fit.
        what: &'static str,
        /// Size that would be needed, bytes.
        bytes: u64,
        /// Size that there can be, bytes.
        limit: u64,
    },
}

/// One molecule of a [`InstancedMolecules`].
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MoleculeInstance {
    /// Index of its template in [`InstancedMolecules::templates`]. Default: 0.
    pub template: u32,
    /// Where it is in the frame of the entity, nm. Default: at the origin, not turned.
    pub pose: Pose,
    /// What it belongs to, such as a compartment or a leaflet, for
    /// [`ColorMode::Group`](super::ColorMode::Group). Default: 0.
    pub group: u32,
    /// Whether it overlaps others, for
    /// [`ColorMode::Collision`](super::ColorMode::Collision). Default: false.
    pub colliding: bool,
    /// Its deepest overlap, nm, for
    /// [`ColorMode::Penetration`](super::ColorMode::Penetration). Default: 0.
    pub penetration: f32,
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

/// Many molecules drawn by one entity. The pose of each goes to the GPU once, whatever
/// its number of atoms.
///
/// Poses are in the frame of the entity; its scale must be the same along all axes.
/// Molecules that cannot be drawn, because their template is missing or their pose is
/// not finite, are left out, and the log tells the first of them.
///
/// Change it through `Mut`, so that the renderer notices.
///
/// ```
/// use std::sync::Arc;
/// use bevy::prelude::*;
/// use bevy_rapier_molecules::prelude::*;
/// use bevy_rapier_molecules::render::DrawError;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let lipid = Arc::new(load("assets/molecules/popc.pdb", &LoadOptions::default())?);
/// let row = (0..10).map(|k| Pose::from_translation(Vec3::X * k as f32));
/// let mut crowd = InstancedMolecules {
///     templates: vec![Arc::clone(&lipid)],
///     molecules: row.map(|pose| MoleculeInstance::new(0, pose)).collect(),
///     opacity: 0.5,
///     ..default()
/// };
/// crowd.check()?;
/// assert_eq!(crowd.atom_count(), 10 * lipid.atom_count());
///
/// // The atom that a ray from above meets first, of the fourth molecule.
/// let atom = lipid.positions()[0] + 3.0 * Vec3::X;
/// let ray = Ray3d::new(atom + 20.0 * Vec3::Y, Dir3::NEG_Y);
/// let hit = crowd.pick(&GlobalTransform::IDENTITY, ray, 1.0).ok_or("it meets nothing")?;
/// assert!(hit.distance < 20.0 && hit.normal.y > 0.0);
///
/// // What cannot be drawn is told.
/// crowd.molecules[7].template = 1;
/// let expected = DrawError::NoSuchTemplate { molecule: 7, template: 1, count: 1 };
/// assert_eq!(crowd.check(), Err(expected));
/// # App::new().world_mut().spawn(crowd);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, Component, Reflect)]
#[reflect(opaque)]
#[reflect(Component, Clone, Debug, Default)]
#[require(Transform, Visibility)]
pub struct InstancedMolecules {
    /// The shapes that molecules share. Default: none.
    pub templates: Vec<Arc<MoleculeTemplate>>,
    /// The molecules. Default: none.
    pub molecules: Vec<MoleculeInstance>,
    /// How much of what is behind they hide, from 0 to 1: every second pixel at 0.5.
    /// Default: 1.
    pub opacity: f32,
    /// Where the present poses are on the [renderer's device](super::SharedGpuDevice), if they
    /// are: of all molecules, which are then the members of the relaxer's crowd. No pose is
    /// sent; those of [`molecules`](Self::molecules) only tell how much detail to draw, and
    /// all molecules are drawn. On another device they are not used. Default: none.
    pub device_poses: Option<DevicePoses>,
}

impl Default for InstancedMolecules {
    fn default() -> Self {
        Self {
            templates: Vec::new(),
            molecules: Vec::new(),
            opacity: 1.0,
            device_poses: None,
        }
    }
}

impl InstancedMolecules {
    /// The molecules of a crowd as they are now, each in the group of its placement;
    /// those that may be anywhere are in the group after the last.
    #[must_use]
    pub fn from_crowd(crowd: &Crowd) -> Self {
        let nowhere = crowd.placements().len() as u32;
        let molecules = crowd.members().iter().map(|member| MoleculeInstance {
            group: member.placement.unwrap_or(nowhere),
            ..MoleculeInstance::new(member.template, member.pose)
        });
        Self {
            templates: crowd.templates().to_vec(),
            molecules: molecules.collect(),
            ..Self::default()
        }
    }

    /// Moves molecules, from the first one on, to new poses.
    pub fn set_poses(&mut self, poses: impl IntoIterator<Item = Pose>) {
        for (molecule, pose) in self.molecules.iter_mut().zip(poses) {
            molecule.pose = pose;
        }
    }

    /// Number of atoms of all molecules, without those whose template is missing.
    #[must_use]
    pub fn atom_count(&self) -> usize {
        let template = |molecule: &MoleculeInstance| self.templates.get(molecule.template as usize);
        let templates = self.molecules.iter().filter_map(template);
        templates.map(|template| template.atom_count()).sum()
    }

    /// Whether every molecule can be drawn.
    ///
    /// # Errors
    /// [`DrawError`] for the first that cannot.
    pub fn check(&self) -> Result<(), DrawError> {
        (0..self.molecules.len()).try_for_each(|index| self.check_molecule(index))
    }

    /// Whether one molecule can be drawn.
    pub(super) fn check_molecule(&self, index: usize) -> Result<(), DrawError> {
        let Some(molecule) = self.molecules.get(index) else {
            return Err(DrawError::WrongPoses {
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

/// Where a crowd's frame is in the world: turned, then scaled, then shifted.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Similarity {
    pub pose: Pose,
    pub scale: f32,
}

/// By what fraction the scales of two axes may differ.
const SCALE_TOLERANCE: f32 = 1.0e-3;

impl Similarity {
    pub const IDENTITY: Self = Self {
        pose: Pose::IDENTITY,
        scale: 1.0,
    };

    /// The place of an entity.
    pub fn of(transform: &GlobalTransform) -> Result<Self, DrawError> {
        let (scale, rotation, position) = transform.to_scale_rotation_translation();
        let pose = Pose::new(position, rotation);
        let (least, most) = (scale.min_element(), scale.max_element());
        let even = least > 0.0 && most - least <= SCALE_TOLERANCE * most;
        if even && most.is_finite() && pose.is_finite() {
            Ok(Self { pose, scale: most })
        } else {
            Err(DrawError::BadTransform {
                transform: *transform,
            })
        }
    }

    /// World position (nm) of a point of the crowd's frame (nm).
    pub fn transform_point(&self, point: Vec3) -> Vec3 {
        self.pose.transform_point(point * self.scale)
    }

    /// Position in the crowd's frame (nm) of a point of the world (nm).
    pub fn inverse_transform_point(&self, point: Vec3) -> Vec3 {
        self.pose.inverse_transform_point(point) / self.scale
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_even_and_positive_scales_leave_spheres_spheres() {
        let scaled = |scale| GlobalTransform::from(Transform::from_scale(scale));
        let place = Similarity::of(&scaled(Vec3::splat(2.0))).unwrap();
        assert_eq!(place.transform_point(Vec3::X), 2.0 * Vec3::X);
        assert_eq!(place.inverse_transform_point(2.0 * Vec3::X), Vec3::X);
        for scale in [
            Vec3::new(1.0, 1.0, 1.1),
            Vec3::ZERO,
            Vec3::splat(-1.0),
            Vec3::splat(f32::NAN),
            Vec3::splat(f32::INFINITY),
        ] {
            let place = Similarity::of(&scaled(scale));
            assert!(
                matches!(place, Err(DrawError::BadTransform { .. })),
                "{scale}: {place:?}"
            );
        }
    }
}
