//! Our own law: rigid position-based projection.
//!
//! Each contact asks for the smallest shift and turn of its two molecules, weighed
//! by their real mass and inertia, that would part the two spheres along a normal.
//! Normals of atoms alone stall: molecules that start inside one another interlock,
//! every atom being pushed to whatever side it happens to be on. So the normal is a
//! blend of the atom normal and the direction between the molecules' centers, in
//! which the latter fades as the crowd comes apart. The odd pair that is still
//! interlocked then is parted by a *kick*: the blend comes back and fades again,
//! which moves only those that still touch.
//!
//! For spheres at distance vector d (from other to own), reach R, and a unit
//! normal n, the shift s that parts them along n solves |d + s n| = R:
//!
//! s = −d·n + √((d·n)² + R² − |d|²).
//!
//! Each molecule averages what its contacts ask for (Jacobi): the sum divided by
//! the square root of their number, times an over-relaxation. Jacobi is slow where
//! a push must travel through many molecules, so that part of the last push goes on
//! (heavy-ball momentum): a dense vesicle that is not at rest after 1,500
//! iterations without it is so after about 140.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::{Body, ParameterError, Push, not_negative};
use crate::compartment::{Deviation, Placement};

/// Parameters of the projection law, of
/// `ReactionLaw::Projection`.
///
/// ```
/// use bevy_rapier_molecules::force::Projection;
///
/// // What a file leaves out has its default.
/// let read: Projection = ron::from_str("(relaxation: 1.0)")?;
/// assert_eq!(read, Projection { relaxation: 1.0, ..Projection::default() });
/// assert!(read.check().is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Projection {
    /// Weight of the direction between centers at the start. Default: 2.
    pub center_weight: f32,
    /// Iterations over which that weight fades to zero, linearly. Default: 60.
    pub fade_iterations: u32,
    /// Iterations without progress after which the weight comes back once more, to
    /// part molecules that are still interlocked; 0 for never. Default: 100.
    pub kick_after: u32,
    /// Fraction of the last push that goes on in the next one. Default: 0.9.
    pub momentum: f32,
    /// Over-relaxation: the summed corrections are scaled by this / √contacts. Default: 1.5.
    pub relaxation: f32,
    /// Longest shift of a molecule in one iteration, nm. Default: 0.1.
    pub max_shift: f32,
    /// Largest turn of a molecule in one iteration, radian. Default: 0.15.
    pub max_turn: f32,
    /// Fraction of a molecule's excess over its leeway that a spring takes back in
    /// one iteration. Default: 0.5.
    pub spring: f32,
}

impl Default for Projection {
    fn default() -> Self {
        Self {
            center_weight: 2.0,
            fade_iterations: 60,
            kick_after: 100,
            momentum: 0.9,
            relaxation: 1.5,
            max_shift: 0.1,
            max_turn: 0.15,
            spring: 0.5,
        }
    }
}

/// Sum over the contacts of one molecule.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProjectionSums {
    push: Push,
    contacts: u32,
}

impl ProjectionSums {
    /// Adds the contact of spheres at `own` and `other` (world, nm) that reach `reach`
    /// nm, of molecules with these bodies, one of which at least can be moved. `between` is
    /// the unit vector from the other molecule's center to the own, here multiplied by its
    /// weight.
    #[inline]
    pub fn add(
        &mut self,
        [own_body, other_body]: [&Body; 2],
        [own, other]: [Vec3; 2],
        reach: f32,
        between: Vec3,
    ) {
        let apart = own - other;
        let atom = apart.normalize_or_zero();
        let Some(normal) = (atom + between)
            .try_normalize()
            .or_else(|| apart.try_normalize())
        else {
            // Coincident atoms, and no direction between the molecules either.
            return;
        };
        let along = apart.dot(normal);
        let room = along * along + reach * reach - apart.length_squared();
        let shift = room.max(0.0).sqrt() - along;
        let own_lever = own - own_body.center;
        let mobility = own_body.mobility(own_lever, normal)
            + other_body.mobility(other - other_body.center, normal);
        let impulse = normal * (shift / mobility);
        self.push.linear += impulse * own_body.inverse_mass;
        self.push.angular += own_body.inverse_inertia * own_lever.cross(impulse);
        self.contacts += 1;
    }

    /// The push that all contacts together ask for.
    #[must_use]
    pub fn push(&self, parameters: &Projection) -> Push {
        if self.contacts == 0 {
            return Push::default();
        }
        let scale = parameters.relaxation / (self.contacts as f32).sqrt();
        Push {
            linear: self.push.linear * scale,
            angular: self.push.angular * scale,
        }
    }
}

impl Projection {
    /// Checks that every parameter is finite and not negative, and the momentum less
    /// than one.
    ///
    /// # Errors
    /// [`ParameterError`] names the first that is not.
    pub fn check(&self) -> Result<(), ParameterError> {
        not_negative(&[
            ("center_weight", self.center_weight),
            ("momentum", self.momentum),
            ("relaxation", self.relaxation),
            ("max_shift", self.max_shift),
            ("max_turn", self.max_turn),
            ("spring", self.spring),
        ])?;
        if self.momentum >= 1.0 {
            return Err(ParameterError {
                name: "momentum",
                allowed: "less than one",
                value: self.momentum,
            });
        }
        Ok(())
    }

    /// Weight of the direction between centers some iterations after the start or
    /// the last kick.
    #[must_use]
    pub(crate) fn center_weight_after(&self, iterations: u32) -> f32 {
        let faded = iterations as f32 / self.fade_iterations.max(1) as f32;
        self.center_weight * (1.0 - faded).max(0.0)
    }

    /// Adds the momentum of the `last` push, and shortens the sum to what one
    /// iteration may do.
    #[must_use]
    pub(crate) fn with_momentum(&self, mut push: Push, last: &Push) -> Push {
        push.linear += last.linear * self.momentum;
        push.angular += last.angular * self.momentum;
        push.clamped(self.max_shift, self.max_turn)
    }

    /// Springs back to where a molecule belongs: a fraction of what its deviation
    /// exceeds the leeway by.
    #[must_use]
    pub fn spring(&self, placement: &Placement, deviation: &Deviation) -> Push {
        let excess = (deviation.height.abs() - placement.leeway).max(0.0);
        let lean = (deviation.tilt - placement.tilt_leeway).max(0.0);
        Push {
            linear: deviation.normal * (-deviation.height.signum() * excess * self.spring),
            angular: deviation.upright_axis() * (lean * self.spring),
        }
    }
}
