//! Writes placements and structure files.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{DMat3, DVec3, Quat, Vec3};

use super::Corners;
use crate::export::text_rows::{TextRows, scale};
use crate::export::{
    ANGSTROM_PER_NM, ExportError, ExportOptions, ExportSummary, TemporaryFile, write_file,
    write_pdb,
};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;
use crate::scene_files::additions::{KEY, KindAdditions, SceneAdditions, to_json};
use crate::scene_files::json::push_numbers;
use crate::scene_files::placed_poses::PlacedPoses;
use crate::scene_files::unique_names::UniqueNames;
use crate::scene_files::write::PROGRESS_EVERY;
use crate::scene_files::{Scene, SceneKind, WriteProgress};

/// Decimals of coordinates in PDB files, ångström.
const PDB_DECIMALS: u8 = 3;

/// Writes the structure files, then the placements. If that fails, no new file is left.
pub(in crate::scene_files) fn write(
    path: &Path,
    scene: &Scene,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    let with_path = |source| ExportError::File {
        path: path.to_owned(),
        source,
    };
    let structures = Structures::new(path, scene)?;
    // All poses are checked before the first structure file is written.
    let mut temporary = TemporaryFile::create(path).map_err(with_path)?;
    let written = write_placements(&mut temporary.file, scene, &structures, options, progress);
    let summary = written.map_err(|error| match error {
        ExportError::Write(source) => with_path(source),
        other => other,
    })?;
    let mut new = NewFiles::default();
    structures.write(&mut new)?;
    temporary.rename_to(path).map_err(with_path)?;
    new.keep();
    Ok(summary)
}

/// The structure files of a scene, one for each template.
struct Structures<'a> {
    folder: PathBuf,
    files: HashMap<*const MoleculeTemplate, String>,
    /// Kinds with a file, in the order of the scene.
    first_kinds: Vec<&'a SceneKind>,
}

impl<'a> Structures<'a> {
    /// Names the files, and checks that they can be written.
    fn new(path: &Path, scene: &'a Scene) -> Result<Self, ExportError> {
        let stem = path.file_stem().unwrap_or_default().to_string_lossy();
        let stem = stem.strip_suffix(".placements").unwrap_or(&stem);
        let mut names = UniqueNames::default();
        let mut structures = Self {
            folder: path.with_file_name(format!("{stem}_structures")),
            files: HashMap::new(),
            first_kinds: Vec::new(),
        };
        for kind in &scene.kinds {
            let template = Arc::as_ptr(&kind.template);
            if let Entry::Vacant(entry) = structures.files.entry(template) {
                write_structure(io::sink(), kind)?;
                entry.insert(format!("{}.pdb", names.take_file(&kind.name)));
                structures.first_kinds.push(kind);
            }
        }
        Ok(structures)
    }

    fn file(&self, kind: &SceneKind) -> &str {
        self.files
            .get(&Arc::as_ptr(&kind.template))
            .map_or("", String::as_str)
    }

    /// Path of the file of a kind, as bentopy reads it.
    fn path(&self, kind: &SceneKind) -> String {
        let folder = self.folder.file_name().unwrap_or_default();
        format!("{}/{}", folder.to_string_lossy(), self.file(kind))
    }

    fn write(&self, new: &mut NewFiles) -> Result<(), ExportError> {
        if self.first_kinds.is_empty() {
            return Ok(());
        }
        match fs::create_dir(&self.folder) {
            Ok(()) => new.folder = Some(self.folder.clone()),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(source) => {
                let path = self.folder.clone();
                return Err(ExportError::File { path, source });
            }
        }
        for kind in &self.first_kinds {
            let path = self.folder.join(self.file(kind));
            let is_new = !path.exists();
            write_file(&path, |writer| write_structure(writer, kind))?;
            if is_new {
                new.files.push(path);
            }
        }
        Ok(())
    }
}

fn write_structure(writer: impl io::Write, kind: &SceneKind) -> Result<ExportSummary, ExportError> {
    let options = ExportOptions {
        title: kind.name.clone(),
        ..ExportOptions::default()
    };
    write_pdb(writer, [(&*kind.template, Pose::IDENTITY)], &options)
}

/// Files and a folder that are removed unless they are kept.
#[derive(Default)]
struct NewFiles {
    files: Vec<PathBuf>,
    folder: Option<PathBuf>,
}

impl NewFiles {
    fn keep(mut self) {
        self.files.clear();
        self.folder = None;
    }
}

impl Drop for NewFiles {
    fn drop(&mut self) {
        // The export has failed already, and a second error cannot be reported.
        for file in &self.files {
            let _ = fs::remove_file(file);
        }
        if let Some(folder) = &self.folder {
            let _ = fs::remove_dir(folder);
        }
    }
}

