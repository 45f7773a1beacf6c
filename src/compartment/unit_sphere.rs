//! Uniform samples of the unit sphere.

use std::f32::consts::TAU;

use glam::Vec3;

/// A uniformly distributed point of the unit sphere from two numbers in `[0, 1)`, by the
/// inversion method (Pauschenwein 2022, Algorithm 4.2).
///
/// The polar angle is the inverse of its distribution function, φ = acos(2 r₂ − 1), which makes
/// every area equally likely.
#[must_use]
pub(crate) fn sample_unit_sphere(r1: f32, r2: f32) -> Vec3 {
    from_angles(TAU * r1, (2.0 * r2 - 1.0).clamp(-1.0, 1.0).acos())
}

fn from_angles(theta: f32, phi: f32) -> Vec3 {
    Vec3::new(phi.sin() * theta.cos(), phi.sin() * theta.sin(), phi.cos())
}

#[cfg(test)]
mod tests {
    use std::f32::consts::PI;

    use super::*;
    use rand::{RngExt, SeedableRng};

    const SAMPLES: usize = 100_000;

    /// The wrong way (Algorithm 4.1): with a uniform polar angle, points cluster at the poles.
    fn clustered(r1: f32, r2: f32) -> Vec3 {
        from_angles(TAU * r1, PI * r2)
    }

    /// Pearson's χ² of 50 belts of equal area: about 49 ± 10 if uniform.
    fn chi_squared(sample: fn(f32, f32) -> Vec3) -> f64 {
        const BELTS: usize = 50;
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(1);
        let mut counts = [0_usize; BELTS];
        for _ in 0..SAMPLES {
            let point = sample(random.random(), random.random());
            assert!((point.length() - 1.0).abs() < 1.0e-5);
            // Archimedes: belts of equal height have equal area.
            let belt = ((point.z + 1.0) / 2.0 * BELTS as f32) as usize;
            counts[belt.min(BELTS - 1)] += 1;
        }
        let expected = SAMPLES as f64 / BELTS as f64;
        counts
            .iter()
            .map(|&count| (count as f64 - expected).powi(2) / expected)
            .sum()
    }

    #[test]
    fn inversion_is_uniform_and_simple_sampling_is_not() {
        // 49 degrees of freedom: 85.4 is exceeded once in a thousand.
        assert!(chi_squared(sample_unit_sphere) < 85.4);
        assert!(chi_squared(clustered) > 10_000.0);
    }

    #[test]
    fn corners_of_the_unit_square_map_to_the_poles() {
        assert!((sample_unit_sphere(0.0, 0.0) + Vec3::Z).length() < 1.0e-6);
        assert!((sample_unit_sphere(0.25, 0.5) - Vec3::Y).length() < 1.0e-6);
        assert!((clustered(0.0, 0.0) - Vec3::Z).length() < 1.0e-6);
    }
}
