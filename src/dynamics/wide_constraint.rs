//! Contact constraints of four groups side by side, with only the data that iterations need.
//!
//! The contacts of one group depend on each other; those of different groups do not.

use glam::{Vec3, Vec3A, Vec4};

use super::contact_constraint::SubstepParams;
use super::simd::{LANES, SymmetricMat3x4, Vec3x4};
use super::{ContactConstraint, Impulse, MovingBody};

/// A body in the iteration.
#[derive(Clone, Copy, Debug)]
pub(super) struct SolverBody {
    /// Velocity of the center of mass, nm/s.
    pub velocity: Vec3A,
    /// Angular velocity, radian/s.
    pub angular_velocity: Vec3A,
    /// Inverse mass along each world axis, 1/Da; zero if asleep.
    inverse_mass: Vec3A,
    /// Inverse inertia in the world frame, 1/(Da·nm²), elements xx, yy, zz; zero if asleep.
    diagonal: Vec3A,
    /// Elements yz, xz, xy.
    off_diagonal: Vec3A,
    pub asleep: bool,
}

impl SolverBody {
    pub fn new(body: &MovingBody) -> Self {
        let movable = if body.asleep { 0.0 } else { 1.0 };
        let [x, y, z] = [0, 1, 2].map(|axis| body.inverse_inertia.col(axis) * movable);
        Self {
            velocity: body.velocity.into(),
            angular_velocity: body.angular_velocity.into(),
            inverse_mass: (body.inverse_mass * movable).into(),
            diagonal: Vec3A::new(x.x, y.y, z.z),
            off_diagonal: Vec3A::new(y.z, x.z, x.y),
            asleep: body.asleep,
        }
    }

    /// Applies an impulse about the center of mass.
    #[inline]
    pub fn apply(&mut self, impulse: &Impulse) {
        let angular = Vec3A::from(impulse.angular);
        let (next, previous) = (
            Vec3A::new(angular.y, angular.z, angular.x),
            Vec3A::new(angular.z, angular.x, angular.y),
        );
        // Off-diagonal elements xy, yz, xz and xz, xy, yz.
        let to_next = Vec3A::new(
            self.off_diagonal.z,
            self.off_diagonal.x,
            self.off_diagonal.y,
        );
        let to_previous = Vec3A::new(
            self.off_diagonal.y,
            self.off_diagonal.z,
            self.off_diagonal.x,
        );
        self.velocity += self.inverse_mass * Vec3A::from(impulse.linear);
        self.angular_velocity += self.diagonal * angular + to_next * next + to_previous * previous;
    }
}

/// One share of each of four bodies; masses are split equally.
#[derive(Clone, Copy)]
pub(super) struct WideSolverBody {
    velocity: Vec3x4,
    angular_velocity: Vec3x4,
    inverse_mass: Vec3x4,
    inverse_inertia: SymmetricMat3x4,
}

