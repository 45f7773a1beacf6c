//! Recipes as in cellPACK's own examples: read without warnings, numbers as asked, packed without
//! overlaps and each molecule in its region. Overlaps and regions are checked from their
//! definitions, sphere by sphere in `f64`.

use std::f64::consts::PI;
use std::ops::ControlFlow;

use bevy_rapier_molecules::recipe::{
    PackOptions, Packing, ReadOptions, Recipe, Region, pack, populate,
};
use bevy_rapier_molecules::relax::RelaxConfig;
use glam::{DVec3, Vec3};

use super::packed_spheres::{Sphere, folder, overlaps, packed, populated, spheres, warnings};
use super::triangle_mesh::TriangleMesh;

/// Rounding of `f32` coordinates and the slack of the relaxer, nm.
const SLACK: f64 = 2.0e-3;

/// Half of the leeway of molecules in a surface is 0.05 nm; with the slack.
const SURFACE_LEEWAY: f64 = 0.05 + SLACK;

fn load(name: &str) -> Recipe {
    let path = folder("tests/data/recipes").join(format!("{name}.json"));
    let recipe = Recipe::load(path, &ReadOptions::default());
    let recipe = recipe.unwrap_or_else(|error| panic!("{error}"));
    assert_eq!(warnings(&recipe), [""; 0], "{name}");
    assert_eq!(recipe.name, name);
    recipe
}

/// Number and radius (Å) of the spheres of each entry; the radius is none if it differs.
fn numbers(recipe: &Recipe, packing: &Packing) -> Vec<(String, u32)> {
    let entries = packing.report.entries.iter();
    let numbers: Vec<(String, u32)> = entries
        .map(|entry| {
            assert_eq!(entry.asked, Some(entry.placed), "{}", entry.name);
            (
                format!("{} in {}", entry.object, entry.region),
                entry.placed,
            )
        })
        .collect();
    assert_eq!(numbers.len(), recipe.entries.len());
    let counted: u32 = numbers.iter().map(|(_, number)| number).sum();
    assert_eq!(counted as usize, packing.crowd.members().len());
    numbers
}

fn expected(numbers: &[(&str, u32)]) -> Vec<(String, u32)> {
    let numbers = numbers.iter();
    numbers
        .map(|(name, number)| ((*name).to_owned(), *number))
        .collect()
}

/// Packs a recipe whose only compartment is the box, and checks it.
fn check_box(name: &str, numbers_asked: &[(&str, u32)]) -> Packing {
    let recipe = load(name);
    let packing = packed(&recipe);
    assert_eq!(
        numbers(&recipe, &packing),
        expected(numbers_asked),
        "{name}"
    );
    assert_eq!(overlaps(&packing.crowd), 0, "{name}");
    let [low, high] = recipe.bounds.map(Vec3::as_dvec3);
    for sphere in spheres(&packing.crowd) {
        let entry = &recipe.entries[packing.rows[sphere.member] as usize];
        // A sphere is inside as a whole, or with its center at a distance.
        let wide = entry.cutoff_boundary.map_or(sphere.radius, f64::from);
        for axis in 0..3 {
            let thin = high[axis] - low[axis] < 2.0 * sphere.radius;
            let wide = if thin { 0.0 } else { wide } - SLACK;
            let is_inside =
                low[axis] + wide <= sphere.center[axis] && sphere.center[axis] <= high[axis] - wide;
            assert!(is_inside, "{name}: {sphere:?}");
        }
    }
    packing
}

/// The radius (nm) of each sphere, sorted.
fn radii(packing: &Packing) -> Vec<f64> {
    let mut radii: Vec<f64> = spheres(&packing.crowd).iter().map(|s| s.radius).collect();
    radii.sort_by(f64::total_cmp);
    radii
}

#[test]
fn one_sphere_is_in_its_box() {
    let packing = check_box("one_sphere", &[("ball in space.interior", 1)]);
    assert_eq!(radii(&packing), [4.0]);
    assert_eq!(packing.seed, 1);
}

