//! Recipes as Bevy assets.

use std::io;
use std::path::{Path, PathBuf};

use bevy::asset::io::{AssetReaderError, Reader};
use bevy::asset::{
    AssetApp, AssetLoader, AssetPath, AssetTrackingSystems, LoadContext, ReadAssetBytesError,
};

use bevy::prelude::*;
use bevy::reflect::TypePath;

use super::packed_recipe::{
    InRecipe, PackedRecipe, RecipeFailed, RecipeMembers, RecipePacked, RecipeState, finish_packing,
    remove_molecules, report_failures, start_packing,
};
use crate::recipe::{FilesInMemory, ReadOptions, Recipe, RecipeError, RecipeProblem};

/// Loads recipes of cellPACK and bentopy, with all files that they refer to: structures, meshes,
/// sphere trees. They are in the same asset source as the recipe, or
/// [bundled](crate::recipe::bundled_structures).
///
/// Any path works if the type of the handle is known, as in a [`PackedRecipe`]. By its extension
/// alone, as in `load_untyped`, a file is a recipe if it ends with `.recipe.json` or `.bent`:
/// other loaders of an app may want other `.json` files.
///
/// ```no_run
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*, recipe::Recipe};
/// fn load(assets: Res<AssetServer>) {
///     let recipe: Handle<Recipe> = assets.load("recipes/vesicle.json");
/// }
/// ```
///
/// An invalid recipe is logged, with the file, the place in it and the problem. With Bevy's feature
/// `file_watcher`, a recipe is loaded again when it or one of its files changes.
///
/// # Settings
///
/// [`ReadOptions`], as code or in a file such as `vesicle.json.meta`. Folders with structure files
/// are paths of the asset source. No setting lets a recipe leave its source.
#[derive(Clone, Copy, Debug, Default, TypePath)]
#[type_path = "bevy_rapier_molecules::plugin"]
pub struct RecipeLoader;

impl AssetLoader for RecipeLoader {
    type Asset = Recipe;
    type Settings = ReadOptions;
    type Error = RecipeError;

    async fn load(
        &self,
        reader: &mut dyn Reader,
        options: &ReadOptions,
        context: &mut LoadContext<'_>,
    ) -> Result<Recipe, RecipeError> {
        let source = context.path().to_string();
        let mut text = Vec::new();
        if let Err(error) = reader.read_to_end(&mut text).await {
            return Err(RecipeProblem::Io(error).at(&source, ""));
        }
        let folder = context.path().path().parent().unwrap_or(Path::new(""));
        let folder = folder.to_owned();
        let mut files = FilesInMemory::default();
        loop {
            let recipe = Recipe::read_in_memory(&text, &source, &folder, options, &files);
            let missing = files.missing();
            if missing.is_empty() {
                for warning in recipe.iter().flat_map(|recipe| &recipe.warnings) {
                    warn!("{source}: {warning}");
                }
                return recipe;
            }
            drop(recipe);
            for path in missing {
                let content = read(context, &path).await;
                files.insert(path, content);
            }
        }
    }

    fn extensions(&self) -> &[&str] {
        &["recipe.json", "bent"]
    }
}

/// A file in the asset source of a recipe, which now depends on it.
async fn read(context: &mut LoadContext<'_>, path: &Path) -> io::Result<Vec<u8>> {
    let source = context.path().source().clone_owned();
    let path = AssetPath::from_path_buf(PathBuf::from(path)).with_source(source);
    let read = context.read_asset_bytes(path).await;
    read.map_err(|error| match error {
        ReadAssetBytesError::AssetReaderError(AssetReaderError::NotFound(_)) => {
            io::ErrorKind::NotFound.into()
        }
        ReadAssetBytesError::AssetReaderError(AssetReaderError::Io(error)) => {
            io::Error::new(error.kind(), error.to_string())
        }
        ReadAssetBytesError::Io { source, .. } => source,
        error => io::Error::other(error.to_string()),
    })
}

/// Registers [`Recipe`] as an asset, and packs the recipes of [`PackedRecipe`]s. Part of
/// [`MoleculePlugins`](super::MoleculePlugins), after
/// [`MoleculeAssetPlugin`](super::MoleculeAssetPlugin).
#[derive(Clone, Copy, Debug, Default)]
pub struct MoleculeRecipePlugin;

impl Plugin for MoleculeRecipePlugin {
    fn build(&self, app: &mut App) {
        app.register_type::<PackedRecipe>()
            .register_type::<RecipeState>()
            .register_type::<(InRecipe, RecipeMembers)>()
            .register_type::<RecipePacked>()
            .register_type::<RecipeFailed>()
            .init_asset::<Recipe>()
            .init_asset_loader::<RecipeLoader>()
            .add_message::<RecipePacked>()
            .add_message::<RecipeFailed>()
            .add_observer(remove_molecules)
            .add_systems(
                PreUpdate,
                (report_failures, start_packing, finish_packing)
                    .chain()
                    .after(AssetTrackingSystems),
            );
    }
}
