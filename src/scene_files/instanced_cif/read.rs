//! Reads the kinds of an assembly of a scene.

use super::names::path_and_name;
use crate::molecule::Structure;
use crate::scene_files::{ReadSceneOptions, Scene, SceneKind, SceneReadError};

/// Adds the kinds of an assembly of a scene, with their paths and names, and its title.
pub(crate) fn read_kinds(
    scene: &mut Scene,
    structure: &Structure,
    assembly: &str,
    options: &ReadSceneOptions,
) -> Result<(), SceneReadError> {
    let path_and_name = |description: &str| match description.is_empty() {
        false => path_and_name(description),
        true => (Vec::new(), structure.name().to_owned()),
    };
    let name = |description: &str| path_and_name(description).1;
    let kinds = structure.assembly_kinds(assembly, &options.load, name)?;
    let kinds = kinds.into_iter().map(|read| {
        let (path, name) = path_and_name(&read.description);
        SceneKind {
            path,
            poses: read.poses,
            ..SceneKind::new(name, read.template)
        }
    });
    scene.kinds = kinds.collect();
    if !structure.title().is_empty() {
        structure.title().clone_into(&mut scene.name);
    }
    Ok(())
}
