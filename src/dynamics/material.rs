//! Parameters of contacts: solver, material and contact spring.

#[cfg(feature = "plugin")]
use bevy::reflect::{Reflect, std_traits::ReflectDefault};
use serde::{Deserialize, Serialize};

use crate::force::{ParameterError, not_negative};

/// Parameters of the contact solver.
///
/// ```
/// use bevy_rapier_molecules::dynamics::ContactSolverConfig;
///
/// // A high pile needs more iterations to stand.
/// let pile = ContactSolverConfig { iterations: 32, ..ContactSolverConfig::default() };
/// assert!(pile.check().is_ok());
/// let invalid = ContactSolverConfig { prediction_distance: f32::NAN, ..pile };
/// assert!(invalid.check().is_err_and(|error| error.name == "prediction_distance"));
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(
    feature = "plugin",
    derive(Reflect),
    reflect(Clone, Debug, Default, PartialEq)
)]
#[serde(default, deny_unknown_fields)]
pub struct ContactSolverConfig {
    /// Solver iterations per substep. Default: 8.
    pub iterations: u32,
    /// Iterations per substep on the previous contacts without push-out. Default: 2.
    pub relax_iterations: u32,
    /// Spheres closer than this become contacts before they touch, nm. Default: 0.02 nm.
    pub prediction_distance: f32,
    /// Overlap that is not pushed out, nm: keeps resting contacts alive. Default: 0.001 nm.
    pub slop: f32,
    /// Maximum speed at which overlaps are pushed out, nm/s. Default: 4 nm/s.
    pub max_push_speed: f32,
    /// Approach speed below which restitution is ignored, nm/s. Default: 1 nm/s.
    pub restitution_threshold: f32,
}

impl Default for ContactSolverConfig {
    fn default() -> Self {
        Self {
            iterations: 8,
            relax_iterations: 2,
            prediction_distance: 0.02,
            slop: 0.001,
            max_push_speed: 4.0,
            restitution_threshold: 1.0,
        }
    }
}

impl ContactSolverConfig {
    /// Validates the parameters.
    ///
    /// # Errors
    /// [`ParameterError`] names the first that is negative or not finite.
    pub fn check(&self) -> Result<(), ParameterError> {
        not_negative(&[
            ("prediction_distance", self.prediction_distance),
            ("slop", self.slop),
            ("max_push_speed", self.max_push_speed),
            ("restitution_threshold", self.restitution_threshold),
        ])
    }
}

/// Material of a molecule: restitution, friction and stiffness.
///
/// ```
/// use bevy_rapier_molecules::dynamics::ContactMaterial;
///
/// let rubber = ContactMaterial { restitution: 0.8, ..ContactMaterial::default() };
/// // Between two molecules, restitution is averaged.
/// assert_eq!(rubber.combine(&ContactMaterial::default()).restitution, 0.4);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ContactMaterial {
    /// Coefficient of restitution; 1 keeps the speed. Default: 0.
    pub restitution: f32,
    /// How the restitution of two molecules is combined. Default: average.
    pub restitution_rule: CombineRule,
    /// Coefficient of Coulomb friction. Default: 0.5.
    pub friction: f32,
    /// How the friction of two molecules is combined. Default: average.
    pub friction_rule: CombineRule,
    /// Frequency of the contact spring, Hz: how fast overlaps are pushed out. Limited to a
    /// quarter of the substep rate. Default: 60 Hz.
    pub frequency_hz: f32,
    /// Damping ratio of the contact spring; 1 is critical damping. Default: 10.
    pub damping_ratio: f32,
}

impl Default for ContactMaterial {
    fn default() -> Self {
        Self {
            restitution: 0.0,
            restitution_rule: CombineRule::Average,
            friction: 0.5,
            friction_rule: CombineRule::Average,
            frequency_hz: 60.0,
            damping_ratio: 10.0,
        }
    }
}

