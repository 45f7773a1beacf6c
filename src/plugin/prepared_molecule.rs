//! From a loaded file to a body: collider, mass, surface.

use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use bevy::platform::collections::{HashMap, HashSet};
use bevy::prelude::*;
use bevy_rapier3d::prelude::{
    AdditionalMassProperties, Collider, ColliderMassProperties, ColliderScale, CollisionGroups,
    Friction, Group, MassProperties, RapierRigidBodySet, Restitution, RigidBody,
};
use bevy_rapier3d::rapier::dynamics::MassProperties as RapierMassProperties;
use bevy_rapier3d::rapier::geometry::SharedShape;

use super::components::{CrowdOnly, Molecule, MoleculeDetail, MoleculeMaterial, StaticMolecule};
use crate::dynamics::MemberSpheres;
use crate::molecule::MoleculeTemplate;
use crate::proxy::ProxyCache;
use crate::rapier::MoleculeShape;

/// What all molecules of one file share.
#[derive(Debug)]
pub struct PreparedTemplate {
    template: Arc<MoleculeTemplate>,
    shape: MoleculeShape,
    atoms: OnceLock<Arc<MemberSpheres>>,
    residues: OnceLock<Arc<MemberSpheres>>,
    whole: OnceLock<Arc<MemberSpheres>>,
    proxies: ProxyCache,
    /// What stands for molecules with so many proxies.
    by_proxies: Mutex<HashMap<u32, Arc<MemberSpheres>>>,
}

impl PreparedTemplate {
    fn new(template: &MoleculeTemplate) -> Self {
        let template = Arc::new(template.clone());
        Self {
            shape: MoleculeShape::new(template.clone()),
            proxies: ProxyCache::new(template.clone()),
            by_proxies: Mutex::default(),
            template,
            atoms: OnceLock::new(),
            residues: OnceLock::new(),
            whole: OnceLock::new(),
        }
    }

    /// The template.
    #[must_use]
    pub fn template(&self) -> &Arc<MoleculeTemplate> {
        &self.template
    }

    /// The shape that Rapier and queries see.
    #[must_use]
    pub fn shape(&self) -> &MoleculeShape {
        &self.shape
    }

    /// Its proxies: made when they are first asked for, and kept.
    #[must_use]
    pub fn proxies(&self) -> &ProxyCache {
        &self.proxies
    }

    fn by_proxies(&self, count: u32) -> Arc<MemberSpheres> {
        let count = count.max(1);
        let mut known = self
            .by_proxies
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let make = || {
            let spheres = match self.proxies.get(count as usize) {
                Ok(set) => MemberSpheres {
                    centers: set.centers().to_vec(),
                    radii: set.radii().to_vec(),
                },
                Err(error) => {
                    let name = self.template.name();
                    error!("{name} is one sphere, since it has no proxies: {error}");
                    MemberSpheres::whole(&self.template)
                }
            };
            Arc::new(spheres)
        };
        known.entry(count).or_insert_with(make).clone()
    }

    /// The spheres of one detail.
    pub(super) fn spheres(&self, detail: MoleculeDetail) -> Arc<MemberSpheres> {
        let make = |cell: &OnceLock<Arc<MemberSpheres>>, build: fn(&MoleculeTemplate) -> _| {
            cell.get_or_init(|| Arc::new(build(&self.template))).clone()
        };
        match detail {
            MoleculeDetail::Atoms => make(&self.atoms, MemberSpheres::atoms),
            MoleculeDetail::Residues => make(&self.residues, MemberSpheres::residues),
            MoleculeDetail::Proxies(count) => self.by_proxies(count),
            MoleculeDetail::Whole => make(&self.whole, MemberSpheres::whole),
        }
    }

    fn mass_properties(&self) -> MassProperties {
        MassProperties {
            local_center_of_mass: Vec3::ZERO,
            mass: self.template.mass(),
            principal_inertia_local_frame: self.template.principal_axes(),
            principal_inertia: self.template.principal_inertia(),
        }
    }
}

/// A molecule whose file is loaded and whose body is made. Added by the plugin.
#[derive(Clone, Debug, Component)]
pub struct PreparedMolecule(pub(super) Arc<PreparedTemplate>);

impl PreparedMolecule {
    /// What it shares with all molecules of its file.
    #[must_use]
    pub fn shared(&self) -> &PreparedTemplate {
        &self.0
    }
}

/// One [`PreparedTemplate`] for each file.
#[derive(Default, Resource)]
pub(super) struct PreparedTemplates(HashMap<AssetId<MoleculeTemplate>, Arc<PreparedTemplate>>);

