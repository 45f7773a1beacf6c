//! One contact between two spheres as the solver sees it.

use glam::Vec3;

use super::device_solver::CarriedImpulse;
use super::pair_grouper::Sphere;
use super::{ContactMaterial, ContactSolverConfig, MovingBody, Softness};
use crate::search::Pair;

/// From this share of the smaller radius on, an overlap is too deep for its own
/// normal alone: the atoms may have passed each other, and the line between the
/// molecules knows better which way is out.
pub(crate) const DEEP_SHARE: f32 = 0.5;

/// A contact between a sphere of molecule `a` and one of molecule `b`.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub struct ContactConstraint {
    /// The spheres; the first belongs to `a`. Of a contact that is held from outside,
    /// the two halves of its key.
    pub spheres: Pair,
    /// Molecule of the first sphere.
    pub a: u32,
    /// Molecule of the second sphere.
    pub b: u32,
    /// Whether it is a [`ExternalContact`](super::ExternalContact): a contact with something outside the
    /// crowd, which the physics engine answers too.
    pub held: bool,
    /// Unit vector from `a` to `b`.
    pub normal: Vec3,
    /// From the center of mass of `a` to the contact point, nm.
    pub lever_a: Vec3,
    /// From the center of mass of `b` to the contact point, nm.
    pub lever_b: Vec3,
    /// Distance of the surfaces, nm; negative where they overlap.
    pub gap: f32,
    /// Impulse along the normal so far, Da·nm/s; never negative.
    pub normal_impulse: f32,
    /// Impulse of friction so far, across the normal, Da·nm/s.
    pub friction_impulse: Vec3,
    /// Effective mass along the normal with split masses, Da; zero if the contact
    /// does not take part.
    pub(crate) normal_mass: f32,
    /// The same across the normal.
    pub(crate) friction_mass: f32,
    /// Mobility of either side along and across the normal, before splitting.
    pub(crate) mobility: [f32; 4],
    pub(crate) softness: Softness,
    pub(crate) friction: f32,
    /// Speed at which the bodies should part after a bounce, nm/s.
    pub(crate) restitution_speed: f32,
}

/// Two spheres that touch, or nearly do.
pub(super) struct Touch<'a> {
    pub pair: Pair,
    pub spheres: [&'a Sphere; 2],
    /// Their molecules.
    pub molecules: [u32; 2],
}

/// What all contacts of two molecules share.
#[derive(Clone, Copy, Debug)]
pub(super) struct ContactSurface {
    softness: Softness,
    friction: f32,
    restitution: f32,
}

impl ContactSurface {
    /// Two surfaces of a `material` in a substep.
    pub fn new(material: &ContactMaterial, substep: &Substep) -> Self {
        Self {
            softness: Softness::new(material, substep.dt),
            friction: material.friction,
            restitution: material.restitution,
        }
    }
}

/// What all contacts of a substep share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Substep {
    /// Length of the substep, s.
    pub dt: f32,
    /// Overlap that is left alone, nm.
    pub slop: f32,
    /// Fastest that overlaps are pushed apart, nm/s.
    pub max_push_speed: f32,
    /// Approach below which nothing bounces, nm/s.
    pub restitution_threshold: f32,
}

impl Substep {
    /// A substep of `dt` s.
    pub fn new(dt: f32, config: &ContactSolverConfig) -> Self {
        Self {
            dt,
            slop: config.slop,
            max_push_speed: config.max_push_speed,
            restitution_threshold: config.restitution_threshold,
        }
    }
}

