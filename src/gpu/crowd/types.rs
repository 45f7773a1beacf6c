//! Structs that Rust and WGSL share.

use bytemuck::{Pod, Zeroable};
use glam::Vec3;

use crate::dynamics::{
    BodyIndex, ContactConstraint, ContactSurface, CrowdTouch, Dominance, ExternalContact, Impulse,
    MovingBody, OwnerIndex, Softness,
};
use crate::search::Pair;

/// No slot, no body, or a touch that is ignored.
pub(super) const NONE: u32 = u32::MAX;

/// Bit of the overlaps of a touch that is only reported; `REPORT_ONLY` in WGSL.
const REPORT_ONLY: u32 = 1 << 31;

/// Counts, and the parameters of the solver; `CrowdParams` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdParams {
    /// Number of groups between owners. This and the next two are set on the device.
    pub member_groups: u32,
    /// Number of groups, including those with external bodies.
    pub groups: u32,
    /// Number of groups between owners in the previous substep.
    pub previous_member_groups: u32,
    /// Unused.
    pub unused: u32,
    /// Number of bodies: one per owner, then the external bodies.
    pub bodies: u32,
    /// Number of owners.
    pub owners: u32,
    /// Number of pairs of owners that never touch.
    pub ignored_pairs: u32,
    /// 1 if overlaps are pushed out.
    pub push_out: u32,
    /// Length of the substep, s.
    pub dt: f32,
    /// Overlap that is not pushed out, nm.
    pub slop: f32,
    /// Maximum speed at which overlaps are pushed out, nm/s.
    pub max_push_speed: f32,
    /// Approach speed below which restitution is ignored, nm/s.
    pub restitution_threshold: f32,
}

/// Counts that a substep starts with; `GroupLimits` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuGroupLimits {
    /// Maximum number of close pairs of molecules.
    pub max_pairs: u32,
    /// Maximum number of groups between owners.
    pub max_groups: u32,
    /// Number of groups with external bodies in this substep.
    pub external_groups: u32,
    /// Maximum number of workgroups along one dimension of a dispatch.
    pub max_dispatch: u32,
}

/// Mass, position and velocities of a body; `CrowdBody` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdBody {
    /// Center of mass in the world, nm.
    pub center: [f32; 3],
    /// 1 if asleep.
    pub state: u32,
    /// Velocity of the center of mass, nm/s.
    pub velocity: [f32; 3],
    /// Dominance in contacts.
    pub dominance: i32,
    /// Angular velocity, radian/s.
    pub angular_velocity: [f32; 3],
    /// Unused.
    pub padding_2: f32,
    /// Inverse mass along each world axis, 1/Da.
    pub inverse_mass: [f32; 3],
    /// Unused.
    pub padding_3: f32,
    /// Inverse inertia in the world frame, 1/(Da·nm²), elements xx, yy, zz.
    pub diagonal: [f32; 3],
    /// Unused.
    pub padding_4: f32,
    /// Elements yz, xz, xy.
    pub off_diagonal: [f32; 3],
    /// Unused.
    pub padding_5: f32,
    /// Acceleration by forces in this substep, nm/s².
    pub acceleration: [f32; 3],
    /// Unused.
    pub padding_6: f32,
}

impl From<&MovingBody> for GpuCrowdBody {
    fn from(body: &MovingBody) -> Self {
        let [x, y, z] = [0, 1, 2].map(|axis| body.inverse_inertia.col(axis));
        Self {
            center: body.center.to_array(),
            state: body.asleep.into(),
            velocity: body.velocity.to_array(),
            dominance: body.dominance.into(),
            angular_velocity: body.angular_velocity.to_array(),
            inverse_mass: body.inverse_mass.to_array(),
            diagonal: [x.x, y.y, z.z],
            off_diagonal: [y.z, x.z, x.y],
            acceleration: body.acceleration.to_array(),
            ..Self::default()
        }
    }
}