#[test]
fn a_hundred_sphere_trees_are_in_their_box() {
    let packing = check_box("sphere_tree", &[("cluster in space.interior", 100)]);
    // Twelve spheres on the deepest level of the file.
    assert_eq!(spheres(&packing.crowd).len(), 1200);
    assert!(
        radii(&packing)
            .iter()
            .all(|radius| (radius - 1.2).abs() < 1.0e-6)
    );
}

#[test]
fn spheres_of_five_radii_are_side_by_side_in_a_plane() {
    let packing = check_box(
        "spheres_on_a_plane",
        &[
            ("sphere_100 in space.interior", 6),
            ("sphere_200 in space.interior", 2),
            ("sphere_50 in space.interior", 15),
            ("sphere_25 in space.interior", 40),
            ("sphere_125 in space.interior", 40),
        ],
    );
    let radii = radii(&packing);
    assert_eq!(
        [radii[0], radii[40], radii[80], radii[95], radii[101]],
        [1.25, 2.5, 5.0, 10.0, 20.0]
    );
    assert!(packing.report.regions[0].is_flat);
}

#[test]
fn half_of_the_binders_are_next_to_their_partners() {
    check_box(
        "partner_packing",
        &[
            ("target in space.interior", 10),
            ("binder in space.interior", 50),
        ],
    );
    // Where they began. Chance is less than 1 in 1,000 outside of 12 to 38 of 50.
    let first = populated(&load("partner_packing"));
    let bound = (10..60).filter(|&binder| {
        let members = first.crowd.members();
        let touching = 1.02 * 5.0;
        (0..10).any(|target| {
            let (target, binder) = (&members[target].pose, &members[binder].pose);
            (target.position.distance(binder.position) - touching).abs() < 1.0e-3
        })
    });
    let bound = bound.count();
    assert!((12..=38).contains(&bound), "{bound} of 50");
}

#[test]
fn a_hundred_spheres_follow_a_plane_in_a_cube() {
    let packing = check_box("vector_gradient", &[("sphere in space.interior", 100)]);
    // Density falls with the cube of the distance from the plane.
    let normal = DVec3::new(1.0, 1.0, 0.0).normalize();
    let spheres = spheres(&packing.crowd);
    let distances = spheres.iter().map(|sphere| sphere.center.dot(normal).abs());
    let mean = distances.sum::<f64>() / 100.0;
    // 4.7 nm without a gradient; the relaxation spreads them a little.
    assert!(mean < 3.4, "{mean} nm");
}

#[test]
fn three_hundred_spheres_follow_two_gradients() {
    let packing = check_box("combined_gradient", &[("sphere_25 in space.interior", 300)]);
    let spheres = spheres(&packing.crowd);
    let mean = |axis: usize| spheres.iter().map(|s| s.center[axis]).sum::<f64>() / 300.0;
    let [x, y] = [mean(0), mean(1)];
    assert!(x < y && y < 50.0, "70 % along x, 30 % along y: {x}, {y} nm");
}

#[test]
fn the_number_of_spheres_is_from_its_distribution() {
    let recipe = load("variable_count");
    assert_eq!(recipe.seed, Some(0));
    let mut seen = [0; 16];
    for seed in 0..400 {
        let population = populate(&recipe, Some(seed)).unwrap();
        seen[population.crowd.members().len()] += 1;
    }
    // 36 on average of each number from 5 to 15, with a deviation of 6.
    assert!(seen[..5].iter().all(|count| *count == 0), "{seen:?}");
    assert!(
        seen[5..].iter().all(|count| (14..=62).contains(count)),
        "{seen:?}"
    );
    let count = populated(&recipe).crowd.members().len() as u32;
    check_box("variable_count", &[("sphere_25 in space.interior", count)]);
}

