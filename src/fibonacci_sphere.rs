//! Evenly spread directions: the Fibonacci sphere.

use std::f32::consts::TAU;

use glam::Vec3;

/// Turn from one direction to the next: the golden ratio conjugate.
const GOLDEN: f32 = 0.618_034;

/// Direction `index` of `count` evenly spread ones, on a spiral about the z axis.
pub(crate) fn direction(index: u32, count: u32) -> Vec3 {
    let height = 1.0 - (2 * index + 1) as f32 / count as f32;
    let width = (1.0 - height * height).max(0.0).sqrt();
    let around = TAU * (index as f32 * GOLDEN).fract();
    Vec3::new(width * around.cos(), width * around.sin(), height)
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
}