impl ContactConstraint {
    /// The contact of `pair`, or a contact that does not take part.
    ///
    /// A contact takes part if the spheres overlap, would overlap at the end of the
    /// substep, or carried an impulse before.
    pub(super) fn prepare(
        touch: &Touch<'_>,
        bodies: &[MovingBody],
        surface: &ContactSurface,
        substep: &Substep,
    ) -> Self {
        let [a, b] = touch.molecules;
        let mut contact = Self {
            spheres: touch.pair,
            a,
            b,
            ..Self::IDLE
        };
        let [body_a, body_b] = [a, b].map(|body| &bodies[body as usize]);
        let [first, second] = touch.spheres;
        let difference = second.center - first.center;
        let distance = difference.length();
        contact.gap = distance - first.radius - second.radius;
        contact.normal = normal_of(
            &contact,
            difference,
            distance,
            first.radius.min(second.radius),
            bodies,
        );
        let point = first.center + contact.normal * (first.radius + 0.5 * contact.gap);
        contact.lever_a = point - body_a.center;
        contact.lever_b = point - body_b.center;
        contact.softness = surface.softness;
        contact.friction = surface.friction;
        contact.look_at(bodies, surface.restitution, substep);
        contact
    }

    /// Computes mobilities and bounce, and takes part if the surfaces overlap or are
    /// about to.
    pub(super) fn look_at(&mut self, bodies: &[MovingBody], restitution: f32, substep: &Substep) {
        let [a, b] = [self.a, self.b].map(|body| &bodies[body as usize]);
        self.mobility = mobilities(self, a, b);
        let approach = self.relative_velocity(a, b).dot(self.normal);
        if approach < -substep.restitution_threshold {
            self.restitution_speed = -restitution * approach;
        }
        if self.gap <= 0.0 || self.gap + approach * substep.dt < 0.0 {
            self.take_part();
        }
    }

    /// Takes it out of the solver's hands.
    pub(super) fn leave(&mut self) {
        self.normal_mass = 0.0;
        self.normal_impulse = 0.0;
        self.friction_impulse = Vec3::ZERO;
    }

    /// Lets the contact take part, unless nothing can move either side. The masses
    /// are divided later.
    fn take_part(&mut self) {
        let [normal_a, _, normal_b, _] = self.mobility;
        self.normal_mass = if normal_a + normal_b > 0.0 { 1.0 } else { 0.0 };
    }

    /// Begins with the impulses that it had in the substep before.
    pub(super) fn carry_on(&mut self, before: &Self) {
        if self.gap == f32::INFINITY {
            return;
        }
        self.take_part();
        if self.is_active() {
            self.normal_impulse = before.normal_impulse;
            let friction = before.friction_impulse;
            let across = friction - self.normal * friction.dot(self.normal);
            self.friction_impulse = across.clamp_length_max(self.friction * self.normal_impulse);
        }
    }

    /// The contact with what somebody else found that it carries.
    pub(super) fn resumed(mut self, carried: &CarriedImpulse) -> Self {
        self.normal_mass = 0.0;
        if carried.is_active {
            self.take_part();
        }
        self.normal_impulse = carried.normal_impulse;
        self.friction_impulse = carried.friction_impulse;
        self.restitution_speed = carried.restitution_speed;
        self
    }

    /// A contact between no one.
    pub(crate) const IDLE: Self = Self {
        spheres: Pair { a: 0, b: 0 },
        a: 0,
        b: 0,
        held: false,
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
        restitution_speed: 0.0,
    };

    /// Goes along with the bodies, each of which is now divided among `sharing` groups.
    ///
    /// Brings the levers to one point again: a pair of impulses that do not act in one
    /// point would change the angular momentum. And whoever was asleep may be awake now:
    /// masses of before, in which it could not move, would fling it away.
    pub(super) fn follow(&mut self, bodies: &[MovingBody], sharing: [u32; 2]) {
        let [a, b] = [self.a, self.b].map(|index| &bodies[index as usize]);
        let apart = (b.center - a.center) - (self.lever_a - self.lever_b);
        self.lever_a += 0.5 * apart;
        self.lever_b -= 0.5 * apart;
        self.mobility = mobilities(self, a, b);
        self.split_masses(sharing);
    }

    /// The same contact between bodies, and spheres unless it is held, with other
    /// numbers.
    pub(super) fn renamed(mut self, [a, b]: [u32; 2], spheres: [u32; 2]) -> Self {
        (self.a, self.b) = (a, b);
        if self.held {
            return self;
        }
        self.spheres = Pair::new(spheres[0], spheres[1]);
        if spheres[0] > spheres[1] {
            // The first sphere has the smaller number.
            std::mem::swap(&mut self.a, &mut self.b);
            std::mem::swap(&mut self.lever_a, &mut self.lever_b);
            self.mobility.rotate_left(2);
            self.normal = -self.normal;
            self.friction_impulse = -self.friction_impulse;
        }
        self
    }

