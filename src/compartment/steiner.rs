//! [`SteinerPolynomial`]: the volume of a convex solid that is dilated by a ball.

use std::f64::consts::PI;

/// Volume, area and mean curvature of a convex solid.
///
/// The area of its parallel surface at distance r is A + 2 M r + 4π r² (see
/// [`compartment`](super)). Integrated over r, the solid dilated by a ball of radius r has the
/// volume
///
/// V(r) = V + A r + M r² + 4/3 π r³.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct SteinerPolynomial {
    /// V, nm³.
    pub volume: f64,
    /// A, nm².
    pub area: f64,
    /// M, the integral of the mean curvature, nm.
    pub curvature: f64,
}

impl SteinerPolynomial {
    /// Volume (nm³) of the solid dilated by a ball of `radius` (nm); of any solid if the radius is
    /// zero.
    pub fn volume_at(&self, radius: f32) -> f64 {
        let r = f64::from(radius);
        self.volume + r * (self.area + r * (self.curvature + r * 4.0 / 3.0 * PI))
    }

    /// The segment of this length (nm); a point if it is zero.
    pub fn segment(length: f32) -> Self {
        // A(r) is the side of a cylinder and two half spheres, 2π r l + 4π r².
        Self {
            volume: 0.0,
            area: 0.0,
            curvature: PI * f64::from(length),
        }
    }

    /// The box with these half extents (nm).
    pub fn cuboid(half_extents: [f32; 3]) -> Self {
        let [x, y, z] = half_extents.map(f64::from);
        // Four edges along each axis, turned by π/2: 2 M = 4π (x + y + z).
        Self {
            volume: 8.0 * x * y * z,
            area: 8.0 * (x * y + y * z + z * x),
            curvature: 2.0 * PI * (x + y + z),
        }
    }

    /// The cylinder with this half height and radius (nm).
    pub fn cylinder(half_height: f32, radius: f32) -> Self {
        let (h, r) = (2.0 * f64::from(half_height), f64::from(radius));
        // The side of height h contributes 2π h to 2 M; each of the two rims of length 2π r, which
        // turn by π/2, contributes π² r.
        Self {
            volume: PI * r * r * h,
            area: 2.0 * PI * r * (r + h),
            curvature: PI * (h + PI * r),
        }
    }

    /// The cone with this half height and radius of its base (nm).
    pub fn cone(half_height: f32, radius: f32) -> Self {
        let (h, r) = (2.0 * f64::from(half_height), f64::from(radius));
        let slant = h.hypot(r);
        // The normal of the side has the component −r/s along that of the base: the rim turns by
        // acos(−r/s). The side contributes 2π h to 2 M, as in a cylinder.
        Self {
            volume: PI * r * r * h / 3.0,
            area: PI * r * (r + slant),
            curvature: PI * (h + r * (-r / slant).acos()),
        }
    }
}
