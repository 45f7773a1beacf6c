//! The push of one molecule from its contacts, its joints and its placement.

use super::ReactionLaw;
use super::contact_sums::ContactSums;
use super::joint_sums::JointSums;
use crate::force::Push;

/// Input of [`Response::push`].
pub(super) struct Response<'a> {
    pub contacts: &'a ContactSums,
    pub joints: &'a JointSums,
    /// Push of each owner's springs.
    pub springs: &'a [Push],
    pub law: &'a ReactionLaw,
}

impl Response<'_> {
    /// The push of owner `index` in this iteration, given its last one.
    pub fn push(&self, index: usize, last: &Push) -> Push {
        let mut sums = self.contacts.of(index);
        let joints = self.joints.of(index);
        let spring = self.springs[index];
        match self.law {
            ReactionLaw::Thesis(steps) => {
                let mut push = sums.total();
                push += joints.total().scaled(steps.spring_torque);
                push += spring;
                push
            }
            ReactionLaw::Projection(parameters) => {
                sums.merge(&joints);
                let mut push = sums.push(parameters);
                push += spring;
                // The last push is the heavy-ball term of the new one.
                parameters.with_momentum(push, last)
            }
        }
    }
}
