//! Command-line options.

use std::fs;
use std::path::PathBuf;

use bevy_rapier_molecules::recipe::{ReadOptions, Recipe, RecipeError};
use clap::Parser;

use super::common::{AnyError, EXIT_CODES, SceneArguments};

/// Packs the molecules of a recipe until none overlap.
///
/// With a display it is an editor: numbers change while it packs, molecules are dragged, painted,
/// frozen and removed, and the others make room.
#[derive(Parser)]
#[command(after_help = EXIT_CODES)]
pub struct Arguments {
    /// Recipe: .json (cellPACK 2.0 or 2.1) or .bent (bentopy).
    #[arg(default_value = "assets/recipes/vesicle.json")]
    pub recipe: PathBuf,
    /// Let the recipe use files outside of its folder.
    #[arg(long)]
    allow_outside: bool,
    /// Folder with structure files that the recipe names; repeatable.
    #[arg(long, value_name = "DIR")]
    structures: Vec<PathBuf>,
    /// Write the molecules to this file without a window: .cif, .bcif, .zip (Mol*), .pdb, .gro
    /// (GROMACS), .data (LAMMPS), placements.json (bentopy) or other .json (cellPACK).
    #[arg(long, value_name = "FILE", conflicts_with = "screenshot")]
    pub export: Option<PathBuf>,
    #[command(flatten)]
    pub scene: SceneArguments,
    /// Number of steps without a window or before a screenshot: max iterations [default: until
    /// the molecules are at rest].
    #[arg(long, value_name = "N")]
    pub steps: Option<u32>,
    /// With --screenshot: show the panels of the editor.
    #[arg(long, requires = "screenshot")]
    pub panel: bool,
    /// Hide the front half to show the inside.
    #[arg(long)]
    pub cut_open: bool,
}

impl Arguments {
    /// How the recipe is read.
    pub fn read_options(&self) -> ReadOptions {
        ReadOptions {
            allow_outside: self.allow_outside,
            structure_folders: self.structures.clone(),
        }
    }

    /// Reads the recipe.
    pub fn load(&self) -> Result<Recipe, RecipeError> {
        Recipe::load(&self.recipe, &self.read_options())
    }

    /// Checks that the file of the recipe exists, without reading it.
    pub fn check_recipe(&self) -> Result<(), AnyError> {
        match fs::metadata(&self.recipe) {
            Ok(_) => Ok(()),
            Err(error) => Err(format!("cannot read '{}': {error}", self.recipe.display()).into()),
        }
    }
}
