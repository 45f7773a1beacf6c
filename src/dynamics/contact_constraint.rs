//! One contact as the solver sees it.

use glam::{Mat3A, Vec3, Vec3A};

use super::members::Sphere;
use super::{BodyIndex, ContactSolverConfig, Dominance, MovingBody, Softness};
use crate::search::Pair;

/// Overlap, as a fraction of the smaller radius, beyond which the normal between the spheres
/// is unreliable: the atoms may have passed each other. The normal is then blended with the
/// direction between the molecules.
///
/// In piles of 200 proteins, 0.5 left atoms interlocked for good at 27 % of the smaller radius in
/// one of five seeds. The deepest overlaps of eight other seeds are 7 to 19 % with 0.15, and 9 to
/// 15 % with 0.1.
pub(crate) const DEEP_SHARE: f32 = 0.1;

/// A contact between spheres of two molecules, or with an external body.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ContactConstraint {
    /// The spheres; the first belongs to `a`. The two halves of its key if it is external.
    pub spheres: Pair,
    /// Body of the first sphere.
    pub a: BodyIndex,
    /// Body of the second sphere.
    pub b: BodyIndex,
    /// Whether it is an [`ExternalContact`](super::ExternalContact).
    pub external: bool,
    /// Unit vector from `a` to `b`.
    pub normal: Vec3,
    /// From the center of mass of `a` to the contact point, nm.
    pub lever_a: Vec3,
    /// From the center of mass of `b` to the contact point, nm.
    pub lever_b: Vec3,
    /// Distance between the surfaces, nm; negative where they overlap.
    pub gap: f32,
    /// Accumulated impulse along the normal, Da·nm/s; never negative.
    pub normal_impulse: f32,
    /// Accumulated friction impulse, perpendicular to the normal, Da·nm/s.
    pub friction_impulse: Vec3,
    /// Effective mass along the normal with split masses, Da; zero if inactive.
    pub(crate) normal_mass: f32,
    /// Effective mass perpendicular to the normal, Da.
    pub(crate) friction_mass: f32,
    /// Mobility of `a` along and perpendicular to the normal, then of `b`, before mass
    /// splitting, 1/Da.
    pub(crate) mobility: [f32; 4],
    pub(crate) softness: Softness,
    pub(crate) friction: f32,
    /// Which of the bodies dominates.
    pub(crate) dominance: Dominance,
    /// Separation speed that restitution demands, nm/s.
    pub(crate) restitution_speed: f32,
}

/// Parameters that all contacts of a substep share.
#[derive(Clone, Copy, Debug)]
pub(super) struct SubstepParams {
    /// Length of the substep, s.
    pub dt: f32,
    pub config: ContactSolverConfig,
}

impl ContactConstraint {
    pub(crate) const INACTIVE: Self = Self {
        spheres: Pair { a: 0, b: 0 },
        a: BodyIndex(0),
        b: BodyIndex(0),
        external: false,
        normal: Vec3::ZERO,
        lever_a: Vec3::ZERO,
        lever_b: Vec3::ZERO,
        gap: f32::INFINITY,
        normal_impulse: 0.0,
        friction_impulse: Vec3::ZERO,
        normal_mass: 0.0,
        friction_mass: 0.0,
        mobility: [0.0; 4],
        softness: Softness::RIGID,
        friction: 0.0,
        dominance: Dominance::Neither,
        restitution_speed: 0.0,
    };

    /// Sets gap, normal and levers of a contact between two spheres.
    pub(super) fn place_between(&mut self, [a, b]: [Sphere; 2], bodies: &[MovingBody]) {
        let centers = [self.a, self.b].map(|body| bodies[body.index()].center);
        let difference = b.center - a.center;
        let distance = difference.length();
        self.gap = distance - a.radius - b.radius;
        self.normal = self.normal_along(difference, a.radius.min(b.radius), centers);
        let point = a.center + self.normal * (a.radius + 0.5 * self.gap);
        self.lever_a = point - centers[0];
        self.lever_b = point - centers[1];
    }

    /// Unit vector from `a` to `b`: along the difference of the spheres, blended with the
    /// direction between the molecules for deep overlaps.
    fn normal_along(&self, difference: Vec3, smaller_radius: f32, [a, b]: [Vec3; 2]) -> Vec3 {
        let own = difference.try_normalize();
        let depth = -self.gap - DEEP_SHARE * smaller_radius;
        if let Some(own) = own
            && depth <= 0.0
        {
            return own;
        }
        let between = (b - a)
            .try_normalize()
            .unwrap_or_else(|| crate::force::arbitrary_direction(self.b.0, self.a.0));
        let weight = (depth / (DEEP_SHARE * smaller_radius).max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
        (own.unwrap_or(Vec3::ZERO) + between * weight)
            .try_normalize()
            .unwrap_or(between)
    }

    /// Computes mobilities and restitution, and activates the contact if the surfaces overlap
    /// or would at the end of the substep.
    pub(super) fn set_up(
        &mut self,
        bodies: &[MovingBody],
        restitution: f32,
        substep: &SubstepParams,
    ) {
        let [a, b] = [self.a, self.b].map(|body| &bodies[body.index()]);
        self.mobility = mobilities(self, a, b);
        let velocity = b.velocity_at(self.lever_b) - a.velocity_at(self.lever_a);
        let approach = velocity.dot(self.normal);
        if approach < -substep.config.restitution_threshold {
            self.restitution_speed = -restitution * approach;
        }
        if self.gap <= 0.0 || self.gap + approach * substep.dt < 0.0 {
            self.activate();
        }
    }

    /// Activates the contact unless both sides are immovable. Mass splitting sets the real
    /// masses later.
    fn activate(&mut self) {
        let [normal_a, _, normal_b, _] = self.mobility;
        self.normal_mass = if normal_a + normal_b > 0.0 { 1.0 } else { 0.0 };
    }

    /// Removes the contact from the iteration.
    pub(super) fn deactivate(&mut self) {
        self.normal_mass = 0.0;
        self.normal_impulse = 0.0;
        self.friction_impulse = Vec3::ZERO;
    }

    /// Whether the solver iterates on it.
    #[inline]
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.normal_mass > 0.0
    }

