//! A small vesicle from a recipe: leaflets, ratios, a porin in its membrane, proteins inside; and
//! molecules in a surface without lipids. Places are checked atom by atom in `f64`.

use std::collections::BTreeMap;

use bevy_rapier_molecules::molecule::Element;
use bevy_rapier_molecules::recipe::{Packing, Recipe};
use glam::DVec3;
use serde_json::{Value, json};

use super::packed_spheres::{change, overlaps, packed, populated, poses, read, spheres, warnings};

/// Radius of the middle of the membrane, nm.
const RADIUS: f64 = 5.0;

/// Tilt that proteins of a membrane may have, and the slack of the relaxer, radian.
const PROTEIN_TILT: f64 = 0.3;

fn vesicle_with(changes: &Value) -> Recipe {
    let atomic = |id: &str| json!({ "representations": { "atomic": { "id": id } } });
    let mut recipe = json!({
        "name": "vesicle",
        "format_version": "2.1",
        "bounding_box": [[-9, -9, -9], [9, 9, 9]],
        "objects": {
            "shape": { "type": "single_sphere", "radius": RADIUS },
            "POPC": atomic("popc"), "cholesterol": atomic("cholesterol"), "porin": atomic("2por"),
            "ubiquitin": atomic("1ubq"), "xylene": atomic("p_xylene"),
        },
        "composition": {
            "space": { "regions": { "interior": ["vesicle", { "object": "xylene", "count": 30 }] } },
            "vesicle": { "object": "shape", "regions": {
                "surface": [{ "object": "porin", "count": 1 }],
                "interior": [
                    { "object": "ubiquitin", "count": 1 }, { "object": "xylene", "count": 8 },
                ],
            } },
        },
        "bevy_rapier_molecules": {
            "unit": "nm",
            "objects": {
                "porin": { "up": [-0.69, 0.62, 0.36], "depth": 0.3, "hydrogens": false },
                "POPC": { "hydrogens": false, "conformers": 6 },
                "cholesterol": { "hydrogens": false, "conformers": 2 },
            },
            "composition": { "vesicle": {
                "outer_leaflet": { "POPC": 7, "cholesterol": 3 },
                "inner_leaflet": { "POPC": 1, "cholesterol": 1 },
                "area_scale": 1.2,
            } },
        },
    });
    change(&mut recipe, changes);
    read(&recipe)
}

/// Number of molecules of each object in each region.
fn numbers(packing: &Packing) -> BTreeMap<(String, String), u32> {
    let mut numbers = BTreeMap::new();
    for row in &packing.rows {
        let row = &packing.report.entries[*row as usize];
        *numbers
            .entry((row.region.clone(), row.object.clone()))
            .or_default() += 1;
    }
    for row in &packing.report.entries {
        let key = (row.region.clone(), row.object.clone());
        assert_eq!(numbers.get(&key), Some(&row.placed), "{row:?}");
    }
    numbers
}

