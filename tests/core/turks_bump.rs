//! The grids and routines of the bench of Turk's paper, against brute force in 64-bit floats.

use std::ops::ControlFlow;

use bevy_rapier_molecules::pose::{Pose, RigidMotion};
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use crate::cell_lists::{Ball, CellLists, Hash, Storage, Within};
use crate::check::Receptor;

const STORAGES: [Storage; 3] = [
    Storage::Full,
    Storage::Hashed(Hash::Wrapped),
    Storage::Hashed(Hash::Mixed),
];

/// All grids over the same spheres. A full grid is left out if it has too many cells.
fn grids(balls: &[Ball]) -> Vec<CellLists> {
    let kinds =
        STORAGES.map(|storage| [Within::Box, Within::Sphere].map(|within| (storage, within)));
    let grids = kinds.into_iter().flatten();
    grids
        .filter_map(|(storage, within)| CellLists::new(balls, storage, within).ok())
        .collect()
}

/// Sorted indices of the spheres that touch a ball, each once.
fn found(grid: &CellLists, ball: &Ball) -> Vec<u32> {
    let mut indices = Vec::new();
    let _ = grid.visit_touching(ball, &mut 0, |index| {
        indices.push(index);
        ControlFlow::<()>::Continue(())
    });
    indices.sort_unstable();
    indices.dedup();
    indices
}

/// The same by brute force in 64-bit floats.
fn expected(balls: &[Ball], ball: &Ball) -> Vec<u32> {
    let touches = |other: &Ball| {
        let reach = f64::from(other.radius) + f64::from(ball.radius);
        let distance = other
            .center
            .as_dvec3()
            .distance_squared(ball.center.as_dvec3());
        reach >= 0.0 && distance <= reach * reach
    };
    let indices = (0..balls.len() as u32).filter(|index| touches(&balls[*index as usize]));
    indices.collect()
}

/// A function that returns random points within a cube.
fn points(seed: u64) -> impl FnMut(f32) -> Vec3 {
    let mut random = Pcg64::seed_from_u64(seed);
    move |side| Vec3::from_array([(); 3].map(|()| random.random_range(-side..side)))
}

#[test]
fn both_grids_find_the_spheres_that_brute_force_finds() {
    let mut point = points(17);
    for (count, side) in [
        (0, 1.0),
        (1, 0.1),
        (2, 5.0),
        (100, 0.5),
        (100, 20.0),
        (10_000, 3.0),
    ] {
        for offset in [Vec3::ZERO, Vec3::splat(1.0e4)] {
            let balls: Vec<Ball> = (0..count)
                .map(|k| Ball {
                    center: offset + point(side),
                    radius: 0.05 + 0.01 * (k % 15) as f32,
                })
                .collect();
            let grids = grids(&balls);
            assert_eq!(grids.len(), 6);
            for query in 0..60 {
                let ball = Ball {
                    center: offset + point(1.3 * side),
                    radius: [0.0, -0.05, 0.12, 0.25, 1.5, 100.0][query % 6],
                };
                let expected = expected(&balls, &ball);
                for grid in &grids {
                    assert_eq!(found(grid, &ball), expected, "{count} spheres, {ball:?}");
                }
            }
        }
    }
}

#[test]
fn touching_spheres_on_cell_faces_and_coincident_spheres_are_found() {
    // Radii and distances are exact in binary. Cells are 0.5 wide.
    let lattice = |k: i32| Vec3::new((k % 4) as f32, (k / 4 % 4) as f32, (k / 16) as f32);
    for offset in [Vec3::ZERO, Vec3::splat(-1024.0)] {
        let center = |k| offset + 0.5 * lattice(k);
        let balls: Vec<Ball> = (0..64)
            .chain([0; 3])
            .map(|k| Ball {
                center: center(k),
                radius: 0.25,
            })
            .collect();
        for grid in grids(&balls) {
            for ball in &balls {
                assert_eq!(found(&grid, ball), expected(&balls, ball));
            }
            // It touches from outside, in front of the first face.
            let outside = Ball {
                center: center(5) - Vec3::new(1.0, 0.0, 0.0),
                radius: 0.25,
            };
            assert_eq!(found(&grid, &outside), [4]);
        }
    }
}

#[test]
fn sparse_and_invalid_input_is_supported() {
    let far = |sign: f32| Ball {
        center: Vec3::splat(sign * 1.0e5),
        radius: 0.1,
    };
    let balls = [far(-1.0), far(1.0)];
    assert!(CellLists::new(&balls, Storage::Full, Within::Box).is_err());
    let grids = grids(&balls);
    assert_eq!(grids.len(), 4, "the hashed grid has no bounds");
    for grid in &grids {
        assert_eq!(found(grid, &far(1.0)), [1]);
        for bad in [f32::NAN, f32::INFINITY, f32::NEG_INFINITY, f32::MAX] {
            let center = Vec3::splat(bad);
            assert!(
                found(
                    grid,
                    &Ball {
                        center,
                        radius: 0.1
                    }
                )
                .is_empty()
            );
        }
        let center = Vec3::ZERO;
        assert!(
            found(
                grid,
                &Ball {
                    center,
                    radius: f32::NAN
                }
            )
            .is_empty()
        );
        assert_eq!(
            found(
                grid,
                &Ball {
                    center,
                    radius: f32::MAX
                }
            ),
            [0, 1]
        );
    }
}

