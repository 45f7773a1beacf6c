//! The reaction and spring laws of the thesis (Pauschenwein 2022, section 4.3).
//!
//! They are heuristics: a "force" is a displacement in nm per iteration, a "torque" a rotation
//! in radian per iteration, each scaled by a step size that the user tunes. Lengths are nm here.
//!
//! Two details of Algorithm 4.5 need care:
//!
//! * *Sign of the spring torque.* The torque axis is printed as `cross(target, current)`.
//!   Rotation about that axis turns the molecule away from its target until it is upside down.
//!   The rotation from `current` to `target` is about `cross(current, target)`, which also
//!   matches the text ("the rotation from current orientation to the target orientation"). That
//!   is what is computed.
//! * *Units of the spring force.* It is `±position`, the whole vector from the center of the
//!   sphere, so that its strength depends on the size of the vesicle instead of the deviation:
//!   it does not vanish towards the target, and overshoots by up to step size × radius. It is
//!   implemented as printed, since the thesis tunes its step sizes for it. The leeway must be at
//!   least half of that product, or molecules jump across the shell forever.
//!
//! # What comes to rest
//!
//! The thesis gives neither step sizes nor densities; both are left to trial and error. A reaction
//! does not vanish with the depth of an overlap: each contact moves and turns its molecules by a
//! finite step until it is gone. Steps must be large enough to free wedged lipids, and small enough
//! not to create as many overlaps as they remove. On vesicles of 620 POPC lipids (atoms of radius
//! 0.1 nm, leeways 0.2 nm and 25°), over seeds:
//!
//! * The defaults bring random positions (Algorithm 4.2) to rest at 1.23 nm² per lipid, the highest
//!   density at which this rigid lipid fits, and at lower ones, in hundreds of iterations.
//! * At 1.4 nm² there is room: forces of 1 to 3·10⁻³ nm³ with torques of 8·10⁻³ to 1.6·10⁻² 1/nm
//!   serve. At 1.23 nm² the window is narrow: with a torque of 1.2·10⁻² most seeds stall, and with a
//!   force of 3·10⁻³ lipids turn into each other as fast as they part.
//! * With a torque of 10⁻⁴ 1/nm, lipids stay wedged even at 2 nm², since they have to turn. Smaller
//!   steps are not safer: with a quarter of the defaults few dense vesicles come to rest.
//! * In a vesicle of radius R, the spring force must be at most twice the leeway ÷ R; see above.
//!
//! `cargo bench --bench papers -- thesis` prints the table.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::{ParameterError, Push, not_negative};
use crate::compartment::Excess;

/// Step sizes of the laws of the thesis.
///
/// The thesis gives no values. The defaults bring a dense vesicle of lipids from random positions to
/// rest. In a vesicle of radius R, `spring_force` must be at most twice the leeway ÷ R.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ThesisSteps {
    /// Scale of the reaction force, nm³. Default: 2e-3.
    pub force: f32,
    /// Scale of the reaction torque, 1/nm. Default: 1.6e-2.
    pub torque: f32,
    /// Scale of the spring force: fraction of the distance from the center. Default: 1e-2.
    pub spring_force: f32,
    /// Scale of the spring torque: fraction of the angle. Default: 0.3.
    pub spring_torque: f32,
}

impl Default for ThesisSteps {
    fn default() -> Self {
        Self {
            force: 2.0e-3,
            torque: 1.6e-2,
            spring_force: 1.0e-2,
            spring_torque: 0.3,
        }
    }
}

impl ThesisSteps {
    /// Validates the step sizes: all finite and not negative.
    ///
    /// # Errors
    /// [`ParameterError`] names the first invalid one.
    pub fn check(&self) -> Result<(), ParameterError> {
        not_negative(&[
            ("force", self.force),
            ("torque", self.torque),
            ("spring_force", self.spring_force),
            ("spring_torque", self.spring_torque),
        ])
    }
}

/// Minimum of the sum of squares in equation 4.1, nm². Without it, an atom at the center of its
/// molecule that coincides with another atom would be pushed to infinity.
pub(crate) const MIN_SQUARES_NM2: f32 = 1.0e-4;

/// Algorithm 4.4: force and torque of one contact on the atom LHSA.
///
/// `difference` is LHSA − RHSA, `local` is LHSA relative to the center of mass of its molecule,
/// both in the world frame and nm. With equation 4.1,
///
/// strength = 1 / (|difference|² + |local|²),
///
/// force = direction · strength · step and torque = local × direction · step. Coincident atoms
/// have no direction; they are pushed along `between`, the unit vector from the center of RHSA's
/// molecule to that of LHSA's. The strength is bounded where distance and lever both vanish.
#[must_use]
pub fn thesis_reaction(difference: Vec3, local: Vec3, between: Vec3, steps: &ThesisSteps) -> Push {
    let direction = difference.try_normalize().unwrap_or(between);
    let squares = difference.length_squared() + local.length_squared();
    let strength = 1.0 / squares.max(MIN_SQUARES_NM2);
    Push {
        linear: direction * strength * steps.force,
        angular: local.cross(direction) * steps.torque,
    }
}

/// Algorithm 4.5: the spring that holds a molecule at its distance (lines 2 to 9) and upright
/// (lines 10 to 15), with the corrected sign of the torque (see the module docs).
///
/// Outside its leeway, the molecule moves by [`Excess::arm`], in a sphere the vector from the center,
/// times the step size: inwards if it is too far out, outwards if it is too far in.
#[must_use]
pub fn thesis_spring(excess: &Excess, steps: &ThesisSteps) -> Push {
    let mut push = Push::default();
    if excess.height > 0.0 {
        push.linear = -excess.arm * steps.spring_force;
    } else if excess.height < 0.0 {
        push.linear = excess.arm * steps.spring_force;
    }
    if excess.tilt > 0.0 {
        push.angular = excess.axis * excess.total_tilt * steps.spring_torque;
    }
    push
}