impl ContactMaterial {
    /// The material between two molecules: restitution and friction by the higher of their rules,
    /// the mean damping ratio, and the lower frequency.
    #[inline]
    #[must_use]
    pub fn combine(&self, other: &Self) -> Self {
        let restitution_rule = self.restitution_rule.max(other.restitution_rule);
        let friction_rule = self.friction_rule.max(other.friction_rule);
        Self {
            restitution: restitution_rule.combine(self.restitution, other.restitution),
            restitution_rule,
            friction: friction_rule.combine(self.friction, other.friction),
            friction_rule,
            frequency_hz: self.frequency_hz.min(other.frequency_hz),
            damping_ratio: 0.5 * (self.damping_ratio + other.damping_ratio),
        }
    }

    /// Validates the parameters.
    ///
    /// # Errors
    /// [`ParameterError`] names the first invalid one.
    pub fn check(&self) -> Result<(), ParameterError> {
        if !(self.frequency_hz.is_finite() && self.frequency_hz > 0.0) {
            return Err(ParameterError {
                name: "frequency_hz",
                allowed: "positive and finite",
                value: self.frequency_hz,
            });
        }
        not_negative(&[
            ("restitution", self.restitution),
            ("friction", self.friction),
            ("damping_ratio", self.damping_ratio),
        ])
    }
}

/// How a coefficient of two molecules is combined, as in Rapier. If the rules of the two differ,
/// the later one in this list applies.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize,
)]
pub enum CombineRule {
    /// The mean. Default.
    #[default]
    Average,
    /// The smaller.
    Min,
    /// The product.
    Multiply,
    /// The larger.
    Max,
}

impl CombineRule {
    #[inline]
    fn combine(self, one: f32, other: f32) -> f32 {
        match self {
            Self::Average => 0.5 * (one + other),
            Self::Min => one.min(other),
            Self::Multiply => one * other,
            Self::Max => one.max(other),
        }
    }
}

/// A damped spring over one substep, integrated implicitly.
///
/// For a spring of angular frequency ω = 2πf and damping ratio ζ, a substep h and
/// the effective mass m, implicit Euler gives the impulse
///
/// ```text
/// λ = −m·mass_scale·(v + bias_rate·x) − impulse_scale·λ₀
/// a₁ = 2ζ + hω,  a₂ = hω·a₁,  a₃ = 1/(1 + a₂)
/// bias_rate = ω/a₁,  mass_scale = a₂·a₃,  impulse_scale = a₃
/// ```
///
/// with the separation x, the velocity v and the accumulated impulse λ₀ (soft step of `Box2D` v3).
/// It is stable for any frequency; a rigid contact is the limit `mass_scale` → 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Softness {
    /// Fraction of the separation that is removed per second, 1/s.
    pub bias_rate: f32,
    /// Factor on the effective mass.
    pub mass_scale: f32,
    /// Fraction of the accumulated impulse that is taken back.
    pub impulse_scale: f32,
}

impl Softness {
    /// No spring: the velocity error is removed at once.
    pub const RIGID: Self = Self {
        bias_rate: 0.0,
        mass_scale: 1.0,
        impulse_scale: 0.0,
    };

    /// The spring of `material` over a substep of `dt` s.
    ///
    /// The frequency is limited to a quarter of the substep rate, since a substep does not
    /// resolve a faster spring.
    #[inline]
    #[must_use]
    pub fn new(material: &ContactMaterial, dt: f32) -> Self {
        let frequency = material.frequency_hz.min(0.25 / dt);
        let omega = std::f32::consts::TAU * frequency;
        let a1 = 2.0 * material.damping_ratio + dt * omega;
        let a2 = dt * omega * a1;
        let a3 = 1.0 / (1.0 + a2);
        Self {
            bias_rate: omega / a1,
            mass_scale: a2 * a3,
            impulse_scale: a3,
        }
    }
}
