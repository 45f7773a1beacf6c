//! Rapier's contacts between molecules and ordinary colliders, for the contact solver.

use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    RapierConfiguration, RapierContextColliders, RapierContextSimulation, RapierRigidBodySet,
};
use bevy_rapier3d::rapier::dynamics::{RigidBodyHandle, RigidBodySet};
use bevy_rapier3d::rapier::geometry::{
    Collider, ColliderHandle, ColliderSet, ContactManifold, ContactPair, NarrowPhase,
};
use bevy_rapier3d::rapier::math::Pose;

use super::molecule_world::{ContactModel, Members, MoleculeWorld};
use super::rapier_body::moving_body;
use crate::dynamics::{ContactSide, ExternalBody, ExternalContact, MemberIndex, MovingBody};

/// Collects the contacts of molecules with ordinary colliders for the contact solver.
///
/// The contacts are those of Rapier's last step, moved to the current poses. Bodies in
/// direct contact with molecules have their mass; bodies that these touch in turn are
/// treated as immovable.
pub(super) fn collect_external_contacts(
    model: Res<ContactModel>,
    mut worlds: Query<(
        &mut MoleculeWorld,
        &RapierContextSimulation,
        &RapierContextColliders,
        &RapierRigidBodySet,
        &RapierConfiguration,
    )>,
) {
    for (mut world, simulation, colliders, bodies, config) in &mut worlds {
        let Some(substep) = world.substep.filter(|_| *model == ContactModel::Crowd) else {
            continue;
        };
        let world = &mut *world;
        let context = Context {
            colliders: &colliders.colliders,
            bodies: &bodies.bodies,
            members: &world.members,
            max_gap: world.contacts.config.prediction_distance,
            gravity: config.gravity,
            substep,
        };
        let external = &mut world.external_contacts;
        external.collect(&context, &simulation.narrow_phase);
        world
            .contacts
            .set_external_contacts(&external.bodies, external.contacts.iter().copied());
    }
}

/// The part of a Rapier context that contacts are collected from.
struct Context<'a> {
    colliders: &'a ColliderSet,
    bodies: &'a RigidBodySet,
    members: &'a Members,
    /// Contacts with a larger gap are ignored, nm.
    max_gap: f32,
    gravity: Vec3,
    /// Length of the substep, s.
    substep: f32,
}

impl Context<'_> {
    /// The molecule that a collider belongs to.
    fn member(&self, handle: ColliderHandle) -> Option<MemberIndex> {
        let parent = self.colliders.get(handle)?.parent()?;
        self.members.index_of_body(parent)
    }

    /// Id of an external body: its rigid body, or its collider if it has none.
    fn external_id(&self, handle: ColliderHandle) -> Option<u64> {
        let raw = |(index, generation): (u32, u32)| u64::from(index) << 24 | u64::from(generation);
        Some(match self.colliders.get(handle)?.parent() {
            Some(body) => raw(body.into_raw_parts()),
            None => 1 << 63 | raw(handle.into_raw_parts()),
        })
    }
}

/// The external contacts of a substep. The buffers are reused.
#[derive(Default)]
pub(super) struct ExternalContacts {
    bodies: Vec<ExternalBody>,
    /// Rigid bodies of `bodies`; `None` for immovable ones.
    pub handles: Vec<Option<RigidBodyHandle>>,
    /// Index into `bodies` by id.
    index_of: HashMap<u64, u32>,
    contacts: Vec<ExternalContact>,
}

impl ExternalContacts {
    fn collect(&mut self, context: &Context, narrow_phase: &NarrowPhase) {
        self.bodies.clear();
        self.handles.clear();
        self.index_of.clear();
        self.contacts.clear();
        let touching = || {
            let pairs = narrow_phase.contact_pairs();
            pairs.filter(|pair| !pair.manifolds.is_empty())
        };
        for pair in touching() {
            let handles = [pair.collider1, pair.collider2];
            let members = handles.map(|handle| context.member(handle));
            if members.iter().flatten().count() == 1 {
                let sides = [0, 1].map(|side| match members[side] {
                    Some(member) => Some(ContactSide::Member(member)),
                    None => self.external_side(context, handles[side], true),
                });
                self.add(context, pair, sides);
            }
        }
        // The other contacts of movable bodies that molecules touch.
        let direct = self.bodies.len();
        for pair in touching() {
            let handles = [pair.collider1, pair.collider2];
            let any_movable = handles.iter().any(|handle| {
                let id = context.external_id(*handle);
                let index = id.and_then(|id| self.index_of.get(&id));
                index.is_some_and(|&index| {
                    let index = index as usize;
                    index < direct && self.bodies[index].body.is_movable()
                })
            });
            let no_member = handles
                .iter()
                .all(|handle| context.member(*handle).is_none());
            if no_member && any_movable {
                let sides = handles.map(|handle| self.external_side(context, handle, false));
                self.add(context, pair, sides);
            }
        }
    }

