//! [`Distribution`]: random numbers and radii.

use std::f64::consts::TAU;
use std::fmt;

use rand::{Rng, RngExt};

/// Attempts to draw a positive value of a normal distribution, before its mean is taken.
const MAX_ATTEMPTS: u32 = 64;

/// A distribution of values.
#[derive(Clone, Debug, PartialEq)]
pub enum Distribution {
    /// Always the same value.
    Constant(f64),
    /// Equally likely between two values.
    Uniform {
        /// Smallest value.
        min: f64,
        /// Largest value.
        max: f64,
    },
    /// A normal distribution without its negative values.
    Normal {
        /// Mean.
        mean: f64,
        /// Standard deviation.
        deviation: f64,
    },
    /// One of these values, each equally likely.
    List(Vec<f64>),
}

impl Distribution {
    /// A random value.
    pub fn sample(&self, random: &mut impl Rng) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Uniform { min, max } => min + (max - min) * random.random::<f64>(),
            Self::Normal { mean, deviation } => {
                for _ in 0..MAX_ATTEMPTS {
                    // Box and Muller (1958).
                    let radius = (-2.0 * (1.0 - random.random::<f64>()).ln()).sqrt();
                    let angle = TAU * random.random::<f64>();
                    let value = mean + deviation * radius * angle.cos();
                    if value > 0.0 {
                        return value;
                    }
                }
                mean.max(0.0)
            }
            Self::List(values) => {
                let index = random.random_range(0..values.len().max(1));
                values.get(index).copied().unwrap_or(0.0)
            }
        }
    }

    /// A random whole number. All numbers between the limits of a uniform distribution are equally
    /// likely, and fractions of a constant are rounded at random.
    pub fn sample_count(&self, random: &mut impl Rng) -> f64 {
        match self {
            Self::Constant(value) => round_at_random(*value, random),
            Self::Uniform { min, max } => {
                let (min, max) = (min.ceil(), max.floor());
                min + (random.random::<f64>() * (max - min + 1.0)).floor()
            }
            Self::Normal { .. } | Self::List(_) => self.sample(random).round(),
        }
    }

    /// The mean value.
    #[must_use]
    pub fn mean(&self) -> f64 {
        match self {
            Self::Constant(value) => *value,
            Self::Uniform { min, max } => 0.5 * (min + max),
            Self::Normal { mean, .. } => *mean,
            Self::List(values) => values.iter().sum::<f64>() / values.len().max(1) as f64,
        }
    }

    /// The same distribution with all values multiplied by `factor`.
    pub(super) fn scaled(self, factor: f64) -> Self {
        match self {
            Self::Constant(value) => Self::Constant(value * factor),
            Self::Uniform { min, max } => Self::Uniform {
                min: min * factor,
                max: max * factor,
            },
            Self::Normal { mean, deviation } => Self::Normal {
                mean: mean * factor,
                deviation: deviation * factor,
            },
            Self::List(values) => Self::List(values.iter().map(|value| value * factor).collect()),
        }
    }
}

impl fmt::Display for Distribution {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Constant(value) => write!(f, "{value}"),
            Self::Uniform { min, max } => write!(f, "{min} to {max}"),
            Self::Normal { mean, deviation } => write!(f, "{mean} ± {deviation}"),
            Self::List(values) => {
                f.write_str("one of")?;
                for (index, value) in values.iter().enumerate() {
                    write!(f, "{} {value}", if index > 0 { "," } else { "" })?;
                }
                Ok(())
            }
        }
    }
}

/// Rounds up with the probability of the fraction.
pub(super) fn round_at_random(value: f64, random: &mut impl Rng) -> f64 {
    let whole = value.floor();
    whole + f64::from(u8::from(random.random::<f64>() < value - whole))
}
