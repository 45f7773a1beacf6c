//! How a molecule takes part in contacts: its material, and which others it touches and pushes.

use super::ContactMaterial;

/// Material and collision filters of a molecule, as in Rapier.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContactSurface {
    /// Restitution, friction and stiffness.
    pub material: ContactMaterial,
    /// Which others it touches.
    pub groups: InteractionGroups,
    /// Which of those it pushes; touches of the others are only reported.
    pub solver_groups: InteractionGroups,
    /// Whether its touches are only reported.
    pub sensor: bool,
    /// The type of its body, and the types of bodies that it touches.
    pub types: InteractionTypes,
}

impl ContactSurface {
    /// What happens when two molecules touch.
    #[inline]
    #[must_use]
    pub fn response(&self, other: &Self) -> PairResponse {
        if !self.groups.test(other.groups) || !self.types.test(other.types) {
            PairResponse::Ignore
        } else if self.sensor || other.sensor || !self.solver_groups.test(other.solver_groups) {
            PairResponse::Report
        } else {
            PairResponse::Push
        }
    }
}

/// What happens when two molecules touch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum PairResponse {
    /// Nothing.
    Ignore,
    /// The touch is reported, but the molecules do not push each other.
    Report,
    /// They push each other apart. Default.
    #[default]
    Push,
}

/// Collision filter, as in Rapier: two molecules pass if the memberships of each intersect the
/// filter of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InteractionGroups {
    /// Groups that the molecule belongs to, one bit each.
    pub memberships: u32,
    /// Groups that it interacts with, one bit each.
    pub filter: u32,
}

impl Default for InteractionGroups {
    /// Member of all groups, interacting with all.
    fn default() -> Self {
        Self {
            memberships: u32::MAX,
            filter: u32::MAX,
        }
    }
}

impl InteractionGroups {
    /// Whether two molecules pass the filter.
    #[inline]
    #[must_use]
    pub fn test(self, other: Self) -> bool {
        self.memberships & other.filter != 0 && other.memberships & self.filter != 0
    }
}

/// Filter by the types of bodies: two molecules pass if either meets the type of the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InteractionTypes {
    /// The type of the body.
    pub own: BodyType,
    /// Types that it meets, the bit [`BodyType::mask`] each.
    pub meets: u8,
}

impl Default for InteractionTypes {
    /// A dynamic body, which meets all.
    fn default() -> Self {
        Self {
            own: BodyType::Dynamic,
            meets: u8::MAX,
        }
    }
}

impl InteractionTypes {
    /// Whether two molecules pass the filter.
    #[inline]
    #[must_use]
    pub fn test(self, other: Self) -> bool {
        self.meets & other.own.mask() != 0 || other.meets & self.own.mask() != 0
    }
}

/// What moves a body.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BodyType {
    /// Forces.
    Dynamic,
    /// Nothing.
    Fixed,
    /// The app.
    Kinematic,
}

impl BodyType {
    /// The bit of this type in [`InteractionTypes::meets`].
    #[inline]
    #[must_use]
    pub const fn mask(self) -> u8 {
        1 << self as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_decide_between_nothing_a_report_and_a_push() {
        let plain = ContactSurface::default();
        let apart = InteractionGroups {
            memberships: 1,
            filter: 2,
        };
        let sensor = ContactSurface {
            sensor: true,
            ..plain
        };
        let groups = ContactSurface {
            groups: apart,
            ..plain
        };
        let solver_groups = ContactSurface {
            solver_groups: apart,
            ..plain
        };
        let fixed = ContactSurface {
            types: InteractionTypes {
                own: BodyType::Fixed,
                meets: BodyType::Dynamic.mask(),
            },
            ..plain
        };
        for (one, other, expected) in [
            (plain, plain, PairResponse::Push),
            (plain, sensor, PairResponse::Report),
            (solver_groups, solver_groups, PairResponse::Report),
            (solver_groups, plain, PairResponse::Push),
            (groups, groups, PairResponse::Ignore),
            (groups, sensor, PairResponse::Report),
            (fixed, fixed, PairResponse::Ignore),
            (fixed, plain, PairResponse::Push),
        ] {
            assert_eq!(one.response(&other), expected, "{one:?} {other:?}");
            assert_eq!(other.response(&one), expected, "{other:?} {one:?}");
        }
    }
}
