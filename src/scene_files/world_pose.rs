//! The pose of a template by a motion of its file.

use glam::{DQuat, DVec3, Quat};

use crate::molecule::{MAX_COORDINATE_NM, MoleculeTemplate};
use crate::pose::Pose;

/// How much the squared length of a quaternion may differ from 1: some programs write two decimals.
const QUATERNION_TOLERANCE: f32 = 0.05;

/// The pose of a template whose file is rotated and then moved by `translation`, nm.
///
/// # Errors
/// A sentence if the position is not finite or too far away.
pub(super) fn world_pose(
    template: &MoleculeTemplate,
    rotation: Quat,
    translation: DVec3,
) -> Result<Pose, String> {
    let file = template.file_pose();
    let exact: DQuat = rotation.as_dquat().normalize();
    let position = (exact * file.position.as_dvec3() + translation).as_vec3();
    let is_near = position.is_finite() && position.abs().max_element() <= MAX_COORDINATE_NM;
    if !is_near {
        return Err(format!(
            "the position is {translation} nm, expected finite numbers of at most {MAX_COORDINATE_NM} nm"
        ));
    }
    Ok(Pose::new(position, rotation).normalized_once())
}

/// The rotation of a quaternion x, y, z, w.
///
/// # Errors
/// A sentence if it is not a unit quaternion.
pub(super) fn unit_quaternion(components: [f32; 4]) -> Result<Quat, String> {
    let rotation = Quat::from_array(components);
    if (rotation.length_squared() - 1.0).abs() <= QUATERNION_TOLERANCE {
        return Ok(Pose::new(glam::Vec3::ZERO, rotation)
            .normalized_once()
            .rotation);
    }
    Err(format!(
        "the rotation {components:?} is not a unit quaternion"
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quaternions_of_two_decimals_are_normalized_and_others_rejected() {
        let rounded = unit_quaternion([0.5, -0.5, 0.5, 0.51]).unwrap();
        assert!(rounded.is_normalized());
        for wrong in [[0.0; 4], [2.0, 0.0, 0.0, 0.0], [f32::NAN, 0.0, 0.0, 1.0]] {
            assert!(unit_quaternion(wrong).is_err());
        }
    }
}
