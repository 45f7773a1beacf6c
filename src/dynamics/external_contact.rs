//! Contacts of members with bodies outside the crowd: floors, walls, ordinary colliders.
//!
//! The physics engine solves these contacts itself, after the crowd. But a molecule on a floor
//! cannot yield to one that falls on it, and two solvers that take turns undo each other's
//! work. Where members touch each other, their external contacts are therefore solved together
//! with the contacts of the crowd, and little is left for the physics engine, which still
//! pushes external overlaps out.

use glam::Vec3;

use super::contact_constraint::SubstepParams;
use super::members::Members;
use super::{BodyIndex, ContactConstraint, MemberIndex, MovingBody};
use crate::search::Pair;

/// A body outside the crowd that members touch.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalBody {
    /// Identifies the body from substep to substep.
    pub id: u64,
    /// Its state; fixed and kinematic bodies have no inverse mass.
    pub body: MovingBody,
}

/// One side of an [`ExternalContact`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ContactSide {
    /// A member of the crowd.
    Member(MemberIndex),
    /// An external body, by its index in the list given to
    /// [`set_external_contacts`](super::CrowdContacts::set_external_contacts).
    External(u32),
}

/// A contact with an external body, which the physics engine solves too. World frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ExternalContact {
    /// The first side.
    pub a: ContactSide,
    /// The second side.
    pub b: ContactSide,
    /// Identifies the contact from substep to substep.
    pub key: u64,
    /// Unit vector from `a` to `b`.
    pub normal: Vec3,
    /// Contact point, nm.
    pub point: Vec3,
    /// Distance between the surfaces, nm; negative where they overlap.
    pub gap: f32,
    /// Coefficient of friction between the two.
    pub friction: f32,
    /// Coefficient of restitution between the two.
    pub restitution: f32,
}

/// An [`ExternalContact`] with the bodies that its sides refer to.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BoundContact {
    /// The contact.
    pub contact: ExternalContact,
    /// The bodies of `a` and `b`.
    pub bodies: [BodyIndex; 2],
}

impl BoundContact {
    pub(super) fn constraint(
        &self,
        bodies: &[MovingBody],
        substep: &SubstepParams,
    ) -> ContactConstraint {
        let [a, b] = self.bodies;
        let contact = &self.contact;
        let mut constraint = ContactConstraint {
            spheres: contact.key_pair(),
            a,
            b,
            external: true,
            normal: contact.normal,
            lever_a: contact.point - bodies[a.index()].center,
            lever_b: contact.point - bodies[b.index()].center,
            gap: contact.solver_gap(),
            friction: contact.friction,
            dominance: bodies[a.index()].relative_dominance(&bodies[b.index()]),
            ..ContactConstraint::INACTIVE
        };
        constraint.set_up(bodies, contact.restitution, substep);
        constraint
    }
}

impl ExternalContact {
    /// The two halves of the key, stored in place of the spheres.
    pub(crate) fn key_pair(&self) -> Pair {
        Pair {
            a: (self.key >> 32) as u32,
            b: self.key as u32,
        }
    }

    /// The gap for the solver: the physics engine pushes overlaps out itself.
    pub(crate) fn solver_gap(&self) -> f32 {
        self.gap.max(0.0)
    }
}

/// The external bodies and contacts of a substep.
#[derive(Default)]
pub(super) struct ExternalContacts {
    /// Ids of the external bodies, in the order of their bodies.
    ids: Vec<u64>,
    /// Those before the last call of [`set`](Self::set).
    previous_ids: Vec<u64>,
    /// The contacts, which are valid for one substep.
    contacts: Vec<BoundContact>,
}

impl ExternalContacts {
    /// Replaces bodies and contacts. Contacts whose sides do not exist are dropped.
    pub fn set(
        &mut self,
        bodies: &[ExternalBody],
        contacts: impl Iterator<Item = ExternalContact>,
        members: &Members,
    ) {
        std::mem::swap(&mut self.ids, &mut self.previous_ids);
        self.ids.clear();
        self.ids.extend(bodies.iter().map(|body| body.id));
        let body_of = |side: ContactSide| match side {
            ContactSide::Member(member) => Some(members.owner(member)?.body()),
            ContactSide::External(index) => {
                let exists = (index as usize) < bodies.len();
                exists.then_some(BodyIndex(members.owners().len() as u32 + index))
            }
        };
        self.contacts.clear();
        self.contacts.extend(contacts.filter_map(|contact| {
            let bodies = [body_of(contact.a)?, body_of(contact.b)?];
            Some(BoundContact { contact, bodies })
        }));
    }

    /// Adds contacts between members.
    pub fn extend(&mut self, contacts: &[BoundContact]) {
        self.contacts.extend_from_slice(contacts);
    }

    /// Replaces the ids of the bodies, and removes the contacts.
    pub fn restore_ids(&mut self, ids: &[u64]) {
        ids.clone_into(&mut self.ids);
        self.contacts.clear();
    }

    /// Ends a substep: the contacts are outdated.
    pub fn end(&mut self) {
        self.contacts.clear();
    }

    /// Ids of the external bodies, in the order of their bodies.
    pub fn ids(&self) -> &[u64] {
        &self.ids
    }

    /// Those before the last call of [`set`](Self::set).
    pub fn previous_ids(&self) -> &[u64] {
        &self.previous_ids
    }

    /// The contacts of this substep.
    pub fn contacts(&self) -> &[BoundContact] {
        &self.contacts
    }

    /// The current body of an external body with this id, after `owners` owners.
    pub fn body_with_id(&self, id: u64, owners: usize) -> Option<BodyIndex> {
        let index = self.ids.iter().position(|other| *other == id)?;
        Some(BodyIndex((owners + index) as u32))
    }
}
