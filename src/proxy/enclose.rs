//! The smallest ball around balls.
//!
//! It is held by at most four of them, its *basis* (Fischer and Gärtner, 2003). So:
//!
//! 1. start with one ball;
//! 2. find the ball that sticks out farthest;
//! 3. of it and the basis, five at most, find the smallest ball around all by trying every
//!    subset: the subset is the new basis;
//! 4. until nothing sticks out.
//!
//! The radius grows in each round and there are finitely many bases, so that it ends; a
//! dozen rounds are usual.

use super::Ball;

/// What may stick out, relative to the radius: rounding of 64 bits, and a little more.
const SLACK: f64 = 1.0e-12;

/// Most rounds. Rounding could make the search go in circles; what it has found by then is
/// as good as it gets.
const MAX_ROUNDS: usize = 1000;

/// The smallest ball that holds all `balls`, to within 10⁻⁹ of its radius; none if there
/// are no balls. All must be finite.
#[must_use]
pub(super) fn enclosing_ball(balls: &[Ball]) -> Option<Ball> {
    // The largest is a good first guess: small balls inside of it never matter.
    let largest = balls
        .iter()
        .copied()
        .reduce(|a, b| if b.radius > a.radius { b } else { a })?;
    let mut basis = vec![largest];
    let mut ball = largest;
    for _ in 0..MAX_ROUNDS {
        let (farthest, reach) = farthest(&ball, balls)?;
        if reach <= ball.radius * (1.0 + SLACK) {
            break;
        }
        basis.push(farthest);
        let Some((next, chosen)) = smallest_around(&basis) else {
            break;
        };
        // No progress: rounding is all that is left.
        if next.radius <= ball.radius {
            break;
        }
        ball = next;
        basis = chosen;
    }
    // Whatever rounding did, nothing sticks out.
    let (_, reach) = farthest(&ball, balls)?;
    ball.radius = ball.radius.max(reach);
    Some(ball)
}

/// The ball that reaches farthest from the center of `ball`, and how far.
fn farthest(ball: &Ball, balls: &[Ball]) -> Option<(Ball, f64)> {
    let reaches = balls.iter().map(|other| (*other, ball.reach_of(other)));
    reaches.reduce(|a, b| if b.1 > a.1 { b } else { a })
}

/// The smallest ball around all `balls`, at most five, and those that hold it.
fn smallest_around(balls: &[Ball]) -> Option<(Ball, Vec<Ball>)> {
    let mut best: Option<(Ball, Vec<Ball>)> = None;
    // The last one sticks out of what the others need, so that it holds the ball.
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

    /// Every subset of up to four, and the smallest ball around one that holds all.
    fn by_trying(balls: &[Ball]) -> f64 {
        let mut best = f64::INFINITY;
        for subset in 1_u32..1 << balls.len() {
            if subset.count_ones() > 4 {
                continue;
            }
            let kept = (0..balls.len()).filter(|k| subset >> k & 1 != 0);
            let chosen: Vec<Ball> = kept.map(|k| balls[k]).collect();
            for ball in Ball::around(&chosen).into_iter().flatten() {
                let holds = |other: &Ball| ball.reach_of(other) <= ball.radius * (1.0 + 1e-10);
                if ball.radius < best && balls.iter().all(holds) {
                    best = ball.radius;
                }
            }
        }
        best
    }

    /// The smallest reach that steps towards the farthest ball get down to, which is never
    /// less than the truth.
    fn by_walking(balls: &[Ball]) -> f64 {
        let mut at = balls[0];
        let mut best = f64::INFINITY;
        for step in 1..20_000 {
            let (target, reach) = farthest(&at, balls).unwrap();
            best = best.min(reach);
            let away = (target.center - at.center).normalize_or_zero();
            let point = target.center + away * target.radius;
            at.center += (point - at.center) / (step + 1) as f64;
        }
        best
    }

    #[test]
    fn the_ball_is_the_smallest_of_all_that_can_be_tried() {
        for seed in 0..400 {
            for (count, radii) in [(1, 0.1..0.2), (2, 0.0..1.0), (5, 0.0..0.5), (8, 0.1..0.2)] {
                let balls = random_balls(count, radii, seed);
                let found = enclosing_ball(&balls).unwrap();
                let truth = by_trying(&balls);
                assert!(
                    (found.radius - truth).abs() < 1e-9 * truth,
                    "{count}, seed {seed}"
                );
                let held = balls.iter().all(|b| found.reach_of(b) <= found.radius);
                assert!(held, "{count}, seed {seed}");
            }
        }
    }

    #[test]
    fn many_balls_get_no_larger_a_ball_than_walking_finds() {
        for seed in 0..6 {
            let balls = random_balls(500, 0.05..0.2, seed);
            let found = enclosing_ball(&balls).unwrap();
            let walked = by_walking(&balls);
            assert!(found.radius <= walked && found.radius > 0.999 * walked);
        }
    }

    #[test]
    fn balls_inside_of_one_another_in_one_place_and_in_a_plane_are_held() {
        let ball = |x: f64, y: f64, radius: f64| Ball {
            center: DVec3::new(x, y, 0.0),
            radius,
        };
        assert_eq!(enclosing_ball(&[]), None);
        // One inside of the other, and touching it from inside.
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
        // A square, a line and a regular polygon: centers that span no simplex.
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
