//! The push of one molecule from its contacts and its placement.

use glam::Vec3;

use crate::contact::{ContactSide, ContactTable};
use crate::crowd::{Crowd, CrowdMember};
use crate::force::{
    Body, Projection, ProjectionSums, Push, ThesisSteps, thesis_reaction, thesis_spring,
};
use crate::spheres::SphereSet;

use super::ReactionLaw;

/// Minimum weight of the direction between centers. Negligible, but gives coincident atoms a
/// direction.
pub(crate) const MIN_CENTER_WEIGHT: f32 = 1.0e-6;

/// Input of [`Response::push`].
pub(super) struct Response<'a> {
    pub(super) crowd: &'a Crowd,
    /// Member of each owner.
    pub(super) order: &'a [u32],
    pub(super) spheres: &'a SphereSet,
    pub(super) contacts: &'a ContactTable,
    pub(super) bodies: &'a [Body],
    pub(super) law: &'a ReactionLaw,
    /// Weight of the direction between centers, for the projection law.
    pub(super) center_weight: f32,
    /// Gap to which contacts are pushed apart, nm.
    pub(super) gap: f32,
}

impl Response<'_> {
    /// The push of owner `index` in this iteration, given its last one.
    pub(super) fn push(&self, index: usize, last: &Push) -> Push {
        let member = &self.crowd.members()[self.order[index] as usize];
        match self.law {
            ReactionLaw::Thesis(steps) => self.thesis(index, member, steps),
            ReactionLaw::Projection(parameters) => {
                let push = self.projection(index, member, parameters);
                parameters.with_momentum(push, last)
            }
        }
    }

    /// The other molecule of a contact, and the direction from its center.
    fn partner(&self, index: usize, side: &ContactSide) -> (&Body, Vec3) {
        let owner = self.spheres.owner(side.other as usize);
        let other = &self.bodies[owner as usize];
        let between = self.bodies[index].direction_from(other, [index as u32, owner]);
        (other, between)
    }

    fn thesis(&self, index: usize, member: &CrowdMember, steps: &ThesisSteps) -> Push {
        let mut sum = Push::default();
        for side in self.contacts.of(index) {
            let own = self.spheres.center(side.own as usize);
            let other = self.spheres.center(side.other as usize);
            let (_, between) = self.partner(index, side);
            sum += thesis_reaction(own - other, own - member.pose.position, between, steps);
        }
        if let Some((compartment, placement)) = self.crowd.placement_of(member) {
            let excess = placement.excess(compartment, &member.pose);
            sum += thesis_spring(&excess, steps);
        }
        sum
    }

    fn projection(&self, index: usize, member: &CrowdMember, parameters: &Projection) -> Push {
        let mut sums = ProjectionSums::default();
        let own_body = &self.bodies[index];
        let weight = self.center_weight.max(MIN_CENTER_WEIGHT);
        for side in self.contacts.of(index) {
            let (own, other) = (side.own as usize, side.other as usize);
            let (other_body, between) = self.partner(index, side);
            let reach = self.spheres.radius(own) + self.spheres.radius(other) + self.gap;
            sums.add(
                [own_body, other_body],
                [self.spheres.center(own), self.spheres.center(other)],
                reach,
                between * weight,
            );
        }
        let mut push = sums.push(parameters);
        if let Some((compartment, placement)) = self.crowd.placement_of(member) {
            push += parameters.spring(&placement.excess(compartment, &member.pose));
        }
        push
    }
}
