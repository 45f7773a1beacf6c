//! First roots of gap functions. No function here returns a later root than the first.

/// Maximum number of iterations of [`first_touch_of_convex`]. Newton's method doubles the
/// number of correct digits per iteration; near a double root it gains only one bit.
const MAX_ITERATIONS: usize = 64;

/// Relative rounding error of a distance.
const ROUNDING: f64 = 8.0 * f64::EPSILON;

/// The first time t ≥ 0 at which c₀ + c₁ t + c₂ t² ≤ 0, or infinity.
///
/// The roots are q / c₂ and c₀ / q with q = −(c₁ + sign(c₁) √(c₁² − 4 c₀ c₂)) / 2. For
/// c₀ > 0 the sign of c₁ decides which of them is the first one that is not negative. This
/// form has no cancellation.
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

/// The first time in `0..=max_time` at which a convex distance d(t) is at most the radius
/// r + b t + a t² / 2. `distance_at` returns d in nm, its slope in nm/s, and the magnitude of the
/// coordinates that it is computed from in nm.
///
/// A convex function is never below its tangent, so
///
/// ```text
/// d(t + s) − radius(t + s) ≥ d(t) + d'(t) s − radius(t + s)
/// ```
///
/// The right side is quadratic in s. Its first root is never later than the first root of
/// the left side, and both sides agree in value and slope at s = 0: stepping from root to
/// root is Newton's method, extended by the curvature of the radius, from the left.
pub(super) fn first_touch_of_convex(
    [r, b, a]: [f64; 3],
    max_time: f64,
    distance_at: impl Fn(f64) -> [f64; 3],
) -> Option<f64> {
    let mut time = 0.0;
    for _ in 0..MAX_ITERATIONS {
        let radius = r + time * (b + 0.5 * a * time);
        let [distance, slope, scale] = distance_at(time);
        let open = distance - radius;
        if open <= ROUNDING * (scale + radius) {
            return Some(time);
        }
        let step = first_not_positive(open, slope - (b + a * time), -0.5 * a);
        let next = time + step;
        if next.is_nan() || next > max_time {
            return None;
        }
        if next <= time {
            return Some(time);
        }
        time = next;
    }
    // Nearly a double root: the spheres graze each other within rounding.
    Some(time)
}

/// The first time in `0..=max_time` at which a concave gap is at most zero.
///
/// A concave function that starts positive has at most one root, which bisection brackets.
pub(super) fn first_root_of_concave(max_time: f64, gap_at: impl Fn(f64) -> f64) -> Option<f64> {
    if gap_at(0.0) <= 0.0 {
        return Some(0.0);
    }
    let (mut low, mut high) = (0.0, max_time);
    if !max_time.is_finite() {
        // Double the interval until the gap has closed.
        high = 1.0;
        while gap_at(high) > 0.0 {
            high *= 2.0;
            if !high.is_finite() {
                return None;
            }
        }
    } else if gap_at(max_time) > 0.0 {
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
    fn first_root_of_parabolas_and_lines() {
        // (t − 1)(t − 3), upside down, and lines.
        assert_eq!(first_not_positive(3.0, -4.0, 1.0), 1.0);
        assert_eq!(first_not_positive(3.0, 2.0, -1.0), 3.0);
        assert_eq!(first_not_positive(2.0, -1.0, 0.0), 2.0);
        assert_eq!(first_not_positive(2.0, 1.0, 0.0), f64::INFINITY);
        assert_eq!(first_not_positive(2.0, 0.0, 0.0), f64::INFINITY);
        assert_eq!(first_not_positive(1.0, 0.0, 1.0), f64::INFINITY);
        assert_eq!(first_not_positive(0.0, 5.0, 5.0), 0.0);
        assert_eq!(first_not_positive(1.0, f64::NAN, 1.0), f64::INFINITY);
        // Roots of very different magnitude, about 1e-8 and 1e8, keep their digits.
        let root = first_not_positive(1.0, -1.0e8, 1.0);
        assert!((root * 1.0e8 - 1.0).abs() < 1.0e-15);
    }

    #[test]
    fn concave_gap_closes_once() {
        let gap = |time: f64| 2.0 + time - time * time;
        assert_eq!(first_root_of_concave(1.9, gap), None);
        for max_time in [2.5, f64::INFINITY] {
            let root = first_root_of_concave(max_time, gap).unwrap();
            assert!((root - 2.0).abs() < 1.0e-15);
        }
        assert_eq!(first_root_of_concave(1.0, |_| -1.0), Some(0.0));
        assert_eq!(first_root_of_concave(f64::INFINITY, |_| 1.0), None);
    }
}
