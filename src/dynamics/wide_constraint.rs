//! Contacts and bodies in the form that iterations run on: short, apart from what they
//! do not need, and four pairs of molecules side by side.
//!
//! The contacts of a pair of molecules wait for each other; those of four pairs do not.

use glam::{Vec3, Vec3A, Vec4};

use super::contact_constraint::Substep;
use super::simd::{LANES, SymmetricMat3x4, Vec3x4};
use super::{ContactConstraint, Impulse, MovingBody};

/// A body.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Velocity of the center of mass, nm/s.
    pub velocity: Vec3A,
    /// Angular velocity, radian/s.
    pub angular_velocity: Vec3A,
    /// Inverse mass along each axis of the world, 1/Da; zero if it sleeps.
    inverse_mass: Vec3A,
    /// Inverse inertia in the world frame, 1/(Da·nm²), elements xx, yy, zz; zero if it
    /// sleeps.
    diagonal: Vec3A,
    /// Elements yz, xz, xy.
    beside: Vec3A,
    pub asleep: bool,
}

impl Part {
    pub fn new(body: &MovingBody) -> Self {
        let movable = if body.asleep { 0.0 } else { 1.0 };
        let [x, y, z] = [0, 1, 2].map(|axis| body.inverse_inertia.col(axis) * movable);
        Self {
            velocity: body.velocity.into(),
            angular_velocity: body.angular_velocity.into(),
            inverse_mass: (body.inverse_mass * movable).into(),
            diagonal: Vec3A::new(x.x, y.y, z.z),
            beside: Vec3A::new(y.z, x.z, x.y),
            asleep: body.asleep,
        }
    }

    /// Changes the velocities by an impulse about the center of mass.
    #[inline]
    pub fn receive(&mut self, impulse: &Impulse) {
        let angular = Vec3A::from(impulse.angular);
        let (next, last) = (
            Vec3A::new(angular.y, angular.z, angular.x),
            Vec3A::new(angular.z, angular.x, angular.y),
        );
        // Elements beside the diagonal that these meet: xy, yz, xz and xz, xy, yz.
        let to_next = Vec3A::new(self.beside.z, self.beside.x, self.beside.y);
        let to_last = Vec3A::new(self.beside.y, self.beside.z, self.beside.x);
        self.velocity += self.inverse_mass * Vec3A::from(impulse.linear);
        self.angular_velocity += self.diagonal * angular + to_next * next + to_last * last;
    }
}

/// The parts of four bodies that each belong to one pair of molecules.
#[derive(Clone, Copy)]
pub(super) struct PartLanes {
    velocity: Vec3x4,
    angular_velocity: Vec3x4,
    inverse_mass: Vec3x4,
    inverse_inertia: SymmetricMat3x4,
}

impl PartLanes {
    /// One of as many equal shares of each body as is told.
    #[inline]
    pub fn new(bodies: [(&Part, u32); LANES]) -> Self {
        let shares = bodies.map(|(_, shares)| shares as f32);
        let of = |each: fn(&Part) -> Vec3A| bodies.map(|(part, _)| each(part));
        let shared = |each: fn(&Part) -> Vec3A| {
            let whole = of(each);
            std::array::from_fn(|lane| whole[lane] * shares[lane])
        };
        Self {
            velocity: Vec3x4::new(of(|part| part.velocity)),
            angular_velocity: Vec3x4::new(of(|part| part.angular_velocity)),
            inverse_mass: Vec3x4::new(shared(|part| part.inverse_mass)),
            inverse_inertia: SymmetricMat3x4::new(
                shared(|part| part.diagonal),
                shared(|part| part.beside),
            ),
        }
    }

    /// Velocity at `lever` from the center of mass, nm/s.
    #[inline(always)]
    fn velocity_at(&self, lever: Vec3x4) -> Vec3x4 {
        let mut velocity = self.angular_velocity.cross(lever);
        velocity += self.velocity;
        velocity
    }
}

/// How the impulses between two molecules change in an iteration.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Change {
    /// On `b`; that on `a` is its negative.
    linear: Vec3A,
    angular_a: Vec3A,
    angular_b: Vec3A,
}

impl Change {
    /// The impulse on `a`.
    pub fn on_a(&self) -> Impulse {
        Impulse {
            linear: (-self.linear).into(),
            angular: self.angular_a.into(),
        }
    }

    /// The impulse on `b`.
    pub fn on_b(&self) -> Impulse {
        Impulse {
            linear: self.linear.into(),
            angular: self.angular_b.into(),
        }
    }
}

