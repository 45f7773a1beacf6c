//! Reads results of cellPACK.

use std::sync::Arc;

use glam::{DMat3, DVec3, Quat, Vec3};

use super::document::{Document, Ingredient, Level, Place, Placed, Radii, Rotation, Transform};
use crate::export::ANGSTROM_PER_NM;
use crate::molecule::{MoleculeTemplate, proper_rotation};
use crate::pose::Pose;
use crate::scene_files::additions::check_bounds;
use crate::scene_files::json::read_json;
use crate::scene_files::structure_files::{CoarseTemplates, StructureFile, StructureFiles};
use crate::scene_files::world_pose::{unit_quaternion, world_pose};
use crate::scene_files::{ReadSceneOptions, Scene, SceneKind, SceneReadError};

/// Reads a file.
pub(in crate::scene_files) fn read(
    bytes: &[u8],
    source: &str,
    options: &ReadSceneOptions,
) -> Result<Scene, SceneReadError> {
    let document: Document = read_json(bytes, source)?;
    let mut scene = Scene {
        name: document.name.unwrap_or_default(),
        ..Scene::default()
    };
    if let Some(additions) = &document.additions {
        additions.apply(&mut scene, source)?;
    } else if let Some(corners) = document.bounding_box {
        let [low, high] = corners.map(|corner| Vec3::from_array(corner) / ANGSTROM_PER_NM as f32);
        let problem = check_bounds(low, high).err();
        if let Some(problem) = problem {
            return Err(invalid(source, "options.boundingBox".to_owned(), problem));
        }
        scene.bounds = Some([low, high]);
    }
    let mut reader = Reader {
        source,
        options,
        files: StructureFiles::new(source, options),
        coarse: CoarseTemplates::default(),
    };
    let mut kinds: Vec<(usize, SceneKind)> = Vec::new();
    for (keys, place, ingredients) in document.recipes {
        for (key, ingredient) in ingredients {
            let keys = format!("{keys}.{key}");
            if let Some(kind) = reader.kind(&key, &keys, &place, &ingredient)? {
                let own = ingredient.additions.as_ref();
                let index = own.and_then(|own| own.index).unwrap_or(usize::MAX);
                kinds.push((index, kind));
            }
        }
    }
    // Ours come back in their order; others stay in that of the file.
    kinds.sort_by_key(|(index, _)| *index);
    scene.kinds = kinds.into_iter().map(|(_, kind)| kind).collect();
    Ok(scene)
}

fn invalid(source: &str, place: String, problem: impl Into<String>) -> SceneReadError {
    SceneReadError::Invalid {
        file: source.to_owned(),
        place,
        problem: problem.into(),
    }
}

struct Reader<'a> {
    source: &'a str,
    options: &'a ReadSceneOptions,
    files: StructureFiles<'a>,
    coarse: CoarseTemplates,
}

/// The structure of an ingredient.
struct Shape {
    template: Arc<MoleculeTemplate>,
    /// From the frame of the template's file to that of the ingredient, nm.
    translation: DVec3,
}

