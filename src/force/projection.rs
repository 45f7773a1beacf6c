//! [`Projection`]: our relaxation law, rigid position-based projection.
//!
//! Each contact requests the smallest translation and rotation of its two molecules, weighted
//! by their mass and inertia, that separates the two spheres along a normal. With atom normals
//! alone, molecules that start inside each other interlock, because every atom is pushed to the
//! side it happens to be on. The normal is therefore a blend of the atom normal and the
//! direction between the molecules' centers, whose weight fades to zero. Pairs that are still
//! interlocked afterwards are separated by a *kick*: the weight is restored and fades again,
//! which moves only molecules that still touch.
//!
//! For spheres at distance vector d (from other to own), reach R, and a unit normal n, the shift
//! s that separates them along n solves |d + s n| = R:
//!
//! s = −d·n + √((d·n)² + R² − |d|²).
//!
//! Each molecule averages the corrections of its contacts (Jacobi): their sum, divided by the
//! square root of their number, times an over-relaxation factor. Jacobi iterations converge
//! slowly where a push must propagate through many molecules. They are accelerated by the
//! heavy-ball method: a fraction of the previous push is added to the next one. (This is an
//! extrapolation of the iteration; the law has no velocities and conserves no physical
//! momentum.) A molecule that nothing pushes stops at once. A dense vesicle that is not at rest
//! after 1,500 iterations without acceleration comes to rest after about 100 with it.

use glam::Vec3;
use serde::{Deserialize, Serialize};

use super::{Body, ParameterError, Push, not_negative};
use crate::compartment::Excess;

/// Parameters of the projection law, [`ReactionLaw::Projection`](crate::relax::ReactionLaw).
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Projection {
    /// Initial weight of the direction between centers. Default: 0.5.
    pub center_weight: f32,
    /// Iterations over which that weight fades to zero, linearly. Default: 60.
    pub fade_iterations: u32,
    /// Iterations without progress after which the weight is restored, to separate
    /// interlocked molecules; 0 disables kicks. Default: 30.
    pub kick_after: u32,
    /// Heavy-ball coefficient of the iteration: fraction of the previous push that is added to
    /// the next one, less than 1. Default: 0.9.
    pub momentum: f32,
    /// Over-relaxation: the sum of corrections is multiplied by this / √contacts. Default: 1.5.
    pub relaxation: f32,
    /// Maximum translation of a molecule per iteration, nm. Default: 0.1.
    pub max_shift: f32,
    /// Maximum rotation of a molecule per iteration, radian. Default: 0.15.
    pub max_turn: f32,
    /// Fraction of a molecule's excess over its leeway that a spring removes per iteration.
    /// Default: 0.5.
    pub spring: f32,
}

impl Default for Projection {
    fn default() -> Self {
        Self {
            center_weight: 0.5,
            fade_iterations: 60,
            kick_after: 30,
            momentum: 0.9,
            relaxation: 1.5,
            max_shift: 0.1,
            max_turn: 0.15,
            spring: 0.5,
        }
    }
}

impl Projection {
    /// Validates the parameters: all finite and not negative, `momentum` less than one.
    ///
    /// # Errors
    /// [`ParameterError`] names the first invalid one.
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

    /// Weight of the direction between centers, `iterations` after the start or the last kick.
    #[must_use]
    pub(crate) fn center_weight_after(&self, iterations: u32) -> f32 {
        let faded = iterations as f32 / self.fade_iterations.max(1) as f32;
        self.center_weight * (1.0 - faded).max(0.0)
    }

    /// Adds a fraction of the `previous` push (heavy-ball method) and clamps the sum. A molecule
    /// that is in place and touches nothing stops.
    #[must_use]
    pub(crate) fn with_momentum(&self, mut push: Push, previous: &Push) -> Push {
        if push.is_zero() {
            return Push::default();
        }
        push.linear += previous.linear * self.momentum;
        push.angular += previous.angular * self.momentum;
        push.clamped(self.max_shift, self.max_turn)
    }

    /// Spring of a molecule: removes a fraction of its excess over the leeways.
    #[must_use]
    pub fn spring(&self, excess: &Excess) -> Push {
        Push {
            linear: excess.normal * (-excess.height * self.spring),
            angular: excess.axis * (excess.tilt * self.spring),
        }
    }
}

/// Sum of corrections over the contacts of one molecule.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProjectionSums {
    push: Push,
    contacts: u32,
}

impl ProjectionSums {
    /// Adds the contact of spheres at `own` and `other` (world, nm) with the sum of radii
    /// `reach` (nm). At least one of the two bodies must be movable. `between` is the unit
    /// vector from the other molecule's center to the own, multiplied by its weight.
    #[inline]
    pub fn add(
        &mut self,
        [own_body, other_body]: [&Body; 2],
        [own, other]: [Vec3; 2],
        reach: f32,
        between: Vec3,
    ) {
        let mut sides = [*self, Self::default()];
        Self::add_both(
            &mut sides,
            [own_body, other_body],
            [own, other],
            reach,
            between,
        );
        *self = sides[0];
    }

    /// As [`add`](Self::add), to the sums of both molecules.
    #[inline]
    pub(crate) fn add_both(
        sides: &mut [Self; 2],
        bodies: [&Body; 2],
        [own, other]: [Vec3; 2],
        reach: f32,
        between: Vec3,
    ) {
        let difference = own - other;
        let atom_normal = difference.normalize_or_zero();
        let Some(normal) = (atom_normal + between)
            .try_normalize()
            .or_else(|| difference.try_normalize())
        else {
            // Coincident atoms of molecules with coincident centers.
            return;
        };
        let along = difference.dot(normal);
        let squared = along * along + reach * reach - difference.length_squared();
        let shift = squared.max(0.0).sqrt() - along;
        let levers = [own - bodies[0].center, other - bodies[1].center];
        let mobility =
            bodies[0].mobility(levers[0], normal) + bodies[1].mobility(levers[1], normal);
        let impulse = normal * (shift / mobility);
        for (k, impulse) in [impulse, -impulse].into_iter().enumerate() {
            sides[k].add_push(Push {
                linear: impulse * bodies[k].inverse_mass,
                angular: bodies[k].inverse_inertia * levers[k].cross(impulse),
            });
        }
    }

    /// Adds the push of one contact.
    #[inline]
    pub(crate) fn add_push(&mut self, push: Push) {
        self.push += push;
        self.contacts += 1;
    }

    /// Adds the sum over other contacts.
    pub(crate) fn merge(&mut self, other: &Self) {
        self.push += other.push;
        self.contacts += other.contacts;
    }

    /// The sum over all contacts.
    pub(crate) fn total(&self) -> Push {
        self.push
    }

    /// The averaged push of all contacts.
    #[must_use]
    pub fn push(&self, parameters: &Projection) -> Push {
        if self.contacts == 0 {
            return Push::default();
        }
        let scale = parameters.relaxation / (self.contacts as f32).sqrt();
        self.push.scaled(scale)
    }
}
