//! All public components, resources and configurations are reflected and registered.

use std::collections::BTreeSet;

use bevy::ecs::reflect::{ReflectComponent, ReflectResource};
use bevy::prelude::*;
use bevy::reflect::{TypePathTable, TypeRegistration, TypeRegistry};
use bevy_rapier_molecules::prelude::*;

use super::test_app::*;

/// Components that scenes save.
const COMPONENTS: [&str; 17] = [
    "AccelerationBound",
    "BrownianMotion",
    "Colliding",
    "CollisionOutcome",
    "Compartment",
    "CrowdOnly",
    "InCompartment",
    "InstancedMolecules",
    "Molecule",
    "MoleculeDetail",
    "MoleculeEventsEnabled",
    "MoleculeHighlight",
    "MoleculeMaterial",
    "MoleculeTint",
    "NoMoleculeRendering",
    "StaticMolecule",
    "ViewStyle",
];

/// Resources that scenes save.
const RESOURCES: [&str; 5] = [
    "BrownianMotionConfig",
    "ContactModel",
    "MoleculeBackend",
    "MoleculePalette",
    "MoleculeStyle",
];

/// Components, resources and configurations that scenes do not save, because the plugin computes
/// them, or because they are parts of others.
const OTHERS: [&str; 14] = [
    "ColorMode",
    "CollisionRule",
    "CompartmentRegion",
    "CompartmentSurface",
    "ContactSolverConfig",
    "DepthCue",
    "DrawDetail",
    "Medium",
    "MoleculeGizmos",
    "MoleculeTimes",
    "MoleculeWorld",
    "ParryShape",
    "PreparedMolecule",
    "ProxyOverlay",
];

/// The registered types of this crate that satisfy a condition.
fn registered(
    registry: &TypeRegistry,
    condition: impl Fn(&TypeRegistration) -> bool,
) -> BTreeSet<&'static str> {
    let all = registry.iter().filter(|one| condition(one));
    let paths = all.map(|one| one.type_info().type_path_table());
    let own = paths.filter(|path| path.crate_name() == Some("bevy_rapier_molecules"));
    own.map(TypePathTable::short_path).collect()
}

#[test]
fn every_public_component_and_resource_is_registered() {
    let app = app(ContactModel::Crowd);
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let resources = registered(&registry, |one| one.data::<ReflectResource>().is_some());
    assert!(resources.is_superset(&RESOURCES.into()), "{resources:?}");
    let components = registered(&registry, |one| one.data::<ReflectComponent>().is_some());
    // Resources are components, too.
    let components: BTreeSet<_> = components.difference(&resources).copied().collect();
    assert!(components.is_superset(&COMPONENTS.into()), "{components:?}");
    let all = registered(&registry, |_| true);
    let missing: Vec<_> = OTHERS.iter().filter(|name| !all.contains(*name)).collect();
    assert!(missing.is_empty(), "{missing:?} not in {all:?}");
}

/// Names of the public components and resources that the files of a folder declare.
fn declared(folder: &str) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let text = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        // There are no empty lines between an item and its attributes.
        for block in text.split("\n\n") {
            let mut starts = ["\npub struct ", "\npub enum "].into_iter();
            let Some((before, item)) = starts.find_map(|start| block.split_once(start)) else {
                continue;
            };
            let mut attributes = before.lines().filter(|line| !line.starts_with("//"));
            if attributes.any(|line| line.contains("Component") || line.contains("Resource")) {
                let end = item.find(|c: char| !c.is_alphanumeric());
                names.insert(item[..end.unwrap_or(item.len())].to_owned());
            }
        }
    }
    names
}

#[test]
fn no_public_component_or_resource_is_forgotten() {
    let root = env!("CARGO_MANIFEST_DIR");
    let mut names = declared(&format!("{root}/src/plugin"));
    names.extend(declared(&format!("{root}/src/render")));
    // Internal state of the renderer, in the render world only.
    names.remove("ExtractedInstanceSets");
    // Registered by plugins that need a renderer.
    names.remove("Offscreen");
    assert!(
        names.contains("Molecule") && names.contains("MoleculeStyle"),
        "{names:?}"
    );
    let app = app(ContactModel::Crowd);
    let registry = app.world().resource::<AppTypeRegistry>().read();
    let registered = registered(&registry, |_| true);
    let missing: Vec<_> = names
        .iter()
        .filter(|name| !registered.contains(name.as_str()))
        .collect();
    assert!(missing.is_empty(), "{missing:?} are not registered");
}
