//! Options of the commands that read files with placed molecules.

use std::path::PathBuf;

use bevy_rapier_molecules::scene_files::{ReadSceneOptions, SceneFormat};
use clap::{Args, ValueEnum};

use super::scene_output::format_parser;

/// How files with placed molecules are read.
#[derive(Args)]
pub struct InputArguments {
    /// Format of the file to read [default: that of its extension and content].
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    from: Option<SceneFormat>,
    /// Folder with structure files that a .json file names; repeatable [default: that of the file].
    #[arg(long, value_name = "DIR")]
    pub structures: Vec<PathBuf>,
    /// Order of the quaternions in results of cellPACK.
    #[arg(long, value_enum, default_value_t = Quaternions::Wxyz)]
    quaternions: Quaternions,
}

/// Order of the parts of a quaternion.
#[derive(Clone, Copy, ValueEnum)]
enum Quaternions {
    /// The scalar part first, as cellPACK writes them.
    Wxyz,
    /// The scalar part last, as Simularium reads them.
    Xyzw,
}

impl InputArguments {
    /// How the file is read.
    pub fn read_options(&self) -> ReadSceneOptions {
        ReadSceneOptions {
            format: self.from,
            structure_folders: self.structures.clone(),
            w_first: matches!(self.quaternions, Quaternions::Wxyz),
            ..ReadSceneOptions::default()
        }
    }
}
