//! The recipes in `assets/recipes`.

use std::collections::{BTreeMap, BTreeSet};

use bevy_rapier_molecules::membrane::known_area;
use bevy_rapier_molecules::recipe::{
    Distribution, ReadOptions, Recipe, Region, bundled_structures,
};

use super::packed_spheres::{folder, overlaps, packed, populated, warnings};

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
        "five_lipids",
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

/// Numbers of the lipids in both leaflets, and of all other molecules, as a recipe asks for them.
fn asked(recipe: &Recipe) -> (BTreeMap<String, [u32; 2]>, u32) {
    let (mut lipids, mut others) = (BTreeMap::new(), 0);
    for entry in &recipe.entries {
        let Distribution::Constant(count) = entry.count else {
            panic!("{entry:?}");
        };
        let name = recipe.ingredients[entry.ingredient].name.clone();
        let numbers: &mut [u32; 2] = match entry.region {
            Region::OuterLeaflet | Region::InnerLeaflet => lipids.entry(name).or_default(),
            _ => {
                others += count as u32;
                continue;
            }
        };
        numbers[usize::from(entry.region == Region::InnerLeaflet)] += count as u32;
    }
    (lipids, others)
}

#[test]
fn a_million_lipids_have_the_numbers_asked_for() {
    let recipe = load("million_lipids.json");
    let (lipids, proteins) = asked(&recipe);
    let wanted = [
        ("SSM", 181_791),
        ("POPG", 8_107),
        ("DPPC", 23_935),
        ("cardiolipin", 58_833),
        ("cholesterol", 753_982),
    ];
    assert_eq!(lipids.len(), wanted.len());
    for (name, number) in wanted {
        assert_eq!(lipids[name].iter().sum::<u32>(), number, "{name}");
    }
    assert_eq!(lipids.values().flatten().sum::<u32>(), 1_026_648);
    assert_eq!(proteins, 1_000);
    // Both leaflets have the same composition, and as many lipids as their areas hold.
    let surface = recipe.compartments[1].surface.as_ref().unwrap();
    // The planes of the leaflets are about 0.9 nm from the middle.
    let [outer, inner] = [0.9, -0.9].map(|offset| f64::from(surface.area_at(offset)));
    for numbers in lipids.values() {
        let part = f64::from(numbers[0]) / f64::from(numbers.iter().sum::<u32>());
        assert!((part - outer / (outer + inner)).abs() < 1.0e-4, "{part}");
    }
    // The description says so: 0.95 nm² a lipid, twice as much as in real membranes.
    let area = |number: u32, name: &str| f64::from(number) * f64::from(known_area(name).unwrap());
    let real: f64 = wanted
        .iter()
        .map(|(name, number)| area(*number, name))
        .sum();
    let [given, real] = [outer + inner, real].map(|area| area / 1_026_648.0);
    assert!((given - 0.955).abs() < 0.005, "{given} nm²");
    assert!((real - 0.459).abs() < 0.005, "{real} nm²");
    let radius = (1_026_648.0 * real / (8.0 * std::f64::consts::PI)).sqrt() + 2.4;
    assert!((radius - 139.0).abs() < 1.0, "{radius} nm");
}

#[test]
fn a_few_lipids_are_populated_like_a_million() {
    let [small, large] = ["five_lipids.json", "million_lipids.json"].map(load);
    let (lipids, _) = asked(&small);
    let (all, _) = asked(&large);
    let total: u32 = lipids.values().flatten().sum();
    for (name, numbers) in &lipids {
        let share = f64::from(numbers.iter().sum::<u32>()) / f64::from(total);
        let expected = f64::from(all[name].iter().sum::<u32>()) / 1_026_648.0;
        assert!(
            (share - expected).abs() < 1.0e-3,
            "{name}: {share} {expected}"
        );
    }
    let population = populated(&small);
    for entry in &population.report.entries {
        assert_eq!(
            entry.asked.unwrap_or(entry.placed),
            entry.placed,
            "{entry:?}"
        );
    }
    let placed = population.report.entries.iter();
    let placed = placed.filter(|entry| entry.region.ends_with("leaflet"));
    assert_eq!(placed.map(|entry| entry.placed).sum::<u32>(), total);
}
