//! Euler angles of a rotation.

use glam::{DMat3, DQuat, DVec3};

/// The angles a, b, c about x, y and z, radian, intrinsic: R = Rx(a)·Ry(b)·Rz(c).
///
/// With cosines and sines of the angles, R is
///
/// ```text
///  cb·cc              −cb·sc               sb
///  ca·sc + sa·sb·cc    ca·cc − sa·sb·sc   −sa·cb
///  sa·sc − ca·sb·cc    sa·cc + ca·sb·sc    ca·cb
/// ```
///
/// The last column gives a and b, and the first two of Rx(−a)·R give c: their second row is
/// (sc, cc). If b is ±π/2, a is arbitrary (gimbal lock), and that c still completes the rotation.
pub(super) fn euler_xyz(rotation: DQuat) -> DVec3 {
    let matrix = DMat3::from_quat(rotation);
    let [x, y, z] = [matrix.x_axis, matrix.y_axis, matrix.z_axis];
    let a = (-z.y).atan2(z.z);
    let b = z.x.atan2(z.y.hypot(z.z));
    let (sin, cos) = a.sin_cos();
    let c = (cos * x.y + sin * x.z).atan2(cos * y.y + sin * y.z);
    DVec3::new(a, b, c)
}

#[cfg(test)]
mod tests {
    use std::f64::consts::{FRAC_PI_2, PI};

    use super::*;

    /// The rotation of these angles, from rotations about single axes.
    fn rotation(angles: DVec3) -> DQuat {
        DQuat::from_rotation_x(angles.x)
            * DQuat::from_rotation_y(angles.y)
            * DQuat::from_rotation_z(angles.z)
    }

    fn assert_restored(given: DQuat) {
        let angles = euler_xyz(given);
        assert!(angles.abs().max_element() <= PI + 1.0e-12, "{angles}");
        assert!(angles.y.abs() <= FRAC_PI_2 + 1.0e-12, "{angles}");
        let error = rotation(angles).dot(given).abs() - 1.0;
        assert!(error.abs() < 1.0e-14, "{given}: {angles}, {error:e}");
        let [one, other] = [rotation(angles), given].map(DMat3::from_quat);
        assert!(one.abs_diff_eq(other, 1.0e-14), "{given}: {angles}");
    }

    #[test]
    fn angles_restore_the_rotation() {
        let steps = || (-12..=12).map(|step| f64::from(step) * PI / 12.0);
        for a in steps() {
            for b in steps() {
                for c in steps() {
                    assert_restored(rotation(DVec3::new(a, b, c)));
                }
            }
        }
    }

    #[test]
    fn angles_at_and_near_gimbal_lock_restore_the_rotation() {
        for pole in [FRAC_PI_2, -FRAC_PI_2] {
            for off in [0.0, 1.0e-16, 1.0e-12, 1.0e-9, 1.0e-7, 1.0e-4] {
                for [a, c] in [[0.0, 0.0], [1.0, 0.3], [-2.0, 3.0], [3.0, -3.0]] {
                    assert_restored(rotation(DVec3::new(a, pole - off, c)));
                    assert_restored(rotation(DVec3::new(a, pole + off, c)));
                }
            }
        }
    }

    #[test]
    fn angles_are_intrinsic_about_x_then_y_then_z() {
        let angles = DVec3::new(0.3, -0.7, 2.0);
        assert!(euler_xyz(rotation(angles)).abs_diff_eq(angles, 1.0e-15));
        assert_eq!(euler_xyz(DQuat::IDENTITY), DVec3::ZERO);
    }
}
