//! How two colliding bodies respond.

#[cfg(feature = "plugin")]
use bevy::prelude::{Component, Reflect, ReflectComponent, ReflectDefault};

/// How particles or molecules respond to a collision.
///
/// In the plugin this is the component of one molecule: two molecules pass through each
/// other if either passes, stick if both stick, and bounce otherwise.
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
    /// Stick together. Brownian bodies become a cluster that diffuses as one; a particle
    /// that sticks to a wall rests for the remainder of the step. In the plugin, two bodies
    /// moved by Rapier get a fixed joint; a Brownian molecule sticks only to another
    /// Brownian one.
    Stick,
    /// Pass through each other for the remainder of the step. In the plugin this needs at
    /// least one Brownian molecule; bodies moved by Rapier bounce, so filter them with
    /// collision groups instead.
    Pass,
}

impl CollisionOutcome {
    /// The outcome for two molecules that ask for `self` and `other`.
    #[must_use]
    pub fn of_both(self, other: Self) -> Self {
        match (self, other) {
            (Self::Pass, _) | (_, Self::Pass) => Self::Pass,
            (Self::Stick, Self::Stick) => Self::Stick,
            _ => Self::Bounce,
        }
    }
}
