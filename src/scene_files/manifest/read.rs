//! Reads a manifest.

use std::collections::HashMap;
use std::rc::Rc;

use glam::{DMat3, DVec3, EulerRot, Quat};

use super::document::{
    Data, DataFile, Entity, Group, GroupId, Instances, Manifest, Root, RotationVariant,
};
use super::zip_reader::{ZipArchive, ZipError};
use super::{MANIFEST, NUMBER_BYTES};
use crate::export::ANGSTROM_PER_NM;
use crate::molecule::{AssemblyChoice, LoadOptions, Structure, proper_rotation, read_bytes};
use crate::scene_files::json::read_json;
use crate::scene_files::structure_files::{
    CoarseTemplates, StructureFile, of_structure, read_structure_file,
};
use crate::scene_files::world_pose::{unit_quaternion, world_pose};
use crate::scene_files::{ReadSceneOptions, Scene, SceneFormat, SceneKind, SceneReadError};

/// Reads an archive.
pub(in crate::scene_files) fn read(
    bytes: &[u8],
    source: &str,
    options: &ReadSceneOptions,
) -> Result<Scene, SceneReadError> {
    let zip = ZipArchive::open(bytes).map_err(|(name, error)| of_zip(source, &name, &error))?;
    let mut reader = Reader {
        source,
        options,
        zip,
        structures: HashMap::new(),
        coarse: CoarseTemplates::default(),
        place: String::new(),
    };
    let text = reader.file(MANIFEST)?;
    let manifest: Manifest = read_json(&text, &format!("{source}/{MANIFEST}"))?;
    let paths = paths_of(&manifest.roots);
    let mut scene = Scene {
        name: manifest.label.unwrap_or_default(),
        ..Scene::default()
    };
    for (number, entity) in manifest.entities.iter().enumerate() {
        if entity.file.to_ascii_lowercase().ends_with(".ply") {
            continue;
        }
        let path = entity.groups.first().and_then(|group| paths.get(group));
        reader.place = format!("entities[{number}]");
        let path = path.cloned().unwrap_or_default();
        reader.add_kinds(entity, path, &mut scene)?;
    }
    if let Some(additions) = &manifest.additions {
        additions.apply(&mut scene, source)?;
    }
    Ok(scene)
}

/// The labels of all groups from the outermost to the innermost, without the root.
fn paths_of(roots: &[Root]) -> HashMap<GroupId, Vec<String>> {
    let mut paths = HashMap::new();
    let mut open: Vec<(&Group, Vec<String>)> = Vec::new();
    for root in roots {
        open.extend(root.children.iter().map(|group| (group, Vec::new())));
    }
    while let Some((group, mut path)) = open.pop() {
        path.push(group.label.as_ref().unwrap_or(&group.id).clone());
        let id = GroupId {
            id: group.id.clone(),
            root: group.root.clone(),
        };
        open.extend(group.children.iter().map(|child| (child, path.clone())));
        paths.insert(id, path);
    }
    paths
}

fn of_zip(source: &str, name: &str, error: &ZipError) -> SceneReadError {
    SceneReadError::Invalid {
        file: source.to_owned(),
        place: if name.is_empty() { "archive" } else { name }.to_owned(),
        problem: error.to_string(),
    }
}

struct Reader<'a> {
    source: &'a str,
    options: &'a ReadSceneOptions,
    zip: ZipArchive<'a>,
    structures: HashMap<String, Loaded>,
    coarse: CoarseTemplates,
    /// The current entity.
    place: String,
}

/// A structure file of the archive.
#[derive(Clone)]
struct Loaded {
    one: StructureFile,
    /// The structure, if it has assemblies.
    assembled: Option<Rc<Structure>>,
}

