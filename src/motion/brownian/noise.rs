//! Random displacements that depend only on the seed, the step and the particle.

use glam::{DQuat, DVec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Multiplier that decorrelates neighboring seeds: the golden ratio in 64 bits.
const MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// The random generator of one particle in one step.
pub(super) fn generator(seed: u64, step: u64, particle: u32) -> Pcg64Mcg {
    let mut state = seed.wrapping_mul(MIX) ^ step;
    state = (state ^ state >> 32).wrapping_mul(MIX) ^ u64::from(particle);
    Pcg64Mcg::seed_from_u64((state ^ state >> 29).wrapping_mul(MIX))
}

/// Three independent normal numbers with standard deviation `sigma` (Box and Muller).
pub(super) fn normal(random: &mut Pcg64Mcg, sigma: f64) -> DVec3 {
    let mut pair = || {
        // In (0, 1], because the logarithm of zero is infinite.
        let [one, two] = [(); 2].map(|()| 1.0 - random.random::<f64>());
        let size = (-2.0 * one.ln()).sqrt();
        let (sin, cos) = (std::f64::consts::TAU * two).sin_cos();
        [size * cos, size * sin]
    };
    let [[x, y], [z, _]] = [pair(), pair()];
    sigma * DVec3::new(x, y, z)
}

/// Applies a rotation vector to a rotation.
pub(super) fn rotate(rotation: DQuat, by: DVec3) -> DQuat {
    (DQuat::from_scaled_axis(by) * rotation).normalize()
}

/// A random number from 0 to 1, without 1, for event `count` of a pair in a step.
pub(crate) fn random_number(seed: u64, step: u64, [one, other]: [u32; 2], count: u64) -> f64 {
    // Other random streams than those of displacements and rotations.
    let seed: u64 = generator(seed.rotate_left(32), step, one).random();
    generator(seed, count, other).random()
}