#[test]
fn a_vesicle_has_its_leaflets_proteins_and_contents_without_overlaps() {
    let recipe = vesicle_with(&json!({}));
    assert_eq!(warnings(&recipe), [""; 0]);
    let packing = packed(&recipe);
    assert!(packing.warnings.is_empty(), "{:?}", packing.warnings);
    assert_eq!(overlaps(&packing.crowd), 0);
    let numbers = numbers(&packing);
    let number = |region: &str, object: &str| {
        let key = (format!("vesicle.{region}"), object.to_owned());
        f64::from(numbers[&key])
    };
    // Ratios, to a molecule.
    for (leaflet, part) in [("outer_leaflet", 0.7), ("inner_leaflet", 0.5)] {
        let [popc, cholesterol] = ["POPC", "cholesterol"].map(|lipid| number(leaflet, lipid));
        let all = popc + cholesterol;
        assert!(
            (popc - part * all).abs() <= 1.0,
            "{leaflet}: {popc} of {all}"
        );
        assert!(all > 100.0, "{leaflet}: {all}");
    }
    assert!(number("outer_leaflet", "POPC") > 1.5 * number("inner_leaflet", "POPC"));
    assert_eq!(
        [number("surface", "porin"), number("interior", "ubiquitin")],
        [1.0, 1.0]
    );
    // Where the atoms of each molecule are.
    let mut atoms: Vec<Vec<DVec3>> = vec![Vec::new(); packing.crowd.members().len()];
    for sphere in spheres(&packing.crowd) {
        assert!((sphere.radius - 0.1).abs() < 1.0e-6, "half of 0.2 nm");
        atoms[sphere.member].push(sphere.center);
    }
    for ((member, atoms), row) in packing
        .crowd
        .members()
        .iter()
        .zip(&atoms)
        .zip(&packing.rows)
    {
        let row = &packing.report.entries[*row as usize];
        let heights: Vec<f64> = atoms.iter().map(|atom| atom.length() - RADIUS).collect();
        let lowest = heights.iter().copied().fold(f64::INFINITY, f64::min);
        let highest = heights.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let place = &*row.region;
        match place {
            "vesicle.outer_leaflet" | "vesicle.inner_leaflet" => {
                // The head: the phosphorus of POPC, the oxygen of cholesterol.
                let head = if row.object == "POPC" {
                    Element::P
                } else {
                    Element::O
                };
                let elements = packing.crowd.template_of(member).elements();
                let head = elements
                    .iter()
                    .position(|element| *element == head)
                    .unwrap();
                let mean = heights.iter().sum::<f64>() / heights.len() as f64;
                let side = if place == "vesicle.outer_leaflet" {
                    1.0
                } else {
                    -1.0
                };
                let (head, mean) = (side * heights[head], side * mean);
                assert!(
                    mean > 0.3 && head > mean + 0.3,
                    "{place}: {mean}, {head} nm"
                );
            }
            "vesicle.surface" => {
                let up = DVec3::new(-0.69, 0.62, 0.36).normalize();
                let up = member.pose.rotation.as_dquat() * up;
                let center = member.pose.position.as_dvec3();
                let tilt = up.angle_between(center);
                assert!(tilt < PROTEIN_TILT, "{tilt} rad");
                assert!((center.length() - RADIUS - 0.3).abs() < 0.4, "{center}");
                assert!(lowest < -1.0 && highest > 1.0, "it spans the membrane");
            }
            "vesicle.interior" => assert!(highest < -1.0, "{}: {highest} nm", row.object),
            "space.interior" => {
                assert!(lowest > 1.0, "{lowest} nm");
                let farthest = atoms.iter().map(|atom| atom.abs().max_element());
                assert!(farthest.fold(0.0, f64::max) < 9.0);
            }
            _ => panic!("{place}"),
        }
    }
}

#[test]
fn lipids_may_be_given_by_number_in_regions() {
    let recipe = vesicle_with(&json!({
        "composition": { "vesicle": { "regions": {
            "surface": [], "interior": [],
            "outer_leaflet": [{ "object": "POPC", "count": 90 }, { "object": "cholesterol", "count": 10 }],
            "inner-leaflet": [{ "object": "POPC", "count": 40 }],
        } } },
        "bevy_rapier_molecules": { "composition": { "vesicle": {
            "outer_leaflet": null, "inner_leaflet": null,
        } } },
    }));
    let packing = packed(&recipe);
    let numbers = numbers(&packing);
    let number =
        |region: &str, object: &str| numbers[&(format!("vesicle.{region}"), object.to_owned())];
    let outer = ["POPC", "cholesterol"].map(|object| number("outer_leaflet", object));
    assert_eq!((outer, number("inner_leaflet", "POPC")), ([90, 10], 40));
    assert_eq!(overlaps(&packing.crowd), 0);
}

#[test]
fn too_many_lipids_are_reported_before_the_start() {
    let recipe = vesicle_with(&json!({
        "composition": { "vesicle": { "regions": {
            "surface": [], "interior": [], "outer_leaflet": [{ "object": "POPC", "count": 1500 }],
        } } },
        "bevy_rapier_molecules": { "composition": { "vesicle": {
            "outer_leaflet": null, "inner_leaflet": null,
        } } },
    }));
    let population = populated(&recipe);
    let [warning] = population.warnings.as_slice() else {
        panic!("{:?}", population.warnings);
    };
    let text = warning.to_string();
    let start =
        "composition.vesicle: 1500 lipids are more than the area of a leaflet allows, about ";
    let fitting: f64 = text.strip_prefix(start).unwrap().parse().unwrap();
    // A lipid has about 0.65 nm², and those of a curved outer leaflet more.
    assert!((300.0..900.0).contains(&fitting), "{text}");
    assert_eq!(population.crowd.members().len(), 1500 + 30);
}

