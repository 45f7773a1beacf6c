//! What goes to the device and comes back, as WGSL has it.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::dynamics::{
    CarriedImpulse, ContactConstraint, ContactMaterial, CrowdTouch, ExternalContact, Impulse,
    InteractionGroups, MovingBody, Softness,
};
use crate::search::Pair;

/// No such support, obstacle or touch.
pub(super) const NONE: u32 = u32::MAX;

/// How many there are of everything, and the numbers of a substep; `CrowdParams` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdParams {
    /// Number of bodies: members, then obstacles.
    pub bodies: u32,
    /// Number of groups between members.
    pub touching: u32,
    /// Number of groups, those with obstacles included.
    pub groups: u32,
    /// Whether overlaps are pushed apart.
    pub parting: u32,
    /// Length of the substep, s.
    pub dt: f32,
    /// Overlap that is left alone, nm.
    pub slop: f32,
    /// Fastest that overlaps are pushed apart, nm/s.
    pub max_push_speed: f32,
    /// Approach below which nothing bounces, nm/s.
    pub restitution_threshold: f32,
    /// Number of groups between members in the substep before.
    pub touching_before: u32,
    /// Number of pairs of members that do not touch, whatever their groups.
    pub exempt: u32,
    /// Number of members.
    pub members: u32,
    /// Not used.
    pub spare: u32,
}

/// Mass, place and motion of a body; `CrowdBody` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdBody {
    /// Center of mass in the world, nm.
    pub center: [f32; 3],
    /// 1 if it sleeps.
    pub state: u32,
    /// Velocity of the center of mass, nm/s.
    pub velocity: [f32; 3],
    /// Not used.
    pub spare: f32,
    /// Angular velocity, radian/s.
    pub angular_velocity: [f32; 3],
    /// Not used.
    pub spare_too: f32,
    /// Inverse mass along each axis of the world, 1/Da.
    pub inverse_mass: [f32; 3],
    /// Not used.
    pub spare_three: f32,
    /// Inverse inertia in the world frame, 1/(Da·nm²), elements xx, yy, zz.
    pub diagonal: [f32; 3],
    /// Not used.
    pub spare_four: f32,
    /// Elements yz, xz, xy.
    pub beside: [f32; 3],
    /// Not used.
    pub spare_five: f32,
    /// Acceleration that forces will cause in this substep, nm/s².
    pub acceleration: [f32; 3],
    /// Not used.
    pub spare_six: f32,
}

impl From<&MovingBody> for GpuCrowdBody {
    fn from(body: &MovingBody) -> Self {
        let [x, y, z] = [0, 1, 2].map(|axis| body.inverse_inertia.col(axis));
        Self {
            center: body.center.to_array(),
            state: body.asleep.into(),
            velocity: body.velocity.to_array(),
            angular_velocity: body.angular_velocity.to_array(),
            inverse_mass: body.inverse_mass.to_array(),
            diagonal: [x.x, y.y, z.z],
            beside: [y.z, x.z, x.y],
            acceleration: body.acceleration.to_array(),
            ..Self::default()
        }
    }
}

/// What a body receives; `CrowdImpulse` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdImpulse {
    /// Linear impulse, Da·nm/s.
    pub linear: [f32; 3],
    /// Whether something acts on it that wakes it if it sleeps.
    pub woken: u32,
    /// Angular impulse, Da·nm²/s.
    pub angular: [f32; 3],
    /// Not used.
    pub spare: u32,
}

impl From<&GpuCrowdImpulse> for Impulse {
    fn from(impulse: &GpuCrowdImpulse) -> Self {
        Self {
            linear: impulse.linear.into(),
            angular: impulse.angular.into(),
        }
    }
}

