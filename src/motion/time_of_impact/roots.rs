//! First roots: never a later one.

/// How many times a search for a root goes on at most. Newton's method doubles the digits
/// each time; only where a root is double, one bit is gained instead.
const MOST_ROUNDS: usize = 64;

/// Part of the lengths at hand that their difference is not known better than.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// The first time t ≥ 0 at which c₀ + c₁ t + c₂ t² is zero or less; ∞ if there is none.
///
/// The roots are q / c₂ and c₀ / q with q = −(c₁ + sign(c₁) √(c₁² − 4 c₀ c₂)) / 2. As c₀ is
/// positive, the sign of c₁ tells which of the two is the first that is not negative, and
/// no difference of nearly equal numbers is taken.
#[must_use]
pub fn first_not_positive(c0: f64, c1: f64, c2: f64) -> f64 {
    if c0 <= 0.0 {
        return 0.0;
    }
    let discriminant = c1 * c1 - 4.0 * c0 * c2;
    if discriminant.is_nan() || discriminant < 0.0 {
        return f64::INFINITY;
    }
    let root = discriminant.sqrt();
    if c1 < 0.0 {
        2.0 * c0 / (root - c1)
    } else if c2 < 0.0 {
        -0.5 * (c1 + root) / c2
    } else {
        f64::INFINITY
    }
}

/// A gap that closes: its width at a time, nm, and a line that it is never below from then
/// on, given by its slope, nm/s.
pub(super) struct Gap {
    /// Width without the growth of the radius, nm.
    pub(super) distance: f64,
    /// Slope of the tangent of the distance, nm/s.
    pub(super) slope: f64,
    /// Size of the numbers that the distance is the difference of, nm.
    pub(super) scale: f64,
}

/// The first time within `0..=within` at which a distance d(t) is not more than the radius
/// r + b t + a t² / 2, where d is convex.
///
/// A convex function is never below its tangent, so that
///
/// ```text
/// d(t + s) − radius(t + s) ≥ d(t) + d'(t) s − radius(t + s)
/// ```
///
/// The right side is quadratic in s. Its first root is never behind the first root of the
/// left side, and it agrees with it in value and slope: going from root to root is Newton's
/// method with the curvature of the radius taken along, from the left, so that no root is
/// jumped over.
pub(super) fn first_touch_of_convex(
    [r, b, a]: [f64; 3],
    within: f64,
    gap_at: impl Fn(f64) -> Gap,
) -> Option<f64> {
    let mut time = 0.0;
    for _ in 0..MOST_ROUNDS {
        let radius = r + time * (b + 0.5 * a * time);
        let gap = gap_at(time);
        let open = gap.distance - radius;
        if open <= ROUNDING * (gap.scale + radius) {
            return Some(time);
        }
        let step = first_not_positive(open, gap.slope - (b + a * time), -0.5 * a);
        let next = time + step;
        if next.is_nan() || next > within {
            return None;
        }
        if next <= time {
            return Some(time);
        }
        time = next;
    }
    // All but a double root: they pass each other closer than digits can tell.
    Some(time)
}

/// The first time within `0..=within` at which a concave gap is zero or less.
///
/// A concave function that is positive at first has one root at most, so that its sign at
/// both ends tells whether there is one, and every bracket keeps it.
pub(super) fn first_root_of_concave(within: f64, gap_at: impl Fn(f64) -> f64) -> Option<f64> {
    if gap_at(0.0) <= 0.0 {
        return Some(0.0);
    }
    let (mut low, mut high) = (0.0, within);
    if !within.is_finite() {
        // Doubles until the gap has closed.
        high = 1.0;
        while gap_at(high) > 0.0 {
            high *= 2.0;
            if !high.is_finite() {
                return None;
            }
        }
    } else if gap_at(within) > 0.0 {
        return None;
    }
    loop {
        let middle = 0.5 * (low + high);
        if middle <= low || middle >= high {
            return Some(low);
        }
        if gap_at(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_root_of_a_parabola_is_found_whatever_its_shape() {
        // (t − 1)(t − 3), and upside down, and lines.
        assert_eq!(first_not_positive(3.0, -4.0, 1.0), 1.0);
        assert_eq!(first_not_positive(3.0, 2.0, -1.0), 3.0);
        assert_eq!(first_not_positive(2.0, -1.0, 0.0), 2.0);
        assert_eq!(first_not_positive(2.0, 1.0, 0.0), f64::INFINITY);
        assert_eq!(first_not_positive(2.0, 0.0, 0.0), f64::INFINITY);
        assert_eq!(first_not_positive(1.0, 0.0, 1.0), f64::INFINITY);
        assert_eq!(first_not_positive(0.0, 5.0, 5.0), 0.0);
        assert_eq!(first_not_positive(1.0, f64::NAN, 1.0), f64::INFINITY);
        // Roots of very different size keep their digits: about 1e-8 and 1e8.
        let root = first_not_positive(1.0, -1.0e8, 1.0);
        assert!((root * 1.0e8 - 1.0).abs() < 1.0e-15);
    }

    #[test]
    fn a_concave_gap_is_closed_once() {
        let gap = |time: f64| 2.0 + time - time * time;
        assert_eq!(first_root_of_concave(1.9, gap), None);
        for within in [2.5, f64::INFINITY] {
            let root = first_root_of_concave(within, gap).unwrap();
            assert!((root - 2.0).abs() < 1.0e-15);
        }
        assert_eq!(first_root_of_concave(1.0, |_| -1.0), Some(0.0));
        assert_eq!(first_root_of_concave(f64::INFINITY, |_| 1.0), None);
    }
}
