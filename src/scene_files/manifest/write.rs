//! Writes a manifest.

use std::collections::HashMap;
use std::io::{BufWriter, Seek, Write};
use std::path::Path;
use std::sync::Arc;

use glam::Vec3;

use super::document::{
    Data, DataFile, Entity, Group, GroupId, Instances, Manifest, Positions, Root, RotationVariant,
    Rotations, View,
};
use super::sphere_cif::write_sphere_cif;
use super::zip_writer::ZipWriter;
use super::{MANIFEST, NUMBER_BYTES};
use crate::export::{
    ANGSTROM_PER_NM, ExportError, ExportOptions, ExportSummary, TemporaryFile, write_mmcif,
};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;
use crate::scene_files::additions::{KindAdditions, SceneAdditions, is_coarse, to_json};
use crate::scene_files::placed_poses::PlacedPoses;
use crate::scene_files::unique_names::UniqueNames;
use crate::scene_files::write::PROGRESS_EVERY;
use crate::scene_files::{Scene, SceneKind, WriteProgress};

/// Decimals of the coordinates of structures (Å): there is one structure per kind, so that more
/// than usual cost nothing, and centers of mass stay exact.
const DECIMALS: u8 = 6;

/// The root of all groups.
const ROOT: &str = "scene";

/// Buffer in front of the archive, bytes.
const BUFFER_BYTES: usize = 1 << 16;

/// Writes the archive completely or not at all.
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
    let mut temporary = TemporaryFile::create(path).map_err(with_path)?;
    let out = BufWriter::with_capacity(BUFFER_BYTES, &mut temporary.file);
    let summary = write_archive(out, scene, options, progress).map_err(|error| match error {
        ExportError::Write(source) => with_path(source),
        other => other,
    })?;
    temporary.rename_to(path).map_err(with_path)?;
    Ok(summary)
}

fn write_archive(
    out: impl Write + Seek,
    scene: &Scene,
    options: &ExportOptions,
    progress: WriteProgress<'_>,
) -> Result<ExportSummary, ExportError> {
    let mut zip = ZipWriter::new(out);
    let placed = PlacedPoses::new(scene, options);
    let mut names = UniqueNames::default();
    let mut structures: HashMap<*const MoleculeTemplate, String> = HashMap::new();
    let mut groups = Groups::default();
    let mut summary = ExportSummary::default();
    let mut manifest = Manifest {
        label: Some(title(scene, options).to_owned()),
        additions: Some(SceneAdditions::of(scene, Vec3::ZERO)),
        ..Manifest::default()
    };
    for kind in &scene.kinds {
        let stem = names.take_file(&kind.name);
        let template = &kind.template;
        let file = match structures.get(&Arc::as_ptr(template)) {
            Some(file) => file.clone(),
            None => {
                let file = format!("{stem}.cif");
                zip.add(&file, |out| write_structure(out, kind))?;
                structures.insert(Arc::as_ptr(template), file.clone());
                file
            }
        };
        let first = summary.molecules;
        let poses_file = format!("{stem}.poses");
        if !kind.poses.is_empty() {
            zip.add(&poses_file, |out| {
                write_poses(out, kind, first, &placed, progress)
            })?;
        }
        summary.molecules += kind.poses.len();
        summary.atoms += kind.poses.len() * template.atom_count();
        let to_byte = |part: f32| (part.clamp(0.0, 1.0) * 255.0).round();
        manifest.entities.push(Entity {
            file,
            label: Some(kind.name.clone()),
            color: kind.color.map(|color| color.map(to_byte)),
            groups: vec![groups.add(&kind.path)],
            instances: Some(instances(kind, &poses_file)),
            additions: Some(KindAdditions {
                path: Vec::new(),
                ..KindAdditions::of(kind)
            }),
        });
    }
    manifest.roots.push(Root {
        id: ROOT.to_owned(),
        label: manifest.label.clone(),
        children: groups.children,
    });
    let text = to_json(&manifest)?;
    zip.add(MANIFEST, |out| Ok(out.write_all(text.as_bytes())?))?;
    summary.bytes = zip.finish()?;
    progress(summary.molecules);
    Ok(summary)
}

/// The title of the options, else the name of the scene.
fn title<'a>(scene: &'a Scene, options: &'a ExportOptions) -> &'a str {
    if options.title.is_empty() {
        &scene.name
    } else {
        &options.title
    }
}

/// Writes the structure of a kind in its body frame.
fn write_structure(out: &mut dyn Write, kind: &SceneKind) -> Result<(), ExportError> {
    if is_coarse(&kind.template) {
        return write_sphere_cif(out, &kind.template, DECIMALS);
    }
    let options = ExportOptions {
        title: kind.name.clone(),
        decimals: DECIMALS,
        ..ExportOptions::default()
    };
    write_mmcif(out, [(&*kind.template, Pose::IDENTITY)], &options)?;
    Ok(())
}

/// Writes the positions (Å), then the rotations of a kind, whose first molecule is number `first`.
fn write_poses(
    out: &mut dyn Write,
    kind: &SceneKind,
    first: usize,
    placed: &PlacedPoses,
    progress: WriteProgress<'_>,
) -> Result<(), ExportError> {
    let mut out = BufWriter::with_capacity(BUFFER_BYTES, out);
    for (index, &pose) in kind.poses.iter().enumerate() {
        if index.is_multiple_of(PROGRESS_EVERY) {
            progress(first + index);
        }
        let (position, _) = placed.place(first + index, kind, pose)?;
        for value in (position * ANGSTROM_PER_NM).to_array() {
            out.write_all(&(value as f32).to_le_bytes())?;
        }
    }
    for pose in &kind.poses {
        for value in pose.normalized_once().rotation.to_array() {
            out.write_all(&value.to_le_bytes())?;
        }
    }
    out.flush()?;
    Ok(())
}

/// The places of the poses of a kind.
fn instances(kind: &SceneKind, file: &str) -> Instances {
    let [positions, rotations] = if kind.poses.is_empty() {
        // A view without bytes would be the whole file.
        [(); 2].map(|()| Data::Numbers(Vec::new()))
    } else {
        let count = kind.poses.len() as u64;
        let [position_bytes, rotation_bytes] = [3, 4].map(|n| count * n * NUMBER_BYTES as u64);
        let views = [(0, position_bytes), (position_bytes, rotation_bytes)];
        views.map(|(byte_offset, byte_length)| {
            Data::File(DataFile {
                file: file.to_owned(),
                view: Some(View {
                    byte_offset,
                    byte_length: Some(byte_length),
                }),
            })
        })
    };
    Instances {
        positions: Positions { data: positions },
        rotations: Rotations {
            variant: RotationVariant::Quaternion,
            data: rotations,
        },
    }
}

/// The tree of groups.
#[derive(Default)]
struct Groups {
    children: Vec<Group>,
    count: usize,
}

impl Groups {
    /// Adds the groups of a path, and returns the innermost one.
    fn add(&mut self, path: &[String]) -> GroupId {
        // Entities of the root itself have an empty id.
        let mut id = String::new();
        let mut children = &mut self.children;
        for name in path {
            let known = children
                .iter()
                .position(|group| group.label.as_ref() == Some(name));
            let index = known.unwrap_or_else(|| {
                self.count += 1;
                children.push(Group {
                    id: format!("group-{}", self.count),
                    root: ROOT.to_owned(),
                    label: Some(name.clone()),
                    children: Vec::new(),
                });
                children.len() - 1
            });
            let group = &mut children[index];
            id.clone_from(&group.id);
            children = &mut group.children;
        }
        GroupId {
            id,
            root: ROOT.to_owned(),
        }
    }
}