impl WideSolverBody {
    /// One share of each body, with the number of shares it is split into.
    #[inline]
    pub fn new(bodies: [(&SolverBody, u32); LANES]) -> Self {
        let shares = bodies.map(|(_, shares)| shares as f32);
        let of = |field: fn(&SolverBody) -> Vec3A| bodies.map(|(body, _)| field(body));
        let split = |field: fn(&SolverBody) -> Vec3A| {
            let total = of(field);
            std::array::from_fn(|lane| total[lane] * shares[lane])
        };
        Self {
            velocity: Vec3x4::new(of(|body| body.velocity)),
            angular_velocity: Vec3x4::new(of(|body| body.angular_velocity)),
            inverse_mass: Vec3x4::new(split(|body| body.inverse_mass)),
            inverse_inertia: SymmetricMat3x4::new(
                split(|body| body.diagonal),
                split(|body| body.off_diagonal),
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

/// Change of the impulses on two bodies in one iteration.
pub(super) type ImpulseChange = [Impulse; 2];

/// Impulse changes of four groups.
#[derive(Clone, Copy, Default)]
struct WideImpulseChange {
    /// On `b`; the negative acts on `a`.
    linear: Vec3x4,
    angular_a: Vec3x4,
    angular_b: Vec3x4,
}

impl WideImpulseChange {
    fn split(self) -> [ImpulseChange; LANES] {
        let linear = self.linear.split();
        let angular = [self.angular_a.split(), self.angular_b.split()];
        let impulse = |linear: Vec3A, angular: Vec3A| Impulse {
            linear: linear.into(),
            angular: angular.into(),
        };
        std::array::from_fn(|lane| {
            let [on_a, on_b] = [-linear[lane], linear[lane]];
            [
                impulse(on_a, angular[0][lane]),
                impulse(on_b, angular[1][lane]),
            ]
        })
    }
}

/// One contact of each of four groups. A zeroed lane has no effect.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WideConstraint {
    normal: Vec3x4,
    lever_a: Vec3x4,
    lever_b: Vec3x4,
    friction_impulse: Vec3x4,
    normal_impulse: Vec4,
    /// Effective mass along the normal with split masses, softened, Da.
    normal_mass: Vec4,
    /// See [`Softness::impulse_scale`](super::Softness::impulse_scale).
    impulse_scale: Vec4,
    /// Velocity added to the approach, nm/s.
    bias: Vec4,
    friction_mass: Vec4,
    friction: Vec4,
}

impl WideConstraint {
    /// Sets one lane to a contact. Overlaps are pushed out only with `push_out`.
    pub fn set(
        &mut self,
        lane: usize,
        contact: &ContactConstraint,
        params: &SubstepParams,
        push_out: bool,
    ) {
        let (softness, bias) = contact.bias(params, push_out);
        self.normal.set(lane, contact.normal);
        self.lever_a.set(lane, contact.lever_a);
        self.lever_b.set(lane, contact.lever_b);
        self.friction_impulse.set(lane, contact.friction_impulse);
        self.normal_impulse[lane] = contact.normal_impulse;
        self.normal_mass[lane] = contact.normal_mass * softness.mass_scale;
        self.impulse_scale[lane] = softness.impulse_scale;
        self.bias[lane] = bias.min(-contact.restitution_speed);
        self.friction_mass[lane] = contact.friction_mass;
        self.friction[lane] = contact.friction;
    }

    /// Accumulated normal and friction impulse of one lane, Da·nm/s.
    pub fn impulses(&self, lane: usize) -> (f32, Vec3) {
        (self.normal_impulse[lane], self.friction_impulse.get(lane))
    }

    /// The accumulated impulses as changes.
    pub fn warm_start(constraints: &[Self]) -> [ImpulseChange; LANES] {
        let mut change = WideImpulseChange::default();
        for constraint in constraints {
            let mut impulse = constraint.normal * constraint.normal_impulse;
            impulse += constraint.friction_impulse;
            change.linear += impulse;
            change.angular_a -= constraint.lever_a.cross(impulse);
            change.angular_b += constraint.lever_b.cross(impulse);
        }
        change.split()
    }

    /// Solves the contacts of four groups in turn and returns the impulse changes.
    #[inline]
    pub fn solve_all(
        constraints: &mut [Self],
        [mut a, mut b]: [WideSolverBody; 2],
    ) -> [ImpulseChange; LANES] {
        let mut change = WideImpulseChange::default();
        for constraint in constraints {
            let impulse = constraint.solve(&a, &b);
            let torque_a = constraint.lever_a.cross(impulse);
            let torque_b = constraint.lever_b.cross(impulse);
            a.velocity -= a.inverse_mass.scaled_by(impulse);
            a.angular_velocity -= a.inverse_inertia.times(torque_a);
            b.velocity += b.inverse_mass.scaled_by(impulse);
            b.angular_velocity += b.inverse_inertia.times(torque_b);
            change.linear += impulse;
            change.angular_a -= torque_a;
            change.angular_b += torque_b;
        }
        change.split()
    }

    /// Returns the impulse change on `b` that removes the velocity error.
    #[inline(always)]
    fn solve(&mut self, a: &WideSolverBody, b: &WideSolverBody) -> Vec3x4 {
        let velocity = b.velocity_at(self.lever_b) - a.velocity_at(self.lever_a);
        let speed = velocity.dot(self.normal);
        let impulse = self.normal_impulse
            - self.normal_mass * (speed + self.bias)
            - self.impulse_scale * self.normal_impulse;
        let impulse = impulse.max(Vec4::ZERO);
        let mut change = self.normal * (impulse - self.normal_impulse);
        self.normal_impulse = impulse;
        let sliding = velocity - self.normal * speed;
        let friction = self.friction_impulse - sliding * self.friction_mass;
        let friction = friction.clamp_length_max(self.friction * impulse);
        change += friction - self.friction_impulse;
        self.friction_impulse = friction;
        change
    }
}
