//! Options of the commands that read recipes.

use std::io::{self, Write};
use std::path::{Path, PathBuf};

use bevy_rapier_molecules::recipe::{ReadOptions, Recipe, RecipeError, RecipeWarning};
use clap::Args;

/// How a recipe is read.
#[derive(Args)]
pub struct RecipeArguments {
    /// Let the recipe use files outside of its folder.
    #[arg(long)]
    pub allow_outside: bool,
    /// Folder with structure files that the recipe names; repeatable.
    #[arg(long, value_name = "DIR")]
    pub structures: Vec<PathBuf>,
}

impl RecipeArguments {
    /// Reads a recipe and its files.
    pub fn load(&self, path: &Path) -> Result<Recipe, RecipeError> {
        let options = ReadOptions {
            allow_outside: self.allow_outside,
            structure_folders: self.structures.clone(),
        };
        Recipe::load(path, &options)
    }
}

/// Prints warnings about a recipe to standard error.
pub fn print_recipe_warnings(recipe: &Recipe, warnings: &[RecipeWarning]) {
    for warning in warnings {
        // A warning that cannot be printed is no reason to stop.
        let _ = writeln!(io::stderr(), "warning: {}: {warning}", recipe.source);
    }
}
