//! [`SpringLaw`]: springs that hold molecules in their compartments, for simulations with
//! velocities.
//!
//! The laws of the relaxer displace molecules per iteration. Here molecules have velocities, and
//! a spring gives each an impulse per substep: a linear one along the surface normal, and an
//! angular one about the axis that turns the molecule upright. Within its leeways nothing acts
//! on a molecule, not even damping.
//!
//! # Damped spring
//!
//! Let C be the excess over the leeway (nm or radian) and u its rate of change. A spring with
//! angular frequency ω = 2πf and damping ratio ζ gives the acceleration −ω² C − 2ζω u. Evaluated at
//! the end of a substep h, where C' = C + h u', it is stable at any stiffness (implicit Euler):
//!
//! u' = u − h ω² (C + h u') − 2ζ h ω u', hence, with a = h ω,
//!
//! u' = (u − a² C / h) / (1 + 2ζ a + a²).
//!
//! With ζ = 1 the denominator is (1 + a)², both eigenvalues of the step are 1 / (1 + a), and a
//! molecule at rest returns without overshooting for any h. It is within 1 % after ω t = 6.64,
//! the root of (1 + ωt) e^(−ωt) = 0.01, plus a little for the numerical damping of implicit
//! steps. The impulse is the effective mass times u' − u, as in `Box2D`'s soft constraints.
//!
//! If a spring is so stiff that C vanishes in one substep, the molecule keeps the velocity of
//! that substep and drifts through its leeway. The frequency is therefore limited to one
//! oscillation per substep.
//!
//! The tilt spring acts about one axis only. A tilted molecule that is pushed sideways keeps
//! precessing about the normal, like a top, and the spring alone never brings it back.
//! [`precession_damping_impulse`] damps that motion. Neither affects the spin of a molecule
//! about its own up vector.
//!
//! # Spring of the thesis
//!
//! Pauschenwein (2022, Algorithm 4.5) moves a molecule outside its leeway by ∓ position × step
//! and rotates it by axis × angle × step in each iteration, whatever its mass. As a force, this
//! is an acceleration k × position, and likewise for the angle. A molecule at rest under that
//! acceleration moves by k h² × position in a substep h, so that a step size s corresponds to
//! k = s / h² ([`SpringLaw::from_thesis`]). In the thesis, all velocity is lost in the next
//! iteration. Here it is kept: without other damping (contacts, or the linear and angular
//! damping of the body), molecules oscillate forever.

use std::f32::consts::TAU;

#[cfg(feature = "plugin")]
use bevy::reflect::{Reflect, std_traits::ReflectDefault};
use serde::{Deserialize, Serialize};

use super::{Body, Impulse, ParameterError, ThesisSteps, Velocity, not_negative};
use crate::compartment::Excess;

/// Maximum number of oscillations per substep; higher frequencies are clamped.
const MAX_OSCILLATIONS_PER_SUBSTEP: f32 = 1.0;

/// The spring that pulls a molecule back into its compartment. Default: critically damped, 2 Hz.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "plugin", derive(Reflect))]
#[cfg_attr(feature = "plugin", reflect(Clone, Debug, Default, PartialEq))]
#[non_exhaustive]
pub enum SpringLaw {
    /// The spring of the thesis: undamped, proportional to the distance from the center.
    Thesis {
        /// Acceleration per nm between the molecule and the center of its compartment, 1/s².
        /// Times the mass it is a force in Da·nm/s².
        force: f32,
        /// Angular acceleration per radian of tilt, 1/s². Times the inertia it is a torque in
        /// Da·nm²/s².
        torque: f32,
    },
    /// A damped spring, proportional to the excess and stable at any stiffness.
    Damped {
        /// Undamped frequency, Hz. Default: 2.
        frequency_hz: f32,
        /// Damping ratio; 1 is critical. Default: 1.
        damping_ratio: f32,
    },
}

impl Default for SpringLaw {
    fn default() -> Self {
        Self::Damped {
            frequency_hz: 2.0,
            damping_ratio: 1.0,
        }
    }
}

impl SpringLaw {
    /// The thesis's spring with these step sizes, for substeps of `dt` seconds: the first
    /// substep from rest moves a molecule as far as one iteration of the thesis does.
    #[must_use]
    pub fn from_thesis(steps: &ThesisSteps, dt: f32) -> Self {
        Self::Thesis {
            force: steps.spring_force / (dt * dt),
            torque: steps.spring_torque / (dt * dt),
        }
    }

