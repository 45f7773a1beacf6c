//! Parts of a structure file as labeled assets.

use std::sync::Arc;

use bevy::asset::LoadContext;
use bevy::prelude::*;
use bevy::world_serialization::WorldAsset;

use super::components::Molecule;
use super::prepared_molecule::PreparedTemplate;
use crate::molecule::{
    AssemblyChoice, LoadOptions, ModelChoice, MoleculeError, MoleculeTemplate, Structure,
};

/// Maximum number of atoms of a part that is built although no handle refers to it, so that it is
/// in the list of labels.
const MAX_UNREQUESTED_ATOMS: usize = 100_000;

/// Adds the parts of a structure that the options do not exclude.
///
/// Parts with a handle get their shape here, others when a molecule uses them.
pub(super) fn add_labeled_assets(
    structure: &Structure,
    options: &LoadOptions,
    context: &mut LoadContext<'_>,
) {
    let atoms = structure.atoms().len();
    let file = LoadOptions {
        assembly: AssemblyChoice::None,
        ..options.clone()
    };
    let mut bodies = Vec::new();
    for chain in structure.chains() {
        let chain = chain.to_string();
        let is_included = |chains: &Vec<String>| chains.contains(&chain);
        if options.chains.as_ref().is_none_or(is_included) {
            let label = format!("Chain{chain}");
            let chains = Some(vec![chain]);
            bodies.push((
                label,
                atoms,
                LoadOptions {
                    chains,
                    ..file.clone()
                },
            ));
        }
    }
    for &number in structure.models() {
        let model = ModelChoice::Number(number);
        bodies.push((
            format!("Model{number}"),
            atoms,
            LoadOptions {
                model,
                ..file.clone()
            },
        ));
    }
    for assembly in structure.assemblies() {
        let all_atoms = atoms.saturating_mul(assembly.operators.len());
        let choice = AssemblyChoice::OneBody(assembly.id.clone());
        bodies.push((
            assembly_label(&assembly.id),
            all_atoms,
            LoadOptions {
                assembly: choice,
                ..file.clone()
            },
        ));
    }
    for (label, atoms, options) in bodies {
        let requested = context.has_labeled_asset(label.clone());
        if requested || atoms <= MAX_UNREQUESTED_ATOMS {
            match structure.template(&options) {
                Ok(template) => {
                    add_template(context, label, template, requested);
                }
                Err(error) => report(context, &label, requested, &error),
            }
        }
    }
    for assembly in structure.assemblies() {
        let labels = SceneLabels::new(&assembly.id);
        let mut parts = 1..=assembly.operators.len();
        let requested = context.has_labeled_asset(labels.scene.clone())
            || parts.any(|part| context.has_labeled_asset(labels.part(part)));
        if requested || atoms <= MAX_UNREQUESTED_ATOMS {
            let choice = AssemblyChoice::Instances(assembly.id.clone());
            let options = LoadOptions {
                assembly: choice,
                ..file.clone()
            };
            if let Err(error) = add_scene(structure, &options, context, &labels, requested) {
                report(context, &labels.scene, requested, &error);
            }
        }
    }
}

fn assembly_label(id: &str) -> String {
    format!("Assembly{id}")
}

/// The labels of an assembly as a scene.
struct SceneLabels {
    assembly: String,
    scene: String,
}

impl SceneLabels {
    fn new(id: &str) -> Self {
        let assembly = assembly_label(id);
        Self {
            scene: format!("{assembly}/Scene"),
            assembly,
        }
    }

    /// The label of the template that a set of instances shares, from 1.
    fn part(&self, number: usize) -> String {
        format!("{}/Part{number}", self.assembly)
    }
}

/// Adds the scene of an assembly: one molecule per instance.
fn add_scene(
    structure: &Structure,
    options: &LoadOptions,
    context: &mut LoadContext<'_>,
    labels: &SceneLabels,
    requested: bool,
) -> Result<(), MoleculeError> {
    let mut world = World::new();
    for (number, instances) in (1..).zip(structure.instances(options)?) {
        let template = Arc::unwrap_or_clone(instances.template);
        let handle = add_template(context, labels.part(number), template, requested);
        world.spawn_batch(instances.poses.into_iter().map(move |pose| {
            let transform = Transform::from_translation(pose.position).with_rotation(pose.rotation);
            (Molecule(handle.clone()), transform)
        }));
    }
    context.add_labeled_asset(labels.scene.clone(), WorldAsset::new(world));
    Ok(())
}

fn add_template(
    context: &mut LoadContext<'_>,
    label: String,
    template: MoleculeTemplate,
    requested: bool,
) -> Handle<MoleculeTemplate> {
    if requested {
        PreparedTemplate::of(&template);
    }
    context.add_labeled_asset(label, template)
}

/// Logs why a requested label is missing. The rest of the file is loaded.
fn report(context: &LoadContext<'_>, label: &str, requested: bool, error: &MoleculeError) {
    if requested {
        error!("{}#{label} is not available: {error}", context.path());
    }
}
