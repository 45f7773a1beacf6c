//! A small cell to edit, and checks that do not share code with the library.

use std::path::Path;

use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::recipe::{
    Edit, EditReport, LivePacking, MoleculeId, PackOptions, ReadOptions, Recipe,
};
use bevy_rapier_molecules::relax::{RelaxConfig, Relaxer};
use glam::{DQuat, DVec3};
use serde_json::{Value, json};

/// Radius of the membrane, nm.
pub const MEMBRANE: f64 = 4.0;

/// Half of the edge of the box, nm.
pub const HALF_BOX: f64 = 8.0;

/// Steps after which a small cell must be at rest.
const MAX_STEPS: u32 = 3_000;

/// A vesicle with few lipids and beads inside, a shell with beads in its surface, and balls around
/// them. Lengths are nm.
pub fn cell() -> Value {
    json!({
        "name": "cell",
        "format_version": "2.1",
        "bounding_box": [[-8, -8, -8], [8, 8, 8]],
        "randomness_seed": 3,
        "objects": {
            "membrane": { "type": "single_sphere", "radius": MEMBRANE },
            "shell": { "type": "single_sphere", "radius": 1.5 },
            "ball": { "type": "single_sphere", "radius": 0.8, "color": [0.2, 0.4, 0.6] },
            "bead": { "type": "single_sphere", "radius": 0.4 },
            "POPC": lipid("popc"),
            "cholesterol": lipid("cholesterol"),
        },
        "composition": {
            "space": { "regions": { "interior": [
                "vesicle", "vacuole",
                { "object": "ball", "count": 30 },
                { "object": "bead", "count": 12, "size_options":
                    { "distribution": "uniform", "min": 0.3, "max": 0.6 } },
            ] } },
            "vesicle": { "object": "membrane", "count": 1, "regions": {
                "interior": [{ "object": "bead", "count": 15 }],
                "inner_leaflet": [{ "object": "cholesterol", "count": 6 }],
            } },
            "vacuole": { "object": "shell", "count": 1, "regions": {
                "surface": [{ "object": "bead", "count": 10 }],
            } },
        },
        "bevy_rapier_molecules": {
            "unit": "nm",
            "objects": { "POPC": { "conformers": 3 }, "cholesterol": { "conformers": 2 } },
            "composition": {
                "vesicle": {
                    "outer_leaflet": { "POPC": 2, "cholesterol": 1 },
                    "area_scale": 14,
                },
                "vacuole": { "position": [5.5, 5.5, 5.5] },
            },
        },
    })
}

fn lipid(id: &str) -> Value {
    json!({
        "type": "single_sphere",
        "radius": 0.5,
        "representations": { "atomic": { "id": id } },
    })
}

/// Balls of two sizes in a box, without lipids.
pub fn balls() -> Value {
    let mut value = cell();
    value["composition"] = json!({
        "space": { "regions": { "interior": [
            "vacuole", "balls", { "object": "bead", "count": 20 },
        ] } },
        "balls": { "object": "ball", "count": 20 },
        "vacuole": { "object": "shell", "count": 1, "regions": {
            "surface": [{ "object": "bead", "count": 8 }],
            "interior": [{ "object": "bead", "count": 3 }],
        } },
    });
    value["bevy_rapier_molecules"] = json!({
        "unit": "nm",
        "composition": { "vacuole": { "position": [5.5, 5.5, 5.5] } },
    });
    value
}

pub fn read(value: &Value) -> Recipe {
    let text = value.to_string();
    let read = Recipe::read(
        text.as_bytes(),
        "cell.json",
        Path::new(""),
        &ReadOptions::default(),
    );
    read.unwrap_or_else(|error| panic!("{error}"))
}

/// A packing of a recipe, at rest.
pub fn packed(value: &Value) -> LivePacking {
    let mut packing = LivePacking::new(read(value), &PackOptions::default()).unwrap();
    settle(&mut packing);
    packing
}

/// Steps until the packing is at rest; returns the number of steps.
pub fn settle(packing: &mut LivePacking) -> u32 {
    for step in 0..MAX_STEPS {
        if packing.is_at_rest() {
            return step;
        }
        packing.step().unwrap();
    }
    panic!("not at rest: {:?}", packing.status());
}

/// Index of the entry of an object in a region.
pub fn entry(packing: &LivePacking, region: &str, object: &str) -> usize {
    let mut entries = packing.entries();
    let found = entries.position(|entry| entry.region == region && entry.object == object);
    found.unwrap_or_else(|| panic!("no {object} in {region}"))
}

/// The molecules of an entry.
pub fn ids_of(packing: &LivePacking, entry: usize) -> Vec<MoleculeId> {
    let ids = packing.molecule_ids().iter().copied();
    ids.filter(|id| packing.entry_of(*id) == Some(entry))
        .collect()
}