    /// The external body of a collider. A new one is immovable unless `movable`.
    fn external_side(
        &mut self,
        context: &Context,
        handle: ColliderHandle,
        movable: bool,
    ) -> Option<ContactSide> {
        let id = context.external_id(handle)?;
        if let Some(index) = self.index_of.get(&id) {
            return Some(ContactSide::External(*index));
        }
        let parent = context.colliders.get(handle)?.parent();
        let mut body = match parent.and_then(|body| context.bodies.get(body)) {
            Some(body) => moving_body(body, context.gravity, context.substep)?,
            None => MovingBody::default(),
        };
        if !movable {
            (body.inverse_mass, body.inverse_inertia) = (Vec3::ZERO, Mat3::ZERO);
        }
        if !body.is_valid() {
            return None;
        }
        let index = self.bodies.len() as u32;
        self.bodies.push(ExternalBody { id, body });
        self.handles.push(parent.filter(|_| body.is_movable()));
        self.index_of.insert(id, index);
        Some(ContactSide::External(index))
    }

    /// Adds the contacts of a pair.
    fn add(&mut self, context: &Context, pair: &ContactPair, sides: [Option<ContactSide>; 2]) {
        let handles = [pair.collider1, pair.collider2];
        let colliders = handles.map(|handle| context.colliders.get(handle));
        let ([Some(a), Some(b)], [Some(collider_a), Some(collider_b)]) = (sides, colliders) else {
            return;
        };
        // Identifies a contact from substep to substep: 24 bits of each collider index, then
        // 8 bits each of the manifold and the point.
        let [index_a, index_b] = handles.map(|handle| u64::from(handle.into_raw_parts().0));
        let pair_key = index_a << 40 | index_b << 16;
        for (manifold, manifold_index) in pair.manifolds.iter().zip(0_u64..) {
            let points = contact_points(manifold, collider_a, collider_b);
            for ((point, gap), point_index) in points.zip(0_u64..) {
                if point.is_finite()
                    && manifold.data.normal.is_normalized()
                    && gap < context.max_gap
                {
                    self.contacts.push(ExternalContact {
                        a,
                        b,
                        key: pair_key | (manifold_index & 0xff) << 8 | (point_index & 0xff),
                        normal: manifold.data.normal,
                        point,
                        gap,
                        friction: manifold.data.friction,
                        restitution: manifold.data.restitution,
                    });
                }
            }
        }
    }
}

/// Points of a manifold and the gaps between the surfaces, at the current poses.
fn contact_points<'a>(
    manifold: &'a ContactManifold,
    a: &Collider,
    b: &Collider,
) -> impl Iterator<Item = (Vec3, f32)> + 'a {
    let pose_a = subshape_pose(a, manifold.subshape_pos1());
    let pose_b = subshape_pose(b, manifold.subshape_pos2());
    manifold.points.iter().map(move |point| {
        let on_a = pose_a * point.local_p1;
        let on_b = pose_b * point.local_p2;
        let middle: Vec3 = 0.5 * (on_a + on_b);
        (middle, (on_b - on_a).dot(manifold.data.normal))
    })
}

/// World pose of a part of a collider.
fn subshape_pose(collider: &Collider, part: Option<&Pose>) -> Pose {
    part.map_or(*collider.position(), |part| *collider.position() * *part)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plugin::molecule_world::Member;
    use bevy_rapier3d::rapier::prelude::{
        BroadPhaseBvh, CCDSolver, ColliderBuilder, ImpulseJointSet, IntegrationParameters,
        IslandManager, MultibodyJointSet, PhysicsPipeline, RigidBodyBuilder,
    };

    /// A ball, taken as a molecule, on a box on a floor.
    #[test]
    fn buffers_are_reused_in_the_next_substep() {
        let (mut bodies, mut colliders) = (RigidBodySet::new(), ColliderSet::new());
        let mut narrow_phase = NarrowPhase::new();
        let [ball, cube] =
            [1.5, 0.5].map(|y| bodies.insert(RigidBodyBuilder::dynamic().translation(Vec3::Y * y)));
        colliders.insert_with_parent(ColliderBuilder::ball(0.51), ball, &mut bodies);
        let cuboid = ColliderBuilder::cuboid(0.5, 0.51, 0.5);
        colliders.insert_with_parent(cuboid, cube, &mut bodies);
        colliders.insert(ColliderBuilder::cuboid(5.0, 1.0, 5.0).translation(Vec3::NEG_Y));
        PhysicsPipeline::new().step(
            Vec3::ZERO,
            &IntegrationParameters::default(),
            &mut IslandManager::new(),
            &mut BroadPhaseBvh::new(),
            &mut narrow_phase,
            &mut bodies,
            &mut colliders,
            &mut ImpulseJointSet::new(),
            &mut MultibodyJointSet::new(),
            &mut CCDSolver::new(),
            &(),
            &(),
        );
        let mut members = Members::default();
        let member = Member {
            entity: Entity::PLACEHOLDER,
            body: ball,
        };
        members.update(&[], &[member]);
        let context = Context {
            colliders: &colliders,
            bodies: &bodies,
            members: &members,
            max_gap: 0.1,
            gravity: Vec3::ZERO,
            substep: 0.01,
        };
        let mut external = ExternalContacts::default();
        external.collect(&context, &narrow_phase);
        assert_eq!(external.handles, [Some(cube), None]);
        assert!(external.contacts.len() >= 2);
        let buffers = |external: &ExternalContacts| {
            let (bodies, contacts) = (external.bodies.as_ptr(), external.contacts.as_ptr());
            (bodies, external.handles.as_ptr(), contacts)
        };
        let (before, contacts) = (buffers(&external), external.contacts.clone());
        external.collect(&context, &narrow_phase);
        assert_eq!(buffers(&external), before);
        assert_eq!(external.contacts, contacts);
    }
}