#[test]
fn a_sphere_is_in_every_cell_that_it_overlaps() {
    // Cells of 1 nm: one sphere in the middle of a cell, one around a corner of eight.
    let ball = |at: f32, radius: f32| Ball {
        center: Vec3::splat(at),
        radius,
    };
    let balls = [ball(0.5, 0.375), ball(5.0, 0.5), ball(0.5, 0.375)];
    for hash in [Hash::Wrapped, Hash::Mixed] {
        let grid = CellLists::new(&balls, Storage::Hashed(hash), Within::Box).unwrap();
        let density = grid.density();
        assert_eq!((density.lists, density.entries), (4096, 10));
        assert_eq!((density.occupied, density.mean()), (9, 10.0 / 9.0));
        assert_eq!(grid.bytes(), 4096 * 4 + 10 * 8);
    }
    // The bounding box of a full grid starts at its spheres: here 0.125.
    let grid = CellLists::new(&balls, Storage::Full, Within::Box).unwrap();
    assert_eq!(grid.density().lists, 6 * 6 * 6);
    assert_eq!(grid.bytes(), 216 * 4 + grid.density().entries * 8);
    // The corners of a bounding box may be in cells that the sphere does not reach.
    let corner = [ball(0.0, 0.5), ball(2.125, 0.25)];
    let count = |within| {
        let grid = CellLists::new(&corner, Storage::Hashed(Hash::Wrapped), within);
        grid.unwrap().density().entries
    };
    assert_eq!(count(Within::Box), 16);
    // The second sphere is 0.125 from three faces: 0.18 from edges, 0.217 from the corner.
    assert_eq!(count(Within::Sphere), 16);
    let further = [ball(0.0, 0.5), ball(2.15, 0.25)];
    let grid = CellLists::new(&further, Storage::Hashed(Hash::Wrapped), Within::Sphere).unwrap();
    assert_eq!(grid.density().entries, 15, "0.26 from the corner");
}

/// A random molecule of spheres that may overlap.
fn molecule(seed: u64, count: usize, side: f32) -> Vec<Ball> {
    let mut point = points(seed);
    let balls = (0..count).map(|k| Ball {
        center: point(side),
        radius: 0.1 + 0.01 * (k % 8) as f32,
    });
    balls.collect()
}

fn receptors(balls: &[Ball]) -> Vec<Receptor> {
    let brute_force = Receptor::BruteForce(balls.to_vec());
    let grids = grids(balls).into_iter().map(Receptor::Cells);
    std::iter::once(brute_force).chain(grids).collect()
}

#[test]
fn static_checks_and_their_pairs_are_those_of_brute_force() {
    let (large, small) = (molecule(1, 500, 1.5), molecule(2, 20, 0.4));
    let receptors = receptors(&large);
    let (mut point, mut collisions) = (points(3), 0);
    for _ in 0..200 {
        let pose = Pose::new(point(2.5), Quat::from_scaled_axis(point(2.0)));
        let mut expected_pairs = Vec::new();
        for (ball, index) in small.iter().zip(0..) {
            let placed = Ball {
                center: pose.transform_point(ball.center),
                radius: ball.radius,
            };
            let others = expected(&large, &placed);
            expected_pairs.extend(others.into_iter().map(|other| [index, other]));
        }
        collisions += usize::from(!expected_pairs.is_empty());
        for receptor in &receptors {
            assert_eq!(receptor.pairs(&small, &pose, &mut 0), expected_pairs);
            let collides = receptor.collides(&small, &pose, &mut 0);
            assert_eq!(collides, !expected_pairs.is_empty());
        }
    }
    assert!((50..150).contains(&collisions), "{collisions}");
}

#[test]
fn a_motion_ends_at_the_contact_by_a_binary_search_and_may_pass_a_thin_obstacle() {
    let ball = |x: f32| Ball {
        center: Vec3::X * x,
        radius: 0.25,
    };
    // From a distance of 2 the first contact is after 1.5.
    let (wall, moved) = ([ball(2.0)], [ball(0.0)]);
    for receptor in receptors(&wall) {
        let fraction = |length: f32| {
            let motion = RigidMotion::translation(Vec3::X * length);
            receptor.move_to_touch(&moved, &Pose::IDENTITY, &motion, &mut 0)
        };
        assert_eq!(fraction(1.0), 1.0);
        let reached = 2.0 * fraction(2.0);
        assert!((1.5 - 2.0 / 1024.0..1.5).contains(&reached), "{reached}");
        // The end of a long motion is behind the obstacle.
        assert_eq!(fraction(4.0), 1.0);
    }
}
