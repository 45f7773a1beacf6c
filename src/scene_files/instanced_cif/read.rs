//! Scenes from structure files with assemblies.

use super::names::path_and_name;
use crate::molecule::{AssemblyChoice, Structure};
use crate::scene_files::read::of_structure;
use crate::scene_files::{ReadSceneOptions, Scene, SceneKind, SceneReadError};

/// The molecules of a structure file:
/// - Without an assembly in the options, those of the first assembly with the method `CELLPACK`, each
///   kind with its path and name, or those of the file as it is.
/// - With one as instances, its copies.
/// - With one as one body, that body.
pub(crate) fn scene_of(
    structure: &Structure,
    options: &ReadSceneOptions,
) -> Result<Scene, SceneReadError> {
    let scene_assembly = structure.scene_assembly();
    let id = match &options.load.assembly {
        AssemblyChoice::None => scene_assembly,
        AssemblyChoice::Instances(id) => Some(id.as_str()),
        AssemblyChoice::OneBody(_) => return one_body(structure, options),
    };
    let Some(id) = id else {
        return of_structure(structure, options);
    };
    let is_scene = scene_assembly == Some(id);
    let path_and_name = |description: &str| match is_scene && !description.is_empty() {
        true => path_and_name(description),
        false => (Vec::new(), structure.name().to_owned()),
    };
    let name = |description: &str| path_and_name(description).1;
    let kinds = structure.assembly_kinds(id, &options.load, name)?;
    let kinds = kinds.into_iter().map(|read| {
        let (path, name) = path_and_name(&read.description);
        SceneKind {
            path,
            poses: read.poses,
            ..SceneKind::new(name, read.template)
        }
    });
    let mut scene = scene_without_kinds(structure);
    scene.kinds = kinds.collect();
    if is_scene && !structure.title().is_empty() {
        structure.title().clone_into(&mut scene.name);
    }
    Ok(scene)
}

fn one_body(structure: &Structure, options: &ReadSceneOptions) -> Result<Scene, SceneReadError> {
    let template = structure.template(&options.load)?;
    let mut scene = scene_without_kinds(structure);
    let pose = template.file_pose();
    let mut kind = SceneKind::new(structure.name(), template.into());
    kind.poses.push(pose);
    scene.kinds.push(kind);
    Ok(scene)
}

fn scene_without_kinds(structure: &Structure) -> Scene {
    Scene {
        name: structure.name().to_owned(),
        periodic_box: structure.unit_cell().and_then(|cell| cell.orthorhombic()),
        ..Scene::default()
    }
}
