//! Springs that hold molecules in their place in a world where time passes.
//!
//! The laws of the relaxer move molecules by so much an iteration. Here molecules
//! have velocities, and a spring gives each an impulse in each substep: a linear one
//! along the normal of the surface, and an angular one about the axis that turns the
//! head up. Nothing acts on a molecule within its leeways, not even damping.
//!
//! # The damped spring
//!
//! Let C be the excess over the leeway (nm or radian) and u its rate of change. A
//! spring of angular frequency ω = 2πf and damping ratio ζ gives the acceleration
//! −ω² C − 2ζω u. Taken at the end of a substep h, where C' = C + h u', it is stable
//! however stiff (implicit Euler):
//!
//! u' = u − h ω² (C + h u') − 2ζ h ω u', hence, with a = h ω,
//!
//! u' = (u − a² C / h) / (1 + 2ζ a + a²).
//!
//! With ζ = 1 the denominator is (1 + a)², both eigenvalues of the step are
//! 1 / (1 + a), and a molecule at rest comes back without overshooting for any h. It
//! is within 1 % after ω t = 6.64, the root of (1 + ωt) e^(−ωt) = 0.01, plus a little
//! for the damping that implicit steps add. The impulse is the effective mass times
//! u' − u; it is that of `Box2D`'s soft constraints.
//!
//! A spring that is so stiff that C vanishes in one substep would leave the molecule
//! with the speed that it took, to drift through its leeway. Therefore it swings at
//! most once in a substep, however high its frequency: [`MAX_OSCILLATIONS_PER_SUBSTEP`].
//!
//! The spring of the tilt acts about one axis only. A molecule that is pushed sideways
//! while it leans keeps circling about the normal, like a top, and the spring alone
//! never brings it home; [`precession_damping_impulse`] takes that motion away. Neither touches
//! the spin of a molecule about its own up vector.
//!
//! # The thesis's spring
//!
//! Pauschenwein (2022, Algorithm 4.5) moves a molecule that is out of its leeway by
//! ∓ position × step, and turns it by axis × angle × step, in each iteration and
//! whatever its mass. As a force this is an acceleration k × position, and likewise
//! for the angle. A molecule at rest under that acceleration moves by
//! k h² × position in a substep h, so that a step size s is k = s / h²
//! ([`SpringLaw::from_thesis`]). In the thesis all speed is gone in the next
//! iteration. Here it stays: without damping from elsewhere (contacts, or the linear
//! and angular damping of the body) molecules swing through their place for ever.

use std::f32::consts::TAU;

use serde::{Deserialize, Serialize};

use super::{Body, Impulse, ParameterError, ThesisSteps, Velocity, not_negative};
use crate::compartment::Excess;

/// Most swings of a damped spring in a substep; a higher frequency acts like this one.
pub const MAX_OSCILLATIONS_PER_SUBSTEP: f32 = 1.0;

