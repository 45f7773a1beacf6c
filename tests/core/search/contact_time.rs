//! The time of contact of two moving spheres.

use bevy_rapier_molecules::search::swept::{Trajectory, time_of_contact};
use proptest::prelude::*;

fn line(start: [f64; 3], end: [f64; 3]) -> Trajectory {
    Trajectory {
        start: start.into(),
        end: end.into(),
    }
}

/// The example of the paper: two spheres of radius 0.2 on crossing lines.
#[test]
fn the_worked_example_touches_at_0_3_and_0_7() {
    let a = line([0.0, 0.0, 0.0], [1.0, 1.0, 0.0]);
    let b = line([1.0, 0.0, 0.0], [0.0, 1.0, 0.0]);
    let times = time_of_contact(&a, &b, 0.4).unwrap();
    assert!((times.first - 0.3).abs() < 1.0e-15 && (times.last - 0.7).abs() < 1.0e-15);
    assert_eq!(times.first_until(1.0), Some(times.first));
}

#[test]
fn spheres_that_pass_or_separate_do_not_collide() {
    let still = line([0.0; 3], [0.0; 3]);
    let past = line([2.0, 1.01, 0.0], [-2.0, 1.01, 0.0]);
    assert_eq!(time_of_contact(&still, &past, 1.0), None);
    let away = line([2.0, 0.0, 0.0], [3.0, 0.0, 0.0]);
    let times = time_of_contact(&still, &away, 1.0).unwrap();
    assert!(times.last < 0.0 && times.first_until(1.0).is_none());
    let too_late = line([9.0, 0.0, 0.0], [8.0, 0.0, 0.0]);
    let times = time_of_contact(&still, &too_late, 1.0).unwrap();
    assert!(times.first > 1.0 && times.first_until(1.0).is_none());
}

#[test]
fn spheres_that_overlap_at_the_start_collide_at_time_zero() {
    let still = line([0.0; 3], [0.0; 3]);
    for end in [[0.5, 0.0, 0.0], [9.0, 0.0, 0.0]] {
        let other = line([0.5, 0.0, 0.0], end);
        let times = time_of_contact(&still, &other, 1.0).unwrap();
        assert_eq!(times.first_until(1.0), Some(0.0));
    }
}

#[test]
fn a_fast_sphere_does_not_tunnel_through_another() {
    let still = line([0.0; 3], [0.0; 3]);
    let bullet = line([-1.0e6, 0.0, 0.0], [1.0e6, 0.0, 0.0]);
    let time = time_of_contact(&still, &bullet, 1.0)
        .unwrap()
        .first_until(1.0)
        .unwrap();
    assert!((bullet.at(time).length() - 1.0).abs() < 1.0e-8);
}

proptest! {
    /// At the times of contact the distance is the reach; before and after it is larger.
    #[test]
    fn contact_is_where_the_distance_is_the_reach(
        places in prop::array::uniform4(prop::array::uniform3(-5.0_f64..5.0)),
        reach in 0.01_f64..3.0,
    ) {
        let [a, b] = [line(places[0], places[1]), line(places[2], places[3])];
        let distance = |time| a.at(time).distance(b.at(time));
        match time_of_contact(&a, &b, reach) {
            Some(times) => {
                for time in [times.first, times.last] {
                    prop_assert!((distance(time) - reach).abs() < 1.0e-6);
                }
                prop_assert!(distance(0.5 * (times.first + times.last)) <= reach + 1.0e-9);
                prop_assert!(distance(times.first - 1.0) > reach);
                prop_assert!(distance(times.last + 1.0) > reach);
            }
            None => {
                for step in 0..=100 {
                    prop_assert!(distance(f64::from(step) * 0.01) > reach);
                }
            }
        }
    }
}