pub fn set_count(packing: &mut LivePacking, entry: usize, count: u32) -> EditReport {
    packing.apply(Edit::SetCount { entry, count }).unwrap()
}

/// Atoms of each molecule in the world, in 64 bits: center, radius.
pub fn atoms(crowd: &Crowd) -> Vec<Vec<(DVec3, f64)>> {
    let molecules = crowd.instances().map(|(template, pose)| {
        let rotation: DQuat = pose.rotation.as_dquat().normalize();
        let position = pose.position.as_dvec3();
        let spheres = template.positions().iter().zip(template.radii());
        spheres
            .map(|(point, radius)| (rotation * point.as_dvec3() + position, f64::from(*radius)))
            .collect()
    });
    molecules.collect()
}

/// The deepest overlap of any two molecules, by brute force, nm.
pub fn deepest_overlap(crowd: &Crowd) -> f64 {
    let molecules = atoms(crowd);
    let reach: Vec<(DVec3, f64)> = molecules
        .iter()
        .map(|atoms| {
            let center = atoms[0].0;
            let far = atoms
                .iter()
                .map(|(point, radius)| point.distance(center) + radius);
            (center, far.fold(0.0, f64::max))
        })
        .collect();
    let mut deepest: f64 = 0.0;
    for (a, own) in molecules.iter().enumerate() {
        for (b, other) in molecules.iter().enumerate().skip(a + 1) {
            if reach[a].0.distance(reach[b].0) > reach[a].1 + reach[b].1 {
                continue;
            }
            for (point, radius) in own {
                for (center, size) in other {
                    deepest = deepest.max(radius + size - point.distance(*center));
                }
            }
        }
    }
    deepest
}

/// Checks everything that holds for a packing at rest.
pub fn check_at_rest(packing: &LivePacking) {
    assert!(packing.is_at_rest(), "{:?}", packing.status());
    assert_eq!(deepest_overlap(packing.crowd()), 0.0);
    check_regions(packing);
    check_numbers(packing);
}

/// Checks ids, entries and counts against each other.
pub fn check_numbers(packing: &LivePacking) {
    let (crowd, ids) = (packing.crowd(), packing.molecule_ids());
    assert_eq!(crowd.members().len(), ids.len());
    assert_eq!(packing.molecule_entries().len(), ids.len());
    let mut counts = vec![0; packing.entries().len()];
    for (index, &id) in ids.iter().enumerate() {
        assert_eq!(packing.index_of(id), Some(index));
        assert_eq!(packing.pose_of(id), Some(crowd.members()[index].pose));
        counts[packing.entry_of(id).unwrap()] += 1;
    }
    let states: Vec<u32> = packing.entries().map(|entry| entry.count).collect();
    assert_eq!(states, counts);
    // What a new search of everything finds is what the packing says.
    let searched = Relaxer::new(crowd.clone(), RelaxConfig::default());
    if let Ok(searched) = searched {
        let (found, status) = (searched.status(), packing.status());
        assert_eq!(found.overlaps, status.overlaps);
        assert_eq!(found.unresolved, status.unresolved);
        assert_eq!(found.out_of_place, status.out_of_place);
    }
}

/// Checks by geometry that all molecules are in their regions.
pub fn check_regions(packing: &LivePacking) {
    let entries: Vec<_> = packing.entries().collect();
    let vacuole = DVec3::splat(5.5);
    let rounding = 2.0e-4;
    let has_vesicle = entries
        .iter()
        .any(|entry| entry.region.starts_with("vesicle"));
    let molecules = atoms(packing.crowd());
    for (atoms, entry) in molecules.iter().zip(packing.molecule_entries()) {
        let region = &*entries[*entry as usize].region;
        let mean = atoms.iter().map(|(point, _)| *point).sum::<DVec3>() / atoms.len() as f64;
        for (point, radius) in atoms {
            let is_kept = match region {
                "space.interior" => {
                    point.abs().max_element() + radius <= HALF_BOX + rounding
                        && (!has_vesicle || point.length() - radius >= MEMBRANE - rounding)
                        && point.distance(vacuole) - radius >= 1.5 - rounding
                }
                "vesicle.interior" => point.length() + radius <= MEMBRANE + rounding,
                "vacuole.interior" => point.distance(vacuole) + radius <= 1.5 + rounding,
                "vacuole.surface" => (point.distance(vacuole) - 1.5).abs() <= 0.05 + rounding,
                "vesicle.outer_leaflet" => mean.length() > MEMBRANE,
                "vesicle.inner_leaflet" => mean.length() < MEMBRANE,
                other => panic!("{other}"),
            };
            assert!(is_kept, "{point} ± {radius} is not in {region}");
        }
    }
}
