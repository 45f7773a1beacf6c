//! What an entity needs to be a molecule.

use bevy::prelude::*;
use bevy_rapier3d::prelude::{Group, RigidBody, Velocity};

use crate::dynamics::{ContactGroups, ContactMaterial};
use crate::molecule::MoleculeTemplate;

/// A rigid molecule. This one component is enough to spawn:
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     commands.spawn((
///         Molecule(assets.load("molecules/1gzx.pdb")),
///         Transform::from_xyz(0.0, 8.0, 0.0),
///     ));
/// }
/// ```
///
/// The entity's [`Transform`] is the pose of the molecule's centre of mass, 1 unit =
/// 1 nm. Until the file is loaded the body has no mass and stays where it is; then it
/// gets a collider and its mass and inertia. The scale of the transform must be 1.
#[derive(Clone, Debug, Default, Component, Reflect)]
#[reflect(Component, Debug, Default)]
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
#[derive(Clone, Copy, Debug, PartialEq, Component, Reflect)]
#[reflect(Component, Debug, Default, PartialEq)]
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
    /// What the contact solver needs to know; impossible numbers become the default.
    pub(super) fn surface(&self) -> (ContactMaterial, ContactGroups) {
        let material = ContactMaterial {
            restitution: self.restitution,
            friction: self.friction,
            frequency_hz: self.frequency_hz,
            damping_ratio: self.damping_ratio,
        };
        let groups = ContactGroups {
            memberships: self.memberships.bits(),
            filter: self.filter.bits(),
        };
        match material.check() {
            Ok(()) => (material, groups),
            Err(error) => {
                error!("a MoleculeMaterial cannot be, and the default is taken: {error}");
                (ContactMaterial::default(), groups)
            }
        }
    }
}

/// A molecule that nothing moves: a receptor, a wall. Its body is [`RigidBody::Fixed`]
/// as long as it has this component, and dynamic again when it is removed.
#[derive(Clone, Copy, Debug, Default, Component, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct StaticMolecule;

/// A molecule without a Rapier collider: it meets other molecules in
/// [`ContactModel::Crowd`](super::ContactModel::Crowd), and nothing else.
///
/// For crowds of ten thousand molecules in scenes without ordinary colliders: Rapier's
/// broad phase then has nothing to do. Insert it together with the [`Molecule`].
#[derive(Clone, Copy, Debug, Default, Component, Reflect)]
#[reflect(Component, Debug, Default)]
pub struct CrowdOnly;

/// Which spheres stand for a molecule among other molecules in
/// [`ContactModel::Crowd`](super::ContactModel::Crowd).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Component, Reflect)]
#[reflect(Component, Debug, Default, PartialEq)]
pub enum MoleculeDetail {
    /// Each atom.
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

/// Whether a molecule overlaps others at the moment: the red and green of the thesis.
///
/// Written only when it changes, so `Changed<Colliding>` is a cheap filter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Component, Reflect)]
#[reflect(Component, Debug, Default, PartialEq)]
pub struct Colliding {
    /// Number of molecules that it overlaps.
    pub molecules: u32,
}

impl Colliding {
    /// Whether it overlaps any.
    #[must_use]
    pub fn any(&self) -> bool {
        self.molecules > 0
    }
}
