//! Files of bentopy as recipes: shapes of compartments against membership of points, numbers,
//! packings, errors.

use std::f64::consts::PI;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy_rapier_molecules::compartment::{CombinedSolids, Surface};
use bevy_rapier_molecules::recipe::bent::{
    Anchor, Axis, BentFile, Comparison, CompartmentShape, Limit,
};
use bevy_rapier_molecules::recipe::{
    Ingredient, PackOptions, Packing, ReadOptions, Recipe, RecipeProblem, RotationRange, pack,
    populate,
};
use glam::{DVec3, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Edges of the box of most tests, nm.
const SIZE: DVec3 = DVec3::new(12.0, 10.0, 8.0);

/// Spacing of the points by which distances to other compartments are found, nm.
const SPACING: f64 = 0.2;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn options() -> ReadOptions {
    ReadOptions {
        structure_folders: vec![folder("assets/molecules")],
        ..ReadOptions::default()
    }
}

fn try_read(text: &str) -> Result<Recipe, String> {
    let read = Recipe::read(text.as_bytes(), "cell.bent", &folder("tests"), &options());
    read.map_err(|error| error.to_string())
}

fn read(text: &str) -> Recipe {
    try_read(text).unwrap_or_else(|error| panic!("{error}"))
}

/// A file with these compartments and one molecule in one of them.
fn text_with(periodic: bool, compartments: &str, placed: &str) -> String {
    format!(
        "[ space ]\ndimensions 12, 10, 8\nperiodic {periodic}\n[ compartments ]\n{compartments}\n\
         [ segments ]\nxylene 1 from \"p_xylene.pdb\" in {placed}\n"
    )
}

/// Whether points belong to the compartments of a file, by definition.
struct Membership {
    file: BentFile,
    size: DVec3,
}

impl Membership {
    fn new(text: &str) -> Self {
        let file = BentFile::read(text, "cell.bent").unwrap_or_else(|error| panic!("{error}"));
        let size = DVec3::from_array(file.space.dimensions);
        Self { file, size }
    }

    fn is_periodic(&self) -> bool {
        self.file.space.periodic.unwrap_or(true)
    }

    /// Whether any of the compartments contains a point.
    fn contains(&self, ids: &[&str], point: DVec3) -> bool {
        let point = if self.is_periodic() {
            point - self.size * (point / self.size).floor()
        } else if point.cmplt(DVec3::ZERO).any() || point.cmpgt(self.size).any() {
            return false;
        } else {
            point
        };
        ids.iter().any(|id| self.has(id, point))
    }

    fn anchor(&self, anchor: &Anchor) -> DVec3 {
        match anchor {
            Anchor::Start => DVec3::ZERO,
            Anchor::Center => 0.5 * self.size,
            Anchor::End => self.size,
            Anchor::Point(point) => DVec3::from_array(*point),
        }
    }

    fn has(&self, id: &str, point: DVec3) -> bool {
        match &self.file.compartment(id).unwrap().shape {
            CompartmentShape::All => true,
            CompartmentShape::Mask(_) => unreachable!(),
            CompartmentShape::Sphere { center, radius } => {
                point.distance(self.anchor(center)) <= *radius
            }
            CompartmentShape::Cuboid { from, to } => {
                let (a, b) = (self.anchor(from), self.anchor(to));
                point.cmpge(a.min(b)).all() && point.cmple(a.max(b)).all()
            }
            CompartmentShape::Where(limits) => limits.holds(&|limit: &Limit| {
                let axis = match limit.axis {
                    Axis::X => 0,
                    Axis::Y => 1,
                    Axis::Z => 2,
                };
                match limit.comparison {
                    Comparison::Less => point[axis] < limit.value,
                    Comparison::Greater => point[axis] > limit.value,
                }
            }),
            CompartmentShape::Within { distance, of } => self.is_near(of, point, *distance),
            CompartmentShape::Around { distance, of } => {
                !self.has(of, point) && self.is_near(of, point, *distance)
            }
            CompartmentShape::Combines(ids) => ids.holds(&|id: &String| self.has(id, point)),
        }
    }

    /// Whether a point of a compartment is near: exactly for a ball inside of the box, else by a
    /// fine grid of points.
    fn is_near(&self, id: &str, point: DVec3, distance: f64) -> bool {
        if let CompartmentShape::Sphere { center, radius } =
            &self.file.compartment(id).unwrap().shape
        {
            let center = self.anchor(center);
            let gap = center.min(self.size - center).min_element();
            if !self.is_periodic() && gap >= *radius {
                return point.distance(center) <= radius + distance;
            }
        }
        let reach = (distance / SPACING).ceil() as i32 + 1;
        let steps = -reach..=reach;
        // Of the grid that is at the origin.
        let first = (point / SPACING).round();
        for x in steps.clone() {
            for y in steps.clone() {
                for z in steps.clone() {
                    let step = DVec3::new(f64::from(x), f64::from(y), f64::from(z));
                    let other = SPACING * (first + step);
                    if other.distance(point) <= distance && self.contains(&[id], other) {
                        return true;
                    }
                }
            }
        }
        self.has(id, point)
    }
}

fn random_point(random: &mut Pcg64Mcg, margin: f64) -> DVec3 {
    let parts = DVec3::from_array([(); 3].map(|()| random.random::<f64>()));
    (SIZE + 2.0 * margin) * parts - margin
}

/// How closely a shape is compared with the membership of points.
#[derive(Clone, Copy)]
struct Sampling {
    /// Number of random points.
    points: usize,
    /// Spacing of the grid of points that gives the volume, nm.
    step: f64,
    /// Allowed error of the volume, as a part of it.
    error: f64,
}

const FINE: Sampling = Sampling {
    points: 4_000,
    step: 0.1,
    error: 0.01,
};

/// For shapes of hundreds of parts, of which each point asks all.
const COARSE: Sampling = Sampling {
    points: 200,
    step: 0.5,
    error: 0.03,
};

/// Checks the surface of the compartments `placed` (`a` or `a, b`). Points nearer to it than `leeway`
/// may be on either side.
fn check_shape(compartments: &str, placed: &str, leeway: f32) {
    check_sampled_shape(compartments, placed, leeway, FINE);
}

fn check_sampled_shape(compartments: &str, placed: &str, leeway: f32, sampling: Sampling) {
    let Sampling {
        points,
        step,
        error: allowed,
    } = sampling;
    for periodic in [false, true] {
        let text = text_with(periodic, compartments, placed);
        let what = format!("{compartments}, periodic {periodic}");
        let membership = Membership::new(&text);
        let ids: Vec<&str> = placed.split(", ").collect();
        let recipe = read(&text);
        assert_eq!(recipe.compartments.len(), 2, "{what}");
        let compartment = &recipe.compartments[1];
        assert_eq!(compartment.parent, None);
        let surface = compartment.surface.as_ref().unwrap();
        let mut random = Pcg64Mcg::seed_from_u64(3);
        let (mut inside, mut smooth, mut clear) = (0, 0, 0);
        for _ in 0..points {
            let margin = match (periodic, surface.as_sphere()) {
                (false, _) => 2.0,
                (true, None) => 6.0,
                // It has no images: molecules stay in that in the box.
                (true, Some(_)) => 0.0,
            };
            let point = random_point(&mut random, margin);
            let at = surface.distance_and_normal(point.as_vec3());
            assert_eq!(at.distance, surface.signed_distance(point.as_vec3()));
            assert!(
                (at.normal.length() - 1.0).abs() < 1.0e-4,
                "{what} at {point}"
            );
            let belongs = membership.contains(&ids, point);
            if at.distance.abs() > leeway {
                let distance = at.distance;
                assert_eq!(distance < 0.0, belongs, "{what} at {point}: {distance} nm");
            }
            let is_in_box = point.cmpge(DVec3::ZERO).all() && point.cmple(SIZE).all();
            if is_in_box && at.distance < 0.0 {
                let [low, high] = compartment.bounds;
                let near = point.as_vec3().clamp(low, high);
                assert!(near.distance(point.as_vec3()) < 1.0e-4, "{what}: bounds");
            }
            inside += usize::from(belongs);
            // No step changes the distance by more than its length.
            for length in [0.01, 1.0, 5.0] {
                let step = random_point(&mut random, 0.0) - 0.5 * SIZE;
                let other = (point + length * step.normalize()).as_vec3();
                let change = surface.signed_distance(other) - at.distance;
                let far = other.distance(point.as_vec3());
                assert!(change.abs() <= far + 1.0e-4, "{what} at {point}: {change}");
            }
            // Along the normal, it changes by that.
            let step = at.normal * 0.005;
            let [a, b] = [point.as_vec3() + step, point.as_vec3() - step];
            let slope = (surface.signed_distance(a) - surface.signed_distance(b)) / 0.01;
            smooth += usize::from((slope - 1.0).abs() < 0.02);
            clear += usize::from(at.distance.abs() > leeway);
        }
        assert!(inside > 0 && inside < points, "{what}: {inside}");
        assert!(smooth * 100 > points * 97, "{what}: {smooth} normals");
        assert!(clear * 10 > points * 6, "{what}: {clear}");
        // The volume, by the points of a grid.
        if leeway < 0.1 {
            let (mut count, mut cells) = (0.0, 0.0);
            let at = |i: u32| step * (f64::from(i) + 0.5);
            let [columns, rows, layers] = (SIZE / step).round().as_uvec3().to_array();
            for x in 0..columns {
                for y in 0..rows {
                    for z in 0..layers {
                        let point = DVec3::new(at(x), at(y), at(z));
                        count += f64::from(u8::from(membership.contains(&ids, point)));
                        cells += 1.0;
                    }
                }
            }
            let volume = f64::from(surface.volume().unwrap());
            let expected = SIZE.element_product() * count / cells;
            let error = (volume - expected).abs();
            assert!(
                error < allowed * expected + 0.1,
                "{what}: {volume}, not {expected}"
            );
        }
    }
}

const SHARP: f32 = 1.0e-4;

#[test]
fn balls_contain_the_points_of_bentopy() {
    for ball in [
        "a as sphere at center with radius 3.5",
        "a as sphere at 4, 5, 4 with diameter 7",
        "a as sphere at start with radius 6",
        "a as sphere at end with radius 9",
        "a as sphere at center with radius 5.5",
        "a as sphere at 6, 1, 4 with radius 3",
        "a as sphere at 6, -1, 4 with radius 3",
    ] {
        check_shape(ball, "a", SHARP);
    }
}

#[test]
fn cuboids_contain_the_points_of_bentopy() {
    for cuboid in [
        "a as cuboid from start to center",
        "a as cuboid from end to center",
        "a as cuboid from 2, 2, 2 to 9, 5, 7",
        "a as cuboid from 9, 2, 7 to 2, 50, 2",
        "a as cuboid from -5, -5, 3 to 50, 50, 5",
    ] {
        check_shape(cuboid, "a", SHARP);
    }
}

#[test]
fn limits_contain_the_points_of_bentopy() {
    for limits in [
        "a where 3 < x",
        "a where x < 3 or x > 9",
        "a where 3 < x and not z > 5",
        "a where not (x > 3 and x < 9)",
        "a where (x > 3 and y > 3) or z < 2",
        "a where not ((x > 3 and y > 3) or z < 2)",
        "a where x > 3 and (y > 6 or z < 2 or not x < 9)",
    ] {
        check_shape(limits, "a", SHARP);
    }
}

#[test]
fn combinations_contain_the_points_of_bentopy() {
    let parts = "b as sphere at 4, 5, 4 with radius 3\nc as sphere at 7, 5, 4 with radius 2.5\n\
                 d where y > 4\ne as cuboid from 1, 1, 1 to 8, 8, 4\n";
    for combination in [
        "b and c",
        "b or c",
        "b and not c",
        "not b",
        "not (b or c)",
        "(b or c) and d",
        "b and not (c and d)",
        "e and not b or c",
        "d and e",
        "not e and not c",
    ] {
        check_shape(&format!("{parts}a combines {combination}"), "a", SHARP);
    }
}

#[test]
fn compartments_may_be_defined_in_any_order() {
    let shapes = "a combines b and not c\nb combines d or c\n\
                  c as sphere at 4, 5, 4 with radius 2\nd where x < 6";
    check_shape(shapes, "a", SHARP);
}

#[test]
fn surroundings_contain_the_points_of_bentopy() {
    // The grid by which distances are found is that coarse.
    let leeway = 3.0_f32.sqrt() * SPACING as f32 + 0.01;
    let parts = "b as sphere at 5, 5, 4 with radius 2\nc as cuboid from 2, 2, 2 to 5, 6, 5\n\
                 d combines b or c\ne where x > 8\nf where x > 9 and y < 3\n";
    for of in ["b", "c", "d", "e", "f"] {
        for kind in ["within", "around"] {
            let shapes = format!("{parts}a {kind} 1.5 of {of}");
            let sampling = Sampling {
                points: 2_000,
                ..FINE
            };
            check_sampled_shape(&shapes, "a", leeway, sampling);
        }
    }
}

#[test]
fn several_compartments_are_their_union() {
    let shapes = "a as sphere at 4, 5, 4 with radius 3\nb where x > 9\n\
                  c combines b or d\nd combines cell and not a\ncell where z < 4";
    check_shape(shapes, "a, b", SHARP);
    check_shape(shapes, "d, c", SHARP);
    // What is on both sides of the ball is one space: no wall where the parts touch.
    let recipe = read(&text_with(true, shapes, "a, d"));
    let surface = recipe.compartments[1].surface.as_ref().unwrap();
    assert!(surface.signed_distance(Vec3::new(7.0, 5.0, 3.0)) < -0.9);
    let recipe = read(&text_with(true, "a where x < 5\nb where x > 5", "b, a"));
    assert_eq!(recipe.compartments.len(), 1, "everywhere");
    assert_eq!(recipe.entries[0].compartment, 0);
}

#[test]
fn the_whole_box_is_the_first_compartment() {
    for (shapes, placed) in [
        ("a is all", "a"),
        ("a is all\nb where x > 4", "b, a"),
        ("a as cuboid from start to end", "a"),
        ("a where x > -1", "a"),
        ("a combines b or not b\nb where y < 3", "a"),
        (
            "a combines b or not b\nb as sphere at center with radius 2",
            "a",
        ),
        ("a within 2 of b\nb is all", "a"),
    ] {
        let recipe = read(&text_with(true, shapes, placed));
        assert_eq!(recipe.compartments.len(), 1, "{shapes}");
        assert_eq!(recipe.entries[0].compartment, 0);
        assert!(recipe.compartments[0].surface.is_none());
    }
}

#[test]
fn equal_compartments_are_shared_and_do_not_exclude_each_other() {
    let text = "[ space ]\ndimensions 30, 30, 30\n[ compartments ]\n\
                a as sphere at center with radius 10\nb where x > 15\nunused from \"mask.npz\"\n\
                [ segments ]\nx 5 from \"p_xylene.pdb\" in a, b\ny 5 from \"p_xylene.pdb\" in b, a\n\
                z 5 from \"p_xylene.pdb\" in a\n";
    let recipe = read(text);
    assert_eq!(recipe.compartments.len(), 3);
    let of = |index: usize| recipe.entries[index].compartment;
    assert_eq!([of(0), of(1), of(2)], [1, 1, 2]);
    assert!(recipe.compartments.iter().all(|c| c.parent.is_none()));
    assert_eq!(recipe.compartments[1].name, "a+b");
    assert!(
        recipe.compartments[2]
            .surface
            .as_ref()
            .unwrap()
            .as_sphere()
            .is_some()
    );
    let volume = populate(&recipe, None).unwrap().report.regions[2].size;
    assert!((volume / (4.0 / 3.0 * PI * 1000.0) - 1.0).abs() < 1.0e-4);
}

#[test]
fn long_chains_of_references_are_resolved() {
    let mut shapes = "c0 as sphere at center with radius 3\n".to_owned();
    for index in (1..20_000).rev() {
        shapes += &format!("c{index} combines c{}\n", index - 1);
    }
    let recipe = read(&text_with(true, &shapes, "c19999"));
    assert!(
        recipe.compartments[1]
            .surface
            .as_ref()
            .unwrap()
            .as_sphere()
            .is_some()
    );
}

#[test]
fn compartments_that_are_used_many_times_are_evaluated_once() {
    let mut shapes = "b as sphere at 5, 5, 4 with radius 3\nc0 where x > 6\n".to_owned();
    for index in 1..=100 {
        let last = index - 1;
        shapes += &format!(
            "s{index} as sphere at {}, 5, 4 with radius 2\n",
            1.0 + 0.1 * f64::from(index)
        );
        shapes += &format!("c{index} combines (c{last} and not s{index}) or (b and not c{last})\n");
    }
    let text = text_with(true, &shapes, "c100");
    let recipe = read(&text);
    let surface = recipe.compartments[1].surface.as_ref().unwrap();
    assert!(surface.volume().unwrap() > 1.0);
}

#[test]
fn long_chains_of_unions_and_complements_are_resolved() {
    let mut shapes = "c0 where x > 11\n".to_owned();
    for index in 1..=150 {
        let last = index - 1;
        let x = 0.05 * f64::from(index);
        shapes += &format!("s{index} as sphere at {x}, 5, 4 with radius 1\n");
        let not = if index % 50 == 0 { "not " } else { "" };
        shapes += &format!("c{index} combines {not}(c{last} or s{index})\n");
    }
    let shapes = format!("{shapes}a combines c150 and not s20");
    check_sampled_shape(&shapes, "a", SHARP, COARSE);
}

#[test]
fn too_many_parts_are_an_error() {
    let mut shapes = String::new();
    let mut all = Vec::new();
    for index in 0..10_001 {
        shapes += &format!("c{index} as sphere at center with radius 2\n");
        all.push(format!("c{index}"));
    }
    shapes += &format!("a combines {}\n", all.join(" or "));
    assert_eq!(
        try_read(&text_with(true, &shapes, "a")).unwrap_err(),
        "cell.bent: compartments.a: a compartment of 10002 parts is too complex: at most 10000 are possible"
    );
}

#[test]
fn areas_and_samples_are_close_to_those_of_the_shapes() {
    let mut solids = CombinedSolids::new([Vec3::ZERO, Vec3::splat(20.0)], false);
    let ball = solids.ball(Vec3::splat(10.0), 6.0).unwrap();
    let hole = solids.ball(Vec3::splat(10.0), 3.0).unwrap();
    let outside = solids.complement(hole);
    assert_eq!(solids.complement(outside), hole);
    let shell = solids.intersection(&[ball, outside]);
    let (shell, bounds) = solids.surface(shell).unwrap();
    assert_eq!(bounds, [Vec3::splat(4.0), Vec3::splat(16.0)]);
    assert_eq!(shell.center(), Vec3::splat(10.0));
    for (offset, expected) in [(0.0, 36.0 + 9.0), (0.5, 6.5_f32.powi(2) + 2.5_f32.powi(2))] {
        let expected = 4.0 * std::f32::consts::PI * expected;
        let area = shell.area_at(offset);
        assert!(
            (area / expected - 1.0).abs() < 0.1,
            "{area}, not {expected}"
        );
        let mut random = Pcg64Mcg::seed_from_u64(1);
        let mut outer = 0;
        for _ in 0..2_000 {
            let point = shell.sample(offset, &mut random);
            assert!((shell.signed_distance(point) - offset).abs() < 1.0e-4);
            outer += usize::from(point.distance(Vec3::splat(10.0)) > 4.5);
        }
        let part = outer as f32 / 2_000.0;
        let expected = (6.0 + offset).powi(2) / (expected / (4.0 * std::f32::consts::PI));
        assert!((part - expected).abs() < 0.05, "{part}, not {expected}");
    }
    let moved = bevy_rapier_molecules::pose::Pose::from_translation(Vec3::X);
    let moved = shell.with_pose(&moved).unwrap();
    let point = Vec3::new(3.0, 10.0, 10.0);
    assert_eq!(
        moved.signed_distance(point + Vec3::X),
        shell.signed_distance(point)
    );
}

fn asked(text: &str) -> Vec<u32> {
    let population = populate(&read(text), None).unwrap();
    population
        .report
        .entries
        .iter()
        .map(|entry| entry.placed)
        .collect()
}

#[test]
fn numbers_and_concentrations_become_counts() {
    let file = |periodic: bool| {
        format!(
            "[ space ]\ndimensions 60, 50, 40\nperiodic {periodic}\n[ compartments ]\nall is all\n\
             cell as sphere at center with radius 18\nnucleus as sphere at center with radius 9\n\
             cytosol combines cell and not nucleus\nhalf where x > 20\n\
             corner as sphere at start with radius 30\n[ segments ]\n\
             a 300   from \"p_xylene.pdb\" in cell\n\
             b 1.5mM from \"p_xylene.pdb\" in all\n\
             c 15mM  from \"p_xylene.pdb\" in cell\n\
             d 15mM  from \"p_xylene.pdb\" in cytosol\n\
             e 15mM  from \"p_xylene.pdb\" in half\n\
             f 15mM  from \"p_xylene.pdb\" in corner\n\
             g 0     from \"p_xylene.pdb\" in all\n"
        )
    };
    let ball = |radius: f64| 4.0 / 3.0 * PI * radius.powi(3);
    let per_nm3 = |molar: f64| 6.022_141_5e23 * molar * 1.0e-24;
    let expected = [
        300.0,
        per_nm3(0.0015) * 120_000.0,
        per_nm3(0.015) * ball(18.0),
        per_nm3(0.015) * (ball(18.0) - ball(9.0)),
        per_nm3(0.015) * 80_000.0,
        per_nm3(0.015) * ball(30.0) / 8.0,
        0.0,
    ];
    for periodic in [true, false] {
        for (placed, expected) in asked(&file(periodic)).iter().zip(expected) {
            let error = (f64::from(*placed) - expected).abs();
            assert!(error <= 0.01 * expected + 1.0, "{placed}, not {expected}");
        }
    }
}

#[test]
fn settings_of_the_file_are_those_of_the_recipe() {
    let text = "[ general ]\ntitle \"A cell\"\nseed 7\nbead-radius 0.2\nmax-tries-mult 5\n\
                rearrange volume\n[ space ]\ndimensions 12, 10, 8\nresolution 0.5\n\
                [ includes ]\n\"martini.itp\"\n[ compartments ]\na is all\n[ constraints ]\n\
                all rotates x, y, z\nno rotates x\nz rotates z\ntwo rotates x, z\n[ segments ]\n\
                one:XYL 3 from \"p_xylene.pdb\" in a satisfies all\n\
                two 3 from \"p_xylene.pdb\" in a satisfies z\n\
                three 3 from \"p_xylene.pdb\" in a satisfies two\n\
                four 3 from \"p_xylene.pdb\" in a satisfies z, no\n\
                five 3 from \"P_XYLENE\" in a\n";
    let recipe = read(text);
    assert_eq!((recipe.name.as_str(), recipe.seed), ("A cell", Some(7)));
    assert_eq!(recipe.size(), SIZE.as_vec3());
    assert_eq!(recipe.bounds[0], Vec3::ZERO);
    assert!(recipe.periodic, "bentopy's default");
    assert_eq!(recipe.tolerance, 0.4);
    let rotations: Vec<_> = recipe.ingredients.iter().map(|i| i.rotation).collect();
    let about = RotationRange::About {
        axis: Vec3::Z,
        range: std::f32::consts::TAU,
    };
    let any = RotationRange::Any;
    assert_eq!(rotations, [any, about, any, RotationRange::None, any]);
    let names: Vec<_> = recipe
        .entries
        .iter()
        .map(|e| (&*e.name, &*e.place))
        .collect();
    assert_eq!(
        names[..2],
        [("one:XYL", "segments.one"), ("two", "segments.two")]
    );
    assert_eq!(recipe.ingredients[0].name, "one");
    let warnings: Vec<_> = recipe.warnings.iter().map(ToString::to_string).collect();
    assert_eq!(
        warnings,
        [
            "segments.three: rotations about two axes (two) are not supported; any rotation is allowed"
        ]
    );
    let plain = read(&text_with(false, "a is all", "a"));
    assert_eq!((plain.name.as_str(), plain.seed), ("cell", None));
    assert_eq!((plain.tolerance, plain.periodic), (0.2, false));
    assert!(plain.warnings.is_empty());
}

#[test]
fn coarse_grained_structures_without_a_bead_radius_cause_a_warning() {
    let folder = std::env::temp_dir().join("brm_bent_coarse");
    std::fs::create_dir_all(&folder).unwrap();
    let bead = |n: i32, name: &str, residue: i32| {
        format!(
            "ATOM  {n:>5}  {name:<3} ALA A{residue:>4}    {:8.3}{:8.3}{:8.3}  1.00  0.00\n",
            4 * n,
            0,
            0
        )
    };
    let text = [bead(1, "BB", 1), bead(2, "SC1", 1), bead(3, "BB", 2)].concat();
    std::fs::write(folder.join("martini.pdb"), text).unwrap();
    let file = |radius: &str| {
        format!(
            "[ general ]\n{radius}\n[ space ]\ndimensions 12, 10, 8\n[ compartments ]\na is all\n\
             [ segments ]\nx 3 from \"martini.pdb\" in a\ny 3 from \"martini.pdb\" in a\n"
        )
    };
    let warnings = |radius| {
        let text = file(radius);
        let recipe = Recipe::read(text.as_bytes(), "c.bent", &folder, &ReadOptions::default());
        let warnings = recipe.unwrap().warnings;
        warnings.iter().map(ToString::to_string).collect::<Vec<_>>()
    };
    assert_eq!(
        warnings(""),
        [
            "segments.x: 'martini.pdb' looks coarse-grained; give bead-radius, since atoms of different molecules stay only 0.2 nm apart, but beads need 0.4"
        ]
    );
    assert!(warnings("bead-radius 0.2").is_empty());
}

#[test]
fn errors_say_what_is_wrong_and_where() {
    let file = |compartments: &str, segment: &str| {
        format!(
            "[ space ]\ndimensions 12, 10, 8\n[ compartments ]\n{compartments}\n[ segments ]\n{segment}\n"
        )
    };
    let xylene = "x 1 from \"p_xylene.pdb\" in a";
    for (text, expected) in [
        (
            file("a is al", xylene),
            "cell.bent:4:6: expected 'all', found 'al'; did you mean 'all'?",
        ),
        (
            file("a from \"mask.npz\"", xylene),
            "cell.bent: compartments.a: the mask 'mask.npz' is not supported; use a sphere, a cuboid or an expression",
        ),
        (
            file("a combines b\nb combines not m\nm from \"m.npz\"", xylene),
            "cell.bent: compartments.m: the mask 'm.npz' is not supported; use a sphere, a cuboid or an expression",
        ),
        (
            file("a is all", "x 1 from \"protein.gro\" in a"),
            "cell.bent: segments.x: the structure file 'protein.gro' is not supported; convert it to PDB, such as with gmx editconf",
        ),
        (
            file("a is all", "x 1 from \"../p_xylene.pdb\" in a"),
            "cell.bent: segments.x: '../p_xylene.pdb' is outside of the folder of the recipe; move the file, or allow it (--allow-outside)",
        ),
        (
            file("a is all", "x 1 from \"https://a.b/c.pdb\" in a"),
            "cell.bent: segments.x: 'https://a.b/c.pdb' is on a network, and nothing is fetched; give a path next to the recipe",
        ),
        (
            file("a is all", "x 100000001 from \"p_xylene.pdb\" in a"),
            "cell.bent: segments.x: a count must be from 0 to 100,000,000, not 100000001",
        ),
        (
            file("a as sphere at 50, 5, 5 with radius 3", xylene),
            "cell.bent: compartments.a: no point of the box is inside of the compartment",
        ),
        (
            file("a combines b and not b\nb where x > 3", xylene),
            "cell.bent: compartments.a: no point of the box is inside of the compartment",
        ),
        (
            file(
                "a where x > 20\nb where x < -1",
                "x 1 from \"p_xylene.pdb\" in a, b",
            ),
            "cell.bent: segments.x: no point of the box is inside of the compartment",
        ),
        (
            "[ space ]\ndimensions 12, 10, 200000\n[ segments ]\n".to_owned(),
            "cell.bent: space.dimensions: an edge of the box must be positive and at most 0.1 mm, not 200000",
        ),
        (
            "[ general ]\nbead-radius 200000\n[ space ]\ndimensions 12, 10, 8\n[ segments ]\n"
                .to_owned(),
            "cell.bent: general.bead-radius: the radius of beads must be positive and at most 0.1 mm, not 200000",
        ),
    ] {
        assert_eq!(try_read(&text).unwrap_err(), expected);
    }
    let missing = try_read(&file("a is all", "x 1 from \"lysozym.pdb\" in a")).unwrap_err();
    assert!(
        missing.starts_with("cell.bent: segments.x: there is no file '"),
        "{missing}"
    );
    let error = Recipe::read(b"[", "x.bent", Path::new(""), &options()).unwrap_err();
    assert!(
        matches!(*error.problem, RecipeProblem::Bent(_)),
        "{error:?}"
    );
    assert_eq!(error.to_string().matches("x.bent").count(), 1);
}

fn packed(recipe: &Recipe) -> Packing {
    let packing = pack(recipe, &PackOptions::default(), |_| {
        ControlFlow::Continue(())
    })
    .unwrap();
    assert!(packing.is_complete(), "{packing}");
    packing
}

/// Atoms of all members in the world.
fn atoms(packing: &Packing) -> Vec<Vec<DVec3>> {
    let crowd = &packing.crowd;
    let members = crowd.members().iter();
    let atoms = members.map(|member| {
        let positions = crowd.template_of(member).positions().iter();
        let atoms = positions.map(|atom| member.pose.transform_point(*atom).as_dvec3());
        atoms.collect()
    });
    atoms.collect()
}

/// Checks the packing of a file atom by atom.
fn check_packing(text: &str, recipe: &Recipe) {
    let packing = packed(recipe);
    let membership = Membership::new(text);
    let all = atoms(&packing);
    assert!(!all.is_empty());
    let size = membership.size;
    let image = |arm: DVec3| {
        if recipe.periodic {
            arm - size * (arm / size).round()
        } else {
            arm
        }
    };
    let reach = |atoms: &[DVec3]| {
        let center = atoms.iter().sum::<DVec3>() / atoms.len() as f64;
        let radius = atoms.iter().map(|atom| atom.distance(center));
        (center, radius.fold(0.0, f64::max))
    };
    let balls: Vec<(DVec3, f64)> = all.iter().map(|atoms| reach(atoms)).collect();
    let tolerance = f64::from(recipe.tolerance) - 2.0e-3;
    let mut least = f64::INFINITY;
    for a in 0..all.len() {
        for b in 0..a {
            let apart = image(balls[a].0 - balls[b].0).length();
            if apart > balls[a].1 + balls[b].1 + 1.0 {
                continue;
            }
            // Atoms that can be near the other molecule.
            let near = |own: usize, (center, radius): (DVec3, f64)| {
                let atoms = all[own].iter().copied();
                let near = atoms.filter(move |atom| image(*atom - center).length() < radius + 0.5);
                near.collect::<Vec<_>>()
            };
            let others = near(b, balls[a]);
            for first in near(a, balls[b]) {
                for second in &others {
                    least = least.min(image(first - *second).length_squared());
                }
            }
        }
    }
    assert!(least.sqrt() >= tolerance, "{} nm", least.sqrt());
    for (member, atoms) in all.iter().enumerate() {
        let segment = &membership.file.segments[packing.rows[member] as usize];
        let ids: Vec<&str> = segment.compartments.iter().map(String::as_str).collect();
        for atom in atoms {
            assert!(
                membership.contains(&ids, *atom),
                "{} at {atom}",
                segment.name
            );
        }
    }
}

#[test]
fn the_bundled_file_comes_to_rest_with_all_atoms_in_their_compartments() {
    let path = folder("assets/recipes/bentopy_crowd.bent");
    let recipe = Recipe::load(&path, &options()).unwrap_or_else(|error| panic!("{error}"));
    assert!(recipe.warnings.is_empty(), "{:?}", recipe.warnings);
    let names: Vec<&str> = recipe
        .ingredients
        .iter()
        .map(|i: &Ingredient| &*i.name)
        .collect();
    assert_eq!(
        names,
        ["hemoglobin", "lysozyme", "reductase", "ubiquitin", "xylene"]
    );
    check_packing(&std::fs::read_to_string(path).unwrap(), &recipe);
}

#[test]
fn compartments_of_a_periodic_box_go_on_across_its_faces() {
    let text = "[ general ]\nseed 3\n[ space ]\ndimensions 16, 16, 24\n[ compartments ]\n\
                slab where z > 12\ncorner as sphere at start with radius 9\n\
                near within 2.5 of corner\nrest combines not (slab or corner)\n\
                [ segments ]\na 20 from \"1ubq.cif\" in slab\nb 40 from \"p_xylene.pdb\" in corner\n\
                c 60 from \"p_xylene.pdb\" in rest\n";
    let recipe = read(text);
    assert!(recipe.periodic);
    check_packing(text, &recipe);
    // Some molecules are across a face that the slab does not have, and none across those of z.
    let packing = packed(&recipe);
    let crosses = |atoms: &Vec<DVec3>| {
        let cells = atoms.iter().map(|atom| (atom.x / 16.0).floor() as i32);
        cells.clone().min() != cells.max()
    };
    assert!(atoms(&packing).iter().any(crosses));
}

#[test]
fn the_same_seed_gives_the_same_bits() {
    let shapes = "a combines b or not c\nb where x > 6\nc as sphere at center with radius 3";
    let recipe = read(&text_with(true, shapes, "a").replace("xylene 1", "xylene 30"));
    let poses = || {
        let packing = packed(&recipe);
        let members = packing.crowd.members().iter();
        members.map(|member| member.pose).collect::<Vec<_>>()
    };
    assert_eq!(poses(), poses());
    let shared: &Arc<dyn Surface> = recipe.compartments[1].surface.as_ref().unwrap();
    assert!(shared.volume().unwrap() > 0.0);
}
