//! The components of a molecule.

use bevy::asset::AsAssetId;
use bevy::ecs::template::FromTemplate;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{RigidBody, Velocity};

use crate::dynamics::ContactMaterial;
// The derive of `FromTemplate` adds a type with the usual name to this module.
use crate::molecule::MoleculeTemplate as StructureTemplate;

/// A rigid molecule. This component is enough to spawn one:
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     let molecule = Molecule(assets.load("molecules/popc.pdb"));
///     commands.spawn((molecule, Transform::from_xyz(0.0, 8.0, 0.0)));
/// }
/// ```
///
/// The entity's [`Transform`] is the pose of the center of mass, in nm; its scale must be 1. Until
/// the file is loaded, the body has no mass and does not move. Then it gets a collider, its mass
/// (Da) and its inertia (Da·nm²). The handle may change at any time: the old body stays until the
/// new file is loaded. Removing the component removes the collider and the mass.
///
/// Default: no file.
#[derive(
    Clone, Debug, Default, PartialEq, Eq, Deref, DerefMut, Component, FromTemplate, Reflect,
)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(
    RigidBody,
    Velocity,
    Transform,
    Visibility,
    MoleculeMaterial,
    MoleculeDetail,
    Colliding
)]
pub struct Molecule(pub Handle<StructureTemplate>);

impl From<Handle<StructureTemplate>> for Molecule {
    fn from(handle: Handle<StructureTemplate>) -> Self {
        Self(handle)
    }
}

impl From<Molecule> for AssetId<StructureTemplate> {
    fn from(molecule: Molecule) -> Self {
        molecule.id()
    }
}

impl From<&Molecule> for AssetId<StructureTemplate> {
    fn from(molecule: &Molecule) -> Self {
        molecule.id()
    }
}

impl AsAssetId for Molecule {
    type Asset = StructureTemplate;

    fn as_asset_id(&self) -> AssetId<StructureTemplate> {
        self.id()
    }
}

/// Stiffness of the contacts of a molecule with other molecules, in
/// [`ContactModel::Crowd`](super::ContactModel::Crowd).
///
/// Rapier's components set the rest, as for any collider: `Friction`, `Restitution`,
/// `CollisionGroups` and others, see the [table](super#components-of-rapier). May change at any
/// time. If a value is invalid, the default material is used and an error is logged.
#[derive(Clone, Copy, Debug, PartialEq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
pub struct MoleculeMaterial {
    /// Frequency of the contact spring, Hz: how fast overlaps are resolved. Limited to a quarter of
    /// the substep rate. Default: 60 Hz.
    pub frequency_hz: f32,
    /// Damping ratio of the contact spring; 1 is critical. Default: 10.
    pub damping_ratio: f32,
}

impl Default for MoleculeMaterial {
    fn default() -> Self {
        let material = ContactMaterial::default();
        Self {
            frequency_hz: material.frequency_hz,
            damping_ratio: material.damping_ratio,
        }
    }
}

/// A molecule that does not move, such as a receptor or a wall. Its body is
/// [`RigidBody::Fixed`] while it has this component, and dynamic after its removal.
#[derive(Clone, Copy, Debug, Default, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
#[require(Molecule)]
pub struct StaticMolecule;

/// A molecule without a Rapier collider: in [`ContactModel::Crowd`](super::ContactModel::Crowd) it
/// collides with other molecules, and with nothing else.
///
/// Rapier's own queries do not find it; [`MoleculeQueries`](super::MoleculeQueries) do. For crowds of
/// ten thousand molecules in scenes without ordinary colliders: it saves the update of Rapier's
/// tree, some 3 ms per substep. Insert it together with the [`Molecule`].
#[derive(Clone, Copy, Debug, Default, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default)]
pub struct CrowdOnly;

/// Which spheres represent a molecule in contacts with other molecules, in
/// [`ContactModel::Crowd`](super::ContactModel::Crowd). Fewer spheres are faster. Contacts
/// with ordinary colliders and queries always use the atoms. May change at any time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum MoleculeDetail {
    /// Each atom. Default.
    #[default]
    Atoms,
    /// One sphere around each residue.
    Residues,
    /// This many [proxies](crate::proxy), at least one. If the molecule has no more atoms
    /// than that, its atoms. They are computed once per file: before a molecule of a file gets its
    /// body, in a background task; after a change of this component, in that frame.
    Proxies(u32),
    /// One sphere around the whole molecule.
    Whole,
}

/// How many other molecules a molecule touches: the red and green of the thesis.
///
/// Written by the plugin only when it changes, so `Changed<Colliding>` is a cheap filter.
/// [`TouchingMolecules`](super::TouchingMolecules) lists the other molecules.
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
