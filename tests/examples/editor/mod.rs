//! The editor of the lipid bilayer without its window: presets and their files, parameters
//! that change under way, the thread, and exports.

#[path = "../../../examples/lipid_bilayer/molecules.rs"]
mod molecules;
#[path = "../../../examples/lipid_bilayer/preset.rs"]
mod preset;
mod presets;
#[path = "../../../examples/lipid_bilayer/simulation.rs"]
mod simulation;
mod simulations;
#[path = "../../../examples/lipid_bilayer/worker.rs"]
mod worker;
mod workers;

use std::fs;
use std::path::{Path, PathBuf};

use preset::Preset;

/// A vesicle that comes to rest in a moment.
fn small() -> Preset {
    Preset {
        outer: 70,
        inner: 6,
        radius: 3.2,
        tolerance: Some(0.2),
        ..Preset::default()
    }
}

/// A path for a file of a test, where there is none yet.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("editor");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    path
}

/// Files that nobody can write, not even who may write everything: in a folder that does
/// not exist, and in one that is a file.
fn unwritable(name: &str) -> [PathBuf; 2] {
    let file = scratch(&format!("not_a_folder_for_{name}"));
    fs::write(&file, "no folder").unwrap();
    [scratch("nowhere").join(name), file.join(name)]
}