    /// Validates the parameters: all finite and not negative.
    ///
    /// # Errors
    /// [`ParameterError`] names the first invalid one.
    pub fn check(&self) -> Result<(), ParameterError> {
        match *self {
            Self::Thesis { force, torque } => not_negative(&[("force", force), ("torque", torque)]),
            Self::Damped {
                frequency_hz,
                damping_ratio,
            } => not_negative(&[
                ("frequency_hz", frequency_hz),
                ("damping_ratio", damping_ratio),
            ]),
        }
    }
}

/// The impulse of the spring on a molecule in a substep of `dt` seconds. Zero if the molecule is
/// in place, if its body is immovable, or if `dt` is not positive and finite.
///
/// Validate the law first: see [`SpringLaw::check`].
#[must_use]
pub fn spring_impulse(
    law: &SpringLaw,
    body: &Body,
    velocity: &Velocity,
    excess: &Excess,
    dt: f32,
) -> Impulse {
    let mut impulse = Impulse::default();
    if !(dt > 0.0 && dt.is_finite()) {
        return impulse;
    }
    if excess.height != 0.0 {
        let change = match *law {
            SpringLaw::Thesis { force, .. } => excess.arm * (-excess.height.signum() * force * dt),
            SpringLaw::Damped {
                frequency_hz,
                damping_ratio,
            } => {
                let rate = velocity.linear.dot(excess.normal);
                let damped = [frequency_hz, damping_ratio];
                excess.normal * damped_rate_change(damped, excess.height, rate, dt)
            }
        };
        impulse.linear = change * inverse_or_zero(body.inverse_mass);
    }
    if excess.tilt > 0.0 {
        let change = match *law {
            SpringLaw::Thesis { torque, .. } => excess.total_tilt * torque * dt,
            SpringLaw::Damped {
                frequency_hz,
                damping_ratio,
            } => {
                // A rotation about the axis decreases the tilt.
                let rate = -velocity.angular.dot(excess.axis);
                -damped_rate_change([frequency_hz, damping_ratio], excess.tilt, rate, dt)
            }
        };
        // An impulse L along the axis n changes the rate about it by (nᵀ I⁻¹ n) L.
        let mobility = excess.axis.dot(body.inverse_inertia * excess.axis);
        impulse.angular = excess.axis * (change * inverse_or_zero(mobility));
    }
    impulse
}

/// Damps the precession of a molecule that is tilted beyond its leeway, in a substep of `dt`
/// seconds. Accompanies a damped spring; zero for the spring of the thesis.
///
/// It acts about the axis perpendicular to both the up vector and the axis of the tilt spring.
/// There is no spring about that axis, only damping: u' = u − 2ζ h ω u'. Pass the velocity after
/// [`spring_impulse`], so that the two together add no energy.
#[must_use]
pub fn precession_damping_impulse(
    law: &SpringLaw,
    body: &Body,
    velocity: &Velocity,
    excess: &Excess,
    dt: f32,
) -> Impulse {
    let mut impulse = Impulse::default();
    if let &SpringLaw::Damped {
        frequency_hz,
        damping_ratio,
    } = law
        && excess.tilt > 0.0
        && dt > 0.0
        && dt.is_finite()
    {
        let sideways = excess.axis.cross(excess.up);
        let kept = 1.0 / (1.0 + 2.0 * damping_ratio * phase_per_substep(frequency_hz, dt));
        let change = (kept - 1.0) * velocity.angular.dot(sideways);
        let mobility = sideways.dot(body.inverse_inertia * sideways);
        impulse.angular = sideways * (change * inverse_or_zero(mobility));
    }
    impulse
}

/// The phase a = h ω of a spring per substep, radian.
fn phase_per_substep(frequency_hz: f32, dt: f32) -> f32 {
    TAU * (frequency_hz * dt).min(MAX_OSCILLATIONS_PER_SUBSTEP)
}

/// Change u' − u of the `rate` of an `excess` in a substep of a damped spring; see the module docs.
fn damped_rate_change(
    [frequency_hz, damping_ratio]: [f32; 2],
    excess: f32,
    rate: f32,
    dt: f32,
) -> f32 {
    let a = phase_per_substep(frequency_hz, dt);
    let kept = 1.0 / (1.0 + 2.0 * damping_ratio * a + a * a);
    (kept - 1.0) * rate - kept * a * a / dt * excess
}

/// Mass from inverse mass; zero instead of infinity, so that immovable bodies get no impulse.
fn inverse_or_zero(inverse: f32) -> f32 {
    let mass = inverse.recip();
    if mass.is_finite() { mass } else { 0.0 }
}
