//! The smallest ball that encloses a set of balls (Fischer and Gärtner, 2003).
//!
//! At most four balls, the *basis*, determine it:
//!
//! 1. start with one ball;
//! 2. find the ball that protrudes most;
//! 3. among the subsets of this ball and the basis (five at most), find the one whose smallest
//!    ball encloses all five: it is the new basis;
//! 4. repeat until no ball protrudes.
//!
//! The radius grows in each iteration and the number of bases is finite, so the algorithm
//! terminates, usually after about a dozen iterations.

use glam::{DMat3, DVec3};

/// Tolerated protrusion relative to the radius: a few double-precision roundings.
const SLACK: f64 = 1.0e-12;

/// Maximum number of iterations, in case rounding causes a cycle.
const MAX_ITERATIONS: usize = 1000;

/// The smallest ball that encloses all `balls`, to within 10⁻⁹ of its radius; `None` if there are
/// no balls. All must be finite.
pub(super) fn enclosing_ball(balls: &[Ball]) -> Option<Ball> {
    // The largest ball is a good start: balls inside it are never in the basis.
    let largest = balls
        .iter()
        .copied()
        .reduce(|a, b| if b.radius > a.radius { b } else { a })?;
    let mut basis = vec![largest];
    let mut ball = largest;
    for _ in 0..MAX_ITERATIONS {
        let (farthest, reach) = farthest(&ball, balls)?;
        if reach <= ball.radius * (1.0 + SLACK) {
            break;
        }
        basis.push(farthest);
        let Some((next, chosen)) = smallest_around(&basis) else {
            break;
        };
        // Only rounding errors remain.
        if next.radius <= ball.radius {
            break;
        }
        ball = next;
        basis = chosen;
    }
    // No ball protrudes, even after rounding.
    let (_, reach) = farthest(&ball, balls)?;
    ball.radius = ball.radius.max(reach);
    Some(ball)
}

/// The ball that reaches farthest from the center of `ball`, and how far.
fn farthest(ball: &Ball, balls: &[Ball]) -> Option<(Ball, f64)> {
    let reaches = balls.iter().map(|other| (*other, ball.reach_of(other)));
    reaches.reduce(|a, b| if b.1 > a.1 { b } else { a })
}

/// The smallest ball around all `balls`, at most five, and its basis.
fn smallest_around(balls: &[Ball]) -> Option<(Ball, Vec<Ball>)> {
    let mut best: Option<(Ball, Vec<Ball>)> = None;
    // The last ball protrudes from the ball of the others, so it is in the basis.
    let last = balls.len() - 1;
    for subset in 0_u32..1 << last {
        if subset.count_ones() > 3 {
            continue;
        }
        let mut chosen = vec![balls[last]];
        chosen.extend((0..last).filter(|k| subset >> k & 1 != 0).map(|k| balls[k]));
        for ball in Ball::around(&chosen).into_iter().flatten() {
            let smaller = best
                .as_ref()
                .is_none_or(|(best, _)| ball.radius < best.radius);
            let limit = ball.radius * (1.0 + SLACK);
            if smaller && balls.iter().all(|other| ball.reach_of(other) <= limit) {
                best = Some((ball, chosen.clone()));
            }
        }
    }
    best
}

/// A ball in double precision; nm.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Ball {
    pub center: DVec3,
    pub radius: f64,
}

/// Squared sine of the smallest angle below which a simplex of centers is degenerate. A ball
/// around fewer of them is then equally good.
const FLAT: f64 = 1.0e-14;

impl Ball {
    /// Distance of the farthest point of `other` from the center of this ball.
    pub fn reach_of(&self, other: &Self) -> f64 {
        self.center.distance(other.center) + other.radius
    }

    /// The balls that enclose up to four `others`, each touching the surface from inside, with
    /// the center in the affine hull of their centers; at most two.
    ///
    /// With the first center at the origin, dᵢ the other centers, δᵢ the differences of their
    /// radii from that of the first, and s the distance of the center x from the origin,
    /// |x| = s and |x − dᵢ| = s − δᵢ, so that
    ///
    /// 2 x·dᵢ = |dᵢ|² − δᵢ² + 2 s δᵢ.
    ///
    /// In the span of the dᵢ this is x = u + s v, and |u + s v|² = s² has two roots.
    fn around(others: &[Self]) -> [Option<Self>; 2] {
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
            let discriminant = half_b * half_b - a * c;
            // Rounding may make the discriminant of a double root slightly negative.
            let root = discriminant.max(-FLAT * half_b * half_b).max(0.0).sqrt();
            let large = -(half_b + root.copysign(half_b));
            if discriminant < -FLAT * half_b * half_b {
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
            // NaN if there is no such root.
            (s >= 0.0 && ball.radius.is_finite() && ball.center.is_finite()).then_some(ball)
        })
    }
}