/// Changes between four pairs of molecules.
#[derive(Clone, Copy, Default)]
struct ChangeLanes {
    linear: Vec3x4,
    angular_a: Vec3x4,
    angular_b: Vec3x4,
}

impl ChangeLanes {
    fn split(self) -> [Change; LANES] {
        let linear = self.linear.split();
        let angular_a = self.angular_a.split();
        let angular_b = self.angular_b.split();
        std::array::from_fn(|lane| Change {
            linear: linear[lane],
            angular_a: angular_a[lane],
            angular_b: angular_b[lane],
        })
    }
}

/// A contact of each of four pairs of molecules. One without numbers does nothing.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Rows {
    normal: Vec3x4,
    lever_a: Vec3x4,
    lever_b: Vec3x4,
    friction_impulse: Vec3x4,
    normal_impulse: Vec4,
    /// Effective mass along the normal with split masses, softened, Da.
    normal_mass: Vec4,
    /// Share of the impulse so far that is given back.
    give_back: Vec4,
    /// Velocity that is added to the approach, nm/s.
    bias: Vec4,
    friction_mass: Vec4,
    friction: Vec4,
}

impl Rows {
    /// Sets one of the four to a contact with or without the term that parts overlaps.
    pub fn set(
        &mut self,
        lane: usize,
        contact: &ContactConstraint,
        substep: &Substep,
        parting: bool,
    ) {
        let (softness, bias) = contact.bias(substep, parting);
        self.normal.set(lane, contact.normal);
        self.lever_a.set(lane, contact.lever_a);
        self.lever_b.set(lane, contact.lever_b);
        self.friction_impulse.set(lane, contact.friction_impulse);
        self.normal_impulse[lane] = contact.normal_impulse;
        self.normal_mass[lane] = contact.normal_mass * softness.mass_scale;
        self.give_back[lane] = softness.impulse_scale;
        self.bias[lane] = bias.min(-contact.restitution_speed);
        self.friction_mass[lane] = contact.friction_mass;
        self.friction[lane] = contact.friction;
    }

    /// Impulses of one of the four along and across the normal so far, Da·nm/s.
    pub fn impulses(&self, lane: usize) -> (f32, Vec3) {
        (self.normal_impulse[lane], self.friction_impulse.get(lane))
    }

    /// What the impulses so far change.
    pub fn start_warm(rows: &[Self]) -> [Change; LANES] {
        let mut change = ChangeLanes::default();
        for row in rows {
            let mut impulse = row.normal * row.normal_impulse;
            impulse += row.friction_impulse;
            change.linear += impulse;
            change.angular_a -= row.lever_a.cross(impulse);
            change.angular_b += row.lever_b.cross(impulse);
        }
        change.split()
    }

    /// Takes the velocity errors out of four pairs of bodies, contact by contact, each
    /// pair for itself.
    #[inline]
    pub fn solve_all(rows: &mut [Self], [mut a, mut b]: [PartLanes; 2]) -> [Change; LANES] {
        let mut change = ChangeLanes::default();
        for row in rows {
            let impulse = row.solve(&a, &b);
            let turn_a = row.lever_a.cross(impulse);
            let turn_b = row.lever_b.cross(impulse);
            a.velocity -= a.inverse_mass.scaled_by(impulse);
            a.angular_velocity -= a.inverse_inertia.times(turn_a);
            b.velocity += b.inverse_mass.scaled_by(impulse);
            b.angular_velocity += b.inverse_inertia.times(turn_b);
            change.linear += impulse;
            change.angular_a -= turn_a;
            change.angular_b += turn_b;
        }
        change.split()
    }

    /// The change of the impulses on `b` that takes the velocity errors out; that on `a`
    /// is its negative.
    #[inline(always)]
    fn solve(&mut self, a: &PartLanes, b: &PartLanes) -> Vec3x4 {
        let velocity = b.velocity_at(self.lever_b) - a.velocity_at(self.lever_a);
        let speed = velocity.dot(self.normal);
        let impulse = self.normal_impulse
            - self.normal_mass * (speed + self.bias)
            - self.give_back * self.normal_impulse;
        let impulse = impulse.max(Vec4::ZERO);
        let mut change = self.normal * (impulse - self.normal_impulse);
        self.normal_impulse = impulse;
        let across = velocity - self.normal * speed;
        let wanted = self.friction_impulse - across * self.friction_mass;
        let held = wanted.no_longer_than(self.friction * impulse);
        change += held - self.friction_impulse;
        self.friction_impulse = held;
        change
    }
}
