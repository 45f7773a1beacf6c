//! Structure files as Bevy assets.

use bevy::asset::io::Reader;
use bevy::asset::{
    Asset, AssetApp, AssetLoadFailedEvent, AssetLoader, AssetTrackingSystems, LoadContext,
    UntypedAssetId, VisitAssetDependencies,
};
use bevy::prelude::*;
use bevy::reflect::TypePath;
use thiserror::Error;

use super::components::Molecule;
use crate::molecule::{LoadOptions, MoleculeError, MoleculeTemplate, read_bytes};

impl Asset for MoleculeTemplate {}

impl VisitAssetDependencies for MoleculeTemplate {
    fn visit_dependencies(&self, _visit: &mut impl FnMut(UntypedAssetId)) {}
}

impl TypePath for MoleculeTemplate {
    fn type_path() -> &'static str {
        "bevy_rapier_molecules::molecule::MoleculeTemplate"
    }

    fn short_type_path() -> &'static str {
        "MoleculeTemplate"
    }

    fn type_ident() -> Option<&'static str> {
        Some("MoleculeTemplate")
    }

    fn crate_name() -> Option<&'static str> {
        Some("bevy_rapier_molecules")
    }

    fn module_path() -> Option<&'static str> {
        Some("bevy_rapier_molecules::molecule")
    }
}

/// Reads PDB, mmCIF and `BinaryCIF` files, plain or gzipped, as one rigid body each.
///
/// What is taken from the file and how large atoms are is set by [`LoadOptions`]:
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// fn spawn(mut commands: Commands, assets: Res<AssetServer>) {
///     let dry = |options: &mut LoadOptions| options.hydrogens = false;
///     let template = assets
///         .load_builder()
///         .with_settings(dry)
///         .load("molecules/1ubq.cif");
///     commands.spawn(Molecule(template));
/// }
/// ```
#[derive(Clone, Copy, Debug, Default, TypePath)]
pub struct MoleculeLoader;

/// Why a structure file could not become an asset.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum MoleculeLoaderError {
    /// The file cannot be read.
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    /// The file does not say what a structure file should.
    #[error(transparent)]
    Molecule(#[from] MoleculeError),
}

impl AssetLoader for MoleculeLoader {
    type Asset = MoleculeTemplate;
    type Settings = LoadOptions;
    type Error = MoleculeLoaderError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        options: &LoadOptions,
        context: &mut LoadContext<'_>,
    ) -> Result<MoleculeTemplate, MoleculeLoaderError> {
        let mut bytes = Vec::new();
        reader.read_to_end(&mut bytes).await?;
        let source = context.path().to_string();
        let template = read_bytes(&bytes, &source, options)?.template(options)?;
        if !template.load_warnings().is_empty() {
            warn!("{source}: {}", template.load_warnings());
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

/// A molecule's file is missing or broken. The molecule stays without a collider and a
/// mass; the app goes on. The log says the same.
///
/// ```
/// # use std::{thread::sleep, time::Duration};
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
/// #[derive(Resource, Default)]
/// struct Heard(Vec<MoleculeLoadFailed>);
/// app.init_resource::<Heard>();
/// app.add_systems(
///     Update,
///     |mut failures: MessageReader<MoleculeLoadFailed>, mut heard: ResMut<Heard>| {
///         heard.0.extend(failures.read().cloned());
///     },
/// );
/// let missing = app.world().resource::<AssetServer>().load("molecules/none.pdb");
/// let molecule = app.world_mut().spawn(Molecule(missing)).id();
/// # for _ in 0..2000 {
/// #     app.update();
/// #     if !app.world().resource::<Heard>().0.is_empty() {
/// #         break;
/// #     }
/// #     sleep(Duration::from_millis(1));
/// # }
///
/// // A few frames later it is known that there is no such file.
/// let [failure] = &app.world().resource::<Heard>().0[..] else {
///     return Err("it is not told once".into());
/// };
/// assert_eq!(failure.molecule, molecule);
/// assert_eq!(failure.path, "molecules/none.pdb");
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Message, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeLoadFailed {
    /// The entity with the [`Molecule`].
    pub molecule: Entity,
    /// The file.
    pub path: String,
    /// What is wrong with it, in a sentence.
    pub error: String,
}

/// Makes [`MoleculeTemplate`] an asset and reports files that fail. Part of
/// [`MoleculePlugins`](super::MoleculePlugins). Adds Bevy's `AssetPlugin` if the app has
/// none: `DefaultPlugins` have to be added before it.
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

/// Tells each molecule of a file that failed.
fn report_failures(
    mut failures: MessageReader<AssetLoadFailedEvent<MoleculeTemplate>>,
    molecules: Query<(Entity, &Molecule)>,
    mut reports: MessageWriter<MoleculeLoadFailed>,
) {
    for failure in failures.read() {
        error!(
            "the molecule {} could not be loaded: {}",
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