#[test]
fn the_radii_of_spheres_are_from_their_distribution() {
    let packing = check_box("variable_size", &[("sphere_25 in space.interior", 10)]);
    assert!(
        radii(&packing)
            .iter()
            .all(|radius| (0.5..=3.0).contains(radius))
    );
    let recipe = load("variable_size");
    let mut all = Vec::new();
    for seed in 0..100 {
        let population = populate(&recipe, Some(seed)).unwrap();
        all.extend(
            spheres(&population.crowd)
                .iter()
                .map(|sphere| sphere.radius),
        );
    }
    assert_eq!(all.len(), 1000);
    // Kolmogorov and Smirnov: 1.95 / √1000 at p = 0.001.
    all.sort_by(f64::total_cmp);
    let steps = all.iter().enumerate();
    let off = steps.map(|(index, radius)| {
        let part = (radius - 0.5) / 2.5;
        let index = index as f64;
        (part - index / 1000.0).max((index + 1.0) / 1000.0 - part)
    });
    let off = off.fold(0.0, f64::max);
    assert!(off < 1.95 / 1000.0_f64.sqrt(), "{off}");
}

/// The inner sphere of this recipe is too small for its twenty: at most about 17 spheres fit into
/// one of 10 / 3 of their radius.
#[test]
fn nested_spheres_are_in_their_compartments_and_surfaces_except_for_those_that_do_not_fit() {
    let recipe = load("nested_spheres");
    let options = PackOptions::default();
    let packing = pack(&recipe, &options, |_| ControlFlow::Continue(())).unwrap();
    assert_eq!(
        numbers(&recipe, &packing),
        expected(&[
            ("green in bounding_area.interior", 5),
            ("green in outer_sphere.surface", 40),
            ("red in outer_sphere.interior", 40),
            ("green in inner_sphere.interior", 20),
        ])
    );
    let [left] = packing.left.as_slice() else {
        panic!("{packing}");
    };
    assert_eq!(
        (&*left.region, left.molecules),
        ("inner_sphere.interior", 20)
    );
    // The overlaps are all among these.
    let spheres = spheres(&packing.crowd);
    let place = |sphere: &Sphere| {
        let entry = &recipe.entries[packing.rows[sphere.member] as usize];
        (&*recipe.compartments[entry.compartment].name, entry.region)
    };
    for (index, a) in spheres.iter().enumerate() {
        for b in &spheres[..index] {
            let is_apart = a.center.distance(b.center) >= a.radius + b.radius;
            assert!(is_apart || (place(a).0, place(b).0) == ("inner_sphere", "inner_sphere"));
        }
    }
    for sphere in &spheres {
        let (from_center, radius) = (sphere.center.length(), sphere.radius);
        let is_there = match place(sphere) {
            ("bounding_area", Region::Interior) => {
                from_center - radius >= 60.0 - SLACK
                    && sphere.center.abs().max_element() + radius <= 100.0 + SLACK
            }
            ("outer_sphere", Region::Surface) => (from_center - 60.0).abs() <= SURFACE_LEEWAY,
            ("outer_sphere", Region::Interior) => {
                from_center + radius <= 60.0 + SLACK && from_center - radius >= 10.0 - SLACK
            }
            ("inner_sphere", Region::Interior) => from_center + radius <= 10.0 + 0.5,
            _ => false,
        };
        assert!(is_there, "{:?}: {sphere:?}", place(sphere));
    }
}

/// Whether a sphere is inside of a mesh as a whole.
fn is_within(sphere: &Sphere, mesh: &TriangleMesh) -> bool {
    mesh.contains(sphere.center) && mesh.distance(sphere.center) >= sphere.radius - SLACK
}

fn mesh(name: &str) -> TriangleMesh {
    // Lengths of the file are Å.
    TriangleMesh::load(&folder("tests/data/recipes/shapes").join(name), 0.1)
}

