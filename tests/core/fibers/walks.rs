//! Random walks: statistics, confinement, closing, errors.

use std::f32::consts::PI;

use bevy_rapier_molecules::compartment::{ShapeCompartment, SphereShell, Surface};
use bevy_rapier_molecules::fiber::{Interior, RandomWalk, worm_like_mean_square};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;

/// Means over the first and the last of `links` steps of many walks: cosine of neighbors, and
/// squared distance after each number of links.
fn means(walk: &RandomWalk, walks: u64, after: &[usize]) -> (f64, Vec<f64>) {
    let (mut cosine, mut squares) = (0.0, vec![0.0; after.len()]);
    for seed in 0..walks {
        let path = RandomWalk {
            seed,
            ..walk.clone()
        };
        let path = path.path(None).unwrap();
        cosine += path.mean_cosine(1).unwrap();
        for (square, links) in squares.iter_mut().zip(after) {
            let [first, last] = [0, *links].map(|index| path.points()[index].as_dvec3());
            *square += first.distance_squared(last);
        }
    }
    let mean = |sum: f64| sum / walks as f64;
    (mean(cosine), squares.into_iter().map(mean).collect())
}

/// With 4,000 walks, the standard error of a squared distance is below 0.8/√4000 = 1.3 %, and that
/// of the mean of 1 − cos θ over 236,000 bends is 0.2 %. The bound is three of them. Of steps of
/// 0.087 persistence lengths, the discrete chain differs from the formula by less than 0.1 %.
#[test]
fn walks_have_the_statistics_of_worm_like_chains() {
    let common = RandomWalk::common_bend(4.33, 50.0);
    for max_bend in [PI, common, 0.45] {
        let walk = RandomWalk {
            links: 60,
            step: 4.33,
            persistence_length: 50.0,
            max_bend,
            ..RandomWalk::default()
        };
        let (cosine, squares) = means(&walk, 4_000, &[5, 12, 30, 60]);
        let expected = 1.0 - (-4.33_f64 / 50.0).exp();
        let error = (1.0 - cosine) / expected - 1.0;
        assert!(error.abs() < 0.006, "{max_bend}: {error}");
        for (links, square) in [5.0, 12.0, 30.0, 60.0].into_iter().zip(squares) {
            let expected = worm_like_mean_square(50.0, links * 4.33);
            let error = square / expected - 1.0;
            assert!(error.abs() < 0.039, "{max_bend}, {links} links: {error}");
        }
    }
}

/// ⟨R²⟩ of n steps b with independent bends is b² (n (1 + c)/(1 − c) − 2c (1 − cⁿ)/(1 − c)²).
#[test]
fn flexible_walks_have_the_statistics_of_freely_rotating_chains() {
    let walk = RandomWalk {
        links: 40,
        step: 4.0,
        persistence_length: 3.0,
        ..RandomWalk::default()
    };
    let (cosine, squares) = means(&walk, 4_000, &[40]);
    let c = (-4.0_f64 / 3.0).exp();
    assert!((cosine - c).abs() < 0.006, "{cosine}, expected {c}");
    let expected =
        16.0 * (40.0 * (1.0 + c) / (1.0 - c) - 2.0 * c * (1.0 - c.powi(40)) / (1.0 - c).powi(2));
    let error = squares[0] / expected - 1.0;
    assert!(error.abs() < 0.039, "{error}");
}

#[test]
fn no_bend_exceeds_the_largest() {
    let walk = RandomWalk {
        links: 2_000,
        step: 4.0,
        persistence_length: 50.0,
        max_bend: 0.5,
        ..RandomWalk::default()
    };
    let path = walk.path(None).unwrap();
    let bends = path.points().windows(3).map(|three| {
        let [a, b, c] = [0, 1, 2].map(|index| three[index].as_dvec3());
        (b - a).angle_between(c - b)
    });
    let largest = bends.fold(0.0, f64::max);
    assert!((0.48..=0.5005).contains(&largest), "{largest}");
}

#[test]
fn a_walk_of_infinite_persistence_length_is_straight() {
    let walk = RandomWalk {
        links: 100,
        persistence_length: f32::INFINITY,
        ..RandomWalk::default()
    };
    let path = walk.path(None).unwrap();
    assert!((path.end_to_end_distance() - 100.0).abs() < 1.0e-3);
}