/// Rods of three spheres along an axis in the surface of a sphere.
fn rods(fields: &Value) -> Recipe {
    let mut rod = json!({
        "type": "multi_sphere",
        "representations": { "packing": {
            "positions": [[[0, 0, 0], [0, 0.4, 0], [0, 0.8, 0]]], "radii": [[0.2, 0.2, 0.2]],
        } },
    });
    change(&mut rod, fields);
    read(&json!({
        "name": "rods",
        "format_version": "2.1",
        "bounding_box": [[-9, -9, -9], [9, 9, 9]],
        "objects": { "rod": rod, "shell": { "type": "single_sphere", "radius": 6 } },
        "composition": {
            "space": { "regions": { "interior": ["cell"] } },
            "cell": { "object": "shell", "regions": { "surface": [{ "object": "rod", "count": 300 }] } },
        },
        "bevy_rapier_molecules": {
            "unit": "nm", "composition": { "cell": { "position": [1, 0, 0] } },
        },
    }))
}

#[test]
fn molecules_of_a_surface_point_along_its_normal() {
    let center = DVec3::X;
    for axis in [DVec3::Y, DVec3::NEG_Y, DVec3::new(1.0, 1.0, 0.0)] {
        let axis_and_tilt = |tilt: f64| {
            rods(&json!({ "principal_vector": axis.to_array(), "perturb_axis_amplitude": tilt }))
        };
        for tilt in [0.0, 0.1, 0.4] {
            let recipe = axis_and_tilt(tilt);
            let angles = |poses: &[bevy_rapier_molecules::pose::Pose]| -> Vec<f64> {
                let angles = poses.iter().map(|pose| {
                    let up = pose.rotation.as_dquat() * axis.normalize();
                    up.angle_between(pose.position.as_dvec3() - center)
                });
                angles.collect()
            };
            let first = angles(&poses(&populated(&recipe).crowd));
            let largest = first.iter().copied().fold(0.0, f64::max);
            assert!(
                largest <= tilt + 2.0e-3 && largest >= 0.9 * tilt,
                "{largest}, not {tilt}"
            );
            let packing = packed(&recipe);
            let relaxed = angles(&poses(&packing.crowd));
            let largest = relaxed.iter().copied().fold(0.0, f64::max);
            assert!(largest <= tilt + 2.0e-2, "{largest}, not {tilt}");
            assert_eq!(overlaps(&packing.crowd), 0);
            // The origin of the file is in the surface: the center of mass is 0.4 nm off along y.
            let depth = 0.4 * axis.normalize().y;
            for pose in poses(&packing.crowd) {
                let height = (pose.position.as_dvec3() - center).length() - 6.0;
                assert!((height - depth).abs() < 0.06, "{height}, not {depth}");
            }
        }
    }
}

#[test]
fn molecules_of_a_surface_are_spun_at_random() {
    let recipe = rods(&json!({ "principal_vector": [0, 1, 0], "perturb_axis_amplitude": 0 }));
    // A body axis across, relative to the direction to the pole of the surface.
    let mut quarters = [0; 4];
    for pose in poses(&populated(&recipe).crowd) {
        let normal = (pose.position.as_dvec3() - DVec3::X).normalize();
        let east = DVec3::Z.cross(normal).normalize();
        let across = pose.rotation.as_dquat() * DVec3::X;
        let turn = across.dot(normal.cross(east)).atan2(across.dot(east));
        let quarter = (turn / std::f64::consts::FRAC_PI_2).floor() as i32 + 2;
        quarters[quarter.clamp(0, 3) as usize] += 1;
    }
    // 75 on average; 3.29 √(300 · 3/16) = 25.
    assert!(
        quarters.iter().all(|number| (49..=101).contains(number)),
        "{quarters:?}"
    );
}
