//! Reactions of kinds of particles or molecules that meet, such as A + B → C.

use thiserror::Error;

/// Largest number of products. They take the places of the reactants.
pub const MAX_PRODUCTS: usize = 2;

/// Rounding allowed in a sum of probabilities.
const SUM_TOLERANCE: f64 = 1.0e-9;

/// A reaction of two kinds that meet, such as A + B → C, A + B → C + D or A + A → B. A catalyst is
/// both reactant and product.
///
/// ```
/// use bevy_rapier_molecules::motion::{Reaction, Reactions};
///
/// let reaction = Reaction { reactants: ["A", "B"], products: vec!["C"], probability: 0.1 };
/// let reactions = Reactions::new([reaction])?;
/// let found = reactions.find([&"B", &"A"], 0.05).ok_or("no reaction")?;
/// assert_eq!((found.index, found.is_swapped), (0, true));
/// assert!(reactions.find([&"A", &"B"], 0.5).is_none());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Reaction<K> {
    /// The kinds that react, in any order.
    pub reactants: [K; 2],
    /// The one or two kinds that replace them. Of two, the first takes the place of the first
    /// reactant.
    pub products: Vec<K>,
    /// Probability per meeting, from 0 to 1.
    pub probability: f64,
}

/// An invalid [`Reaction`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum ReactionError {
    /// The probability is not from 0 to 1.
    #[error("the probability of reaction {reaction} must be from 0 to 1, not {value}")]
    BadProbability {
        /// Index of the reaction.
        reaction: usize,
        /// The invalid value.
        value: f64,
    },
    /// There is no product, or there are more than two.
    #[error("reaction {reaction} must have one or two products, not {count}")]
    BadProductCount {
        /// Index of the reaction.
        reaction: usize,
        /// Number of products.
        count: usize,
    },
    /// Reactions of the same reactants have probabilities whose sum exceeds 1.
    #[error("the probabilities of reaction {reaction} and others of its reactants sum to {sum}")]
    ProbabilitySum {
        /// Index of the last of them.
        reaction: usize,
        /// Sum of the probabilities.
        sum: f64,
    },
    /// A kind does not exist.
    #[error("reaction {reaction} refers to kind {kind}, but there are {count} kinds")]
    NoSuchKind {
        /// Index of the reaction.
        reaction: usize,
        /// Index of the kind.
        kind: u32,
        /// Number of kinds.
        count: usize,
    },
}

/// The reaction of two kinds that meet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FoundReaction {
    /// Index of the reaction.
    pub index: usize,
    /// Whether the second of the two is the first reactant.
    pub is_swapped: bool,
}

/// Valid reactions. Default: none.
#[derive(Clone, Debug, PartialEq)]
pub struct Reactions<K>(Vec<Reaction<K>>);

impl<K> Default for Reactions<K> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<K: PartialEq> Reactions<K> {
    /// Checks reactions.
    ///
    /// # Errors
    /// [`ReactionError`] if a probability, a number of products or the sum of the probabilities of
    /// the same reactants is invalid.
    pub fn new(reactions: impl IntoIterator<Item = Reaction<K>>) -> Result<Self, ReactionError> {
        let list: Vec<Reaction<K>> = reactions.into_iter().collect();
        for (reaction, one) in list.iter().enumerate() {
            let value = one.probability;
            if !(0.0..=1.0).contains(&value) {
                return Err(ReactionError::BadProbability { reaction, value });
            }
            let count = one.products.len();
            if !(1..=MAX_PRODUCTS).contains(&count) {
                return Err(ReactionError::BadProductCount { reaction, count });
            }
            let [a, b] = &one.reactants;
            let same = list[..=reaction]
                .iter()
                .filter(|other| other.order([a, b]).is_some());
            let sum: f64 = same.map(|other| other.probability).sum();
            if sum > 1.0 + SUM_TOLERANCE {
                return Err(ReactionError::ProbabilitySum { reaction, sum });
            }
        }
        Ok(Self(list))
    }

    /// The reactions.
    #[must_use]
    pub fn list(&self) -> &[Reaction<K>] {
        &self.0
    }

    /// The reaction of two kinds that meet, or `None` if they do not react. `random` is a random
    /// number from 0 to 1, without 1.
    #[must_use]
    pub fn find(&self, kinds: [&K; 2], random: f64) -> Option<FoundReaction> {
        let mut sum = 0.0;
        for (index, reaction) in self.0.iter().enumerate() {
            if let Some(is_swapped) = reaction.order(kinds) {
                sum += reaction.probability;
                if random < sum {
                    return Some(FoundReaction { index, is_swapped });
                }
            }
        }
        None
    }
}

impl Reactions<u32> {
    /// Checks that all kinds exist.
    pub(crate) fn check_kinds(&self, count: usize) -> Result<(), ReactionError> {
        for (reaction, one) in self.0.iter().enumerate() {
            let mut kinds = one.reactants.iter().chain(&one.products);
            if let Some(&kind) = kinds.find(|kind| **kind as usize >= count) {
                return Err(ReactionError::NoSuchKind {
                    reaction,
                    kind,
                    count,
                });
            }
        }
        Ok(())
    }
}

impl<K: PartialEq> Reaction<K> {
    /// Whether these are the reactants, and if so, whether in the other order.
    fn order(&self, [one, other]: [&K; 2]) -> Option<bool> {
        let [a, b] = &self.reactants;
        if (one, other) == (a, b) {
            return Some(false);
        }
        ((other, one) == (a, b)).then_some(true)
    }
}
