//! The contacts of two members that touch, for reports.

use glam::Vec3;

use super::{BodyIndex, ContactConstraint, CrowdContacts, MemberIndex};
use crate::pose::Pose;
use crate::search::{MoleculePairSearch, RigidSpheres};

/// A contact between spheres of two members, in the world frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct TouchContact {
    /// The sphere of each member, by its index among those of the member.
    pub spheres: [u32; 2],
    /// The middle between the surfaces of the spheres, nm.
    pub point: Vec3,
    /// Unit vector from the first to the second member.
    pub normal: Vec3,
    /// Overlap, nm; negative is a gap.
    pub depth: f32,
    /// Impulse along the normal in the last substep, Da·nm/s. Zero if the members do not push each
    /// other.
    pub impulse: f32,
}

impl TouchContact {
    /// The same contact with the members exchanged.
    #[must_use]
    pub fn reversed(self) -> Self {
        let [first, second] = self.spheres;
        Self {
            spheres: [second, first],
            normal: -self.normal,
            ..self
        }
    }
}

impl CrowdContacts {
    /// The contacts of two members in the last substep. They are at most 16 unless the members only
    /// report their touch. Those of a device solver are read back, which is slow.
    #[must_use]
    pub fn contacts_between(&self, one: MemberIndex, other: MemberIndex) -> Vec<TouchContact> {
        let pair = [one.min(other), one.max(other)];
        let mut contacts = self.solved_between(pair);
        if contacts.is_empty() {
            contacts = self.measured_between(pair);
        }
        if one > other {
            for contact in &mut contacts {
                *contact = contact.reversed();
            }
        }
        contacts
    }

    /// The contacts of two members, `a` < `b`, in the last substep that was solved.
    pub(crate) fn solved_between(&self, pair: [MemberIndex; 2]) -> Vec<TouchContact> {
        self.contacts_among(pair, |bodies| self.contacts_of(bodies))
    }

    /// The contacts of two members, `a` < `b`, in the substep before the last one: what is left of
    /// those that have stopped touching. Empty with a device solver.
    #[must_use]
    pub fn previous_contacts_between(&self, pair: [MemberIndex; 2]) -> Vec<TouchContact> {
        self.contacts_among(pair, |bodies| self.previous_contacts_of(bodies))
    }

    fn contacts_among<'a>(
        &self,
        pair: [MemberIndex; 2],
        contacts: impl Fn([BodyIndex; 2]) -> &'a [ContactConstraint],
    ) -> Vec<TouchContact> {
        let [Some(a), Some(b)] = pair.map(|member| self.members.owner(member)) else {
            return Vec::new();
        };
        let bodies = [a.body(), b.body()];
        let first = [a, b].map(|owner| self.members.first_sphere(owner));
        let Some(center) = self.bodies.get(a.index()).map(|body| body.center) else {
            return Vec::new();
        };
        let is_between = |contact: &&ContactConstraint| {
            [contact.a, contact.b] == bodies && !contact.external && contact.gap.is_finite()
        };
        let contact = |contact: &ContactConstraint| TouchContact {
            spheres: [contact.spheres.a - first[0], contact.spheres.b - first[1]],
            point: center + contact.lever_a,
            normal: contact.normal,
            depth: -contact.gap,
            impulse: contact.normal_impulse,
        };
        let found = contacts(bodies).iter().filter(is_between);
        found.map(contact).collect()
    }

    /// The overlapping spheres of two members, `a` < `b`, at the poses of the last gather.
    pub(crate) fn measured_between(&self, pair: [MemberIndex; 2]) -> Vec<TouchContact> {
        let [Some(a), Some(b)] = pair.map(|member| self.members.owner(member)) else {
            return Vec::new();
        };
        let [Some(a), Some(b)] = [a, b].map(|owner| self.bodies.get(owner.index())) else {
            return Vec::new();
        };
        let spheres = pair.map(|member| &*self.members.all()[member.index()].spheres);
        overlapping_spheres(spheres, [a.pose, b.pose])
    }
}

/// The overlapping spheres of two molecules.
pub(crate) fn overlapping_spheres(
    spheres: [&RigidSpheres; 2],
    [a, b]: [Pose; 2],
) -> Vec<TouchContact> {
    let relative = Pose::new(
        a.inverse_transform_point(b.position),
        a.rotation.inverse() * b.rotation,
    );
    let between = relative.position.normalize_or(Vec3::Y);
    let mut search = MoleculePairSearch::default();
    let found = search.find_between(spheres, &relative, 0.0);
    let contacts = found.pairs.iter().zip(found.centers).zip(found.gaps);
    contacts
        .map(|((pair, [first, second]), gap)| {
            let normal = (second - first).try_normalize().unwrap_or(between);
            let radius = spheres[0].radii()[pair.a as usize];
            TouchContact {
                spheres: [pair.a, pair.b],
                point: a.transform_point(first + normal * (radius + 0.5 * gap)),
                normal: a.rotation * normal,
                depth: -gap,
                impulse: 0.0,
            }
        })
        .collect()
}
