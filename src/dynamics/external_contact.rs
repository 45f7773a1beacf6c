//! What molecules lean on outside the crowd: floors, walls, ordinary bodies.
//!
//! The physics engine answers such contacts itself, after us. But a molecule that stands on a
//! floor cannot give way to one that falls on it, and two solvers that take turns
//! would each undo what the other did. So wherever molecules of the crowd touch each
//! other, the contacts that hold them from outside are solved with theirs, and the
//! physics engine finds little left to do. It still pushes overlaps with the outside apart.

use glam::Vec3;

use super::ContactConstraint;
use super::MovingBody;
use super::contact_constraint::Substep;
use crate::search::Pair;

/// Something outside the crowd that members touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalBody {
    /// What tells it from others, from substep to substep.
    pub id: u64,
    /// How it moves; fixed and kinematic ones have no inverse mass.
    pub body: MovingBody,
}

/// One side of a [`ExternalContact`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactSide {
    /// A member of the crowd, by index.
    Member(u32),
    /// An obstacle, by index.
    External(u32),
}

/// A contact between a member and something outside the crowd, which the physics engine
/// answers too. World frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalContact {
    /// The first side.
    pub a: ContactSide,
    /// The second side.
    pub b: ContactSide,
    /// What tells it from others, from substep to substep.
    pub key: u64,
    /// Unit vector from `a` to `b`.
    pub normal: Vec3,
    /// Where they touch, nm.
    pub point: Vec3,
    /// Distance of the surfaces, nm; negative where they overlap.
    pub gap: f32,
    /// Coefficient of friction between the two.
    pub friction: f32,
    /// Fraction of the approach speed that is given back.
    pub restitution: f32,
}

impl ExternalContact {
    /// The constraint between bodies `a` and `b`.
    pub(super) fn constraint(
        &self,
        [a, b]: [u32; 2],
        bodies: &[MovingBody],
        substep: &Substep,
    ) -> ContactConstraint {
        let centers = [a, b].map(|body| bodies[body as usize].center);
        let mut contact = ContactConstraint {
            spheres: self.key_pair(),
            a,
            b,
            held: true,
            normal: self.normal,
            lever_a: self.point - centers[0],
            lever_b: self.point - centers[1],
            // The physics engine pushes overlaps apart itself.
            gap: self.gap.max(0.0),
            friction: self.friction,
            ..ContactConstraint::IDLE
        };
        contact.look_at(bodies, self.restitution, substep);
        contact
    }

    /// The key in the place of the spheres.
    fn key_pair(&self) -> Pair {
        Pair {
            a: (self.key >> 32) as u32,
            b: self.key as u32,
        }
    }
}