#[test]
fn spheres_between_two_meshes_are_inside_of_one_and_outside_of_the_other() {
    let recipe = load("nested_mesh_gradient");
    let packing = packed(&recipe);
    let numbers = numbers(&recipe, &packing);
    assert_eq!(numbers, expected(&[("ball in membrane.interior", 100)]));
    assert_eq!(overlaps(&packing.crowd), 0);
    let (membrane, nucleus) = (mesh("sphere_4.obj"), mesh("sphere_2.obj"));
    for sphere in spheres(&packing.crowd) {
        assert!(is_within(&sphere, &membrane), "{sphere:?}");
        assert!(!nucleus.contains(sphere.center), "{sphere:?}");
        let gap = nucleus.distance(sphere.center) - sphere.radius;
        assert!(gap >= -SLACK, "{sphere:?}: {gap} nm");
    }
}

#[test]
fn spheres_in_a_mesh_are_away_from_a_plane() {
    let recipe = load("mesh_planar_gradient");
    let packing = packed(&recipe);
    let numbers = numbers(&recipe, &packing);
    assert_eq!(numbers, expected(&[("ball in sphere.interior", 100)]));
    assert_eq!(overlaps(&packing.crowd), 0);
    let membrane = mesh("sphere_3.obj");
    let mut far = 0;
    for sphere in spheres(&packing.crowd) {
        assert!(is_within(&sphere, &membrane), "{sphere:?}");
        // The gradient is inverted: few are near the plane. 1 in 20 would be nearer without it.
        far += usize::from((sphere.center.x + sphere.center.y).abs() / 2.0_f64.sqrt() > 0.01);
    }
    assert!(far >= 97, "{far} of 100");
}

#[test]
fn what_cannot_fit_is_said_before_and_nothing_is_dropped() {
    let recipe = load("spheres_in_a_box");
    let population = populated(&recipe);
    // 103 % of the box, by the volumes of the spheres.
    let volume = |radius: f64| 4.0 / 3.0 * PI * radius.powi(3);
    let asked = [(60.0, 10.0), (20.0, 20.0), (150.0, 5.0), (400.0, 2.5)];
    let filled: f64 = asked
        .iter()
        .map(|(count, radius)| count * volume(*radius))
        .sum();
    assert!((filled / 1.0e6 - 1.026).abs() < 1.0e-3, "{filled} nm³");
    let region = &population.report.regions[0];
    assert!((region.fraction() / (filled / 1.0e6) - 1.0).abs() < 1.0e-4);
    let said: Vec<String> = population
        .warnings
        .iter()
        .map(ToString::to_string)
        .collect();
    assert_eq!(
        said,
        [
            "composition.space: 630 molecules ask for 103 % of the space inside of 'space' \
             (1026253.6 of 1000000.0 nm³); they cannot fit"
        ]
    );
    let options = PackOptions {
        relax: RelaxConfig {
            max_iterations: 30,
            ..RelaxConfig::default()
        },
        ..PackOptions::default()
    };
    let packing = pack(&recipe, &options, |_| ControlFlow::Continue(())).unwrap();
    assert!(!packing.is_complete());
    assert_eq!(packing.crowd.members().len(), 630);
    assert_eq!(
        packing.report.entries.iter().map(|e| e.placed).sum::<u32>(),
        630
    );
    assert_eq!(packing.warnings.len(), 1);
    let left: Vec<(&str, u32)> = packing
        .left
        .iter()
        .map(|l| (&*l.object, l.molecules))
        .collect();
    assert_eq!(
        left,
        [
            ("sphere_100", 60),
            ("sphere_200", 20),
            ("sphere_50", 150),
            ("sphere_25", 400)
        ]
    );
    // Each kind has as many overlapping molecules as all pairs say.
    let spheres = spheres(&packing.crowd);
    for (row, left) in packing.left.iter().enumerate() {
        let of_row = spheres
            .iter()
            .filter(|s| packing.rows[s.member] as usize == row);
        let overlapping = of_row.filter(|a| {
            let mut others = spheres.iter().filter(|b| b.member != a.member);
            others.any(|b| a.center.distance(b.center) < a.radius + b.radius)
        });
        assert_eq!(
            overlapping.count(),
            left.overlapping as usize,
            "{}",
            left.object
        );
        assert!(left.deepest_nm > 0.0);
    }
}
