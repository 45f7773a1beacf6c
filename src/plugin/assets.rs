//! Structure files as Bevy assets.

use bevy::asset::io::Reader;
use bevy::asset::{
    AssetApp, AssetLoadFailedEvent, AssetLoader, AssetTrackingSystems, LoadContext, LoadState,
};
use bevy::platform::collections::HashSet;
use bevy::prelude::*;
use bevy::reflect::TypePath;
use bevy::world_serialization::WorldAsset;

use super::asset_labels::add_labeled_assets;
use super::components::Molecule;
use super::prepared_molecule::PreparedTemplate;
use crate::molecule::{LoadOptions, MoleculeError, MoleculeTemplate, read_bytes};

/// Loads PDB, mmCIF and `BinaryCIF` files, plain or gzipped, as one rigid body each.
///
/// The shape of a molecule is built in the task of the loader, once for all molecules of a file.
///
/// # Settings
///
/// [`LoadOptions`] select the atoms and set their radii:
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     let without_hydrogens = |options: &mut LoadOptions| options.hydrogens = false;
///     let template = assets
///         .load_builder()
///         .with_settings(without_hydrogens)
///         .load("molecules/1ubq.cif");
///     commands.spawn(Molecule(template));
/// }
/// ```
///
/// The options may also be in a file, such as `1ubq.cif.meta`. Options that it does not mention
/// have their defaults:
///
/// ```ron
/// (
///     meta_format_version: "1.0",
///     asset: Load(
///         loader: "bevy_rapier_molecules::plugin::MoleculeLoader",
///         settings: (hydrogens: false),
///     ),
/// )
/// ```
///
/// # Labels
///
/// Parts of a file are labeled assets, with the same settings except for what the label selects:
///
/// | label | type | content |
/// |---|---|---|
/// | `1gzx.pdb#ChainA` | [`MoleculeTemplate`] | the chain `A` |
/// | `multi.pdb#Model2` | [`MoleculeTemplate`] | the model with the number 2 |
/// | `4udv.pdb#Assembly1` | [`MoleculeTemplate`] | all copies of the assembly `1` as one body |
/// | `4udv.pdb#Assembly1/Scene` | [`WorldAsset`] | a scene with one [`Molecule`] per copy |
/// | `4udv.pdb#Assembly1/Part1` | [`MoleculeTemplate`] | what the first operators of the assembly copy |
///
/// The molecules of a scene have their poses in the frame of the file. Spawn it with
/// [`WorldAssetRoot`], moved but not rotated: `bevy_rapier3d` 0.36 writes wrong transforms of
/// bodies whose parent is rotated.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     commands.spawn(Molecule(assets.load("molecules/1gzx.pdb#ChainA")));
///     commands.spawn(WorldAssetRoot(assets.load("molecules/4udv.pdb#Assembly1/Scene")));
/// }
/// ```
///
/// An unknown label is reported with a list of all labels. Of parts with more than 100,000 atoms,
/// only those that a handle refers to are built and listed.
#[derive(Clone, Copy, Debug, Default, TypePath)]
#[type_path = "bevy_rapier_molecules::plugin"]
pub struct MoleculeLoader;

impl AssetLoader for MoleculeLoader {
    type Asset = MoleculeTemplate;
    type Settings = LoadOptions;
    type Error = MoleculeError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        options: &LoadOptions,
        context: &mut LoadContext<'_>,
    ) -> Result<MoleculeTemplate, MoleculeError> {
        let mut bytes = Vec::new();
        let file = context.path().to_string();
        if let Err(source) = reader.read_to_end(&mut bytes).await {
            return Err(MoleculeError::Io { file, source });
        }
        let structure = read_bytes(&bytes, &file, options)?;
        let template = structure.template(options)?;
        PreparedTemplate::of(&template);
        add_labeled_assets(&structure, options, context);
        if !template.load_warnings().is_empty() {
            warn!("{file}: {}", template.load_warnings());
        }
        Ok(template)
    }

    fn extensions(&self) -> &[&str] {
        &[
            "pdb", "ent", "cif", "mmcif", "bcif", "gro", "pdb.gz", "ent.gz", "cif.gz", "mmcif.gz",
            "bcif.gz", "gro.gz",
        ]
    }
}

/// The file of a molecule is missing or invalid. The molecule has no collider and no mass.
/// The error is also logged.
#[derive(Clone, Debug, PartialEq, Eq, Message, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeLoadFailed {
    /// The entity with the [`Molecule`].
    pub molecule: Entity,
    /// The file.
    pub path: String,
    /// The error message.
    pub error: String,
}

/// Registers [`MoleculeTemplate`] as an asset and reports files that fail to load. Part of
/// [`MoleculePlugins`](super::MoleculePlugins). Adds Bevy's `AssetPlugin` unless the app has
/// it already, so add `DefaultPlugins` first.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoleculeAssetPlugin;

impl Plugin for MoleculeAssetPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<AssetPlugin>() {
            app.add_plugins(AssetPlugin::default());
        }
        // Without Bevy's `WorldSerializationPlugin`, the scenes of assemblies cannot be spawned.
        if !app.world().contains_resource::<Assets<WorldAsset>>() {
            app.init_asset::<WorldAsset>();
        }
        app.register_type::<MoleculeLoadFailed>()
            .init_asset::<MoleculeTemplate>()
            .init_asset_loader::<MoleculeLoader>()
            .add_message::<MoleculeLoadFailed>()
            .add_systems(PreUpdate, report_failures.after(AssetTrackingSystems));
    }
}

/// Reports the failure of a file for each of its molecules, including molecules that get its handle
/// after the failure.
fn report_failures(
    mut failures: MessageReader<AssetLoadFailedEvent<MoleculeTemplate>>,
    server: Res<AssetServer>,
    molecules: Query<(Entity, Ref<Molecule>)>,
    mut reports: MessageWriter<MoleculeLoadFailed>,
) {
    let mut failed = HashSet::new();
    for failure in failures.read() {
        error!(
            "failed to load molecule {}: {}",
            failure.path, failure.error
        );
        failed.insert(failure.id);
    }
    for (entity, molecule) in &molecules {
        let id = molecule.id();
        if !(molecule.is_changed() || failed.contains(&id)) {
            continue;
        }
        if let Some(LoadState::Failed(error)) = server.get_load_state(id) {
            reports.write(MoleculeLoadFailed {
                molecule: entity,
                path: molecule
                    .0
                    .path()
                    .map(ToString::to_string)
                    .unwrap_or_default(),
                error: error.to_string(),
            });
        }
    }
}