#[test]
fn confined_walks_stay_inside_with_their_links() {
    let sphere = SphereShell::new(Vec3::X * 5.0, 30.0).unwrap();
    let cube = ShapeCompartment::cuboid(Vec3::splat(25.0), Pose::IDENTITY).unwrap();
    let surfaces: [&dyn Surface; 2] = [&sphere, &cube];
    for surface in surfaces {
        let inside = Interior {
            surface,
            clearance: 1.35,
        };
        for seed in 0..5 {
            let walk = RandomWalk {
                links: 830,
                step: 4.33,
                max_bend: 1.0,
                seed,
                ..RandomWalk::default()
            };
            let path = walk.path(Some(&inside)).unwrap();
            assert_eq!(path.links(), 830);
            for pair in path.points().windows(2) {
                for part in [0.0, 0.5, 1.0] {
                    let distance = surface.signed_distance(pair[0].lerp(pair[1], part));
                    assert!(distance <= -1.35 + 1.0e-4, "{distance}");
                }
            }
        }
    }
}

#[test]
fn closed_walks_close_with_equal_steps_and_allowed_bends() {
    let sphere = SphereShell::new(Vec3::ZERO, 30.0).unwrap();
    let inside = Interior {
        surface: &sphere,
        clearance: 1.35,
    };
    for (links, interior) in [(8, None), (50, None), (400, None), (400, Some(&inside))] {
        for seed in 0..3 {
            let walk = RandomWalk {
                links,
                step: 4.33,
                max_bend: 1.0,
                is_closed: true,
                seed,
                ..RandomWalk::default()
            };
            let path = walk.path(interior).unwrap();
            assert_eq!(
                (path.links(), path.end_to_end_distance()),
                (links as usize, 0.0)
            );
            let points = path.points();
            let at = |index: usize| points[index % points.len()].as_dvec3();
            for link in 0..path.links() {
                let [before, after] = [at(link + 1) - at(link), at(link + 2) - at(link + 1)];
                // A thousandth of the step, and a bend with such an error.
                assert!((before.length() - 4.33).abs() < 0.02, "{}", before.length());
                assert!(before.angle_between(after) < 1.02);
                assert!(interior.is_none() || at(link).length() < 28.66);
            }
        }
    }
}

#[test]
fn a_seed_gives_the_same_walk_and_another_one_another() {
    let walk = |seed| {
        let walk = RandomWalk {
            links: 50,
            step: 4.0,
            seed,
            ..RandomWalk::default()
        };
        walk.path(None).unwrap()
    };
    assert_eq!(walk(3), walk(3));
    assert_ne!(walk(3), walk(4));
}

#[test]
fn invalid_walks_are_errors() {
    let sphere = SphereShell::new(Vec3::ZERO, 5.0).unwrap();
    let inside = Interior {
        surface: &sphere,
        clearance: 1.0,
    };
    let walk = RandomWalk {
        links: 100,
        step: 4.0,
        ..RandomWalk::default()
    };
    let cases = [
        (
            RandomWalk {
                links: 0,
                ..walk.clone()
            },
            "the number of links must be from 1 to 10,000,000, not 0",
        ),
        (
            RandomWalk {
                step: -1.0,
                ..walk.clone()
            },
            "the step of a walk must be positive and at most 0.1 mm, not -1",
        ),
        (
            RandomWalk {
                persistence_length: f32::NAN,
                ..walk.clone()
            },
            "the persistence length must be positive, not NaN",
        ),
        (
            RandomWalk {
                max_bend: 4.0,
                ..walk.clone()
            },
            "the largest bend must be positive and at most π, not 4",
        ),
        (
            RandomWalk {
                persistence_length: 4.0,
                max_bend: 0.5,
                ..walk.clone()
            },
            "a persistence length of 4 nm needs a mean bend of 1.1940688 radian between links of 4 nm, but bends are at most 0.5 radian",
        ),
        (
            RandomWalk {
                links: 4,
                max_bend: 0.5,
                is_closed: true,
                ..walk.clone()
            },
            "a ring of 4 links needs bends of at least 1.5707964 radian, but they are at most 0.5 radian",
        ),
        (
            RandomWalk {
                start: Some(Vec3::X * 4.5),
                ..walk.clone()
            },
            "only 0 of 100 links of a fiber fit into their space; make it wider or the fiber more flexible",
        ),
        (
            RandomWalk {
                start: Some(Vec3::X * f32::NAN),
                ..walk.clone()
            },
            "a coordinate of a path must be finite and at most 0.1 mm, not NaN",
        ),
    ];
    for (walk, sentence) in cases {
        assert_eq!(walk.path(Some(&inside)).unwrap_err().to_string(), sentence);
    }
    // Too stiff for the sphere.
    let stiff = RandomWalk {
        max_bend: 0.5,
        ..walk
    };
    let error = stiff.path(Some(&inside)).unwrap_err().to_string();
    assert!(error.ends_with(
        "of 100 links of a fiber fit into their space; make it wider or the fiber more flexible"
    ));
}
