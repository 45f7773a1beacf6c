//! Structure files as Bevy assets.

use bevy::asset::io::Reader;
use bevy::asset::{AssetApp, AssetLoadFailedEvent, AssetLoader, AssetTrackingSystems, LoadContext};
use bevy::prelude::*;
use bevy::reflect::TypePath;

use super::components::Molecule;
use crate::molecule::{LoadOptions, MoleculeError, MoleculeTemplate, read_bytes};

/// Loads PDB, mmCIF and `BinaryCIF` files, plain or gzipped, as one rigid body each.
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
#[derive(Clone, Copy, Debug, Default, TypePath)]
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
        let template = read_bytes(&bytes, &file, options)?.template(options)?;
        if !template.load_warnings().is_empty() {
            warn!("{file}: {}", template.load_warnings());
        }
        Ok(template)
    }

    fn extensions(&self) -> &[&str] {
        &[
            "pdb", "ent", "cif", "mmcif", "bcif", "pdb.gz", "ent.gz", "cif.gz", "mmcif.gz",
            "bcif.gz",
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
        app.register_type::<MoleculeLoadFailed>()
            .init_asset::<MoleculeTemplate>()
            .init_asset_loader::<MoleculeLoader>()
            .add_message::<MoleculeLoadFailed>()
            .add_systems(PreUpdate, report_failures.after(AssetTrackingSystems));
    }
}

/// Reports the failure of a file for each of its molecules.
fn report_failures(
    mut failures: MessageReader<AssetLoadFailedEvent<MoleculeTemplate>>,
    molecules: Query<(Entity, &Molecule)>,
    mut reports: MessageWriter<MoleculeLoadFailed>,
) {
    for failure in failures.read() {
        error!(
            "failed to load molecule {}: {}",
            failure.path, failure.error
        );
        for (molecule, Molecule(handle)) in &molecules {
            if handle.id() == failure.id {
                reports.write(MoleculeLoadFailed {
                    molecule,
                    path: failure.path.to_string(),
                    error: failure.error.to_string(),
                });
            }
        }
    }
}