/// How a spring answers when a molecule is out of its place.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "plugin", derive(bevy::reflect::Reflect))]
#[cfg_attr(feature = "plugin", reflect(Clone, Debug, Default, PartialEq))]
#[non_exhaustive]
pub enum SpringLaw {
    /// The spring of the thesis: undamped, and as strong as the way to the center.
    Thesis {
        /// Acceleration for each nm between the molecule and the center of its
        /// compartment, 1/s². Times the mass it is a force in Da·nm/s².
        force: f32,
        /// Angular acceleration for each radian that the head leans by, 1/s². Times the
        /// inertia it is a torque in Da·nm²/s².
        torque: f32,
    },
    /// A spring that is as strong as the excess, damped, and stable at any stiffness.
    Damped {
        /// Swings a second without damping, Hz. Default: 2.
        frequency_hz: f32,
        /// Damping as a fraction of that which just keeps it from overshooting: 1 is
        /// critical. Default: 1.
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
    /// The thesis's law with its spring step sizes, for substeps of `dt` seconds: in
    /// the first substep from rest it moves a molecule as far as an iteration does.
    #[must_use]
    pub fn from_thesis(steps: &ThesisSteps, dt: f32) -> Self {
        Self::Thesis {
            force: steps.spring_force / (dt * dt),
            torque: steps.spring_torque / (dt * dt),
        }
    }

    /// Checks that every parameter is finite and not negative.
    ///
    /// # Errors
    /// [`ParameterError`] names the first that is not.
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

/// What the spring gives a molecule with this body and velocity in a substep of `dt`
/// seconds. Nothing if it is in place, if it cannot be moved, or if no time passes.
///
/// The law's parameters are to be checked before: see [`SpringLaw::check`].
///
/// ```
/// use bevy_rapier_molecules::force::{Body, Velocity, spring_impulse};
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default())?;
/// let cell = SphereShell::new(Vec3::ZERO, 10.0)?;
/// let inside = Confinement::Inside { distance: 2.0 };
/// let law = SpringLaw::default();
/// let pull = |x: f32| {
///     let pose = Pose::from_translation(Vec3::X * x);
///     let (body, excess) = (Body::new(&protein, &pose), inside.excess(&cell, &pose));
///     spring_impulse(&law, &body, &Velocity::default(), &excess, 1.0 / 60.0)
/// };
/// assert!(pull(7.5).is_zero(), "deep enough: nothing acts");
/// assert!(pull(9.0).linear.x < 0.0, "too near to the surface: back inwards");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
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
            SpringLaw::Damped { .. } => {
                let rate = velocity.linear.dot(excess.normal);
                excess.normal * law.soft_change(excess.height, rate, dt)
            }
        };
        impulse.linear = change * inverse_or_zero(body.inverse_mass);
    }
    if excess.tilt > 0.0 {
        let change = match *law {
            SpringLaw::Thesis { torque, .. } => excess.total_tilt * torque * dt,
            SpringLaw::Damped { .. } => {
                // A turn about the axis makes the tilt smaller.
                let rate = -velocity.angular.dot(excess.axis);
                -law.soft_change(excess.tilt, rate, dt)
            }
        };
        // An impulse L along the axis n changes the rate about it by (nᵀ I⁻¹ n) L.
        let mobility = excess.axis.dot(body.inverse_inertia * excess.axis);
        impulse.angular = excess.axis * (change * inverse_or_zero(mobility));
    }
    impulse
}

/// Damps the sideways motion of the head of a molecule that leans beyond its leeway,
/// in a substep of `dt` seconds; goes with a damped spring, and nothing for the others.
///
/// Sideways is about the axis across both the up vector and the axis that the spring
/// turns about. There is no spring about it, only damping: u' = u − 2ζ h ω u'. The
/// velocity is to be that after [`spring_impulse`], so that the two together add no
/// energy.
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
        let kept = 1.0 / (1.0 + 2.0 * damping_ratio * swing(frequency_hz, dt));
        let change = (kept - 1.0) * velocity.angular.dot(sideways);
        let mobility = sideways.dot(body.inverse_inertia * sideways);
        impulse.angular = sideways * (change * inverse_or_zero(mobility));
    }
    impulse
}

/// The angle a = h ω that a spring swings by in a substep, radian.
fn swing(frequency_hz: f32, dt: f32) -> f32 {
    TAU * (frequency_hz * dt).min(MAX_OSCILLATIONS_PER_SUBSTEP)
}

impl SpringLaw {
    /// Change u' − u of the rate of change `rate` of an `excess` in a substep; see the
    /// module page.
    fn soft_change(&self, excess: f32, rate: f32, dt: f32) -> f32 {
        let &Self::Damped {
            frequency_hz,
            damping_ratio,
        } = self
        else {
            return 0.0;
        };
        let a = swing(frequency_hz, dt);
        let kept = 1.0 / (1.0 + 2.0 * damping_ratio * a + a * a);
        (kept - 1.0) * rate - kept * a * a / dt * excess
    }
}

/// Mass from inverse mass; zero if it is infinite, since nothing moves such a body.
fn inverse_or_zero(inverse: f32) -> f32 {
    let mass = inverse.recip();
    if mass.is_finite() { mass } else { 0.0 }
}
