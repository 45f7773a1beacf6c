//! Physics hooks of the app for pairs of molecules.

use bevy::ecs::system::{StaticSystemParam, SystemParamItem};
use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    ActiveHooks, BevyPhysicsHooks, ContactModificationContextView, PairFilterContextView,
    RapierColliderHandle, RapierContextColliders, RapierRigidBodySet, Sensor,
};
use bevy_rapier3d::rapier::geometry::SolverFlags;
use bevy_rapier3d::rapier::pipeline::{
    ContactModificationContext, PairFilterContext, PhysicsHooks,
};

use super::molecule_world::{ContactModel, MoleculeWorld};
use crate::dynamics::PairResponse;

/// Lets Rapier call hooks that are a system parameter.
pub(super) struct RapierHooks<Hooks>(pub Hooks);

impl<Hooks: BevyPhysicsHooks> PhysicsHooks for RapierHooks<Hooks> {
    fn filter_contact_pair(&self, context: &PairFilterContext<'_>) -> Option<SolverFlags> {
        let view = PairFilterContextView { raw: context };
        self.0.filter_contact_pair(view)
    }

    fn filter_intersection_pair(&self, context: &PairFilterContext<'_>) -> bool {
        let view = PairFilterContextView { raw: context };
        self.0.filter_intersection_pair(view)
    }

    fn modify_solver_contacts(&self, context: &mut ContactModificationContext<'_>) {
        let view = ContactModificationContextView { raw: context };
        self.0.modify_solver_contacts(view);
    }
}

/// Calls the filters of the app for molecules that touch or are close, if one of the two has
/// [`ActiveHooks`], as Rapier does for its colliders. Molecules without a collider have no hooks.
pub(super) fn filter_pairs<Hooks>(
    model: Res<ContactModel>,
    mut worlds: Query<(
        &mut MoleculeWorld,
        &RapierContextColliders,
        &RapierRigidBodySet,
    )>,
    molecules: Query<(&RapierColliderHandle, Option<&ActiveHooks>, Has<Sensor>)>,
    hooks: StaticSystemParam<Hooks>,
) where
    Hooks: 'static + BevyPhysicsHooks,
    for<'w, 's> SystemParamItem<'w, 's, Hooks>: BevyPhysicsHooks,
{
    let hooks = hooks.into_inner();
    for (mut world, colliders, bodies) in &mut worlds {
        if world.substep.is_none() || *model != ContactModel::Crowd || !world.has_hooks {
            continue;
        }
        let MoleculeWorld {
            contacts, members, ..
        } = &mut *world;
        contacts.decide_responses(|touch| {
            let unchanged = if touch.pushes {
                PairResponse::Push
            } else {
                PairResponse::Report
            };
            let pair = [touch.a, touch.b].map(|member| members[member]);
            let [Ok(one), Ok(other)] = pair.map(|member| molecules.get(member.entity)) else {
                return unchanged;
            };
            let flags = |hooks: Option<&ActiveHooks>| hooks.copied().unwrap_or_default();
            let active = flags(one.1) | flags(other.1);
            let context = PairFilterContext {
                bodies: &bodies.bodies,
                colliders: &colliders.colliders,
                collider1: one.0.0,
                collider2: other.0.0,
                rigid_body1: Some(pair[0].body),
                rigid_body2: Some(pair[1].body),
            };
            let view = PairFilterContextView { raw: &context };
            let is_sensor = one.2 || other.2;
            if is_sensor && active.contains(ActiveHooks::FILTER_INTERSECTION_PAIR) {
                if hooks.filter_intersection_pair(view) {
                    unchanged
                } else {
                    PairResponse::Ignore
                }
            } else if !is_sensor && active.contains(ActiveHooks::FILTER_CONTACT_PAIRS) {
                match hooks.filter_contact_pair(view) {
                    None => PairResponse::Ignore,
                    Some(flags) if flags.contains(SolverFlags::COMPUTE_IMPULSES) => unchanged,
                    Some(_) => PairResponse::Report,
                }
            } else {
                unchanged
            }
        });
    }
}
