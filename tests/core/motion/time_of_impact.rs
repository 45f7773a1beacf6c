//! Times of impact of moving spheres, against closed forms and interval bisection.

use bevy_rapier_molecules::motion::time_of_impact::{GrowingSphere, first_contact};
use proptest::prelude::*;

fn sphere(center: [f64; 3], velocity: [f64; 3], radius: [f64; 3]) -> GrowingSphere {
    GrowingSphere {
        center: center.into(),
        velocity: velocity.into(),
        radius: radius[0],
        growth: radius[1],
        acceleration: radius[2],
    }
}

#[test]
fn constant_spheres_touch_at_the_root_of_the_quadratic() {
    let one = sphere([0.0; 3], [1.0, 1.0, 0.0], [0.2, 0.0, 0.0]);
    let other = sphere([1.0, 0.0, 0.0], [-1.0, 1.0, 0.0], [0.2, 0.0, 0.0]);
    let time = first_contact(&one, &other, 1.0).unwrap();
    assert!((time - 0.3).abs() < 1.0e-15);
    assert_eq!(first_contact(&one, &other, 0.29), None);
}

#[test]
fn growing_spheres_at_rest_touch() {
    // 2 (1 + t² / 2) = 6 where t = 2.
    let one = sphere([0.0; 3], [0.0; 3], [1.0, 0.0, 1.0]);
    let other = sphere([6.0, 0.0, 0.0], [0.0; 3], [1.0, 0.0, 1.0]);
    let time = first_contact(&one, &other, f64::INFINITY).unwrap();
    assert!((time - 2.0).abs() < 1.0e-15);
}

#[test]
fn growth_outruns_receding_spheres() {
    // 1 + t = 0.5 + t² / 8.
    let one = sphere([0.0; 3], [0.0; 3], [0.5, 0.0, 0.25]);
    let other = sphere([1.0, 0.0, 0.0], [1.0, 0.0, 0.0], [0.0; 3]);
    let time = first_contact(&one, &other, f64::INFINITY).unwrap();
    assert!((time - (4.0 + 20.0_f64.sqrt())).abs() < 1.0e-12);
}

#[test]
fn overlapping_spheres_touch_immediately() {
    let one = sphere([0.0; 3], [5.0, 0.0, 0.0], [1.0, 0.0, 0.0]);
    assert_eq!(first_contact(&one, &one, 1.0), Some(0.0));
    let point = sphere([0.0; 3], [0.0; 3], [0.0; 3]);
    assert_eq!(first_contact(&point, &point, 1.0), Some(0.0));
}

/// Whether the spheres may touch in an interval, by a bound on their relative speed.
fn may_touch(one: &GrowingSphere, other: &GrowingSphere, low: f64, high: f64) -> bool {
    let distance = one.center_at(low).distance(other.center_at(low));
    let path = (one.velocity - other.velocity).length() * (high - low);
    distance - path <= one.radius_at(high) + other.radius_at(high)
}

/// The first contact by interval bisection.
fn by_intervals(one: &GrowingSphere, other: &GrowingSphere, within: f64) -> Option<f64> {
    let mut open = vec![(0.0, within)];
    while let Some((low, high)) = open.pop() {
        if !may_touch(one, other, low, high) {
            continue;
        }
        if high - low < 1.0e-9 {
            return Some(low);
        }
        let middle = 0.5 * (low + high);
        open.push((middle, high));
        open.push((low, middle));
    }
    None
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn first_contact_agrees_with_interval_bisection(
        positions in prop::array::uniform2(prop::array::uniform3(-10.0_f64..10.0)),
        velocities in prop::array::uniform2(prop::array::uniform3(-10.0_f64..10.0)),
        radii in prop::array::uniform2((0.0_f64..2.0, 0.0_f64..2.0, 0.0_f64..4.0)),
    ) {
        let [one, other] = [0, 1].map(|k| {
            sphere(positions[k], velocities[k], [radii[k].0, radii[k].1, radii[k].2])
        });
        let found = first_contact(&one, &other, 3.0);
        let expected = by_intervals(&one, &other, 3.0);
        match (found, expected) {
            (Some(found), Some(expected)) => {
                // Bisection is early by up to the root of its resolution where the spheres graze
                // each other.
                prop_assert!(found > expected - 1.0e-8, "{found} {expected}");
                prop_assert!(found < expected + 1.0e-3, "{found} {expected}");
                let gap = one.center_at(found).distance(other.center_at(found))
                    - one.radius_at(found) - other.radius_at(found);
                prop_assert!(gap < 1.0e-12 && (found == 0.0 || gap > -1.0e-9), "{gap}");
            }
            (None, Some(expected)) => {
                // Only what bisection could not rule out.
                let gap = one.center_at(expected).distance(other.center_at(expected))
                    - one.radius_at(expected) - other.radius_at(expected);
                prop_assert!(gap > 0.0 && gap < 1.0e-6 || expected > 3.0 - 1.0e-8, "{gap}");
            }
            (Some(found), None) => prop_assert!(false, "{found} is not a contact"),
            (None, None) => {}
        }
    }
}