/// A contact; `CrowdContact` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdContact {
    /// Unit vector from `a` to `b`.
    pub normal: [f32; 3],
    /// Impulse along the normal so far, Da·nm/s; never negative.
    pub normal_impulse: f32,
    /// From the center of mass of `a` to the contact point, nm.
    pub lever_a: [f32; 3],
    /// Effective mass along the normal with split masses, Da; zero if the contact does not
    /// take part.
    pub normal_mass: f32,
    /// From the center of mass of `b` to the contact point, nm.
    pub lever_b: [f32; 3],
    /// Effective mass across the normal, Da.
    pub friction_mass: f32,
    /// Impulse of friction so far, across the normal, Da·nm/s.
    pub friction_impulse: [f32; 3],
    /// Coefficient of friction.
    pub friction: f32,
    /// Mobility of `a` along and across the normal, then of `b`, before splitting.
    pub mobility: [f32; 4],
    /// The spheres; the first belongs to `a`. Of a support, the two halves of its key.
    pub spheres: [u32; 2],
    /// Distance of the surfaces, nm; negative where they overlap.
    pub gap: f32,
    /// Speed at which the bodies should part after a bounce, nm/s.
    pub restitution_speed: f32,
    /// The spring: share of the separation that is taken back each second, 1/s.
    pub bias_rate: f32,
    /// The spring: factor on the effective mass.
    pub mass_scale: f32,
    /// The spring: share of the impulse so far that is given back.
    pub impulse_scale: f32,
    /// Not used.
    pub spare: f32,
}

impl From<&ContactConstraint> for GpuCrowdContact {
    fn from(contact: &ContactConstraint) -> Self {
        Self {
            normal: contact.normal.to_array(),
            normal_impulse: contact.normal_impulse,
            lever_a: contact.lever_a.to_array(),
            normal_mass: contact.normal_mass,
            lever_b: contact.lever_b.to_array(),
            friction_mass: contact.friction_mass,
            friction_impulse: contact.friction_impulse.to_array(),
            friction: contact.friction,
            mobility: contact.mobility,
            spheres: [contact.spheres.a, contact.spheres.b],
            gap: contact.gap,
            restitution_speed: contact.restitution_speed,
            bias_rate: contact.softness.bias_rate,
            mass_scale: contact.softness.mass_scale,
            impulse_scale: contact.softness.impulse_scale,
            spare: 0.0,
        }
    }
}

impl GpuCrowdContact {
    /// The contact as the processor has it, of the bodies of its group.
    pub(super) fn constraint(&self, group: &GpuCrowdGroup, held: bool) -> ContactConstraint {
        ContactConstraint {
            spheres: Pair {
                a: self.spheres[0],
                b: self.spheres[1],
            },
            a: group.a,
            b: group.b,
            held,
            normal: self.normal.into(),
            lever_a: self.lever_a.into(),
            lever_b: self.lever_b.into(),
            gap: self.gap,
            normal_impulse: self.normal_impulse,
            friction_impulse: Vec3::from(self.friction_impulse),
            normal_mass: self.normal_mass,
            friction_mass: self.friction_mass,
            mobility: self.mobility,
            softness: Softness {
                bias_rate: self.bias_rate,
                mass_scale: self.mass_scale,
                impulse_scale: self.impulse_scale,
            },
            friction: self.friction,
            restitution_speed: self.restitution_speed,
        }
    }
}

/// The contacts of two bodies; `CrowdGroup` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdGroup {
    /// The first body.
    pub a: u32,
    /// The second body.
    pub b: u32,
    /// Its first contact.
    pub start: u32,
    /// How far its next contact is.
    pub stride: u32,
    /// Number of its contacts.
    pub contacts: u32,
    /// How many of them take part.
    pub rows: u32,
    /// Whether they may touch.
    pub may_touch: u32,
    /// Deepest overlap, nm; negative is a gap.
    pub deepest: f32,
}

impl GpuCrowdGroup {
    /// Where its contacts are.
    pub(super) fn slots(&self) -> impl Iterator<Item = usize> {
        let (start, stride) = (self.start as usize, self.stride as usize);
        (0..self.contacts as usize).map(move |k| start + k * stride)
    }
}

