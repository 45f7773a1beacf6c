//! Preparation of molecules whose file is loaded: collider, mass, material.

use std::sync::{Arc, Mutex, PoisonError};

use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    AdditionalMassProperties, Collider, ColliderMassProperties, ColliderScale, MassProperties,
    RapierRigidBodySet, RigidBody,
};
use bevy_rapier3d::rapier::dynamics::MassProperties as RapierMassProperties;
use bevy_rapier3d::rapier::geometry::SharedShape;

use super::components::{CrowdOnly, Molecule, MoleculeDetail, StaticMolecule};
use super::contact_rules::ContactRules;
use crate::molecule::MoleculeTemplate;
use crate::proxy::ProxyCache;
use crate::rapier::MoleculeShape;
use crate::search::RigidSpheres;

/// The data that all molecules of one file share.
#[derive(Debug)]
struct PreparedTemplate {
    template: Arc<MoleculeTemplate>,
    shape: MoleculeShape,
    proxies: ProxyCache,
    spheres: Mutex<HashMap<MoleculeDetail, Arc<RigidSpheres>>>,
}

impl PreparedTemplate {
    fn new(template: &MoleculeTemplate) -> Self {
        let template = Arc::new(template.clone());
        Self {
            shape: MoleculeShape::new(template.clone()),
            proxies: ProxyCache::new(template.clone()),
            spheres: Mutex::default(),
            template,
        }
    }

    fn build_spheres(&self, detail: MoleculeDetail) -> Arc<RigidSpheres> {
        let template = &self.template;
        let spheres = match detail {
            MoleculeDetail::Atoms => return self.shape.spheres().clone(),
            MoleculeDetail::Residues => RigidSpheres::residues(template),
            MoleculeDetail::Whole => RigidSpheres::whole(template),
            MoleculeDetail::Proxies(count) => match self.proxies.get(count.max(1) as usize) {
                Ok(set) => RigidSpheres::proxies(&set),
                Err(error) => {
                    let name = template.name();
                    error!("failed to build proxies of {name}, using one sphere: {error}");
                    RigidSpheres::whole(template)
                }
            },
        };
        Arc::new(spheres)
    }

    fn mass_properties(&self) -> AdditionalMassProperties {
        AdditionalMassProperties::MassProperties(MassProperties {
            local_center_of_mass: Vec3::ZERO,
            mass: self.template.mass(),
            principal_inertia_local_frame: self.template.principal_axes(),
            principal_inertia: self.template.principal_inertia(),
        })
    }
}

/// A molecule whose file is loaded and whose body is complete. Inserted by the plugin.
#[derive(Clone, Debug, Component)]
#[require(ContactRules)]
pub struct PreparedMolecule(Arc<PreparedTemplate>);

impl PreparedMolecule {
    /// The template, shared by all molecules of its file.
    #[must_use]
    pub fn template(&self) -> &Arc<MoleculeTemplate> {
        &self.0.template
    }

    /// The shape that Rapier and queries use.
    pub(super) fn shape(&self) -> &MoleculeShape {
        &self.0.shape
    }

    /// The spheres of a level of detail; built on first use and cached.
    pub(super) fn spheres(&self, detail: MoleculeDetail) -> Arc<RigidSpheres> {
        let cache = self.0.spheres.lock();
        let mut cache = cache.unwrap_or_else(PoisonError::into_inner);
        let build = || self.0.build_spheres(detail);
        cache.entry(detail).or_insert_with(build).clone()
    }
}

/// One [`PreparedTemplate`] per file.
#[derive(Default, Resource)]
pub(super) struct PreparedTemplates(HashMap<AssetId<MoleculeTemplate>, Arc<PreparedTemplate>>);