    /// Whether the solver works on it.
    #[inline]
    #[must_use]
    pub fn is_active(&self) -> bool {
        self.normal_mass > 0.0
    }

    /// Velocity of `b` relative to `a` at the contact point, nm/s.
    #[inline]
    pub(super) fn relative_velocity(&self, a: &MovingBody, b: &MovingBody) -> Vec3 {
        b.velocity_at(self.lever_b) - a.velocity_at(self.lever_a)
    }

    /// Divides the masses: `sharing` is the number of groups of contacts of `a` and of
    /// `b`.
    pub(super) fn split_masses(&mut self, sharing: [u32; 2]) {
        let [normal_a, across_a, normal_b, across_b] = self.mobility;
        let [share_a, share_b] = sharing.map(|contacts| contacts as f32);
        let inverse = |value: f32| if value > 0.0 { 1.0 / value } else { 0.0 };
        self.normal_mass = inverse(share_a * normal_a + share_b * normal_b);
        self.friction_mass = inverse(share_a * across_a + share_b * across_b);
    }

    /// Spring and velocity that it adds to the approach, nm/s.
    pub(super) fn bias(&self, substep: &Substep, parting: bool) -> (Softness, f32) {
        if self.gap > 0.0 {
            // Not there yet: may close the gap, and no more.
            (Softness::RIGID, self.gap / substep.dt)
        } else if parting {
            let overlap = (self.gap + substep.slop).min(0.0);
            let push = self.softness.bias_rate * overlap;
            (self.softness, push.max(-substep.max_push_speed))
        } else {
            (Softness::RIGID, 0.0)
        }
    }
}

/// Direction from `a` to `b`: between the spheres, and for deep overlaps more and
/// more between the molecules.
fn normal_of(
    contact: &ContactConstraint,
    difference: Vec3,
    distance: f32,
    smaller_radius: f32,
    bodies: &[MovingBody],
) -> Vec3 {
    let own = difference.try_normalize();
    let depth = -contact.gap - DEEP_SHARE * smaller_radius;
    if let Some(own) = own
        && depth <= 0.0
        && distance > 0.0
    {
        return own;
    }
    let [a, b] = [contact.a, contact.b].map(|index| bodies[index as usize].center);
    let between = (b - a)
        .try_normalize()
        .unwrap_or_else(|| crate::force::arbitrary_direction(contact.b, contact.a));
    let weight = (depth / (DEEP_SHARE * smaller_radius).max(f32::MIN_POSITIVE)).clamp(0.0, 1.0);
    (own.unwrap_or(Vec3::ZERO) + between * weight)
        .try_normalize()
        .unwrap_or(between)
}

/// Mobility of `a` along and across the normal, then of `b`.
///
/// Across there are two directions; their sum is an upper bound for either, which
/// keeps the iteration stable whatever way things slide. The mobilities along any three
/// directions at right angles add up to tr M⁻¹ + r² tr I⁻¹ − r·I⁻¹r.
fn mobilities(contact: &ContactConstraint, a: &MovingBody, b: &MovingBody) -> [f32; 4] {
    let of = |body: &MovingBody, lever: Vec3| {
        if body.asleep {
            return [0.0, 0.0];
        }
        let along = body.mobility(lever, contact.normal);
        let inertia = &body.inverse_inertia;
        let trace = inertia.x_axis.x + inertia.y_axis.y + inertia.z_axis.z;
        let turning = lever.length_squared() * trace - lever.dot(*inertia * lever);
        let all = body.inverse_mass.element_sum() + turning;
        [along, (all - along).max(0.0)]
    };
    let [normal_a, across_a] = of(a, contact.lever_a);
    let [normal_b, across_b] = of(b, contact.lever_b);
    [normal_a, across_a, normal_b, across_b]
}
