//! Files of placed molecules: how fast each format is written and read, and how much memory
//! writing takes beyond the scene.
//!
//! The scene is a vesicle of POPC lipids as they were placed, not relaxed. Files are written to
//! the temporary folder, with the time to bring them to disk, and deleted.

mod common;

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Instant;

use bevy_rapier_molecules::export::ExportOptions;
use bevy_rapier_molecules::scene_files::{
    ReadSceneOptions, Scene, SceneFormat, SceneKind, read_scene, write_scene,
};
use clap::Args;
use common::{Column, Done, Part, Run, cells};

/// Bytes in a megabyte.
const MEGABYTE: f64 = 1.0e6;

#[derive(Args)]
struct Options {
    /// Number of lipids [default: 29,850, 4 million atoms].
    #[arg(long, value_name = "N")]
    lipids: Option<u32>,
    /// Only the format of this name.
    #[arg(long, value_name = "FORMAT")]
    format: Option<String>,
}

fn main() -> ExitCode {
    let about = "Files of placed molecules";
    let parts = [Part::new(
        "formats",
        "speed, size and memory of each format",
        formats,
    )];
    common::run("scene_files", about, &parts)
}

/// A vesicle of about this number of lipids.
fn scene(lipids: u32) -> Scene {
    let popc = Arc::new(common::molecules::popc());
    let vesicle = common::molecules::vesicle_of(&popc, lipids);
    let kind = |_: usize, template: &Arc<_>| SceneKind {
        path: vec!["vesicle".to_owned()],
        ..SceneKind::new("POPC", Arc::clone(template))
    };
    let (scene, _) = Scene::of_crowd(&vesicle.crowd, |_| 0, kind);
    Scene {
        name: "vesicle".to_owned(),
        ..scene
    }
}

/// The extension of a format.
fn file_name(format: SceneFormat) -> &'static str {
    match format {
        SceneFormat::Pdb => "scene.pdb",
        SceneFormat::Mmcif => "scene.cif",
        SceneFormat::InstancedMmcif => "instances.cif",
        SceneFormat::BinaryCif => "scene.bcif",
        SceneFormat::Manifest => "scene.zip",
        SceneFormat::BentopyPlacements => "placements.json",
        SceneFormat::CellpackResults => "results.json",
        SceneFormat::Gro => "scene.gro",
        SceneFormat::LammpsData => "scene.data",
        _ => "scene",
    }
}

fn formats(run: &mut Run, options: &Options) -> Done {
    let scene = scene(options.lipids.unwrap_or(run.pick(29_850, 300)));
    let atoms = scene.atom_count();
    let title = format!(
        "Files of {} lipids with {atoms} atoms: size of all files, time to write and to read them, \
         and peak of the resident memory while writing, beyond that of the scene.",
        scene.molecule_count()
    );
    let columns = vec![
        Column::text("format"),
        Column::measured("size", "MB").decimals(1),
        Column::measured("written in", "s").decimals(2),
        Column::measured("written", "MB/s").decimals(0),
        Column::measured("atoms written", "million/s").decimals(1),
        Column::measured("memory", "MB").decimals(1),
        Column::measured("read in", "s").decimals(2),
        Column::number("kinds read"),
    ];
    let folder = std::env::temp_dir().join(format!("scene_files_bench_{}", std::process::id()));
    // All are written before the first is read: memory that reading leaves behind would hide what
    // writing needs.
    let mut written = Vec::new();
    for format in SceneFormat::ALL {
        let wanted = options.format.as_deref();
        if wanted.is_none_or(|name| name == format.name()) {
            written.push(write(&scene, format, &folder.join(format.name()))?);
        }
    }
    let mut table = run.table(&title, columns);
    for Written {
        format,
        path,
        seconds,
        size,
        memory,
    } in written
    {
        let begin = Instant::now();
        let read = ReadSceneOptions {
            format: Some(format),
            ..ReadSceneOptions::default()
        };
        let read = read_scene(&path, &read)?;
        table.row(cells![
            format.name(),
            size / MEGABYTE,
            seconds,
            size / MEGABYTE / seconds,
            atoms as f64 / 1.0e6 / seconds,
            memory.map(|bytes| bytes / MEGABYTE),
            begin.elapsed().as_secs_f64(),
            read.kinds.len(),
        ]);
    }
    Ok(fs::remove_dir_all(&folder)?)
}

/// A written file.
struct Written {
    format: SceneFormat,
    path: PathBuf,
    seconds: f64,
    /// Size of all files, bytes.
    size: f64,
    /// Peak of the resident memory beyond that before, bytes.
    memory: Option<f64>,
}

fn write(scene: &Scene, format: SceneFormat, folder: &Path) -> Result<Written, Box<dyn Error>> {
    fs::create_dir_all(folder)?;
    let path = folder.join(file_name(format));
    let before = reset_peak();
    let begin = Instant::now();
    write_scene(
        &path,
        scene,
        Some(format),
        &ExportOptions::default(),
        &mut |_| {},
    )?;
    let seconds = begin.elapsed().as_secs_f64();
    let memory = peak().zip(before);
    Ok(Written {
        format,
        path,
        seconds,
        size: size_of(folder)?,
        memory: memory.map(|(peak, before)| (peak - before).max(0.0)),
    })
}

/// Total size of the files in a folder, bytes.
fn size_of(folder: &Path) -> std::io::Result<f64> {
    let mut bytes = 0;
    let mut folders: Vec<PathBuf> = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            match entry.file_type()?.is_dir() {
                true => folders.push(entry.path()),
                false => bytes += entry.metadata()?.len(),
            }
        }
    }
    Ok(bytes as f64)
}

/// Starts a new peak of the resident memory at its current size, which is returned (bytes). Linux
/// only.
fn reset_peak() -> Option<f64> {
    fs::write("/proc/self/clear_refs", "5").ok()?;
    peak()
}

/// Peak of the resident memory of this process, bytes. Linux only.
fn peak() -> Option<f64> {
    let status = fs::read_to_string("/proc/self/status").ok()?;
    let line = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kibibytes: f64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(1024.0 * kibibytes)
}