/// The u and v of [`Ball::around`]; `None` if the centers are degenerate.
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
            // The products of the rows d, e, f with x are known.
            let rows = DMat3::from_cols(d, e, f).transpose();
            let lengths = d.length() * e.length() * f.length();
            if rows.determinant().abs() <= FLAT.sqrt() * lengths {
                return None;
            }
            let inverse = rows.inverse();
            let fixed = DVec3::new(fixed(0), fixed(1), fixed(2));
            let excess = DVec3::new(excess[0], excess[1], excess[2]);
            Some((inverse * fixed, inverse * excess))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use glam::DVec3;
    use rand::{RngExt, SeedableRng};
    use rand_pcg::Pcg64Mcg;

    use super::*;

    fn random_balls(count: usize, radii: std::ops::Range<f64>, seed: u64) -> Vec<Ball> {
        let mut random = Pcg64Mcg::seed_from_u64(seed);
        (0..count)
            .map(|_| Ball {
                center: DVec3::from_array([(); 3].map(|()| random.random_range(-1.0..1.0))),
                radius: random.random_range(radii.clone()),
            })
            .collect()
    }

    /// Radius of the smallest ball around a subset of up to four balls that encloses all.
    fn brute_force_radius(balls: &[Ball]) -> f64 {
        let mut best = f64::INFINITY;
        for subset in 1_u32..1 << balls.len() {
            if subset.count_ones() > 4 {
                continue;
            }
            let kept = (0..balls.len()).filter(|k| subset >> k & 1 != 0);
            let chosen: Vec<Ball> = kept.map(|k| balls[k]).collect();
            for ball in Ball::around(&chosen).into_iter().flatten() {
                let encloses = |other: &Ball| ball.reach_of(other) <= ball.radius * (1.0 + 1e-10);
                if ball.radius < best && balls.iter().all(encloses) {
                    best = ball.radius;
                }
            }
        }
        best
    }

    /// An upper bound of the radius: the smallest reach while moving the center towards the
    /// farthest ball in ever smaller steps.
    fn iterative_radius_bound(balls: &[Ball]) -> f64 {
        let mut current = balls[0];
        let mut best = f64::INFINITY;
        for step in 1..20_000 {
            let (target, reach) = farthest(&current, balls).unwrap();
            best = best.min(reach);
            let away = (target.center - current.center).normalize_or_zero();
            let point = target.center + away * target.radius;
            current.center += (point - current.center) / (step + 1) as f64;
        }
        best
    }

    #[test]
    fn the_ball_matches_brute_force() {
        for seed in 0..400 {
            for (count, radii) in [(1, 0.1..0.2), (2, 0.0..1.0), (5, 0.0..0.5), (8, 0.1..0.2)] {
                let balls = random_balls(count, radii, seed);
                let found = enclosing_ball(&balls).unwrap();
                let expected = brute_force_radius(&balls);
                assert!(
                    (found.radius - expected).abs() < 1e-9 * expected,
                    "{count}, seed {seed}"
                );
                let encloses_all = balls.iter().all(|b| found.reach_of(b) <= found.radius);
                assert!(encloses_all, "{count}, seed {seed}");
            }
        }
    }

    #[test]
    fn the_ball_around_many_balls_is_within_an_upper_bound() {
        for seed in 0..6 {
            let balls = random_balls(500, 0.05..0.2, seed);
            let found = enclosing_ball(&balls).unwrap();
            let bound = iterative_radius_bound(&balls);
            assert!(found.radius <= bound && found.radius > 0.999 * bound);
        }
    }

    #[test]
    fn nested_coincident_and_coplanar_balls_are_enclosed() {
        let ball = |x: f64, y: f64, radius: f64| Ball {
            center: DVec3::new(x, y, 0.0),
            radius,
        };
        assert_eq!(enclosing_ball(&[]), None);
        // Nested balls, one of which touches the largest from inside.
        let inside = [
            ball(0.0, 0.0, 1.0),
            ball(0.5, 0.0, 0.5),
            ball(0.1, 0.0, 0.1),
        ];
        assert_eq!(enclosing_ball(&inside), Some(inside[0]));
        assert_eq!(
            enclosing_ball(&[ball(1.0, 2.0, 0.3); 7]).unwrap().radius,
            0.3
        );
        // A square, a line and a regular polygon have degenerate centers.
        let square = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0), (1.0, 1.0)].map(|(x, y)| ball(x, y, 0.1));
        let found = enclosing_ball(&square).unwrap();
        assert!((found.radius - (0.5_f64.sqrt() + 0.1)).abs() < 1e-9);
        let line: Vec<Ball> = (0..10).map(|k| ball(f64::from(k), 0.0, 0.5)).collect();
        assert!((enclosing_ball(&line).unwrap().radius - 5.0).abs() < 1e-9);
        let ring = (0..100).map(|k| f64::from(k) * std::f64::consts::TAU / 100.0);
        let ring: Vec<Ball> = ring.map(|a| ball(a.cos(), a.sin(), 0.1)).collect();
        assert!((enclosing_ball(&ring).unwrap().radius - 1.1).abs() < 1e-9);
    }
}
