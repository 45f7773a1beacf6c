//! What an entity needs to be a molecule.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{Group, RigidBody, Velocity};

use crate::dynamics::{ContactMaterial, InteractionGroups};
use crate::molecule::MoleculeTemplate;

/// A rigid molecule. This one component is enough to spawn:
///
/// ```
/// # use std::{thread::sleep, time::Duration};
/// # use bevy_rapier_molecules::plugin::PreparedMolecule;
/// # use bevy::prelude::*;
/// # use bevy_rapier3d::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut app = App::new();
/// # app.add_plugins((
/// #     MinimalPlugins,
/// #     TransformPlugin,
/// #     RapierPhysicsPlugin::<NoUserData>::default(),
/// #     MoleculePlugins::default().with_backend(Backend::Cpu),
/// # ));
/// # app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 60.0, substeps: 2 });
/// # app.finish();
/// # app.cleanup();
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     commands.spawn((
///         Molecule(assets.load("molecules/popc.pdb")),
///         Transform::from_xyz(0.0, 8.0, 0.0),
///     ));
/// }
/// # app.add_systems(Startup, spawn);
/// # let mut loaded = app.world_mut().query::<(&PreparedMolecule, &AdditionalMassProperties)>();
/// # for _ in 0..2000 {
/// #     app.update();
/// #     if loaded.iter(app.world()).next().is_some() {
/// #         break;
/// #     }
/// #     sleep(Duration::from_millis(1));
/// # }
///
/// // A few frames later the file is loaded, and the body has its mass.
/// let (molecule, mass) = loaded.single(app.world())?;
/// let template = molecule.shared().template();
/// assert_eq!(template.atom_count(), 134);
/// assert!(matches!(mass, AdditionalMassProperties::MassProperties(body)
///     if body.mass == template.mass()));
/// # Ok(())
/// # }
/// ```
///
/// The entity's [`Transform`] is the pose of the molecule's center of mass, 1 unit =
/// 1 nm. Until the file is loaded the body has no mass and stays where it is; then it
/// gets a collider, its mass (Da) and its inertia (Da·nm²). Another handle may be given at
/// any time: the old body stays until the new file is loaded. Without this component it has
/// neither collider nor mass of a molecule, and touches none. The scale of the transform must
/// be 1. Default: no file.
#[derive(Clone, Debug, Default, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
#[require(
    RigidBody,
    Velocity,
    Transform,
    Visibility,
    MoleculeMaterial,
    MoleculeDetail,
    Colliding
)]
pub struct Molecule(pub Handle<MoleculeTemplate>);

/// Surface of a molecule.
///
/// Friction and restitution act on everything the molecule touches; frequency and
/// damping on other molecules in [`ContactModel::Crowd`](super::ContactModel::Crowd).
/// May be changed at any time. Impossible numbers are answered by the default, and the log
/// says so once for each change.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier3d::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut app = App::new();
/// # app.add_plugins((
/// #     MinimalPlugins,
/// #     TransformPlugin,
/// #     RapierPhysicsPlugin::<NoUserData>::default(),
/// #     MoleculePlugins::default().with_backend(Backend::Cpu),
/// # ));
/// # app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 60.0, substeps: 2 });
/// # app.finish();
/// # app.cleanup();
/// # let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// # let lipid = app.world_mut().resource_mut::<Assets<MoleculeTemplate>>().add(lipid);
/// // Two lipids in nearly the same place, of a group that does not touch itself.
/// let ghost = MoleculeMaterial {
///     restitution: 0.8,
///     memberships: Group::GROUP_2,
///     filter: Group::ALL.difference(Group::GROUP_2),
///     ..default()
/// };
/// let ghosts = [0.0, 0.2].map(|x| {
///     let at = Transform::from_xyz(x, 0.0, 0.0);
///     app.world_mut().spawn((Molecule(lipid.clone()), ghost, at)).id()
/// });
/// for _ in 0..4 {
///     app.update();
/// }
/// for ghost in ghosts {
///     let world = app.world();
///     assert!(!world.get::<Colliding>(ghost).ok_or("it is gone")?.any());
///     // The surface is also that of the Rapier collider.
///     let restitution = world.get::<Restitution>(ghost).ok_or("it has none")?;
///     assert_eq!(restitution.coefficient, 0.8);
/// }
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct MoleculeMaterial {
    /// Fraction of the approach speed that is given back, from 0 to 1. Default: 0.
    pub restitution: f32,
    /// Coulomb's coefficient of friction. Default: 0.5.
    pub friction: f32,
    /// Frequency of the contact spring, Hz: how fast overlaps are pushed apart.
    /// Limited to a quarter of the substep rate. Default: 60 Hz.
    pub frequency_hz: f32,
    /// Damping ratio of the contact spring: 1 is critical. Default: 10.
    pub damping_ratio: f32,
    /// Groups that the molecule is in. Unless this and `filter` are all groups, they
    /// are also the [`CollisionGroups`](bevy_rapier3d::prelude::CollisionGroups) of its
    /// collider. Default: all.
    pub memberships: Group,
    /// Groups that it touches. Default: all.
    pub filter: Group,
}

impl Default for MoleculeMaterial {
    fn default() -> Self {
        let ContactMaterial {
            restitution,
            friction,
            frequency_hz,
            damping_ratio,
        } = ContactMaterial::default();
        Self {
            restitution,
            friction,
            frequency_hz,
            damping_ratio,
            memberships: Group::ALL,
            filter: Group::ALL,
        }
    }
}

impl MoleculeMaterial {
    /// The numbers of the contact as they are given, possible or not.
    pub(super) fn contact_material(&self) -> ContactMaterial {
        ContactMaterial {
            restitution: self.restitution,
            friction: self.friction,
            frequency_hz: self.frequency_hz,
            damping_ratio: self.damping_ratio,
        }
    }

