//! Evenly spread directions: the Fibonacci sphere.

use std::f32::consts::TAU;

use glam::{DVec3, Vec3};

/// Turn from one direction to the next: the golden ratio conjugate.
const GOLDEN: f32 = 0.618_034;

/// The same in 64 bits.
const GOLDEN_64: f64 = 0.618_033_988_749_894_8;

/// Direction `index` of `count` evenly spread ones, on a spiral about the z axis.
pub(crate) fn direction(index: u32, count: u32) -> Vec3 {
    let height = 1.0 - (2 * index + 1) as f32 / count as f32;
    let width = (1.0 - height * height).max(0.0).sqrt();
    let around = TAU * (index as f32 * GOLDEN).fract();
    Vec3::new(width * around.cos(), width * around.sin(), height)
}

/// As [`direction`], for any `count`: 32 bits are too few for the turns of a hundred thousand.
pub(crate) fn direction_of_many(index: u32, count: u32) -> Vec3 {
    let height = 1.0 - (2.0 * f64::from(index) + 1.0) / f64::from(count);
    let width = (1.0 - height * height).max(0.0).sqrt();
    let around = std::f64::consts::TAU * (f64::from(index) * GOLDEN_64).fract();
    DVec3::new(width * around.cos(), width * around.sin(), height).as_vec3()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_point_of_the_sphere_is_near_a_direction() {
        let count = 256;
        let all: Vec<Vec3> = (0..count).map(|index| direction(index, count)).collect();
        assert!(all.iter().all(|one| (one.length() - 1.0).abs() < 1.0e-5));
        // The share of one direction is a disc of 0.125 radian.
        for place in (0..1000).map(|index| direction(index, 1000)) {
            let nearest = all.iter().map(|one| one.dot(place)).fold(-1.0, f32::max);
            assert!(nearest > 0.2_f32.cos(), "{place}");
        }
    }

    #[test]
    fn many_directions_are_as_far_apart_as_few() {
        // Nearest neighbors are 3 to 4 / √count apart, and differ by a Fibonacci number.
        for count in [1_000, 100_000, 10_000_000] {
            let shares = [count / 7, count / 2, count - count / 5].map(|index| {
                let here = direction_of_many(index, count);
                let near = [
                    1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610, 987, 1597, 2584, 4181,
                    6765,
                ];
                let distances = near
                    .iter()
                    .filter(|step| index + **step < count)
                    .map(|step| here.distance(direction_of_many(index + step, count)));
                distances.fold(f32::INFINITY, f32::min) * (count as f32).sqrt()
            });
            assert!(
                shares.iter().all(|share| (2.9..4.1).contains(share)),
                "{count}: {shares:?}"
            );
        }
        for index in 0..256 {
            let few = direction(index, 256);
            assert!(few.distance(direction_of_many(index, 256)) < 1.0e-3);
        }
    }
}