/// Result for a body; `CrowdImpulse` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdImpulse {
    /// Linear impulse, Da·nm/s.
    pub linear: [f32; 3],
    /// 1 if the body has to wake up.
    pub woken: u32,
    /// Angular impulse, Da·nm²/s.
    pub angular: [f32; 3],
    /// Unused.
    pub padding: u32,
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
    /// Accumulated impulse along the normal, Da·nm/s; never negative.
    pub normal_impulse: f32,
    /// From the center of mass of `a` to the contact point, nm.
    pub lever_a: [f32; 3],
    /// Effective mass along the normal with split masses, Da; zero if inactive.
    pub normal_mass: f32,
    /// From the center of mass of `b` to the contact point, nm.
    pub lever_b: [f32; 3],
    /// Effective mass perpendicular to the normal, Da.
    pub friction_mass: f32,
    /// Accumulated friction impulse, perpendicular to the normal, Da·nm/s.
    pub friction_impulse: [f32; 3],
    /// Coefficient of friction.
    pub friction: f32,
    /// Mobility of `a` along and perpendicular to the normal, then of `b`, before mass
    /// splitting, 1/Da.
    pub mobility: [f32; 4],
    /// The spheres; the first belongs to `a`. The two halves of its key if it is external.
    pub spheres: [u32; 2],
    /// Distance between the surfaces, nm; negative where they overlap.
    pub gap: f32,
    /// Separation speed that restitution demands, nm/s.
    pub restitution_speed: f32,
    /// Softness: fraction of the separation that is removed per second, 1/s.
    pub bias_rate: f32,
    /// Softness: factor on the effective mass.
    pub mass_scale: f32,
    /// Softness: fraction of the accumulated impulse that is taken back.
    pub impulse_scale: f32,
    /// Positive if `a` dominates, negative if `b` does.
    pub dominance: i32,
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
            dominance: match contact.dominance {
                Dominance::Neither => 0,
                Dominance::First => 1,
                Dominance::Second => -1,
            },
        }
    }
}

impl GpuCrowdContact {
    /// The contact as the CPU has it, between the bodies of its group.
    pub(super) fn constraint(&self, group: &GpuCrowdGroup, external: bool) -> ContactConstraint {
        ContactConstraint {
            spheres: Pair {
                a: self.spheres[0],
                b: self.spheres[1],
            },
            a: group.a,
            b: group.b,
            external,
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
            dominance: match self.dominance.signum() {
                0 => Dominance::Neither,
                1 => Dominance::First,
                _ => Dominance::Second,
            },
            restitution_speed: self.restitution_speed,
        }
    }
}

/// The contacts between two bodies; `CrowdGroup` in WGSL.
#[derive(Clone, Copy, Debug, Default, PartialEq, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdGroup {
    /// The first body.
    pub a: BodyIndex,
    /// The second body.
    pub b: BodyIndex,
    /// Slot of the first contact.
    pub start: u32,
    /// Distance between the slots of its contacts.
    pub stride: u32,
    /// Number of contacts.
    pub contacts: u32,
    /// Number of active contacts.
    pub active_contacts: u32,
    /// 1 if the two push each other.
    pub pushes: u32,
    /// Deepest overlap, nm; negative is a gap.
    pub penetration: f32,
}

impl GpuCrowdGroup {
    /// The slots of its contacts.
    pub(super) fn slots(&self) -> impl Iterator<Item = usize> {
        let (start, stride) = (self.start as usize, self.stride as usize);
        (0..self.contacts as usize).map(move |k| start + k * stride)
    }
}

