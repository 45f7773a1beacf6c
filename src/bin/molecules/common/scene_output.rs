//! Files with placed molecules: options, writing with progress, and certificates.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::certificate::{Certificate, CertificateOptions, certify, certify_scene};
use bevy_rapier_molecules::export::{ExportError, ExportOptions, ExportSummary, write_pdb};
use bevy_rapier_molecules::scene_files::{
    ReadSceneOptions, Scene, SceneFormat, SceneKind, read_scene, write_scene,
};
use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use serde::Serialize;

use super::{AnyError, Progress};

/// Writing that takes less than this shows no progress.
const QUIET: Duration = Duration::from_secs(1);

/// How molecules are written.
#[derive(Args)]
pub struct OutputArguments {
    /// Format of the file to write [default: that of its extension].
    #[arg(long, value_name = "FORMAT", value_parser = format_parser())]
    pub format: Option<SceneFormat>,
    /// Decimals of coordinates in files with all atoms: in ångström, in .gro files in nm, from 3.
    #[arg(long, value_name = "N", default_value_t = ExportOptions::default().decimals)]
    pub decimals: u8,
}

/// The names of formats.
pub fn format_parser() -> impl TypedValueParser<Value = SceneFormat> {
    PossibleValuesParser::new(SceneFormat::ALL.map(SceneFormat::name)).map(|name| {
        let mut formats = SceneFormat::ALL.into_iter();
        // The parser accepts no other names.
        formats
            .find(|format| format.name() == name)
            .unwrap_or(SceneFormat::Pdb)
    })
}

impl OutputArguments {
    /// By how much the rounding of coordinates can bring two atoms closer, nm, beyond the clearance
    /// of a relaxation.
    pub fn rounding_nm(&self, format: SceneFormat) -> f32 {
        match format {
            // Half of the last digit along each axis, of both atoms.
            SceneFormat::Gro => 1.8 * 0.1_f32.powi(i32::from(self.decimals.clamp(3, 6))),
            _ => 0.0,
        }
    }

    /// The format of the file to write.
    pub fn format_of(&self, path: &Path) -> Result<SceneFormat, ExportError> {
        let named = || SceneFormat::from_name(&path.to_string_lossy());
        self.format
            .or_else(named)
            .ok_or_else(|| ExportError::UnknownFormat {
                path: path.to_owned(),
            })
    }
}

/// The written file.
#[derive(Debug, Serialize)]
pub struct WrittenFile {
    pub file: String,
    pub molecules: usize,
    pub atoms: usize,
    /// Size before compression.
    pub bytes: u64,
}

impl WrittenFile {
    pub fn new(file: String, summary: &ExportSummary) -> Self {
        Self {
            file,
            molecules: summary.molecules,
            atoms: summary.atoms,
            bytes: summary.bytes,
        }
    }
}

/// Checks before the work that the format can hold the molecules: a PDB file as a whole, other
/// files with one molecule of each kind, in a temporary folder.
pub fn rehearse(
    path: &Path,
    scene: &Scene,
    format: SceneFormat,
    options: &ExportOptions,
) -> Result<(), AnyError> {
    if format == SceneFormat::Pdb {
        write_pdb(io::sink(), scene.instances(), options)?;
        return Ok(());
    }
    let one_each = Scene {
        name: scene.name.clone(),
        kinds: scene.kinds.iter().map(first_of).collect(),
        periodic_box: scene.periodic_box,
        bounds: scene.bounds,
    };
    let folder = std::env::temp_dir().join(format!("molecules-{}", std::process::id()));
    let name = path.file_name().unwrap_or_default();
    let result = std::fs::create_dir_all(&folder)
        .map_err(AnyError::from)
        .and_then(|()| {
            let target = folder.join(name);
            Ok(write_scene(
                target,
                &one_each,
                Some(format),
                options,
                &mut |_| {},
            )?)
        });
    // What cannot be deleted is left to the system.
    let _ = std::fs::remove_dir_all(&folder);
    result.map(drop)
}

/// A kind with its first molecule.
fn first_of(kind: &SceneKind) -> SceneKind {
    SceneKind {
        path: kind.path.clone(),
        file: kind.file.clone(),
        color: kind.color,
        topology: kind.topology.clone(),
        poses: kind.poses.first().copied().into_iter().collect(),
        ..SceneKind::new(&*kind.name, Arc::clone(&kind.template))
    }
}

/// Writes a scene and shows progress.
pub fn write_with_progress(
    path: &Path,
    scene: &Scene,
    format: SceneFormat,
    options: &ExportOptions,
    progress: &mut Progress,
) -> Result<WrittenFile, ExportError> {
    let molecules = scene.molecule_count();
    let shown = path.display().to_string();
    let begin = Instant::now();
    let written = write_scene(path, scene, Some(format), options, &mut |done| {
        if begin.elapsed() < QUIET {
            return;
        }
        progress.update(done as f64 / molecules.max(1) as f64, || {
            format!("writing {shown}: {done} of {molecules} molecules")
        });
    });
    progress.clear();
    Ok(WrittenFile::new(
        path.to_string_lossy().into_owned(),
        &written?,
    ))
}

/// The certificate of a written file; none if the format has no atoms, as the results of cellPACK.
///
/// Files whose coordinates are moved into a box from the origin are compared by distances only, not
/// by the places of the members.
pub fn certificate_of(
    path: &Path,
    format: SceneFormat,
    structures: &[PathBuf],
    options: &CertificateOptions<'_>,
) -> Result<Option<Certificate>, AnyError> {
    if format == SceneFormat::CellpackResults {
        return Ok(None);
    }
    if format.is_structure() {
        return Ok(Some(certify(path, options)?));
    }
    let read = ReadSceneOptions {
        format: Some(format),
        merge_copies: false,
        structure_folders: structures.to_vec(),
        ..ReadSceneOptions::default()
    };
    let scene = read_scene(path, &read)?;
    let is_moved = matches!(format, SceneFormat::Gro | SceneFormat::BentopyPlacements);
    let options = CertificateOptions {
        crowd: options.crowd.filter(|_| !is_moved),
        ..*options
    };
    Ok(Some(certify_scene(
        &path.to_string_lossy(),
        &scene,
        &options,
    )?))
}
