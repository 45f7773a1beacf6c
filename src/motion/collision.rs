//! What a sphere collides with, and the outcome.

#[cfg(feature = "plugin")]
use bevy::prelude::{Component, Reflect, ReflectComponent, ReflectDefault};

/// What a sphere collides with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum CollisionPartner {
    /// The sphere with this index.
    Sphere(u32),
    /// The wall with this index.
    Wall(u32),
}

/// How particles or molecules respond to a collision.
///
/// In the plugin this is a component of one molecule: two molecules pass through each other
/// if either passes, stick if both stick, react if both react, and bounce otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
#[cfg_attr(
    feature = "plugin",
    derive(Component, Reflect),
    reflect(Component, Clone, Debug, Default, PartialEq)
)]
pub enum CollisionOutcome {
    /// Bounce off. Default.
    #[default]
    Bounce,
    /// Stick together. Brownian bodies become a cluster that diffuses as one; a particle that
    /// sticks to a wall rests for the remainder of the step. In the plugin, two bodies moved by
    /// Rapier get a fixed joint, an entity with a `StickJoint`, which breaks if it is despawned; a
    /// Brownian molecule sticks to Brownian molecules only, and leaves its cluster when it loses
    /// its `BrownianMotion`.
    Stick,
    /// Pass through each other for the remainder of the step. In the plugin at least one of the two
    /// must be Brownian; bodies moved by Rapier bounce, unless collision groups filter them.
    Pass,
    /// React, if there is a [`Reaction`](super::Reaction) of the two kinds, it takes place by its
    /// probability, and its products fit: A + B → C. Otherwise bounce.
    ///
    /// [`BrownianParticles`](super::brownian::BrownianParticles) have their reactions in their
    /// configuration. In the plugin they are the resource `MoleculeReactions`.
    /// [`BrownianMolecules`](super::brownian::BrownianMolecules) bounce; the caller replaces them
    /// after the step, as the plugin does.
    React,
}

impl CollisionOutcome {
    /// The outcome for two molecules, one with `self` and one with `other`.
    #[must_use]
    pub fn of_both(self, other: Self) -> Self {
        match (self, other) {
            (Self::Pass, _) | (_, Self::Pass) => Self::Pass,
            (Self::Stick, Self::Stick) => Self::Stick,
            (Self::React, Self::React) => Self::React,
            _ => Self::Bounce,
        }
    }
}