    /// What the contact solver needs to know; impossible numbers become the default.
    pub(super) fn surface(&self) -> (ContactMaterial, InteractionGroups) {
        let material = self.contact_material();
        let material = match material.check() {
            Ok(()) => material,
            Err(_) => ContactMaterial::default(),
        };
        let groups = InteractionGroups {
            memberships: self.memberships.bits(),
            filter: self.filter.bits(),
        };
        (material, groups)
    }
}

/// A molecule that nothing moves: a receptor, a wall. Its body is [`RigidBody::Fixed`]
/// as long as it has this component, and dynamic again when it is removed.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier3d::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut app = App::new();
/// # app.add_plugins((
/// #     MinimalPlugins,
/// #     TransformPlugin,
/// #     RapierPhysicsPlugin::<NoUserData>::default(),
/// #     MoleculePlugins::default().with_backend(Backend::Cpu),
/// # ));
/// # app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 60.0, substeps: 2 });
/// # app.finish();
/// # app.cleanup();
/// # let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// # let lipid = app.world_mut().resource_mut::<Assets<MoleculeTemplate>>().add(lipid);
/// let receptor = app.world_mut().spawn((Molecule(lipid), StaticMolecule)).id();
/// for _ in 0..10 {
///     app.update();
/// }
/// let height = |app: &App| app.world().get::<Transform>(receptor).map(|at| at.translation.y);
/// assert_eq!(height(&app), Some(0.0));
///
/// // Without it the molecule falls like any other.
/// app.world_mut().entity_mut(receptor).remove::<StaticMolecule>();
/// for _ in 0..10 {
///     app.update();
/// }
/// assert!(height(&app).is_some_and(|height| height < 0.0), "{:?}", height(&app));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
#[require(Molecule)]
pub struct StaticMolecule;

/// A molecule without a Rapier collider: it collides with other molecules in
/// [`ContactModel::Crowd`](super::ContactModel::Crowd), and with nothing else.
///
/// For crowds of ten thousand molecules in scenes without ordinary colliders: Rapier's
/// broad phase then has nothing to do. Insert it together with the [`Molecule`].
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier3d::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut app = App::new();
/// # app.add_plugins((
/// #     MinimalPlugins,
/// #     TransformPlugin,
/// #     RapierPhysicsPlugin::<NoUserData>::default(),
/// #     MoleculePlugins::default().with_backend(Backend::Cpu),
/// # ));
/// # app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 60.0, substeps: 2 });
/// # app.finish();
/// # app.cleanup();
/// # let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// # let lipid = app.world_mut().resource_mut::<Assets<MoleculeTemplate>>().add(lipid);
/// let molecule = app.world_mut().spawn((Molecule(lipid), CrowdOnly)).id();
/// for _ in 0..4 {
///     app.update();
/// }
/// // It has a body, which falls, and nothing that others of Rapier could meet.
/// let molecule = app.world().entity(molecule);
/// assert!(molecule.contains::<RapierRigidBodyHandle>());
/// assert!(!molecule.contains::<Collider>());
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
pub struct CrowdOnly;

/// Which spheres stand for a molecule among other molecules in
/// [`ContactModel::Crowd`](super::ContactModel::Crowd). The fewer, the faster.
/// Ordinary colliders and queries always meet the atoms. May be changed at any time.
/// Default: atoms.
///
/// ```
/// # use bevy_rapier_molecules::plugin::MoleculeWorld;
/// # use bevy::prelude::*;
/// # use bevy_rapier3d::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut app = App::new();
/// # app.add_plugins((
/// #     MinimalPlugins,
/// #     TransformPlugin,
/// #     RapierPhysicsPlugin::<NoUserData>::default(),
/// #     MoleculePlugins::default().with_backend(Backend::Cpu),
/// # ));
/// # app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 60.0, substeps: 2 });
/// # app.finish();
/// # app.cleanup();
/// # let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// # let lipid = app.world_mut().resource_mut::<Assets<MoleculeTemplate>>().add(lipid);
/// /// How many spheres stand for all molecules.
/// fn spheres(app: &mut App) -> Result<usize, Box<dyn std::error::Error>> {
///     let mut worlds = app.world_mut().query::<&MoleculeWorld>();
///     Ok(worlds.single(app.world())?.contacts().spheres().len())
/// }
///
/// // Nine spheres in the place of 134 atoms.
/// let molecule = app.world_mut().spawn((Molecule(lipid), MoleculeDetail::Proxies(9))).id();
/// for _ in 0..4 {
///     app.update();
/// }
/// assert_eq!(spheres(&mut app)?, 9);
///
/// app.world_mut().entity_mut(molecule).insert(MoleculeDetail::Atoms);
/// app.update();
/// assert_eq!(spheres(&mut app)?, 134);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum MoleculeDetail {
    /// Each atom. Default.
    #[default]
    Atoms,
    /// One sphere around each residue.
    Residues,
    /// So many [proxies](crate::proxy); as many as there are atoms, or more, are the atoms.
    /// Zero counts as one.
    Proxies(u32),
    /// One sphere around the whole molecule.
    Whole,
}

/// Whether a molecule touches others at the moment: the red and green of the thesis.
///
/// Written by the plugin, and only when it changes, so `Changed<Colliding>` is a cheap
/// filter. [`TouchingMolecules`](super::TouchingMolecules) tells whom it touches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct Colliding {
    /// Number of molecules that it touches. Default: 0.
    pub molecules: u32,
}

impl Colliding {
    /// Whether it touches any.
    #[must_use]
    pub fn any(&self) -> bool {
        self.molecules > 0
    }
}
