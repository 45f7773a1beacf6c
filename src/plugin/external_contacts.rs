//! Rapier's contacts of molecules with everything else, for the crowd to know.

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

use super::contact_systems::moving_body;
use super::molecule_world::{ContactModel, MoleculeWorld};
use crate::dynamics::{ContactSide, ExternalBody, ExternalContact, MemberIndex, MovingBody};

/// Tells the crowd what its molecules lean on.
///
/// The contacts are those of Rapier's last step, brought to where the bodies are now.
/// Bodies that molecules touch take part with their mass; what those touch in turn is
/// taken as immovable.
pub(super) fn find_supports(
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
        if world.substep.is_none() || *model != ContactModel::Crowd {
            continue;
        }
        let world = &mut *world;
        let mut survey = Survey {
            colliders: &colliders.colliders,
            bodies: &bodies.bodies,
            members: &world.member_of,
            reach: world.contacts.config.prediction_distance,
            gravity: config.gravity,
            obstacles: Vec::new(),
            handles: Vec::new(),
            known: HashMap::default(),
            supports: Vec::new(),
        };
        survey.look_at(&simulation.narrow_phase);
        let Survey {
            obstacles,
            handles,
            supports,
            ..
        } = survey;
        world.obstacles = handles;
        world
            .contacts
            .set_external_contacts(&obstacles, supports.into_iter());
    }
}

/// Obstacles and supports, as they are found.
struct Survey<'a> {
    colliders: &'a ColliderSet,
    bodies: &'a RigidBodySet,
    members: &'a HashMap<RigidBodyHandle, u32>,
    /// Contacts that are further apart do not count, nm.
    reach: f32,
    gravity: Vec3,
    obstacles: Vec<ExternalBody>,
    /// Bodies of the obstacles, if they have one.
    handles: Vec<Option<RigidBodyHandle>>,
    known: HashMap<u64, u32>,
    supports: Vec<ExternalContact>,
}

impl Survey<'_> {
    fn look_at(&mut self, contacts: &NarrowPhase) {
        let touching = || {
            let pairs = contacts.contact_pairs();
            pairs.filter(|pair| !pair.manifolds.is_empty())
        };
        for pair in touching() {
            let sides = [pair.collider1, pair.collider2].map(|handle| self.member(handle));
            match sides {
                [Some(member), None] => {
                    let obstacle = self.obstacle(pair.collider2, true);
                    self.add(
                        pair,
                        [Some(ContactSide::Member(MemberIndex(member))), obstacle],
                    );
                }
                [None, Some(member)] => {
                    let obstacle = self.obstacle(pair.collider1, true);
                    self.add(
                        pair,
                        [obstacle, Some(ContactSide::Member(MemberIndex(member)))],
                    );
                }
                _ => {}
            }
        }
        // What the ordinary bodies among them lean on.
        let direct = self.obstacles.len();
        for pair in touching() {
            let handles = [pair.collider1, pair.collider2];
            let leans = handles.map(|handle| {
                let known = self.known.get(&self.id(handle)?)?;
                let obstacle = self.obstacles.get(*known as usize)?;
                ((*known as usize) < direct && obstacle.body.is_movable()).then_some(*known)
            });
            let no_member = handles.iter().all(|handle| self.member(*handle).is_none());
            if no_member && leans != [None, None] {
                let sides = handles.map(|handle| self.obstacle(handle, false));
                self.add(pair, sides);
            }
        }
    }

    fn member(&self, handle: ColliderHandle) -> Option<u32> {
        let parent = self.colliders.get(handle)?.parent()?;
        self.members.get(&parent).copied()
    }

    /// What tells an obstacle from others: its body, or its collider if it has none.
    fn id(&self, handle: ColliderHandle) -> Option<u64> {
        let raw = |(index, generation): (u32, u32)| u64::from(index) << 24 | u64::from(generation);
        Some(match self.colliders.get(handle)?.parent() {
            Some(body) => raw(body.into_raw_parts()),
            None => 1 << 63 | raw(handle.into_raw_parts()),
        })
    }

    /// The obstacle that a collider belongs to; a new one may be `movable` or not.
    fn obstacle(&mut self, handle: ColliderHandle, movable: bool) -> Option<ContactSide> {
        let id = self.id(handle)?;
        if let Some(known) = self.known.get(&id) {
            return Some(ContactSide::External(*known));
        }
        let parent = self.colliders.get(handle)?.parent();
        let body = parent.and_then(|body| self.bodies.get(body));
        let mut body = match body {
            Some(body) => moving_body(body, self.gravity)?,
            None => MovingBody::default(),
        };
        if !movable {
            (body.inverse_mass, body.inverse_inertia) = (Vec3::ZERO, Mat3::ZERO);
        }
        if !body.is_finite() {
            return None;
        }
        let index = self.obstacles.len() as u32;
        self.obstacles.push(ExternalBody { id, body });
        self.handles.push(parent.filter(|_| body.is_movable()));
        self.known.insert(id, index);
        Some(ContactSide::External(index))
    }

    /// Adds the contacts of a pair.
    fn add(&mut self, pair: &ContactPair, sides: [Option<ContactSide>; 2]) {
        let [Some(a), Some(b)] = sides else {
            return;
        };
        let colliders = [pair.collider1, pair.collider2].map(|handle| self.colliders.get(handle));
        let [Some(one), Some(two)] = colliders else {
            return;
        };
        // Few enough bits of each to tell contacts apart from substep to substep.
        let numbers = [pair.collider1, pair.collider2].map(|handle| handle.into_raw_parts().0);
        let key = u64::from(numbers[0]) << 40 | u64::from(numbers[1]) << 16;
        for (manifold, number) in pair.manifolds.iter().zip(0_u64..) {
            let points = contact_points(manifold, one, two);
            for ((point, gap), order) in points.zip(0_u64..) {
                if point.is_finite() && manifold.data.normal.is_normalized() && gap < self.reach {
                    self.supports.push(ExternalContact {
                        a,
                        b,
                        key: key | (number & 0xff) << 8 | (order & 0xff),
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

/// Points of a manifold and the distances of the surfaces there, where the colliders are
/// now.
fn contact_points<'a>(
    manifold: &'a ContactManifold,
    one: &Collider,
    two: &Collider,
) -> impl Iterator<Item = (Vec3, f32)> + 'a {
    let pose_one = placed(one, manifold.subshape_pos1());
    let pose_two = placed(two, manifold.subshape_pos2());
    manifold.points.iter().map(move |point| {
        let on_one = pose_one * point.local_p1;
        let on_two = pose_two * point.local_p2;
        let middle: Vec3 = 0.5 * (on_one + on_two);
        (middle, (on_two - on_one).dot(manifold.data.normal))
    })
}

/// Pose in the world of a part of a collider.
fn placed(collider: &Collider, part: Option<&Pose>) -> Pose {
    part.map_or(*collider.position(), |part| *collider.position() * *part)
}
