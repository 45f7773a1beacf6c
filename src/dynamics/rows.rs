//! Contacts and bodies in the form that iterations run on: short, and apart from what
//! they do not need.

use glam::{Mat3A, Vec3, Vec3A};

use super::constraint::Substep;
use super::{ContactConstraint, Impulse, MovingBody};

/// A body, or its share that belongs to one pair of molecules.
#[derive(Clone, Copy, Debug)]
pub(super) struct Part {
    /// Velocity of the centre of mass, nm/s.
    pub velocity: Vec3A,
    /// Angular velocity, radian/s.
    pub angular_velocity: Vec3A,
    /// Inverse mass along each axis of the world, 1/Da; zero if it sleeps.
    inverse_mass: Vec3A,
    /// Inverse inertia in the world frame, 1/(Da·nm²); zero if it sleeps.
    inverse_inertia: Mat3A,
    pub asleep: bool,
}

impl Part {
    /// The whole body.
    pub fn new(body: &MovingBody) -> Self {
        let movable = if body.asleep { 0.0 } else { 1.0 };
        Self {
            velocity: body.velocity.into(),
            angular_velocity: body.angular_velocity.into(),
            inverse_mass: (body.inverse_mass * movable).into(),
            inverse_inertia: (body.inverse_inertia * movable).into(),
            asleep: body.asleep,
        }
    }

    /// One of `shares` equal shares of the mass.
    #[inline]
    pub fn shared(mut self, shares: u32) -> Self {
        let shares = shares as f32;
        self.inverse_mass *= shares;
        self.inverse_inertia *= shares;
        self
    }

    /// Changes the velocities by an impulse about the centre of mass.
    #[inline]
    pub fn receive(&mut self, impulse: &Impulse) {
        self.push(impulse.linear.into(), impulse.angular.into());
    }

    #[inline]
    fn push(&mut self, linear: Vec3A, angular: Vec3A) {
        self.velocity += self.inverse_mass * linear;
        self.angular_velocity += self.inverse_inertia * angular;
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
    /// Adds an impulse on `b` and its opposite on `a` at a contact.
    #[inline]
    pub fn add(&mut self, row: &Row, impulse: Vec3A) {
        self.linear += impulse;
        self.angular_a -= row.lever_a.cross(impulse);
        self.angular_b += row.lever_b.cross(impulse);
    }

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

/// Two bodies whose contacts are being solved.
struct Between {
    a: Part,
    b: Part,
    change: Change,
}

impl Between {
    fn new([a, b]: [Part; 2]) -> Self {
        let change = Change::default();
        Self { a, b, change }
    }

    #[inline(always)]
    fn solve(&mut self, row: &mut Row) {
        let impulse = row.solve(&self.a, &self.b);
        let [turn_a, turn_b] = [row.lever_a, row.lever_b].map(|lever| lever.cross(impulse));
        self.a.push(-impulse, -turn_a);
        self.b.push(impulse, turn_b);
        self.change.linear += impulse;
        self.change.angular_a -= turn_a;
        self.change.angular_b += turn_b;
    }
}

/// A contact that takes part.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Row {
    normal: Vec3A,
    lever_a: Vec3A,
    lever_b: Vec3A,
    friction_impulse: Vec3A,
    normal_impulse: f32,
    /// Effective mass along the normal with split masses, softened, Da.
    normal_mass: f32,
    /// Share of the impulse so far that is given back.
    give_back: f32,
    /// Velocity that is added to the approach, nm/s.
    bias: f32,
    friction_mass: f32,
    friction: f32,
}

impl Row {
    /// A contact with or without the term that parts overlaps.
    pub fn new(contact: &ContactConstraint, substep: &Substep, parting: bool) -> Self {
        let (softness, bias) = contact.bias(substep, parting);
        Self {
            normal: contact.normal.into(),
            lever_a: contact.lever_a.into(),
            lever_b: contact.lever_b.into(),
            friction_impulse: contact.friction_impulse.into(),
            normal_impulse: contact.normal_impulse,
            normal_mass: contact.normal_mass * softness.mass_scale,
            give_back: softness.impulse_scale,
            bias: bias.min(-contact.bounce_speed),
            friction_mass: contact.friction_mass,
            friction: contact.friction,
        }
    }

    /// Impulses along and across the normal so far, Da·nm/s.
    pub fn impulses(&self) -> (f32, Vec3) {
        (self.normal_impulse, self.friction_impulse.into())
    }

    /// Total impulse on `b` so far, Da·nm/s.
    #[inline]
    pub fn impulse(&self) -> Vec3A {
        self.normal * self.normal_impulse + self.friction_impulse
    }

    /// Takes the velocity errors out of two pairs of bodies, contact by contact, each
    /// pair for itself.
    #[inline]
    pub fn solve_both([first, second]: [&mut [Self]; 2], parts: [[Part; 2]; 2]) -> [Change; 2] {
        let [mut one, mut other] = parts.map(Between::new);
        let both = first.len().min(second.len());
        let (first, first_rest) = first.split_at_mut(both);
        let (second, second_rest) = second.split_at_mut(both);
        for (row, other_row) in first.iter_mut().zip(second) {
            one.solve(row);
            other.solve(other_row);
        }
        for row in first_rest {
            one.solve(row);
        }
        for row in second_rest {
            other.solve(row);
        }
        [one.change, other.change]
    }

    /// Takes the velocity error out of two bodies, and returns the change of the
    /// impulse on `b`; that on `a` is its negative.
    #[inline(always)]
    fn solve(&mut self, a: &Part, b: &Part) -> Vec3A {
        let velocity = (b.velocity + b.angular_velocity.cross(self.lever_b))
            - (a.velocity + a.angular_velocity.cross(self.lever_a));
        let speed = velocity.dot(self.normal);
        let impulse = self.normal_impulse
            - self.normal_mass * (speed + self.bias)
            - self.give_back * self.normal_impulse;
        let impulse = impulse.max(0.0);
        let mut change = self.normal * (impulse - self.normal_impulse);
        self.normal_impulse = impulse;
        if self.friction > 0.0 {
            let across = velocity - self.normal * speed;
            let wanted = self.friction_impulse - across * self.friction_mass;
            let held = wanted.clamp_length_max(self.friction * impulse);
            change += held - self.friction_impulse;
            self.friction_impulse = held;
        }
        change
    }
}
