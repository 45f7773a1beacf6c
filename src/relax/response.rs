//! The push of one molecule from its contacts and its placement.

use super::ReactionLaw;
use super::contact_sums::ContactSums;
use crate::force::Push;

/// Input of [`Response::push`].
pub(super) struct Response<'a> {
    pub contacts: &'a ContactSums,
    /// Push of each owner's springs.
    pub springs: &'a [Push],
    pub law: &'a ReactionLaw,
}

impl Response<'_> {
    /// The push of owner `index` in this iteration, given its last one.
    pub fn push(&self, index: usize, last: &Push) -> Push {
        let sums = self.contacts.of(index);
        let spring = self.springs[index];
        match self.law {
            ReactionLaw::Thesis(_) => {
                let mut push = sums.total();
                push += spring;
                push
            }
            ReactionLaw::Projection(parameters) => {
                let mut push = sums.push(parameters);
                push += spring;
                // The last push is the heavy-ball term of the new one.
                parameters.with_momentum(push, last)
            }
        }
    }
}