impl Reader<'_> {
    fn invalid(&self, field: &str, problem: impl Into<String>) -> SceneReadError {
        SceneReadError::Invalid {
            file: format!("{}/{MANIFEST}", self.source),
            place: format!("{}{field}", self.place),
            problem: problem.into(),
        }
    }

    /// A file of the archive.
    fn file(&mut self, name: &str) -> Result<Rc<[u8]>, SceneReadError> {
        let content = self.zip.read(name);
        let content = content.map_err(|error| of_zip(self.source, name, &error))?;
        content.ok_or_else(|| SceneReadError::Invalid {
            file: self.source.to_owned(),
            place: if self.place.is_empty() {
                "archive".to_owned()
            } else {
                format!("{MANIFEST}: {}", self.place)
            },
            problem: format!("there is no file '{name}' in the archive"),
        })
    }

    /// Adds the kinds of an entity: one, or more if it is an assembly.
    fn add_kinds(
        &mut self,
        entity: &Entity,
        path: Vec<String>,
        scene: &mut Scene,
    ) -> Result<(), SceneReadError> {
        let name = entity.label.clone().unwrap_or_else(|| {
            let file = entity.file.rsplit('/').next().unwrap_or_default();
            file.split('.').next().unwrap_or_default().to_owned()
        });
        let additions = entity.additions.clone().unwrap_or_default();
        let finish = |mut kind: SceneKind| {
            additions.apply(&mut kind);
            kind.path.clone_from(&path);
            kind.color = entity.color.map(|color| color.map(|part| part / 255.0));
            kind
        };
        if let Some(balls) = &additions.spheres {
            let template = self.coarse.get(&name, balls);
            let template =
                template.map_err(|e| self.invalid(".bevy_rapier_molecules.spheres", e))?;
            let mut kind = SceneKind::new(&name, template);
            kind.poses = self.poses(entity, &kind)?;
            scene.kinds.push(finish(kind));
            return Ok(());
        }
        let loaded = self.structure(&entity.file)?;
        if let (None, Some(structure)) = (&entity.instances, &loaded.assembled) {
            let load = LoadOptions {
                assembly: AssemblyChoice::Instances(structure.assemblies()[0].id.clone()),
                ..self.options.load.clone()
            };
            for copies in structure.instances(&load)? {
                let mut kind = SceneKind::new(&name, copies.template);
                kind.poses = copies.poses;
                scene.kinds.push(finish(kind));
            }
            return Ok(());
        }
        let mut kind = SceneKind::new(&name, loaded.one.template);
        kind.poses = self.poses(entity, &kind)?;
        scene.kinds.push(finish(kind));
        Ok(())
    }

    fn structure(&mut self, name: &str) -> Result<Loaded, SceneReadError> {
        if let Some(known) = self.structures.get(name) {
            return Ok(known.clone());
        }
        let bytes = self.file(name)?;
        let source = format!("{}/{name}", self.source);
        let loaded = if SceneFormat::from_name(name) == Some(SceneFormat::Gro) {
            Loaded {
                one: read_structure_file(&bytes, &source, self.options)?,
                assembled: None,
            }
        } else {
            let structure = read_bytes(&bytes, &source, &self.options.load)?;
            Loaded {
                one: of_structure(&structure, &self.options.load)?,
                assembled: (!structure.assemblies().is_empty()).then(|| Rc::new(structure)),
            }
        };
        self.structures.insert(name.to_owned(), loaded.clone());
        Ok(loaded)
    }

    /// The poses of an entity; without instances the one of its file.
    fn poses(
        &mut self,
        entity: &Entity,
        kind: &SceneKind,
    ) -> Result<Vec<crate::pose::Pose>, SceneReadError> {
        let Some(instances) = &entity.instances else {
            return Ok(vec![kind.template.file_pose()]);
        };
        let (positions, rotations) = self.numbers_of(instances)?;
        let variant = instances.rotations.variant;
        let mut poses = Vec::new();
        let rows = rotations.chunks_exact(width_of(variant));
        for (number, (position, row)) in positions.chunks_exact(3).zip(rows).enumerate() {
            let position = DVec3::from_array([0, 1, 2].map(|axis| f64::from(position[axis])));
            let pose = rotation_of(variant, row).and_then(|rotation| {
                world_pose(&kind.template, rotation, position / ANGSTROM_PER_NM)
            });
            poses.push(pose.map_err(|problem| {
                self.invalid(&format!(".instances, number {number}"), problem)
            })?);
        }
        Ok(poses)
    }

    fn numbers_of(&mut self, instances: &Instances) -> Result<(Numbers, Numbers), SceneReadError> {
        let positions = self.numbers(&instances.positions.data, ".instances.positions.data", 3)?;
        let width = width_of(instances.rotations.variant);
        let rotations = self.numbers(
            &instances.rotations.data,
            ".instances.rotations.data",
            width,
        )?;
        if positions.len() / 3 != rotations.len() / width {
            let problem = format!(
                "there are {} positions and {} rotations, expected as many",
                positions.len() / 3,
                rotations.len() / width
            );
            return Err(self.invalid(".instances", problem));
        }
        Ok((positions, rotations))
    }

    fn numbers(
        &mut self,
        data: &Data,
        field: &str,
        width: usize,
    ) -> Result<Numbers, SceneReadError> {
        let numbers = match data {
            Data::Numbers(numbers) => numbers.clone(),
            Data::File(file) => self.numbers_of_file(file, field)?,
        };
        if numbers.len() % width != 0 {
            let problem = format!(
                "there are {} numbers, expected a multiple of {width}",
                numbers.len()
            );
            return Err(self.invalid(field, problem));
        }
        Ok(numbers)
    }

    fn numbers_of_file(&mut self, data: &DataFile, field: &str) -> Result<Numbers, SceneReadError> {
        let bytes = self.file(&data.file)?;
        let all = bytes.len() as u64;
        let range = data.view.map_or(Some((0, all)), |view| {
            let start = view.byte_offset;
            let end = match view.byte_length {
                // As in Mol*, no length is all the rest.
                None | Some(0) => all,
                Some(length) => start.checked_add(length)?,
            };
            Some((start, end))
        });
        let part = range.and_then(|(start, end)| bytes.get(start as usize..end as usize));
        let Some(part) = part else {
            let problem = format!("the view is outside of the {all} bytes of '{}'", data.file);
            return Err(self.invalid(field, problem));
        };
        if part.len() % NUMBER_BYTES != 0 {
            let problem = format!("{} bytes are not numbers of four bytes", part.len());
            return Err(self.invalid(field, problem));
        }
        let numbers = part.chunks_exact(NUMBER_BYTES);
        Ok(numbers
            .map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]))
            .collect())
    }
}

type Numbers = Vec<f32>;

/// Number of numbers of a rotation.
fn width_of(variant: RotationVariant) -> usize {
    match variant {
        RotationVariant::Quaternion => 4,
        RotationVariant::Matrix => 9,
        RotationVariant::Euler => 3,
    }
}

fn rotation_of(variant: RotationVariant, row: &[f32]) -> Result<Quat, String> {
    match variant {
        RotationVariant::Quaternion => unit_quaternion([row[0], row[1], row[2], row[3]]),
        RotationVariant::Euler => {
            let angles = [row[0], row[1], row[2]];
            if angles.iter().all(|angle| angle.is_finite()) {
                let [x, y, z] = angles;
                Ok(Quat::from_euler(EulerRot::XYZ, x, y, z).normalize())
            } else {
                Err(format!("the angles {angles:?} are not finite numbers"))
            }
        }
        RotationVariant::Matrix => {
            let columns: Vec<f64> = row.iter().copied().map(f64::from).collect();
            let matrix = DMat3::from_cols_slice(&columns).transpose();
            let rotation = proper_rotation(matrix);
            let rotation = rotation.map_err(|why| format!("the matrix is no rotation: {why}"))?;
            Ok(rotation.as_quat().normalize())
        }
    }
}
