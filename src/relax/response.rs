//! One molecule's answer to its contacts and its place.

use crate::contact::ContactTable;
use crate::crowd::{Crowd, CrowdMember};
use crate::force::{
    Body, Projection, ProjectionSums, Push, ThesisSteps, thesis_reaction, thesis_spring_force,
    thesis_spring_torque,
};
use crate::spheres::SphereSet;

use super::ReactionLaw;

/// Everything that a molecule's answer depends on.
pub(super) struct Response<'a> {
    pub(super) crowd: &'a Crowd,
    /// Member of each owner.
    pub(super) order: &'a [u32],
    pub(super) spheres: &'a SphereSet,
    pub(super) contacts: &'a ContactTable,
    pub(super) bodies: &'a [Body],
    pub(super) law: &'a ReactionLaw,
    /// Weight of the direction between centres, for the projection law.
    pub(super) centre_weight: f32,
    /// Gap that contacts are parted to, nm.
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

    fn thesis(&self, index: usize, member: &CrowdMember, steps: &ThesisSteps) -> Push {
        let mut sum = Push::default();
        for side in self.contacts.of(index) {
            let own = self.spheres.centre(side.own as usize);
            let other = self.spheres.centre(side.other as usize);
            sum += thesis_reaction(own - other, own - member.pose.position, steps);
        }
        if let Some((compartment, placement)) = self.crowd.place_of(member) {
            let deviation = placement.deviation(compartment, &member.pose);
            sum.linear += thesis_spring_force(
                compartment,
                member.pose.position,
                placement,
                &deviation,
                steps,
            );
            sum.angular += thesis_spring_torque(placement, &deviation, steps);
        }
        sum
    }

    fn projection(&self, index: usize, member: &CrowdMember, parameters: &Projection) -> Push {
        let mut sums = ProjectionSums::default();
        let own_body = &self.bodies[index];
        for side in self.contacts.of(index) {
            let (own, other) = (side.own as usize, side.other as usize);
            let other_body = &self.bodies[self.spheres.owner(other) as usize];
            let reach = self.spheres.radius(own) + self.spheres.radius(other) + self.gap;
            sums.add(
                [own_body, other_body],
                [self.spheres.centre(own), self.spheres.centre(other)],
                reach,
                self.centre_weight,
            );
        }
        let mut push = sums.push(parameters);
        if let Some((compartment, placement)) = self.crowd.place_of(member) {
            let deviation = placement.deviation(compartment, &member.pose);
            push += parameters.spring(placement, &deviation);
        }
        push
    }
}
