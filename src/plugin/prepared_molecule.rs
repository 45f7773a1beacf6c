//! Preparation of molecules whose file is loaded: collider, mass, material.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy::tasks::AsyncComputeTaskPool;
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
pub(super) struct PreparedTemplate {
    template: Arc<MoleculeTemplate>,
    shape: MoleculeShape,
    /// The same shape, for colliders.
    shared_shape: SharedShape,
    proxies: ProxyCache,
    spheres: Mutex<HashMap<MoleculeDetail, Arc<RigidSpheres>>>,
    /// Details whose spheres a background task builds or has built.
    tasks: Mutex<HashSet<MoleculeDetail>>,
}

impl PreparedTemplate {
    /// The data of a template, built on the first call. The loader of structure files does that in
    /// its task.
    pub fn of(template: &MoleculeTemplate) -> Arc<Self> {
        template.derived(|| {
            let template = Arc::new(template.clone());
            let shape = MoleculeShape::new(template.clone());
            Self {
                shared_shape: SharedShape::new(shape.clone()),
                shape,
                proxies: ProxyCache::new(template.clone()),
                spheres: Mutex::default(),
                tasks: Mutex::default(),
                template,
            }
        })
    }

    /// The spheres of a level of detail; built on first use and cached.
    fn spheres(&self, detail: MoleculeDetail) -> Arc<RigidSpheres> {
        if let Some(spheres) = lock(&self.spheres).get(&detail) {
            return spheres.clone();
        }
        let spheres = self.build_spheres(detail);
        lock(&self.spheres).entry(detail).or_insert(spheres).clone()
    }

    /// Whether the spheres of a level of detail exist or are quick to build. If not, a background
    /// task builds them.
    fn is_ready(self: &Arc<Self>, detail: MoleculeDetail) -> bool {
        let is_slow = matches!(detail, MoleculeDetail::Proxies(_));
        if !is_slow || lock(&self.spheres).contains_key(&detail) {
            return true;
        }
        let Some(pool) = AsyncComputeTaskPool::try_get() else {
            return true;
        };
        if lock(&self.tasks).insert(detail) {
            let template = self.clone();
            let task = pool.spawn(async move {
                template.spheres(detail);
            });
            task.detach();
        }
        false
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
///
/// Scenes do not save it: the plugin inserts it again.
#[derive(Clone, Debug, Component, Reflect)]
#[reflect(opaque)]
#[reflect(Clone, Debug)]
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
        self.0.spheres(detail)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Completes the bodies of molecules whose file has been loaded or has changed.
pub(super) fn prepare_molecules(
    mut commands: Commands,
    assets: Res<Assets<MoleculeTemplate>>,
    mut events: MessageReader<AssetEvent<MoleculeTemplate>>,
    waiting: Query<
        (
            Entity,
            &Molecule,
            &MoleculeDetail,
            Has<PreparedMolecule>,
            Has<CrowdOnly>,
        ),
        Or<(Changed<Molecule>, Without<PreparedMolecule>)>,
    >,
    all: Query<(Entity, &Molecule, &PreparedMolecule, Has<CrowdOnly>)>,
) {
    let mut changed = HashSet::new();
    for event in events.read() {
        // The handle of a molecule may have changed before the file was loaded.
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event {
            changed.insert(*id);
        }
    }
    let mut complete = |entity: Entity, template: Arc<PreparedTemplate>, crowd_only: bool| {
        let mut entity = commands.entity(entity);
        entity.try_insert(template.mass_properties());
        if !crowd_only {
            entity.try_insert((
                Collider::from(template.shared_shape.clone()),
                // The body already has the mass of the molecule.
                ColliderMassProperties::Density(0.0),
                ColliderScale::Absolute(Vec3::ONE),
            ));
        }
        entity.try_insert(PreparedMolecule(template));
    };
    for (entity, molecule, detail, has_body, crowd_only) in &waiting {
        let Some(template) = assets.get(&molecule.0) else {
            continue;
        };
        let template = PreparedTemplate::of(template);
        // A file takes an unknown number of frames to load, and its proxies may take some more.
        // With templates of the app, results must not depend on the duration of a task.
        if has_body || molecule.0.path().is_none() || template.is_ready(*detail) {
            complete(entity, template, crowd_only);
        }
    }
    if !changed.is_empty() {
        for (entity, molecule, old, crowd_only) in &all {
            if let Some(template) = assets.get(&molecule.0)
                && changed.contains(&molecule.id())
            {
                // Loading a label of a file loads the file again.
                if **old.template() != *template {
                    complete(entity, PreparedTemplate::of(template), crowd_only);
                }
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
