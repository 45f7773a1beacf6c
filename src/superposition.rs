//! [`superpose`]: the rotation that fits one set of points onto another.
//!
//! By the quaternion of Horn (1987): the eigenvector with the largest eigenvalue of a matrix of the
//! correlations of both sets of positions.

use glam::{DQuat, DVec3};
use nalgebra::Matrix4;

/// The rotation that moves the first of each pair closest to the second, by the sum of squares.
pub(crate) fn superpose(pairs: impl Iterator<Item = (DVec3, DVec3)>) -> DQuat {
    let [mut x, mut y, mut z] = [DVec3::ZERO; 3];
    for (from, to) in pairs {
        x += from.x * to;
        y += from.y * to;
        z += from.z * to;
    }
    #[rustfmt::skip]
    let matrix = Matrix4::new(
        x.x + y.y + z.z, y.z - z.y, z.x - x.z, x.y - y.x,
        y.z - z.y, x.x - y.y - z.z, x.y + y.x, z.x + x.z,
        z.x - x.z, x.y + y.x, y.y - x.x - z.z, y.z + z.y,
        x.y - y.x, z.x + x.z, y.z + z.y, z.z - x.x - y.y,
    );
    let eigen = matrix.symmetric_eigen();
    let largest = eigen.eigenvalues.imax();
    let vector = eigen.eigenvectors.column(largest);
    DQuat::from_xyzw(vector[1], vector[2], vector[3], vector[0]).normalize()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rotations_are_recovered() {
        let points = [
            DVec3::new(1.0, 0.2, -0.3),
            DVec3::new(-0.4, 2.0, 0.1),
            DVec3::new(0.0, -0.7, 1.5),
            DVec3::new(-0.6, -1.5, -1.3),
        ];
        for axis in [DVec3::X, DVec3::new(1.0, -2.0, 0.5).normalize()] {
            for angle in [0.0, 1.0e-4, 0.5, 2.0, std::f64::consts::PI] {
                let rotation = DQuat::from_axis_angle(axis, angle);
                let found = superpose(points.into_iter().map(|p| (p, rotation * p)));
                for point in points {
                    assert!((found * point).abs_diff_eq(rotation * point, 1.0e-12));
                }
            }
        }
    }
}