    /// Starts from the impulses of the same contact in the previous substep.
    pub(super) fn warm_start(&mut self, previous: &Self) {
        if self.gap == f32::INFINITY {
            return;
        }
        self.activate();
        if self.is_active() {
            self.normal_impulse = previous.normal_impulse;
            let friction = previous.friction_impulse;
            let tangential = friction - self.normal * friction.dot(self.normal);
            self.friction_impulse =
                tangential.clamp_length_max(self.friction * self.normal_impulse);
        }
    }

    /// Follows the bodies after they have moved; each is split among `shares` groups.
    ///
    /// The levers must meet in one point again, because impulses that act at two points would
    /// change the angular momentum. Masses are recomputed, because a body may have woken: with
    /// the masses of an immovable body it would receive far too large impulses.
    pub(super) fn follow_bodies(&mut self, bodies: &[MovingBody], shares: [u32; 2]) {
        let [a, b] = [self.a, self.b].map(|body| &bodies[body.index()]);
        let drift = (b.center - a.center) - (self.lever_a - self.lever_b);
        self.lever_a += 0.5 * drift;
        self.lever_b -= 0.5 * drift;
        self.mobility = mobilities(self, a, b);
        self.split_masses(shares);
    }

    /// Computes the effective masses of bodies that are split among `shares` groups (Tonge et
    /// al. 2012).
    pub(super) fn split_masses(&mut self, shares: [u32; 2]) {
        let [normal_a, tangent_a, normal_b, tangent_b] = self.mobility;
        let [share_a, share_b] = shares.map(|groups| groups as f32);
        let inverse = |value: f32| if value > 0.0 { 1.0 / value } else { 0.0 };
        self.normal_mass = inverse(share_a * normal_a + share_b * normal_b);
        self.friction_mass = inverse(share_a * tangent_a + share_b * tangent_b);
    }

    /// Replaces body and sphere indices; the smaller sphere index stays first.
    pub(super) fn relabel(&mut self, [a, b]: [BodyIndex; 2], spheres: [u32; 2]) {
        (self.a, self.b) = (a, b);
        self.spheres = Pair::new(spheres[0], spheres[1]);
        if spheres[0] > spheres[1] {
            std::mem::swap(&mut self.a, &mut self.b);
            std::mem::swap(&mut self.lever_a, &mut self.lever_b);
            self.dominance = self.dominance.reversed();
            self.mobility.rotate_left(2);
            self.normal = -self.normal;
            self.friction_impulse = -self.friction_impulse;
        }
    }

    /// The spring, and the velocity added to the approach, nm/s. Overlaps are pushed out only
    /// with `push_out`.
    pub(super) fn bias(&self, substep: &SubstepParams, push_out: bool) -> (Softness, f32) {
        if self.gap > 0.0 {
            // Speculative: the gap may close, but not more.
            (Softness::RIGID, self.gap / substep.dt)
        } else if push_out {
            let overlap = (self.gap + substep.config.slop).min(0.0);
            let push = self.softness.bias_rate * overlap;
            (self.softness, push.max(-substep.config.max_push_speed))
        } else {
            (Softness::RIGID, 0.0)
        }
    }
}

/// Mobility of `a` along and perpendicular to the normal, then of `b`, 1/Da: the inverse effective
/// mass n·M⁻¹n + (r × n)·I⁻¹(r × n) at lever r.
///
/// There are two perpendicular directions; the sum of their mobilities is an upper bound for
/// either, which keeps the iteration stable in any sliding direction. The mobilities along any
/// three orthogonal directions add up to tr M⁻¹ + r² tr I⁻¹ − r·I⁻¹r.
fn mobilities(contact: &ContactConstraint, a: &MovingBody, b: &MovingBody) -> [f32; 4] {
    let normal = Vec3A::from(contact.normal);
    let of = |body: &MovingBody, lever: Vec3, dominates: bool| {
        if body.asleep || dominates {
            return [0.0, 0.0];
        }
        let lever = Vec3A::from(lever);
        let inverse_mass = Vec3A::from(body.inverse_mass);
        let inertia = Mat3A::from(body.inverse_inertia);
        let torque = lever.cross(normal);
        let along = normal.dot(inverse_mass * normal) + torque.dot(inertia * torque);
        let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
        let angular = lever.length_squared() * trace - lever.dot(inertia * lever);
        let total = inverse_mass.element_sum() + angular;
        [along, (total - along).max(0.0)]
    };
    let [dominates_a, dominates_b] = contact.dominance.sides();
    let [normal_a, tangent_a] = of(a, contact.lever_a, dominates_a);
    let [normal_b, tangent_b] = of(b, contact.lever_b, dominates_b);
    [normal_a, tangent_a, normal_b, tangent_b]
}