fn write_placements(
    writer: impl io::Write,
    scene: &Scene,
    structures: &Structures<'_>,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    let mut rows = TextRows::new(writer);
    let [low, high] = scene.extent();
    let title = match options.title.as_str() {
        "" => &scene.name,
        title => title,
    };
    rows.push(&format!("{{\"title\":{},\n\"size\":", to_json(title)?));
    push_numbers(&mut rows.buffer, &(high - low).to_array());
    let mut includes: Vec<&String> = Vec::new();
    for include in scene.kinds.iter().flat_map(|kind| &kind.topology.includes) {
        if !includes.contains(&include) {
            includes.push(include);
        }
    }
    rows.push(&format!(",\n\"topol_includes\":{},\n", to_json(&includes)?));
    let additions = to_json(&SceneAdditions::of(scene, low))?;
    rows.push(&format!("\"{KEY}\":{additions},\n\"placements\":["));

    let placed = PlacedPoses::new(scene, options);
    let mut summary = ExportSummary::default();
    for (index, kind) in scene.kinds.iter().enumerate() {
        rows.push(if index > 0 { ",\n" } else { "\n" });
        let name = to_json(kind.molecule_type())?;
        let path = to_json(&structures.path(kind))?;
        rows.push(&format!("{{\"name\":{name},\"tag\":null,\"path\":{path},"));
        if let Some(additions) = additions_of(kind).to_json()? {
            rows.push(&format!("\"{KEY}\":{additions},"));
        }
        rows.push("\"batches\":[");
        let writer = KindWriter {
            kind,
            corners: Corners::new(file_atoms(kind.template.positions().iter().copied())),
            origin: low.as_dvec3(),
            placed: &placed,
        };
        writer.write(&mut rows, summary.molecules, progress)?;
        rows.push("]}");
        summary.molecules += kind.poses.len();
        summary.atoms += kind.poses.len() * kind.template.atom_count();
    }
    rows.push("\n]}");
    rows.end_row()?;
    summary.bytes = rows.finish()?;
    progress(summary.molecules);
    Ok(summary)
}

/// What bentopy does not say about a kind.
fn additions_of(kind: &SceneKind) -> KindAdditions {
    KindAdditions {
        name: (kind.name != kind.molecule_type()).then(|| kind.name.clone()),
        color: kind.color,
        ..KindAdditions::of(kind)
    }
}

/// Atoms (nm) as in the PDB file of their template: rounded.
pub(super) fn file_atoms(atoms: impl Iterator<Item = Vec3>) -> Vec<DVec3> {
    let unit = 10_f64.powi(i32::from(PDB_DECIMALS)) * ANGSTROM_PER_NM;
    let round = |nm: f64| scale(nm * ANGSTROM_PER_NM, PDB_DECIMALS) as f64 / unit;
    atoms
        .map(|atom| DVec3::from_array(atom.as_dvec3().to_array().map(round)))
        .collect()
}

struct KindWriter<'a> {
    kind: &'a SceneKind,
    corners: Corners,
    /// The point that is the origin of the file, nm.
    origin: DVec3,
    placed: &'a PlacedPoses,
}

impl KindWriter<'_> {
    /// Writes the batches of molecules from number `first`.
    fn write(
        &self,
        rows: &mut TextRows<impl io::Write>,
        first: usize,
        progress: WriteProgress<'_>,
    ) -> Result<(), ExportError> {
        // Rotation of the batch, and its offset from poses to corners.
        let mut batch: Option<(Quat, DVec3)> = None;
        for (index, &pose) in self.kind.poses.iter().enumerate() {
            if index.is_multiple_of(PROGRESS_EVERY) {
                progress(first + index);
            }
            let (position, rotation) = self.placed.place(first + index, self.kind, pose)?;
            let offset = match batch {
                Some((current, offset)) if current == rotation => {
                    rows.push(",");
                    offset
                }
                _ => {
                    rows.push(if batch.is_some() { "]}," } else { "" });
                    rows.end_row()?;
                    let matrix = DMat3::from_quat(rotation.as_dquat().normalize());
                    rows.push("{\"rotation\":[");
                    for axis in 0..3 {
                        rows.push(if axis > 0 { "," } else { "" });
                        push_numbers(&mut rows.buffer, &matrix.row(axis).as_vec3().to_array());
                    }
                    rows.push("],\"positions\":[");
                    let offset = self.corners.offset(matrix);
                    batch = Some((rotation, offset));
                    offset
                }
            };
            let corner = position + offset - self.origin;
            push_numbers(&mut rows.buffer, &corner.as_vec3().to_array());
        }
        rows.push(if batch.is_some() { "]}" } else { "" });
        Ok(())
    }
}