/// Gives molecules whose file has arrived, or has changed, their body.
pub(super) fn prepare_molecules(
    mut commands: Commands,
    mut prepared: ResMut<PreparedTemplates>,
    assets: Res<Assets<MoleculeTemplate>>,
    mut events: MessageReader<AssetEvent<MoleculeTemplate>>,
    waiting: Query<
        (Entity, &Molecule, Has<CrowdOnly>),
        Or<(Changed<Molecule>, Without<PreparedMolecule>)>,
    >,
    all: Query<(Entity, &Molecule, &PreparedMolecule, Has<CrowdOnly>)>,
) {
    let mut stale = HashSet::new();
    for event in events.read() {
        match event {
            // A molecule may have been given another file before that was loaded.
            AssetEvent::Added { id } => {
                stale.insert(*id);
            }
            AssetEvent::Modified { id } => {
                prepared.0.remove(id);
                stale.insert(*id);
            }
            AssetEvent::Removed { id } => {
                prepared.0.remove(id);
            }
            _ => {}
        }
    }
    let mut equip =
        |entity: Entity, molecule: &Molecule, body: Option<&PreparedMolecule>, crowd_only: bool| {
            let id = molecule.0.id();
            let Some(template) = assets.get(id) else {
                return;
            };
            let ready: &Arc<PreparedTemplate> = prepared
                .0
                .entry(id)
                .or_insert_with(|| Arc::new(PreparedTemplate::new(template)));
            if body.is_some_and(|body| Arc::ptr_eq(&body.0, ready)) {
                return;
            }
            let mut entity = commands.entity(entity);
            entity.try_insert((
                PreparedMolecule(ready.clone()),
                AdditionalMassProperties::MassProperties(ready.mass_properties()),
            ));
            if !crowd_only {
                entity.try_insert((
                    Collider::from(SharedShape::new(ready.shape.clone())),
                    // The body has the molecule's mass; its shape adds none.
                    ColliderMassProperties::Density(0.0),
                    ColliderScale::Absolute(Vec3::ONE),
                ));
            }
        };
    for (entity, molecule, crowd_only) in &waiting {
        equip(entity, molecule, None, crowd_only);
    }
    if !stale.is_empty() {
        for (entity, molecule, body, crowd_only) in &all {
            if stale.contains(&molecule.0.id()) {
                equip(entity, molecule, Some(body), crowd_only);
            }
        }
    }
}

/// Takes back what a molecule was given for its body when it is one no more. What the app
/// has put in the place of it stays.
pub(super) fn drop_body(
    removed: On<Remove, Molecule>,
    mut commands: Commands,
    molecules: Query<(
        &PreparedMolecule,
        Option<&Collider>,
        Option<&AdditionalMassProperties>,
    )>,
    mut contexts: Query<&mut RapierRigidBodySet>,
) {
    let Ok((PreparedMolecule(shared), collider, mass)) = molecules.get(removed.entity) else {
        return;
    };
    let Ok(mut entity) = commands.get_entity(removed.entity) else {
        return;
    };
    entity.try_remove::<PreparedMolecule>();
    let shape = collider.and_then(|collider| collider.raw.as_shape::<MoleculeShape>());
    if shape.is_some_and(|shape| Arc::ptr_eq(shape.template(), shared.template())) {
        entity.try_remove::<(Collider, ColliderMassProperties, ColliderScale)>();
    }
    let given = AdditionalMassProperties::MassProperties(shared.mass_properties());
    if mass != Some(&given) {
        return;
    }
    entity.try_remove::<AdditionalMassProperties>();
    // Rapier does not look at a mass that is removed.
    for mut context in &mut contexts {
        let handle = context.entity2body().get(&removed.entity).copied();
        if let Some(body) = handle.and_then(|handle| context.bodies.get_mut(handle)) {
            body.set_additional_mass_properties(RapierMassProperties::default(), true);
        }
    }
}

/// Passes a molecule's surface on to its collider, and says when it is an impossible one.
pub(super) fn apply_materials(
    mut commands: Commands,
    changed: Query<(Entity, &MoleculeMaterial), (Changed<MoleculeMaterial>, With<Molecule>)>,
) {
    for (entity, material) in &changed {
        if let Err(error) = material.contact_material().check() {
            error!("molecule {entity} has the default material: {error}");
        }
        let (surface, _) = material.surface();
        let mut entity = commands.entity(entity);
        entity.try_insert((
            Friction::coefficient(surface.friction),
            Restitution::coefficient(surface.restitution),
        ));
        // Whoever leaves the groups alone may have set Rapier's.
        if material.memberships != Group::ALL || material.filter != Group::ALL {
            entity.try_insert(CollisionGroups::new(material.memberships, material.filter));
        }
    }
}

/// Fixes the bodies of static molecules.
pub(super) fn fix_static(added: On<Insert, StaticMolecule>, mut bodies: Query<&mut RigidBody>) {
    if let Ok(mut body) = bodies.get_mut(added.entity) {
        *body = RigidBody::Fixed;
    }
}

/// Frees the bodies of molecules that are static no more.
pub(super) fn free_static(
    removed: On<Remove, StaticMolecule>,
    mut bodies: Query<&mut RigidBody, With<Molecule>>,
) {
    if let Ok(mut body) = bodies.get_mut(removed.entity) {
        *body = RigidBody::Dynamic;
    }
}
