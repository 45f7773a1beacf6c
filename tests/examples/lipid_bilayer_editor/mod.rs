//! The editor of `lipid_bilayer` without its window: presets, the simulation with changing
//! parameters, and its thread.

#[path = "../../../examples/lipid_bilayer/library.rs"]
mod library;
#[path = "../../../examples/lipid_bilayer/membrane_scene.rs"]
mod membrane_scene;
mod membrane_tests;
#[path = "../../../examples/lipid_bilayer/molecule_kind.rs"]
mod molecule_kind;
#[path = "../../../examples/lipid_bilayer/preset.rs"]
mod preset;
mod preset_tests;
#[path = "../../../examples/lipid_bilayer/scene.rs"]
mod scene;
#[path = "../../../examples/lipid_bilayer/simulation.rs"]
mod simulation;
mod simulation_tests;
#[path = "../../../examples/lipid_bilayer/species_entry.rs"]
mod species_entry;
#[path = "../../../examples/lipid_bilayer/worker.rs"]
mod worker;
mod worker_tests;

use std::fs;
use std::path::{Path, PathBuf};

use preset::Preset;

/// A vesicle that relaxes quickly.
fn small() -> Preset {
    Preset {
        outer: 70,
        inner: 6,
        radius: 3.2,
        tolerance: Some(0.2),
        ..Preset::one_lipid()
    }
}

/// A path for a temporary file. Deletes an existing file.
fn scratch(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("editor");
    fs::create_dir_all(&folder).unwrap();
    let path = folder.join(name);
    let _ = fs::remove_file(&path);
    path
}

/// Files that cannot be written even by root: in a missing folder, and in a folder that is a
/// file.
fn unwritable(name: &str) -> [PathBuf; 2] {
    let file = scratch(&format!("not_a_folder_for_{name}"));
    fs::write(&file, "not a folder").unwrap();
    [scratch("missing").join(name), file.join(name)]
}
