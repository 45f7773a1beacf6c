//! Recipes must be read and filled, or give an error, for any bytes, without panics, in bounded
//! memory. Files of a recipe are those next to the test data.
#![no_main]

use std::path::Path;

use bevy_rapier_molecules::recipe::{ReadOptions, Recipe, populate};
use libfuzzer_sys::fuzz_target;

/// Maximum number of molecules that are placed, so that inputs run fast.
const MAX_MOLECULES: f64 = 300.0;

fuzz_target!(|data: &[u8]| {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/recipes"));
    let Ok(recipe) = Recipe::read(data, "input.json", folder, &ReadOptions::default()) else {
        return;
    };
    let volume = f64::from(recipe.size().element_product());
    let counts = recipe.entries.iter().map(|entry| {
        // Molecules per nm³ at 1 mol/l are less than one.
        entry.count.mean() + entry.places.len() as f64 + entry.molarity * volume
    });
    let has_lipids = recipe.compartments.iter().any(|compartment| {
        compartment.leaflets.iter().any(|ratios| !ratios.is_empty())
    });
    if counts.sum::<f64>() <= MAX_MOLECULES && !has_lipids {
        let _ = populate(&recipe, Some(1));
    }
});
