//! [`BendDistribution`]: the bends between the links of a worm-like chain.

use rand::{Rng, RngExt};

use super::FiberError;

/// Largest κ times w: beyond, all bends are zero in single precision.
const MAX_EXPONENT: f64 = 1.0e9;

/// Below this κ times w, a series replaces the closed form.
const SERIES: f64 = 1.0e-4;

/// Halvings of the interval of κ: down to the last bit.
const HALVINGS: u32 = 200;

/// The density e^(κ cos θ) on the sphere, cut off at a largest bend; see the [module](super) docs.
#[derive(Clone, Copy, Debug)]
pub(super) struct BendDistribution {
    /// κ times w; negative if large bends are more probable.
    exponent: f64,
    /// Largest 1 − cos θ.
    largest: f64,
}

impl BendDistribution {
    /// The distribution with the mean cosine e^(−step/persistence length).
    pub fn new(step: f32, persistence_length: f32, max_bend: f32) -> Result<Self, FiberError> {
        let mean = -(-f64::from(step) / f64::from(persistence_length)).exp_m1();
        // 1 − cos θ without cancellation.
        let largest = 2.0 * (0.5 * f64::from(max_bend)).sin().powi(2);
        if mean >= largest {
            return Err(FiberError::TooStiff {
                persistence_length,
                step,
                mean: (1.0 - mean).acos() as f32,
                max_bend,
            });
        }
        // The mean falls with κ.
        let (mut low, mut high) = (-MAX_EXPONENT, MAX_EXPONENT);
        for _ in 0..HALVINGS {
            let middle = 0.5 * (low + high);
            if mean_part(middle) * largest > mean {
                low = middle;
            } else {
                high = middle;
            }
        }
        Ok(Self {
            exponent: 0.5 * (low + high),
            largest,
        })
    }

    /// Cosine and sine of a random bend.
    pub fn sample(&self, random: &mut impl Rng) -> (f64, f64) {
        let uniform = random.random::<f64>();
        // The inverse of the distribution function (1 − e^(−κu)) / (1 − e^(−κw)).
        let part = if self.exponent.abs() < SERIES {
            uniform
        } else if self.exponent > 0.0 {
            -(uniform * (-self.exponent).exp_m1()).ln_1p() / self.exponent
        } else {
            // From the other end, where the exponential does not overflow.
            1.0 + (uniform * self.exponent.exp_m1()).ln_1p() / -self.exponent
        };
        let versine = (part * self.largest).clamp(0.0, 2.0);
        (1.0 - versine, (versine * (2.0 - versine)).sqrt())
    }
}

/// ⟨u⟩ / w for x = κ w: 1/x − 1/(eˣ − 1).
fn mean_part(x: f64) -> f64 {
    if x.abs() < SERIES {
        0.5 - x / 12.0
    } else {
        1.0 / x - 1.0 / x.exp_m1()
    }
}
