//! Four 3D vectors or symmetric matrices at a time, stored component by component.

use std::ops::{AddAssign, Mul, Sub, SubAssign};

use glam::{Mat4, Vec3, Vec3A, Vec4};

/// Number of lanes.
pub(super) const LANES: usize = 4;

/// Four vectors.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Vec3x4 {
    x: Vec4,
    y: Vec4,
    z: Vec4,
}

impl Vec3x4 {
    pub fn new(vectors: [Vec3A; LANES]) -> Self {
        let [a, b, c, d] = vectors.map(|vector| vector.extend(0.0));
        let rows = Mat4::from_cols(a, b, c, d).transpose();
        Self {
            x: rows.x_axis,
            y: rows.y_axis,
            z: rows.z_axis,
        }
    }

    pub fn split(self) -> [Vec3A; LANES] {
        let columns = Mat4::from_cols(self.x, self.y, self.z, Vec4::ZERO).transpose();
        [
            columns.x_axis,
            columns.y_axis,
            columns.z_axis,
            columns.w_axis,
        ]
        .map(Vec3A::from_vec4)
    }

    pub fn get(&self, lane: usize) -> Vec3 {
        Vec3::new(self.x[lane], self.y[lane], self.z[lane])
    }

    pub fn set(&mut self, lane: usize, vector: Vec3) {
        self.x[lane] = vector.x;
        self.y[lane] = vector.y;
        self.z[lane] = vector.z;
    }

    #[inline(always)]
    pub fn dot(self, other: Self) -> Vec4 {
        self.x * other.x + self.y * other.y + self.z * other.z
    }

    #[inline(always)]
    pub fn cross(self, other: Self) -> Self {
        Self {
            x: self.y * other.z - self.z * other.y,
            y: self.z * other.x - self.x * other.z,
            z: self.x * other.y - self.y * other.x,
        }
    }

    /// Component-wise product.
    #[inline(always)]
    pub fn scaled_by(self, other: Self) -> Self {
        Self {
            x: self.x * other.x,
            y: self.y * other.y,
            z: self.z * other.z,
        }
    }

    /// Shortens vectors longer than `max` to that length.
    #[inline(always)]
    pub fn clamp_length_max(self, max: Vec4) -> Self {
        let squared = self.dot(self);
        let too_long = squared.cmpgt(max * max);
        let scale = max / squared.sqrt();
        self * Vec4::select(too_long, scale, Vec4::ONE)
    }
}

/// Four symmetric matrices.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct SymmetricMat3x4 {
    /// Elements xx, yy, zz.
    diagonal: Vec3x4,
    /// Elements yz, xz, xy.
    off_diagonal: Vec3x4,
}

impl SymmetricMat3x4 {
    pub fn new(diagonals: [Vec3A; LANES], off_diagonal: [Vec3A; LANES]) -> Self {
        Self {
            diagonal: Vec3x4::new(diagonals),
            off_diagonal: Vec3x4::new(off_diagonal),
        }
    }

    #[inline(always)]
    pub fn times(&self, vector: Vec3x4) -> Vec3x4 {
        let (d, o) = (&self.diagonal, &self.off_diagonal);
        Vec3x4 {
            x: d.x * vector.x + o.z * vector.y + o.y * vector.z,
            y: o.z * vector.x + d.y * vector.y + o.x * vector.z,
            z: o.y * vector.x + o.x * vector.y + d.z * vector.z,
        }
    }
}

impl Mul<Vec4> for Vec3x4 {
    type Output = Self;

    #[inline(always)]
    fn mul(self, factor: Vec4) -> Self {
        Self {
            x: self.x * factor,
            y: self.y * factor,
            z: self.z * factor,
        }
    }
}

impl Sub for Vec3x4 {
    type Output = Self;

    #[inline(always)]
    fn sub(mut self, other: Self) -> Self {
        self -= other;
        self
    }
}

impl AddAssign for Vec3x4 {
    #[inline(always)]
    fn add_assign(&mut self, other: Self) {
        self.x += other.x;
        self.y += other.y;
        self.z += other.z;
    }
}

impl SubAssign for Vec3x4 {
    #[inline(always)]
    fn sub_assign(&mut self, other: Self) {
        self.x -= other.x;
        self.y -= other.y;
        self.z -= other.z;
    }
}

#[cfg(test)]
mod tests {
    use approx::assert_relative_eq;
    use glam::Mat3;

    use super::*;

    const A: [Vec3A; LANES] = [
        Vec3A::new(1.0, 2.0, -3.0),
        Vec3A::new(-4.0, 0.5, 6.0),
        Vec3A::ZERO,
        Vec3A::new(0.25, -8.0, 9.0),
    ];
    const B: [Vec3A; LANES] = [
        Vec3A::new(0.0, 1.0, 4.0),
        Vec3A::new(2.0, 2.0, -1.0),
        Vec3A::new(3.0, 3.0, 3.0),
        Vec3A::new(-1.0, -7.0, 0.125),
    ];

    #[test]
    fn each_lane_computes_what_a_vector_does() {
        let (a, b) = (Vec3x4::new(A), Vec3x4::new(B));
        let mut sum = a;
        sum += b;
        for lane in 0..LANES {
            let (one, other) = (Vec3::from(A[lane]), Vec3::from(B[lane]));
            assert_eq!(a.get(lane), one);
            assert_eq!(Vec3::from(a.split()[lane]), one);
            assert_eq!(a.dot(b)[lane], one.dot(other));
            assert_eq!(a.cross(b).get(lane), one.cross(other));
            assert_eq!(a.scaled_by(b).get(lane), one * other);
            assert_eq!(sum.get(lane), one + other);
            assert_eq!((a - b).get(lane), one - other);
            assert_eq!((a * Vec4::splat(0.5)).get(lane), one * 0.5);
        }
        let mut changed = a;
        changed.set(2, Vec3::ONE);
        assert_eq!(changed.get(2), Vec3::ONE);
        assert_eq!(changed.get(1), a.get(1));
    }

    #[test]
    fn only_long_vectors_are_shortened_and_all_stay_finite() {
        let max = Vec4::new(1.0, 100.0, 0.0, 0.0);
        let shortened = Vec3x4::new(A).clamp_length_max(max);
        assert_relative_eq!(shortened.get(0).length(), 1.0, max_relative = 1.0e-6);
        assert_eq!(shortened.get(1), A[1].into());
        assert_eq!(shortened.get(2), Vec3::ZERO);
        assert_eq!(shortened.get(3), Vec3::ZERO);
    }

    #[test]
    fn symmetric_matrices_multiply_as_full_ones() {
        let full = Mat3::from_cols_array(&[2.0, 0.5, -1.0, 0.5, 3.0, 0.25, -1.0, 0.25, 4.0]);
        let diagonal = Vec3A::new(2.0, 3.0, 4.0);
        let off_diagonal = Vec3A::new(0.25, -1.0, 0.5);
        let product =
            SymmetricMat3x4::new([diagonal; LANES], [off_diagonal; LANES]).times(Vec3x4::new(A));
        for (lane, vector) in A.into_iter().enumerate() {
            let expected = full * Vec3::from(vector);
            assert_relative_eq!(product.get(lane).x, expected.x, epsilon = 1.0e-5);
            assert_relative_eq!(product.get(lane).y, expected.y, epsilon = 1.0e-5);
            assert_relative_eq!(product.get(lane).z, expected.z, epsilon = 1.0e-5);
        }
    }
}
