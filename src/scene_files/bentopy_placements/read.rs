//! Reads placements.

use glam::{DMat3, DVec3, Vec3};
use serde::Deserialize;

use super::Corners;
use super::write::file_atoms;
use crate::molecule::proper_rotation;
use crate::pose::Pose;
use crate::scene_files::additions::{KindAdditions, SceneAdditions, check_bounds};
use crate::scene_files::json::read_json;
use crate::scene_files::structure_files::{CoarseTemplates, StructureFiles};
use crate::scene_files::world_pose::world_pose;
use crate::scene_files::{ReadSceneOptions, Scene, SceneKind, SceneReadError};

/// The document.
#[derive(Deserialize)]
struct Document {
    #[serde(default)]
    title: String,
    /// Edges of the box, nm.
    size: Option<[f32; 3]>,
    #[serde(default)]
    topol_includes: Vec<String>,
    #[serde(default, rename = "bevy_rapier_molecules")]
    additions: Option<SceneAdditions>,
    placements: Vec<Placement>,
}

/// Molecules with the same structure.
#[derive(Deserialize)]
struct Placement {
    name: String,
    path: String,
    #[serde(default)]
    batches: Vec<Batch>,
    #[serde(default, rename = "bevy_rapier_molecules")]
    additions: Option<KindAdditions>,
}

/// Molecules with the same rotation: an object, or a list of both fields.
#[derive(Deserialize)]
struct Batch {
    /// Rows.
    rotation: [[f32; 3]; 3],
    /// Lowest corners, nm.
    positions: Vec<[f32; 3]>,
}

/// Reads a file.
pub(in crate::scene_files) fn read(
    bytes: &[u8],
    source: &str,
    options: &ReadSceneOptions,
) -> Result<Scene, SceneReadError> {
    let document: Document = read_json(bytes, source)?;
    let mut scene = Scene {
        name: document.title,
        ..Scene::default()
    };
    let invalid = |place: String, problem: String| SceneReadError::Invalid {
        file: source.to_owned(),
        place,
        problem,
    };
    let mut origin = DVec3::ZERO;
    if let Some(additions) = &document.additions {
        additions.apply(&mut scene, source)?;
        origin = additions.origin.as_dvec3();
    } else if let Some(size) = document.size {
        let high = Vec3::from_array(size);
        check_bounds(Vec3::ZERO, high)
            .map_err(|_| invalid("size".to_owned(), format!("expected edges, found {size:?}")))?;
        scene.bounds = Some([Vec3::ZERO, high]);
    }
    let mut files = StructureFiles::new(source, options);
    let mut coarse = CoarseTemplates::default();
    for (number, placement) in document.placements.iter().enumerate() {
        let place = format!("placements[{number}]");
        let additions = placement.additions.clone();
        let name = additions.as_ref().and_then(|own| own.name.as_ref());
        let name = name.unwrap_or(&placement.name);
        let balls = additions.as_ref().and_then(|own| own.spheres.as_ref());
        let (template, atoms) = if let Some(balls) = balls {
            let template = coarse.get(name, balls);
            let template = template.map_err(|problem| invalid(place.clone(), problem))?;
            // Our structure file has these balls in the body frame.
            let atoms = balls.iter().map(|&[x, y, z, _]| Vec3::new(x, y, z));
            let atoms = file_atoms(atoms);
            (template, atoms)
        } else {
            let file = files
                .find(&placement.path, None)?
                .ok_or_else(|| files.missing(source, format!("{place}.path"), &placement.path))?;
            let atoms = file.positions.iter().map(|atom| atom.as_dvec3());
            (file.template, atoms.collect())
        };
        let mut kind = SceneKind::new(name, template);
        if let Some(additions) = &additions {
            additions.apply(&mut kind);
            kind.color = additions.color;
        } else {
            kind.file = Some(placement.path.clone());
            kind.topology.includes.clone_from(&document.topol_includes);
        }
        let corners = Corners::new(atoms);
        for (number, batch) in placement.batches.iter().enumerate() {
            let place = || format!("{place}.batches[{number}]");
            let poses = poses_of(batch, &kind, &corners, origin);
            let poses = poses
                .map_err(|(field, problem)| invalid(format!("{}.{field}", place()), problem))?;
            kind.poses.extend(poses);
        }
        scene.kinds.push(kind);
    }
    Ok(scene)
}

/// The poses of a batch; or the invalid field, and what is wrong with it.
fn poses_of(
    batch: &Batch,
    kind: &SceneKind,
    corners: &Corners,
    origin: DVec3,
) -> Result<Vec<Pose>, (String, String)> {
    let rows = batch.rotation.map(|row| row.map(f64::from));
    let rotation = proper_rotation(DMat3::from_cols_array_2d(&rows).transpose());
    let rotation = rotation.map_err(|why| {
        let problem = format!("the matrix is no rotation: {why}");
        ("rotation".to_owned(), problem)
    })?;
    let offset = corners.offset(DMat3::from_quat(rotation));
    let rotation = rotation.as_quat().normalize();
    let mut poses = Vec::with_capacity(batch.positions.len());
    for (number, corner) in batch.positions.iter().enumerate() {
        let corner = Vec3::from_array(*corner).as_dvec3();
        let pose = world_pose(&kind.template, rotation, corner - offset + origin);
        poses.push(pose.map_err(|problem| (format!("positions[{number}]"), problem))?);
    }
    Ok(poses)
}