impl Reader<'_> {
    /// The kind of an ingredient; none if it has neither molecules nor a structure, as fibers.
    fn kind(
        &mut self,
        key: &str,
        place: &str,
        group: &Place,
        ingredient: &Ingredient,
    ) -> Result<Option<SceneKind>, SceneReadError> {
        let name = ingredient.name.as_deref().unwrap_or(key);
        let results = ingredient.results.as_deref().unwrap_or_default();
        let shape = match self.shape(name, place, ingredient) {
            Ok(Some(shape)) => shape,
            Ok(None) | Err(SceneReadError::MissingStructure { .. }) if results.is_empty() => {
                return Ok(None);
            }
            Ok(None) => {
                let problem = "there are neither spheres (positions, radii) nor a structure file \
                    (source.pdb)";
                return Err(invalid(self.source, place.to_owned(), problem));
            }
            Err(error) => return Err(error),
        };
        let mut kind = SceneKind::new(name, shape.template);
        if let Some(additions) = &ingredient.additions {
            additions.apply(&mut kind);
        } else if let Some((compartment, region)) = group {
            kind.path = vec![compartment.clone(), region.name().to_owned()];
        }
        if kind.file.is_none() {
            let source = ingredient.source.as_ref();
            kind.file = source.and_then(|source| source.pdb.clone());
        }
        kind.color = ingredient.color;
        kind.poses = Vec::with_capacity(results.len());
        for (number, placed) in results.iter().enumerate() {
            let pose = self.pose(&kind.template, shape.translation, placed);
            let pose = pose.map_err(|problem| {
                invalid(self.source, format!("{place}.results[{number}]"), problem)
            })?;
            kind.poses.push(pose);
        }
        Ok(Some(kind))
    }

    fn pose(
        &self,
        template: &MoleculeTemplate,
        translation: DVec3,
        placed: &Placed,
    ) -> Result<Pose, String> {
        let rotation = match placed.rotation {
            Rotation::Quaternion([w, x, y, z]) if self.options.w_first => {
                unit_quaternion([x, y, z, w])?
            }
            Rotation::Quaternion(components) => unit_quaternion(components)?,
            Rotation::Matrix(rows) => rotation_of_rows(rows)?,
        };
        let position = DVec3::from_array(placed.position) / ANGSTROM_PER_NM;
        let shift = rotation.as_dquat().normalize() * translation;
        world_pose(template, rotation, position + shift)
    }

    /// The structure file if there is one that fits, else the spheres, if there are any.
    fn shape(
        &mut self,
        name: &str,
        place: &str,
        ingredient: &Ingredient,
    ) -> Result<Option<Shape>, SceneReadError> {
        let own = ingredient.additions.as_ref();
        if let Some(balls) = own.and_then(|own| own.spheres.as_ref()) {
            return self.coarse_shape(name, place, balls).map(Some);
        }
        let pdb = ingredient
            .source
            .as_ref()
            .and_then(|source| source.pdb.as_deref());
        let atoms = own.and_then(|own| own.atoms);
        let file = match pdb {
            Some(pdb) => self.files.find(pdb, atoms)?,
            None => None,
        };
        let fits =
            |file: &StructureFile| atoms.is_none_or(|atoms| atoms == file.template.atom_count());
        if let Some(file) = file.filter(fits) {
            let transform = ingredient.source.as_ref();
            let transform = transform.and_then(|source| source.transform.as_ref());
            let translation = transform.map_or(DVec3::ZERO, |t| translation_of(t, &file));
            if !translation.is_finite() {
                let place = format!("{place}.source.transform");
                return Err(invalid(self.source, place, "expected finite numbers"));
            }
            return Ok(Some(Shape {
                template: file.template,
                translation,
            }));
        }
        let balls = balls_of(ingredient);
        let balls = balls.map_err(|problem| invalid(self.source, place.to_owned(), problem))?;
        match (balls, pdb) {
            (Some(balls), _) => self.coarse_shape(name, place, &balls).map(Some),
            (None, Some(pdb)) => {
                let place = format!("{place}.source.pdb");
                Err(self.files.missing(self.source, place, pdb))
            }
            (None, None) => Ok(None),
        }
    }

    fn coarse_shape(
        &mut self,
        name: &str,
        place: &str,
        balls: &[[f32; 4]],
    ) -> Result<Shape, SceneReadError> {
        let template = self.coarse.get(name, balls);
        let template =
            template.map_err(|problem| invalid(self.source, place.to_owned(), problem))?;
        Ok(Shape {
            template,
            translation: DVec3::ZERO,
        })
    }
}

fn rotation_of_rows(rows: [[f32; 3]; 3]) -> Result<Quat, String> {
    let rows = rows.map(|row| row.map(f64::from));
    let rotation = proper_rotation(DMat3::from_cols_array_2d(&rows).transpose());
    let rotation = rotation.map_err(|why| format!("the matrix is no rotation: {why}"))?;
    Ok(rotation.as_quat().normalize())
}

/// From the frame of a structure file to that of the spheres, nm.
fn translation_of(transform: &Transform, file: &StructureFile) -> DVec3 {
    let translate = transform.translate.map_or(DVec3::ZERO, DVec3::from_array) / ANGSTROM_PER_NM;
    if transform.center {
        translate - file.mean()
    } else {
        translate
    }
}

/// Spheres of the deepest level, nm; none if there are no levels.
fn balls_of(ingredient: &Ingredient) -> Result<Option<Vec<[f32; 4]>>, String> {
    let levels = ingredient.positions.iter().flatten().map(Level::flat);
    let Some(centers) = levels.rev().find(|centers| !centers.is_empty()) else {
        return Ok(None);
    };
    let levels = ingredient.radii.iter().flatten().map(Radii::numbers);
    let radii = levels.rev().find(|radii| !radii.is_empty());
    let radii = radii.unwrap_or_default();
    if centers.len() != 3 * radii.len() {
        return Err(format!(
            "the deepest level has {} coordinates and {} radii, expected three coordinates per radius",
            centers.len(),
            radii.len()
        ));
    }
    let nm = |angstrom: f32| (f64::from(angstrom) / ANGSTROM_PER_NM) as f32;
    let balls = centers.chunks_exact(3).zip(radii);
    let balls = balls.map(|(center, radius)| [center[0], center[1], center[2], *radius].map(nm));
    Ok(Some(balls.collect()))
}
