//! Spheres of many sizes at random positions.

use std::ops::Range;

use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::spheres::{SphereError, SphereSet};

/// Distribution of radii between two limits: the density is a power of the radius.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum RadiusDistribution {
    /// Uniform: r⁰.
    Uniform,
    /// The same number of spheres in every octave: r⁻¹.
    NumberByOctave,
    /// The same volume in every octave: r⁻⁴.
    VolumeByOctave,
}

impl RadiusDistribution {
    /// The quantile of the distribution: a `fraction` of all spheres is smaller.
    fn quantile(self, Range { start, end }: &Range<f32>, fraction: f32) -> f32 {
        let (low, high) = (f64::from(*start), f64::from(*end));
        let fraction = f64::from(fraction);
        let radius = match self {
            Self::Uniform => low + (high - low) * fraction,
            Self::NumberByOctave => low * (high / low).powf(fraction),
            Self::VolumeByOctave => {
                let cubes = low.powi(-3) + (high.powi(-3) - low.powi(-3)) * fraction;
                cubes.powf(-1.0 / 3.0)
            }
        };
        radius as f32
    }
}

/// `count` spheres with these `radii` (nm), each its own owner, at random positions in a cube
/// whose volume fraction of spheres is `fill`.
///
/// # Errors
/// [`SphereError`] if a radius or `fill` is not positive and finite.
pub fn polydisperse_spheres(
    count: u32,
    radii: Range<f32>,
    distribution: RadiusDistribution,
    fill: f32,
    seed: u64,
) -> Result<SphereSet, SphereError> {
    for radius in [radii.start, radii.end, fill] {
        if !(radius.is_finite() && radius > 0.0) {
            return Err(SphereError::BadRadius { index: 0, radius });
        }
    }
    // Evenly spaced quantiles, so that the largest radii are not left to chance.
    let radius = |k: u32| distribution.quantile(&radii, (k as f32 + 0.5) / count as f32);
    let volume: f64 = (0..count).map(|k| f64::from(radius(k)).powi(3)).sum();
    let volume = volume * 4.0 / 3.0 * std::f64::consts::PI;
    let side = (volume / f64::from(fill)).cbrt() as f32;
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    // A step of about count / golden ratio, coprime to count, shuffles the sizes over indices.
    let step = ((f64::from(count) * 0.618) as u32).max(1);
    let step = (step..).find(|&step| gcd(step, count) == 1).unwrap_or(1);
    let mut spheres = SphereSet::new();
    for k in 0..count {
        let position = [(); 3].map(|()| side * (random.random::<f32>() - 0.5));
        let rank = (u64::from(k) * u64::from(step) % u64::from(count)) as u32;
        spheres.push(Vec3::from_array(position), radius(rank), k)?;
    }
    Ok(spheres)
}

fn gcd(a: u32, b: u32) -> u32 {
    if b == 0 { a } else { gcd(b, a % b) }
}
