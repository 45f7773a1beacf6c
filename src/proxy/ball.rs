//! A ball in 64 bits, and the balls that touch others from outside.

use glam::{DMat3, DVec3};

/// A ball; nm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ball {
    /// Its center.
    pub center: DVec3,
    /// Its radius.
    pub radius: f64,
}

/// How flat a simplex of centers may be, as the sine of its flattest angle squared, before
/// a ball around fewer of them is as good.
const FLAT: f64 = 1.0e-14;

impl Ball {
    /// Distance of the farthest point of `other` from our center.
    #[must_use]
    pub fn reach_of(&self, other: &Self) -> f64 {
        self.center.distance(other.center) + other.radius
    }

    /// The balls that hold up to four `others`, touch each of them from around it, and have
    /// their center in the simplex of theirs or beyond it; at most two.
    ///
    /// With the first of the others at the origin, dᵢ the centers of the rest, δᵢ what
    /// their radii exceed that of the first by, and s the distance of our center x from
    /// the origin, |x| = s and |x − dᵢ| = s − δᵢ, so that
    ///
    /// 2 x·dᵢ = |dᵢ|² − δᵢ² + 2 s δᵢ.
    ///
    /// In the span of the dᵢ that is x = u + s v, and |u + s v|² = s² has two roots.
    pub(super) fn around(others: &[Self]) -> [Option<Self>; 2] {
        let Some((first, rest)) = others.split_first() else {
            return [None; 2];
        };
        if rest.is_empty() {
            return [Some(*first), None];
        }
        let Some((u, v)) = line_of_centers(first, rest) else {
            return [None; 2];
        };
        // (v² − 1) s² + 2 u·v s + u² = 0.
        let (a, half_b, c) = (v.length_squared() - 1.0, u.dot(v), u.length_squared());
        let roots = if a.abs() < FLAT {
            [-0.5 * c / half_b, f64::NAN]
        } else {
            let room = half_b * half_b - a * c;
            // A touching pair of roots may come out a little below zero.
            let root = room.max(-FLAT * half_b * half_b).max(0.0).sqrt();
            let large = -(half_b + root.copysign(half_b));
            if room < -FLAT * half_b * half_b {
                [f64::NAN; 2]
            } else if large == 0.0 {
                [0.0, f64::NAN]
            } else {
                [large / a, c / large]
            }
        };
        roots.map(|s| {
            let ball = Self {
                center: first.center + u + v * s,
                radius: s + first.radius,
            };
            // Not a number, if there is no such root.
            (s >= 0.0 && ball.radius.is_finite() && ball.center.is_finite()).then_some(ball)
        })
    }
}

/// The u and v of [`Ball::around`]; none if the centers do not span a simplex.
fn line_of_centers(first: &Ball, rest: &[Ball]) -> Option<(DVec3, DVec3)> {
    let sides: Vec<DVec3> = rest.iter().map(|b| b.center - first.center).collect();
    let excess: Vec<f64> = rest.iter().map(|b| b.radius - first.radius).collect();
    let fixed = |k: usize| 0.5 * (sides[k].length_squared() - excess[k] * excess[k]);
    match *sides {
        [d] => {
            let squared = d.length_squared();
            (squared > 0.0).then(|| (d * (fixed(0) / squared), d * (excess[0] / squared)))
        }
        [d, e] => {
            let (dd, de, ee) = (d.length_squared(), d.dot(e), e.length_squared());
            let determinant = dd * ee - de * de;
            if determinant <= FLAT * dd * ee {
                return None;
            }
            let solve =
                |p: f64, q: f64| (d * (p * ee - q * de) + e * (q * dd - p * de)) / determinant;
            Some((solve(fixed(0), fixed(1)), solve(excess[0], excess[1])))
        }
        [d, e, f] => {
            // Rows d, e, f: their products with x are given.
            let rows = DMat3::from_cols(d, e, f).transpose();
            let lengths = d.length() * e.length() * f.length();
            if rows.determinant().abs() <= FLAT.sqrt() * lengths {
                return None;
            }
            let inverse = rows.inverse();
            let right = |value: &dyn Fn(usize) -> f64| DVec3::new(value(0), value(1), value(2));
            Some((inverse * right(&fixed), inverse * right(&|k| excess[k])))
        }
        _ => None,
    }
}
