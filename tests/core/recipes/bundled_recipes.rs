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
    let wanted = [
        ("SSM", 181_791),
        ("POPG", 8_107),
        ("DPPC", 23_935),
        ("cardiolipin", 58_833),
        ("cholesterol", 753_982),
    ];
    // The area of a lipid, nm²: twice as large as in real membranes, and as in these.
    for (file, area_of_lipid) in [("million_lipids", 0.955), ("million_lipids_dense", 0.459)] {
        let recipe = load(&format!("{file}.json"));
        let (lipids, proteins) = asked(&recipe);
        assert_eq!(lipids.len(), wanted.len());
        for (name, number) in wanted {
            assert_eq!(lipids[name].iter().sum::<u32>(), number, "{file}: {name}");
        }
        assert_eq!(lipids.values().flatten().sum::<u32>(), 1_026_648);
        assert_eq!(proteins, 1_000);
        // Both leaflets have the same composition, and as many lipids as their areas hold. Their
        // planes are about 0.9 nm from the middle.
        let surface = recipe.compartments[1].surface.as_ref().unwrap();
        let [outer, inner] = [0.9, -0.9].map(|offset| f64::from(surface.area_at(offset)));
        for numbers in lipids.values() {
            let part = f64::from(numbers[0]) / f64::from(numbers.iter().sum::<u32>());
            assert!((part - outer / (outer + inner)).abs() < 2.0e-4, "{part}");
        }
        let given = (outer + inner) / 1_026_648.0;
        assert!((given - area_of_lipid).abs() < 0.005, "{file}: {given} nm²");
    }
    let areas =
        wanted.map(|(name, number)| f64::from(number) * f64::from(known_area(name).unwrap()));
    let real = areas.iter().sum::<f64>() / 1_026_648.0;
    assert!((real - 0.459).abs() < 0.002, "{real} nm²");
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
