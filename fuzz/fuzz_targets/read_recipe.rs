//! Recipes must be read and filled, or give an error, for any bytes, without panics, in bounded
//! memory. Files of a recipe are those next to the test data.
#![no_main]

use std::path::Path;

use bevy_rapier_molecules::recipe::{
    Entry, FiberLength, ReadOptions, Recipe, RuleKind, populate,
};
use libfuzzer_sys::fuzz_target;

/// Maximum number of molecules that are placed, so that inputs run fast.
const MAX_MOLECULES: f64 = 100.0;

fuzz_target!(|data: &[u8]| {
    let folder = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/data/recipes"));
    let Ok(recipe) = Recipe::read(data, "input.json", folder, &ReadOptions::default()) else {
        return;
    };
    let volume = f64::from(recipe.size().element_product());
    let counts = recipe.entries.iter().map(|entry| {
        // Molecules per nm³ at 1 mol/l are less than one.
        let count = entry.count.mean() + entry.places.len() as f64 + entry.molarity * volume;
        count * links(entry) + by_rule(entry)
    });
    let has_lipids = recipe.compartments.iter().any(|compartment| {
        compartment.leaflets.iter().any(|ratios| !ratios.is_empty())
    });
    if counts.sum::<f64>() <= MAX_MOLECULES && !has_lipids {
        let _ = populate(&recipe, Some(1));
    }
});

/// Number of links of each molecule of an entry; too many if it follows from a path.
fn links(entry: &Entry) -> f64 {
    match &entry.fiber {
        None => 1.0,
        Some(fiber) => match fiber.length {
            Some(FiberLength::Links(links)) => f64::from(links),
            _ => f64::INFINITY,
        },
    }
}

/// Number of molecules that a rule adds to the count; too many if it follows from the space.
fn by_rule(entry: &Entry) -> f64 {
    match entry.rule.as_ref().map(|rule| &rule.kind) {
        Some(RuleKind::Fill { .. } | RuleKind::Along { .. }) => f64::INFINITY,
        Some(RuleKind::OnSurfaceOf {
            per_instance: Some(number),
        }) => MAX_MOLECULES * f64::from(*number),
        _ => 0.0,
    }
}
