//! The recipes in `assets/recipes`.

use std::collections::BTreeSet;

use bevy_rapier_molecules::recipe::{ReadOptions, Recipe, bundled_structures};

use super::packed_spheres::{folder, overlaps, packed, warnings};

fn load(file: &str) -> Recipe {
    let path = folder("assets/recipes").join(file);
    Recipe::load(path, &ReadOptions::default()).unwrap_or_else(|error| panic!("{error}"))
}

/// The names of the recipe files.
fn files() -> BTreeSet<String> {
    let entries = std::fs::read_dir(folder("assets/recipes")).unwrap();
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let is_recipe = |name: &String| name.ends_with(".json") || name.ends_with(".bent");
    names
        .filter(is_recipe)
        .filter(|name| !name.contains("schema"))
        .collect()
}

#[test]
fn all_are_read_without_warnings_and_listed() {
    let readme = std::fs::read_to_string(folder("assets/recipes/README.md")).unwrap();
    let files = files();
    assert!(files.len() >= 14, "{files:?}");
    for file in &files {
        let recipe = load(file);
        assert_eq!(warnings(&recipe), [""; 0], "{file}");
        assert!(!recipe.entries.is_empty(), "{file}");
        let name = file.trim_end_matches(".json");
        assert!(readme.contains(&format!("| `{name}` |")), "{file}");
        if file.ends_with(".json") {
            assert_eq!(recipe.name, name);
        }
    }
    for structure in bundled_structures() {
        assert!(readme.contains(&format!("`{structure}`")), "{structure}");
    }
}

#[test]
fn the_small_ones_come_to_rest_without_overlaps() {
    for file in [
        "inheritance",
        "distributions",
        "gradients",
        "coarse_leaflets",
        "proteins_in_a_box",
    ] {
        let recipe = load(&format!("{file}.json"));
        let packing = packed(&recipe);
        assert_eq!(overlaps(&packing.crowd), 0, "{file}");
        assert!(
            packing.warnings.is_empty(),
            "{file}: {:?}",
            packing.warnings
        );
        for entry in &packing.report.entries {
            assert_eq!(
                entry.asked.unwrap_or(entry.placed),
                entry.placed,
                "{file}: {entry:?}"
            );
        }
    }
}
