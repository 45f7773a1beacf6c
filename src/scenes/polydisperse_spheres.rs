//! Spheres of many sizes at random places.

use std::ops::Range;

use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::spheres::{SphereError, SphereSet};

/// How radii are spread between two limits: their density goes with this power of the
/// radius.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RadiusDistribution {
    /// Every radius is as likely as any other: r⁰.
    Uniform,
    /// As many spheres in every octave: r⁻¹.
    NumberByOctave,
    /// As much volume in every octave, as in a mixture that fills its own gaps: r⁻⁴.
    VolumeByOctave,
}

impl RadiusDistribution {
    /// The radius below which the fraction `part` of all spheres is.
    fn radius(self, Range { start, end }: &Range<f32>, part: f32) -> f32 {
        let (low, high) = (f64::from(*start), f64::from(*end));
        let part = f64::from(part);
        let radius = match self {
            Self::Uniform => low + (high - low) * part,
            Self::NumberByOctave => low * (high / low).powf(part),
            Self::VolumeByOctave => {
                let cubes = low.powi(-3) + (high.powi(-3) - low.powi(-3)) * part;
                cubes.powf(-1.0 / 3.0)
            }
        };
        radius as f32
    }
}

/// `count` spheres with these `radii` (nm), each its own owner, at random places in a cube
/// that has `fill` times its volume of spheres.
///
/// # Errors
/// [`SphereError`] if a radius is not positive and finite, or nothing fills the cube.
pub fn polydisperse_spheres(
    count: u32,
    radii: Range<f32>,
    spread: RadiusDistribution,
    fill: f32,
    seed: u64,
) -> Result<SphereSet, SphereError> {
    for radius in [radii.start, radii.end, fill] {
        if !(radius.is_finite() && radius > 0.0) {
            return Err(SphereError::BadRadius { index: 0, radius });
        }
    }
    // Sizes in the middle of equal parts: the largest ones are not left to chance.
    let size = |k: u32| spread.radius(&radii, (k as f32 + 0.5) / count as f32);
    let volume: f64 = (0..count).map(|k| f64::from(size(k)).powi(3)).sum();
    let volume = volume * 4.0 / 3.0 * std::f64::consts::PI;
    let side = (volume / f64::from(fill)).cbrt() as f32;
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    // Sizes are spread over the indices: each step goes a golden part of the way round.
    let step = ((f64::from(count) * 0.618) as u32).max(1);
    let step = (step..).find(|&step| gcd(step, count) == 1).unwrap_or(1);
    let mut spheres = SphereSet::new();
    for k in 0..count {
        let place = [(); 3].map(|()| side * (random.random::<f32>() - 0.5));
        let turn = (u64::from(k) * u64::from(step) % u64::from(count)) as u32;
        spheres.push(Vec3::from_array(place), size(turn), k)?;
    }
    Ok(spheres)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn radii_are_within_their_limits_and_spread_as_asked() {
        for (spread, half) in [
            (RadiusDistribution::Uniform, 5.05),
            (RadiusDistribution::NumberByOctave, 1.0),
            (RadiusDistribution::VolumeByOctave, 0.126),
        ] {
            let spheres = polydisperse_spheres(10_001, 0.1..10.0, spread, 0.3, 1).unwrap();
            let mut radii: Vec<f32> = (0..spheres.len()).map(|k| spheres.radius(k)).collect();
            radii.sort_unstable_by(f32::total_cmp);
            assert!(radii[0] >= 0.0999 && radii[10_000] <= 10.001);
            assert!((radii[5000] / half - 1.0).abs() < 0.01, "{}", radii[5000]);
        }
        assert!(polydisperse_spheres(10, 0.0..1.0, RadiusDistribution::Uniform, 0.3, 1).is_err());
        assert!(
            polydisperse_spheres(10, 0.1..1.0, RadiusDistribution::Uniform, f32::NAN, 1).is_err()
        );
        assert!(
            polydisperse_spheres(0, 0.1..1.0, RadiusDistribution::Uniform, 0.1, 1)
                .is_ok_and(|s| s.is_empty())
        );
    }
}