/// Surface of a member; `CrowdSurface` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdSurface {
    /// Fraction of the approach speed that is given back.
    pub restitution: f32,
    /// Coefficient of friction.
    pub friction: f32,
    /// Frequency of the contact spring, Hz.
    pub frequency_hz: f32,
    /// Damping ratio of the contact spring.
    pub damping_ratio: f32,
    /// Groups that it is in, one bit each.
    pub memberships: u32,
    /// Groups that it touches, one bit each.
    pub filter_mask: u32,
}

impl From<&(ContactMaterial, InteractionGroups)> for GpuCrowdSurface {
    fn from((material, groups): &(ContactMaterial, InteractionGroups)) -> Self {
        Self {
            restitution: material.restitution,
            friction: material.friction,
            frequency_hz: material.frequency_hz,
            damping_ratio: material.damping_ratio,
            memberships: groups.memberships,
            filter_mask: groups.filter,
        }
    }
}

/// Two molecules that touch or nearly do; `CrowdTouch` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdTouch {
    /// The first molecule.
    pub a: u32,
    /// The second molecule.
    pub b: u32,
    /// Pairs of spheres that overlap; the largest number if the two may not touch.
    pub contacts: u32,
    /// Deepest overlap, nm; negative is a gap.
    pub deepest: f32,
}

impl GpuCrowdTouch {
    /// The touch, if the two may touch.
    pub(super) fn touch(&self) -> Option<CrowdTouch> {
        (self.contacts != NONE).then_some(CrowdTouch {
            a: self.a,
            b: self.b,
            overlaps: self.contacts,
            penetration: self.deepest,
        })
    }
}

/// A contact with something outside the crowd; `CrowdExternal` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdExternal {
    /// Unit vector from `a` to `b`.
    pub normal: [f32; 3],
    /// Distance of the surfaces, nm, not negative.
    pub gap: f32,
    /// Where they touch, nm.
    pub point: [f32; 3],
    /// Coefficient of friction.
    pub friction: f32,
    /// Fraction of the approach speed that is given back.
    pub restitution: f32,
    /// The same contact in the substep before, or the largest number.
    pub before: u32,
    /// What tells it from others.
    pub key: [u32; 2],
}

impl GpuCrowdExternal {
    pub(super) fn new(support: &ExternalContact, before: u32) -> Self {
        Self {
            normal: support.normal.to_array(),
            // The physics engine pushes overlaps apart itself.
            gap: support.gap.max(0.0),
            point: support.point.to_array(),
            friction: support.friction,
            restitution: support.restitution,
            before,
            key: halves(support.key),
        }
    }
}

/// The two halves of a key.
pub(super) fn halves(key: u64) -> [u32; 2] {
    [(key >> 32) as u32, key as u32]
}

/// How impulses between two bodies change; `CrowdImpulseDelta` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdImpulseDelta {
    /// On `b`; that on `a` is its negative.
    pub linear: [f32; 3],
    /// Not used.
    pub spare: f32,
    /// Angular impulse on `a`.
    pub angular_a: [f32; 3],
    /// Not used.
    pub spare_too: f32,
    /// Angular impulse on `b`.
    pub angular_b: [f32; 3],
    /// Not used.
    pub spare_three: f32,
}

/// What a contact carries to the next substep; `CrowdCarried` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdCarried {
    /// The spheres, or the two halves of the key of a support.
    pub spheres: [u32; 2],
    /// Impulse along the normal, Da·nm/s.
    pub normal_impulse: f32,
    /// Speed at which the bodies should part after a bounce, nm/s.
    pub restitution_speed: f32,
    /// Impulse of friction, Da·nm/s.
    pub friction_impulse: [f32; 3],
    /// 1 if it takes part, and 2 more if it is a support.
    pub state: u32,
}

impl From<&GpuCrowdCarried> for CarriedImpulse {
    fn from(carried: &GpuCrowdCarried) -> Self {
        let [a, b] = carried.spheres;
        Self {
            spheres: Pair { a, b },
            normal_impulse: carried.normal_impulse,
            restitution_speed: carried.restitution_speed,
            friction_impulse: carried.friction_impulse.into(),
            is_active: carried.state & 1 != 0,
            held: carried.state & 2 != 0,
        }
    }
}
