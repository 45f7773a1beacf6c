//! Preparation of molecules whose file is loaded: collider, mass, material.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bevy::ecs::query::QueryData;
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

    fn mass_properties(&self) -> MassProperties {
        MassProperties {
            local_center_of_mass: Vec3::ZERO,
            mass: self.template.mass(),
            principal_inertia_local_frame: self.template.principal_axes(),
            principal_inertia: self.template.principal_inertia(),
        }
    }

    /// The mass that the plugin gives to the body.
    fn body_mass(&self) -> AdditionalMassProperties {
        AdditionalMassProperties::MassProperties(self.mass_properties())
    }

    /// The mass that the plugin gives to the collider of a body with this mass: none, unless a mass
    /// is added to that of the molecule.
    fn collider_mass(
        &self,
        body_mass: Option<&AdditionalMassProperties>,
    ) -> ColliderMassProperties {
        match body_mass {
            Some(AdditionalMassProperties::Mass(_)) => {
                ColliderMassProperties::MassProperties(self.mass_properties())
            }
            _ => ColliderMassProperties::Density(0.0),
        }
    }
}

/// The mass components of a molecule.
#[derive(QueryData)]
pub(super) struct MassComponents {
    body: Option<&'static AdditionalMassProperties>,
    collider: Option<&'static ColliderMassProperties>,
}

impl MassComponentsItem<'_, '_> {
    /// Whether the app has inserted its own mass of the body. The plugin may have inserted that of
    /// one of the `templates`.
    fn is_body_mass_of_app(&self, templates: &[&PreparedTemplate]) -> bool {
        let own = |mass: &AdditionalMassProperties| {
            templates
                .iter()
                .any(|template| *mass == template.body_mass())
        };
        self.body.is_some_and(|mass| !own(mass))
    }

    /// The same for the mass of the collider.
    fn is_collider_mass_of_app(&self, templates: &[&PreparedTemplate]) -> bool {
        let own = |mass: &ColliderMassProperties| {
            let mut templates = templates.iter();
            templates.any(|template| *mass == template.collider_mass(self.body))
                || *mass == ColliderMassProperties::Density(0.0)
        };
        self.collider.is_some_and(|mass| !own(mass))
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
            Option<&PreparedMolecule>,
            MassComponents,
            Has<CrowdOnly>,
        ),
        Or<(Changed<Molecule>, Without<PreparedMolecule>)>,
    >,
    all: Query<(
        Entity,
        &Molecule,
        &PreparedMolecule,
        MassComponents,
        Has<CrowdOnly>,
    )>,
) {
    let mut changed = HashSet::new();
    for event in events.read() {
        // The handle of a molecule may have changed before the file was loaded.
        if let AssetEvent::Added { id } | AssetEvent::Modified { id } = event {
            changed.insert(*id);
        }
    }
    let mut complete = |entity: Entity,
                        template: Arc<PreparedTemplate>,
                        old: Option<&PreparedMolecule>,
                        mass: MassComponentsItem,
                        crowd_only: bool| {
        let mut entity = commands.entity(entity);
        // A mass of the app wins.
        let templates = [&*template, old.map_or(&*template, |old| &*old.0)];
        let keeps_body_mass = mass.is_body_mass_of_app(&templates);
        let keeps_collider_mass = mass.is_collider_mass_of_app(&templates);
        if !keeps_body_mass && !keeps_collider_mass {
            entity.try_insert(template.body_mass());
        }
        if !crowd_only {
            if !keeps_collider_mass {
                let body_mass = mass.body.filter(|_| keeps_body_mass);
                entity.try_insert(template.collider_mass(body_mass));
            }
            entity.try_insert((
                Collider::from(template.shared_shape.clone()),
                ColliderScale::Absolute(Vec3::ONE),
            ));
        }
        entity.try_insert(PreparedMolecule(template));
    };
    for (entity, molecule, detail, old, mass, crowd_only) in &waiting {
        let Some(template) = assets.get(&molecule.0) else {
            continue;
        };
        let template = PreparedTemplate::of(template);
        // A file takes an unknown number of frames to load, and its proxies may take some more.
        // With templates of the app, results must not depend on the duration of a task.
        if old.is_some() || molecule.0.path().is_none() || template.is_ready(*detail) {
            complete(entity, template, old, mass, crowd_only);
        }
    }
    if !changed.is_empty() {
        for (entity, molecule, old, mass, crowd_only) in &all {
            if let Some(template) = assets.get(&molecule.0)
                && changed.contains(&molecule.id())
            {
                // Loading a label of a file loads the file again.
                if **old.template() != *template {
                    let template = PreparedTemplate::of(template);
                    complete(entity, template, Some(old), mass, crowd_only);
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
    molecules: Query<(&PreparedMolecule, Option<&Collider>, MassComponents)>,
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
        entity.try_remove::<(Collider, ColliderScale)>();
        if !mass.is_collider_mass_of_app(&[&prepared.0]) {
            entity.try_remove::<ColliderMassProperties>();
        }
    }
    if mass.body != Some(&prepared.0.body_mass()) {
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
