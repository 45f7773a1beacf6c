//! Walks that keep away from themselves and from other fibers.

use bevy_rapier_molecules::compartment::SphereShell;
use bevy_rapier_molecules::fiber::{
    AvoidedLinks, FiberPath, Interior, RandomWalk, worm_like_mean_square,
};
use glam::{DVec3, Vec3};

use super::fixtures::{least_distance, links};

const STEP: f64 = 4.33;
const AVOID: f64 = 1.0;

/// What single precision rounds of points within 30 nm.
const ROUNDING: f64 = 1.0e-5;

fn dna(seed: u64) -> RandomWalk {
    RandomWalk {
        links: 830,
        step: STEP as f32,
        max_bend: RandomWalk::common_bend(STEP as f32, 50.0),
        avoid: AVOID as f32,
        seed,
        ..RandomWalk::default()
    }
}

#[test]
fn no_two_links_of_a_confined_walk_are_closer_than_the_distance() {
    let sphere = SphereShell::new(Vec3::X * 5.0, 30.0).unwrap();
    let inside = Interior {
        surface: &sphere,
        clearance: 1.25,
    };
    for seed in 0..3 {
        let walk = dna(seed);
        let path = walk.path(Some(&inside)).unwrap();
        assert_eq!(path.links(), 830);
        let links_of = links(&path);
        let least = least_distance(&links_of, &links_of, Some(2));
        let bounds = AVOID - ROUNDING..AVOID + 0.1;
        assert!(bounds.contains(&least), "{seed}: {least} nm");
        assert_eq!(walk.path(Some(&inside)).unwrap(), path);
        // Without the distance, many cross.
        let crossing = RandomWalk { avoid: 0.0, ..walk };
        let crossing = links(&crossing.path(Some(&inside)).unwrap());
        let least = least_distance(&crossing, &crossing, Some(2));
        assert!(least < 0.2, "{seed}: {least} nm");
    }
}

#[test]
fn a_confined_walk_keeps_away_from_other_fibers() {
    let sphere = SphereShell::new(Vec3::ZERO, 20.0).unwrap();
    let inside = Interior {
        surface: &sphere,
        clearance: 1.25,
    };
    let mut others = AvoidedLinks::default();
    let mut before: Vec<Vec<[DVec3; 2]>> = Vec::new();
    for seed in 0..4 {
        let mut starts = (-9..=9).map(|height| Vec3::Z * height as f32);
        let walk = RandomWalk {
            links: 40,
            start: starts.find(|start| !others.overlap_ball(*start, AVOID as f32)),
            ..dna(seed)
        };
        let path = walk.path_among(Some(&inside), &others).unwrap();
        let own = links(&path);
        for other in &before {
            let least = least_distance(&own, other, None);
            assert!(least > AVOID - ROUNDING, "{seed}: {least} nm");
        }
        others.push(&path, 0.5 * AVOID as f32);
        before.push(own);
    }
}

#[test]
fn the_last_link_of_a_closed_fiber_is_avoided() {
    let corners = [Vec3::ZERO, Vec3::X * 9.0, Vec3::new(9.0, 9.0, 0.0)];
    let through = RandomWalk {
        links: 2,
        step: 3.0,
        persistence_length: f32::INFINITY,
        avoid: 1.0,
        start: Some(Vec3::new(4.5, 4.5, 0.0)),
        ..RandomWalk::default()
    };
    for (is_closed, is_free) in [(false, true), (true, false)] {
        let mut others = AvoidedLinks::default();
        others.push(&FiberPath::new(corners.to_vec(), is_closed).unwrap(), 0.5);
        let path = through.path_among(None, &others);
        assert_eq!(path.is_ok(), is_free, "{path:?}");
    }
}

#[test]
fn without_a_distance_nothing_is_avoided() {
    let walk = RandomWalk {
        avoid: 0.0,
        ..dna(7)
    };
    let path = walk.path(None).unwrap();
    let mut others = AvoidedLinks::default();
    others.push(&path, 5.0);
    assert_eq!(walk.path_among(None, &others).unwrap(), path);
}

/// Half a circle of 3 nm is 4.7 links of 1 nm.
#[test]
fn links_with_more_than_half_a_circle_between_them_are_compared() {
    let walk = RandomWalk {
        links: 300,
        step: 1.0,
        persistence_length: 3.0,
        avoid: 3.0,
        ..RandomWalk::default()
    };
    for seed in 0..4 {
        let walk = RandomWalk {
            seed,
            ..walk.clone()
        };
        let path = links(&walk.path(None).unwrap());
        let least = least_distance(&path, &path, Some(6));
        assert!(least > 3.0 - ROUNDING, "{seed}: {least} nm");
        let closer = least_distance(&path, &path, Some(5));
        assert!(closer < 3.0, "{seed}: {closer} nm");
    }
}

/// As for ideal walks: with 4,000 walks, the standard error is 1.3 %, and the bound is three of them.
#[test]
fn short_free_walks_of_dna_that_avoid_themselves_remain_worm_like() {
    let mut square = 0.0;
    for seed in 0..4_000 {
        let walk = RandomWalk {
            links: 60,
            avoid: 2.7,
            ..dna(seed)
        };
        square += walk.path(None).unwrap().end_to_end_distance().powi(2);
    }
    let expected = worm_like_mean_square(50.0, 60.0 * STEP);
    let error = square / 4_000.0 / expected - 1.0;
    assert!(error.abs() < 0.039, "{error}");
}

#[test]
fn a_distance_that_leaves_no_room_is_an_error() {
    let sphere = SphereShell::new(Vec3::ZERO, 10.0).unwrap();
    let inside = Interior {
        surface: &sphere,
        clearance: 1.25,
    };
    let thick = RandomWalk {
        avoid: 2.5,
        ..dna(1)
    };
    let error = thick.path(Some(&inside)).unwrap_err().to_string();
    assert!(error.ends_with(
        "of 830 links of a fiber fit into their space; make it wider or the fiber more flexible"
    ));
    for (avoid, value) in [(-1.0, "-1"), (f32::NAN, "NaN"), (f32::INFINITY, "inf")] {
        let walk = RandomWalk { avoid, ..dna(1) };
        assert_eq!(
            walk.path(None).unwrap_err().to_string(),
            format!("the distance to avoid must be from 0 to 0.1 mm, not {value}")
        );
    }
}
