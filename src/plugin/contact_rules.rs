//! The rules of contacts between molecules, read from the components that Rapier's users know.

use bevy::ecs::query::QueryData;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    ActiveCollisionTypes, ActiveHooks, CoefficientCombineRule, ColliderDisabled, CollisionGroups,
    Friction, RapierRigidBodySet, Restitution, RigidBody, Sensor, SolverGroups,
};
use bevy_rapier3d::rapier::dynamics::RigidBodyType;
use bevy_rapier3d::rapier::geometry::ActiveCollisionTypes as RapierCollisionTypes;

use super::components::MoleculeMaterial;
use super::contact_systems::wake_up;
use super::molecule_world::MoleculeWorld;
use super::state_errors::ReportedEntities;
use crate::dynamics::{
    BodyType, CombineRule, ContactMaterial, ContactSurface, InteractionGroups, InteractionTypes,
    MemberIndex,
};

/// The components that contacts between molecules depend on. All but the first two are those of
/// Rapier, with the same defaults.
#[derive(QueryData)]
pub(super) struct ContactComponents {
    material: &'static MoleculeMaterial,
    body: &'static RigidBody,
    friction: Option<&'static Friction>,
    restitution: Option<&'static Restitution>,
    groups: Option<&'static CollisionGroups>,
    solver_groups: Option<&'static SolverGroups>,
    types: Option<&'static ActiveCollisionTypes>,
    hooks: Option<&'static ActiveHooks>,
    sensor: Has<Sensor>,
    disabled: Has<ColliderDisabled>,
}

/// How a molecule takes part in contacts with others; `None` until it is known.
#[derive(Clone, Copy, Debug, Default, PartialEq, Component)]
pub(super) struct ContactRules(Option<ContactRule>);

#[derive(Clone, Copy, Debug, PartialEq)]
struct ContactRule {
    /// The surface; its material may be invalid.
    surface: ContactSurface,
    disabled: bool,
}

impl ContactComponentsItem<'_, '_> {
    fn rule(&self) -> ContactRule {
        let friction = self.friction.copied().unwrap_or_default();
        // Without the component, colliders do not bounce.
        let restitution = self.restitution.copied();
        let restitution = restitution.unwrap_or(Restitution::coefficient(0.0));
        let groups = self.groups.copied().unwrap_or_default();
        let solver_groups = self.solver_groups.copied().unwrap_or_default();
        ContactRule {
            surface: ContactSurface {
                material: ContactMaterial {
                    restitution: restitution.coefficient,
                    restitution_rule: combine_rule(restitution.combine_rule),
                    friction: friction.coefficient,
                    friction_rule: combine_rule(friction.combine_rule),
                    frequency_hz: self.material.frequency_hz,
                    damping_ratio: self.material.damping_ratio,
                },
                groups: InteractionGroups {
                    memberships: groups.memberships.bits(),
                    filter: groups.filters.bits(),
                },
                solver_groups: InteractionGroups {
                    memberships: solver_groups.memberships.bits(),
                    filter: solver_groups.filters.bits(),
                },
                sensor: self.sensor,
                types: interaction_types(*self.body, self.types.copied().unwrap_or_default()),
            },
            disabled: self.disabled,
        }
    }
}

fn combine_rule(rule: CoefficientCombineRule) -> CombineRule {
    match rule {
        CoefficientCombineRule::Average => CombineRule::Average,
        CoefficientCombineRule::Min => CombineRule::Min,
        CoefficientCombineRule::Multiply => CombineRule::Multiply,
        CoefficientCombineRule::Max => CombineRule::Max,
    }
}

fn interaction_types(body: RigidBody, types: ActiveCollisionTypes) -> InteractionTypes {
    let (own, own_type) = match body {
        RigidBody::Dynamic => (BodyType::Dynamic, RigidBodyType::Dynamic),
        RigidBody::Fixed => (BodyType::Fixed, RigidBodyType::Fixed),
        RigidBody::KinematicPositionBased => {
            let own_type = RigidBodyType::KinematicPositionBased;
            (BodyType::Kinematic, own_type)
        }
        RigidBody::KinematicVelocityBased => {
            let own_type = RigidBodyType::KinematicVelocityBased;
            (BodyType::Kinematic, own_type)
        }
    };
    let types = RapierCollisionTypes::from(types);
    let met = [
        (BodyType::Dynamic, RigidBodyType::Dynamic),
        (BodyType::Fixed, RigidBodyType::Fixed),
        (BodyType::Kinematic, RigidBodyType::KinematicPositionBased),
    ];
    let met = met.iter().filter(|(_, other)| types.test(own_type, *other));
    InteractionTypes {
        own,
        meets: met.fold(0, |mask, (other, _)| mask | other.mask()),
    }
}

/// Applies changed rules to the contact solver, and wakes the molecules and their neighbors.
///
/// The rules are compared in every frame: that finds removed components too, and costs little.
pub(super) fn update_contact_rules(
    mut worlds: Query<(&mut MoleculeWorld, &mut RapierRigidBodySet)>,
    mut molecules: Query<(ContactComponents, &mut ContactRules)>,
    mut invalid_materials: Local<ReportedEntities>,
    mut changed: Local<Vec<MemberIndex>>,
) {
    for (mut world, mut bodies) in &mut worlds {
        let world = &mut *world;
        world.disabled.clear();
        world.has_hooks = false;
        changed.clear();
        for (index, member) in world.members.indexed() {
            let Ok((components, mut previous)) = molecules.get_mut(member.entity) else {
                continue;
            };
            world.has_hooks |= components.hooks.is_some_and(|hooks| !hooks.is_empty());
            let mut rule = components.rule();
            let rules = ContactRules(Some(rule));
            if *previous != rules {
                if previous.0.is_some() {
                    changed.push(index);
                }
                *previous = rules;
            }
            let checked = rule.surface.material.check();
            if invalid_materials.is_new(member.entity, checked.is_err())
                && let Err(error) = &checked
            {
                error!(
                    "molecule {} uses the default material: {error}",
                    member.entity
                );
            }
            if checked.is_err() {
                rule.surface.material = ContactMaterial::default();
            }
            if rule.disabled {
                world.disabled.push(index);
            }
            let current = world.contacts.members().get(index.index());
            if current.is_some_and(|current| current.surface != rule.surface) {
                world.contacts.set_surface(index, rule.surface);
            }
        }
        for &index in &changed {
            wake_up(&mut bodies.bodies, world.members[index].body);
        }
        if changed.is_empty() {
            continue;
        }
        // Without touches, any member may be a neighbor.
        let all_touch = !world.contacts.reports_touches();
        let touches = world
            .contacts
            .touches()
            .iter()
            .map(|touch| [touch.a, touch.b]);
        let is_changed = |member: &MemberIndex| changed.binary_search(member).is_ok();
        let neighbors = touches.filter(|pair| pair.iter().any(is_changed)).flatten();
        let all = world.members.indexed().map(|(index, _)| index);
        for index in neighbors.chain(all.filter(|_| all_touch)) {
            wake_up(&mut bodies.bodies, world.members[index].body);
        }
    }
}