/// Surface of an owner; `CrowdSurface` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdSurface {
    /// Coefficient of restitution.
    pub restitution: f32,
    /// Coefficient of friction.
    pub friction: f32,
    /// Frequency of the contact spring, Hz.
    pub frequency_hz: f32,
    /// Damping ratio of the contact spring.
    pub damping_ratio: f32,
    /// Rule that combines two coefficients of restitution.
    pub restitution_rule: u32,
    /// Rule that combines two coefficients of friction.
    pub friction_rule: u32,
    /// Groups that it belongs to, one bit each.
    pub memberships: u32,
    /// Groups that it touches, one bit each.
    pub filter_mask: u32,
    /// Groups of the solver that it belongs to, one bit each.
    pub solver_memberships: u32,
    /// Groups of the solver that it pushes, one bit each.
    pub solver_filter_mask: u32,
    /// 1 if its touches are only reported.
    pub sensor: u32,
    /// The type of its body, one bit.
    pub body_type: u32,
    /// Types of bodies that it meets, one bit each.
    pub meets: u32,
    /// Unused.
    pub padding: u32,
}

impl From<&ContactSurface> for GpuCrowdSurface {
    fn from(surface: &ContactSurface) -> Self {
        let ContactSurface {
            material,
            groups,
            solver_groups,
            sensor,
            types,
        } = surface;
        Self {
            restitution: material.restitution,
            friction: material.friction,
            frequency_hz: material.frequency_hz,
            damping_ratio: material.damping_ratio,
            restitution_rule: material.restitution_rule as u32,
            friction_rule: material.friction_rule as u32,
            memberships: groups.memberships,
            filter_mask: groups.filter,
            solver_memberships: solver_groups.memberships,
            solver_filter_mask: solver_groups.filter,
            sensor: u32::from(*sensor),
            body_type: types.own.mask().into(),
            meets: types.meets.into(),
            padding: 0,
        }
    }
}

/// Two owners that touch or are within the prediction distance; `CrowdTouch` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdTouch {
    /// The owner with the smaller index.
    pub a: OwnerIndex,
    /// The owner with the larger index.
    pub b: OwnerIndex,
    /// Number of pairs of spheres that overlap, with the highest bit set if the touch is only
    /// reported; `u32::MAX` if it is ignored.
    pub overlaps: u32,
    /// Deepest overlap, nm; negative is a gap.
    pub penetration: f32,
}

impl GpuCrowdTouch {
    /// The touch, if the two may touch.
    pub(super) fn touch(&self) -> Option<CrowdTouch<OwnerIndex>> {
        (self.overlaps != NONE).then_some(CrowdTouch {
            a: self.a,
            b: self.b,
            overlaps: self.overlaps & !REPORT_ONLY,
            penetration: self.penetration,
            pushes: self.overlaps & REPORT_ONLY == 0,
            pushed: false,
        })
    }
}

/// A contact with an external body; `CrowdExternal` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdExternal {
    /// Unit vector from `a` to `b`.
    pub normal: [f32; 3],
    /// Distance between the surfaces, nm; not negative.
    pub gap: f32,
    /// Contact point, nm.
    pub point: [f32; 3],
    /// Coefficient of friction.
    pub friction: f32,
    /// Coefficient of restitution.
    pub restitution: f32,
    /// Index of the same contact among the external ones of the previous substep, or `u32::MAX`.
    pub previous: u32,
    /// Identifies the contact from substep to substep.
    pub key: [u32; 2],
}

impl GpuCrowdExternal {
    pub(super) fn new(contact: &ExternalContact, previous: u32) -> Self {
        let key = contact.key_pair();
        Self {
            normal: contact.normal.to_array(),
            gap: contact.solver_gap(),
            point: contact.point.to_array(),
            friction: contact.friction,
            restitution: contact.restitution,
            previous,
            key: [key.a, key.b],
        }
    }
}

/// Change of the impulses between two bodies in one iteration; `CrowdImpulseChange` in WGSL.
#[derive(Clone, Copy, Debug, Default, Pod, Zeroable)]
#[repr(C)]
pub struct GpuCrowdImpulseChange {
    /// On `b`; the negative acts on `a`.
    pub linear: [f32; 3],
    /// Unused.
    pub padding_1: f32,
    /// Angular impulse on `a`.
    pub angular_a: [f32; 3],
    /// Unused.
    pub padding_2: f32,
    /// Angular impulse on `b`.
    pub angular_b: [f32; 3],
    /// Unused.
    pub padding_3: f32,
}