/// Completes the bodies of molecules whose file has been loaded or has changed.
pub(super) fn prepare_molecules(
    mut commands: Commands,
    mut templates: ResMut<PreparedTemplates>,
    assets: Res<Assets<MoleculeTemplate>>,
    mut events: MessageReader<AssetEvent<MoleculeTemplate>>,
    waiting: Query<
        (Entity, &Molecule, Has<CrowdOnly>),
        Or<(Changed<Molecule>, Without<PreparedMolecule>)>,
    >,
    all: Query<(Entity, &Molecule, &PreparedMolecule, Has<CrowdOnly>)>,
) {
    let mut changed = HashSet::new();
    for event in events.read() {
        match event {
            // The handle of a molecule may have changed before the file was loaded.
            AssetEvent::Added { id } => {
                changed.insert(*id);
            }
            AssetEvent::Modified { id } => {
                templates.0.remove(id);
                changed.insert(*id);
            }
            AssetEvent::Removed { id } => {
                templates.0.remove(id);
            }
            _ => {}
        }
    }
    let mut prepare =
        |entity: Entity, molecule: &Molecule, old: Option<&PreparedMolecule>, crowd_only: bool| {
            let id = molecule.0.id();
            let Some(template) = assets.get(id) else {
                return;
            };
            let template: &Arc<PreparedTemplate> = templates
                .0
                .entry(id)
                .or_insert_with(|| Arc::new(PreparedTemplate::new(template)));
            if old.is_some_and(|old| Arc::ptr_eq(&old.0, template)) {
                return;
            }
            let mut entity = commands.entity(entity);
            entity.try_insert((
                PreparedMolecule(template.clone()),
                template.mass_properties(),
            ));
            if !crowd_only {
                entity.try_insert((
                    Collider::from(SharedShape::new(template.shape.clone())),
                    // The body already has the mass of the molecule.
                    ColliderMassProperties::Density(0.0),
                    ColliderScale::Absolute(Vec3::ONE),
                ));
            }
        };
    for (entity, molecule, crowd_only) in &waiting {
        prepare(entity, molecule, None, crowd_only);
    }
    if !changed.is_empty() {
        for (entity, molecule, old, crowd_only) in &all {
            if changed.contains(&molecule.0.id()) {
                prepare(entity, molecule, Some(old), crowd_only);
            }
        }
    }
}

/// Removes what the plugin inserted when a [`Molecule`] component is removed. A collider or
/// mass that the app has inserted instead stays.
pub(super) fn remove_body(
    removed: On<Remove, Molecule>,
    mut commands: Commands,
    molecules: Query<(
        &PreparedMolecule,
        Option<&Collider>,
        Option<&AdditionalMassProperties>,
    )>,
    mut contexts: Query<&mut RapierRigidBodySet>,
) {
    let Ok((prepared, collider, mass)) = molecules.get(removed.entity) else {
        return;
    };
    let Ok(mut entity) = commands.get_entity(removed.entity) else {
        return;
    };
    entity.try_remove::<PreparedMolecule>();
    let shape = collider.and_then(|collider| collider.raw.as_shape::<MoleculeShape>());
    if shape.is_some_and(|shape| Arc::ptr_eq(shape.template(), prepared.template())) {
        entity.try_remove::<(Collider, ColliderMassProperties, ColliderScale)>();
    }
    if mass != Some(&prepared.0.mass_properties()) {
        return;
    }
    entity.try_remove::<AdditionalMassProperties>();
    // Rapier ignores the removal of the component.
    for mut context in &mut contexts {
        let handle = context.entity2body().get(&removed.entity).copied();
        if let Some(body) = handle.and_then(|handle| context.bodies.get_mut(handle)) {
            body.set_additional_mass_properties(RapierMassProperties::default(), true);
        }
    }
}

/// Fixes the bodies of static molecules.
pub(super) fn fix_static(added: On<Insert, StaticMolecule>, mut bodies: Query<&mut RigidBody>) {
    if let Ok(mut body) = bodies.get_mut(added.entity) {
        *body = RigidBody::Fixed;
    }
}

/// Makes the bodies of formerly static molecules dynamic.
pub(super) fn free_static(
    removed: On<Remove, StaticMolecule>,
    mut bodies: Query<&mut RigidBody, With<Molecule>>,
) {
    if let Ok(mut body) = bodies.get_mut(removed.entity) {
        *body = RigidBody::Dynamic;
    }
}
