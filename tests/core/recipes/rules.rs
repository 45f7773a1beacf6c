//! Molecules at places relative to others: distances, sites and axes after relaxation against
//! independent checks, numbers, errors.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use bevy_rapier_molecules::crowd::{Crowd, CrowdJoint, CrowdMember, JointLimits};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::recipe::{
    PackOptions, Packing, Population, ReadOptions, Recipe, pack, populate,
};
use bevy_rapier_molecules::relax::{RelaxConfig, Relaxer};
use glam::{DVec3, Vec3};
use serde_json::{Value, json};

/// How far molecules with a rule may be from their places, nm.
const TOLERANCE: f64 = 0.1;

/// Largest angle between two aligned axes, radian.
const ANGLE: f64 = 0.1;

/// Limits of joints count as kept up to this, nm and radian, with rounding.
const SLACK: f64 = 2.0e-3;

fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn try_read(recipe: &Value) -> Result<Recipe, String> {
    let text = recipe.to_string();
    let options = ReadOptions::default();
    let read = Recipe::read(text.as_bytes(), "cell.json", &folder("tests"), &options);
    read.map_err(|error| error.to_string())
}

fn read(recipe: &Value) -> Recipe {
    let read = try_read(recipe).unwrap_or_else(|error| panic!("{error}"));
    assert!(read.warnings.is_empty(), "{:?}", read.warnings);
    read
}

fn populated(recipe: &Value) -> Population {
    populate(&read(recipe), None).unwrap_or_else(|error| panic!("{error}"))
}

fn packed(recipe: &Value) -> Packing {
    let packing = pack(&read(recipe), &PackOptions::default(), |_| {
        ControlFlow::Continue(())
    });
    let packing = packing.unwrap_or_else(|error| panic!("{error}"));
    assert!(packing.is_complete(), "{packing}");
    assert_eq!(deepest_overlap(&packing.crowd), 0.0, "no overlaps");
    packing
}

/// A recipe in nanometers with one region; entries are name, object, fields of the entry and its
/// rule.
fn recipe_with(edge: f64, objects: Value, entries: &[(&str, &str, Value, Value)]) -> Value {
    let names: Vec<&str> = entries.iter().map(|(name, ..)| *name).collect();
    let mut composition = json!({ "space": { "regions": { "interior": names } } });
    let mut additions = json!({});
    for (name, object, fields, rule) in entries {
        composition[name] = fields.clone();
        composition[name]["object"] = json!(object);
        if !rule.is_null() {
            additions[name] = json!({ "rule": rule });
        }
    }
    let half = 0.5 * edge;
    json!({
        "name": "cell",
        "format_version": "2.1",
        "bounding_box": [[-half, -half, -half], [half, half, half]],
        "objects": objects,
        "composition": composition,
        "bevy_rapier_molecules": { "unit": "nm", "composition": additions },
    })
}

fn ball(radius: f64) -> Value {
    json!({ "type": "single_sphere", "radius": radius })
}

/// A rod of two balls along z.
fn rod(radius: f64, half_distance: f64) -> Value {
    json!({
        "type": "multi_sphere",
        "representations": { "packing": {
            "positions": [[[0, 0, -half_distance], [0, 0, half_distance]]],
            "radii": [[radius, radius]],
        } },
    })
}

fn structure(id: &str) -> Value {
    json!({ "type": "single_sphere", "radius": 1, "representations": { "atomic": { "id": id } } })
}

fn spheres(crowd: &Crowd, member: usize) -> Vec<(DVec3, f64)> {
    let member = &crowd.members()[member];
    let template = crowd.template_of(member);
    let (position, rotation) = (member.pose.position.as_dvec3(), member.pose.rotation);
    let spheres = template.positions().iter().zip(template.radii());
    spheres
        .map(|(center, radius)| {
            let center = rotation.as_dquat() * center.as_dvec3();
            (position + center, f64::from(*radius))
        })
        .collect()
}

/// Least distance of the surfaces of two molecules by all pairs of spheres.
fn distance(first: &[(DVec3, f64)], second: &[(DVec3, f64)]) -> f64 {
    let mut least = f64::INFINITY;
    for (a, first_radius) in first {
        for (b, second_radius) in second {
            least = least.min(a.distance(*b) - first_radius - second_radius);
        }
    }
    least
}

/// The deepest overlap of two molecules, by all pairs of spheres; rounding does not count.
fn deepest_overlap(crowd: &Crowd) -> f64 {
    let all: Vec<_> = (0..crowd.members().len())
        .map(|m| spheres(crowd, m))
        .collect();
    let mut deepest: f64 = 0.0;
    for first in 0..all.len() {
        for second in 0..first {
            let centers = [first, second].map(|m| crowd.members()[m].pose.position);
            let reach: f32 = [first, second]
                .map(|m| crowd.template_of(&crowd.members()[m]).bounding_radius())
                .iter()
                .sum();
            if centers[0].distance(centers[1]) < reach {
                deepest = deepest.max(-distance(&all[first], &all[second]));
            }
        }
    }
    if deepest < 1.0e-5 { 0.0 } else { deepest }
}

/// The members of the crowd that belong to an entry.
fn members_of(rows: &[u32], recipe: &Value, name: &str) -> Vec<usize> {
    let recipe = read(recipe);
    let entry = recipe.entries.iter().position(|entry| entry.name == name);
    let entry = entry.expect("the entry exists") as u32;
    (0..rows.len()).filter(|m| rows[*m] == entry).collect()
}

/// A point in the frame of a file in the world.
fn from_file(crowd: &Crowd, member: usize, point: [f64; 3]) -> DVec3 {
    let member = &crowd.members()[member];
    let file = crowd.template_of(member).file_pose();
    let body = DVec3::from_array(point) - file.position.as_dvec3();
    let body = file.rotation.as_dquat().inverse() * body;
    member.pose.position.as_dvec3() + member.pose.rotation.as_dquat() * body
}

fn placed(packing: &Packing, object: &str) -> u32 {
    let entries = packing.report.entries.iter();
    entries
        .filter(|entry| entry.object == object)
        .map(|entry| entry.placed)
        .sum()
}

#[test]
fn a_joint_keeps_a_least_distance() -> Result<(), Box<dyn std::error::Error>> {
    let template = Arc::new(MoleculeTemplate::coarse("ball", &[(Vec3::ZERO, 0.5)])?);
    let mut crowd = Crowd::new();
    let template = crowd.add_template(template);
    // Coincident centers have no direction to be pushed along.
    for x in [0.0, 0.0, 10.0] {
        let pose = Pose::from_translation(Vec3::X * x);
        crowd.add_member(CrowdMember {
            template,
            pose,
            ..CrowdMember::default()
        })?;
    }
    let limits = JointLimits {
        min_gap: 3.0,
        gap: 4.0,
        ..JointLimits::default()
    };
    for members in [[0, 1], [1, 2]] {
        crowd.add_joint(CrowdJoint {
            members,
            limits,
            ..CrowdJoint::default()
        })?;
    }
    let mut relaxer = Relaxer::new(crowd, RelaxConfig::default())?;
    assert_eq!(relaxer.status().strained_joints, 2);
    assert!(relaxer.run(|_| ControlFlow::Continue(()))?.converged());
    let at = |member: usize| relaxer.crowd().members()[member].pose.position.as_dvec3();
    for pair in [[0, 1], [1, 2]] {
        let distance = at(pair[0]).distance(at(pair[1]));
        assert!((3.0 - SLACK..4.0 + SLACK).contains(&distance), "{distance}");
    }
    Ok(())
}

#[test]
fn a_least_gap_above_the_gap_is_an_error() {
    let limits = JointLimits {
        min_gap: 2.0,
        gap: 1.0,
        ..JointLimits::default()
    };
    let error = limits.check().map_err(|error| error.to_string());
    let expected = "the minimum gap of a joint must be at most the gap, but is 2";
    assert_eq!(error, Err(expected.to_owned()));
}

#[test]
fn molecules_on_a_surface_touch_their_own_one() {
    let recipe = recipe_with(
        16.0,
        json!({ "protein": structure("1ubq"), "ligand": structure("p_xylene") }),
        &[
            ("proteins", "protein", json!({ "count": 5 }), Value::Null),
            (
                "ligands",
                "ligand",
                json!({}),
                json!({ "on_surface_of": { "of": "proteins", "per_instance": 4 } }),
            ),
        ],
    );
    let packing = packed(&recipe);
    assert_eq!(placed(&packing, "ligand"), 20);
    let crowd = &packing.crowd;
    let proteins = members_of(&packing.rows, &recipe, "proteins");
    for protein in proteins {
        let own = crowd
            .joints()
            .iter()
            .filter(|joint| joint.members[1] as usize == protein);
        let own: Vec<usize> = own.map(|joint| joint.members[0] as usize).collect();
        assert_eq!(own.len(), 4, "molecules on protein {protein}");
        for ligand in own {
            let gap = distance(&spheres(crowd, ligand), &spheres(crowd, protein));
            assert!((-1.0e-5..TOLERANCE + SLACK).contains(&gap), "{gap} nm");
        }
    }
}

#[test]
fn the_axis_of_molecules_on_a_surface_is_along_its_normal() {
    let mut recipe = recipe_with(
        20.0,
        json!({ "core": ball(3.0), "spike": rod(0.4, 0.6) }),
        &[
            ("cores", "core", json!({ "count": 3 }), Value::Null),
            (
                "spikes",
                "spike",
                json!({ "count": 60 }),
                json!({ "on_surface_of": { "of": "core" } }),
            ),
        ],
    );
    recipe["bevy_rapier_molecules"]["objects"] = json!({ "spike": { "up": [0, 0, 1] } });
    let packing = packed(&recipe);
    assert_eq!(placed(&packing, "spike"), 60);
    let crowd = &packing.crowd;
    let cores = members_of(&packing.rows, &recipe, "cores");
    for spike in members_of(&packing.rows, &recipe, "spikes") {
        let own = spheres(crowd, spike);
        let center = crowd.members()[spike].pose.position.as_dvec3();
        let up = (own[1].0 - own[0].0).normalize();
        let fits = cores.iter().any(|core| {
            let out = center - crowd.members()[*core].pose.position.as_dvec3();
            let gap = distance(&own, &spheres(crowd, *core));
            // The contact may slide by the tolerance on a ball of 3 nm.
            let angle = ANGLE + TOLERANCE / 3.0 + SLACK;
            gap < TOLERANCE + SLACK && up.angle_between(out) < angle
        });
        assert!(fits, "spike {spike} stands on no core");
    }
}

#[test]
fn molecules_stay_within_their_range_of_distances() {
    let recipe = recipe_with(
        24.0,
        json!({ "center": ball(1.0), "guest": ball(0.5) }),
        &[
            ("centers", "center", json!({ "count": 4 }), Value::Null),
            (
                "guests",
                "guest",
                json!({ "count": 120 }),
                json!({ "distance_from": { "of": "centers", "min": 3, "max": 4.5 } }),
            ),
        ],
    );
    let packing = packed(&recipe);
    assert_eq!(placed(&packing, "guest"), 120);
    let at = |member: usize| packing.crowd.members()[member].pose.position.as_dvec3();
    let centers = members_of(&packing.rows, &recipe, "centers");
    for guest in members_of(&packing.rows, &recipe, "guests") {
        let fits = centers.iter().any(|center| {
            let distance = at(*center).distance(at(guest));
            (3.0 - SLACK..4.5 + SLACK).contains(&distance)
        });
        assert!(fits, "guest {guest} at {}", at(guest));
    }
}

#[test]
fn sites_and_axes_of_attached_molecules_meet() {
    let (site, own_site) = ([0.0, 0.0, 1.2], [0.0, 0.0, -0.9]);
    let rule = json!({ "attached_to": {
        "to": "stem", "site": site, "own_site": own_site, "axis": [0, 0, 1], "own_axis": [0, 0, 1],
    } });
    let recipe = recipe_with(
        12.0,
        json!({ "stem": rod(0.5, 0.5), "cap": rod(0.4, 0.3) }),
        &[
            ("stems", "stem", json!({ "count": 40 }), Value::Null),
            ("caps", "cap", json!({}), rule),
        ],
    );
    let packing = packed(&recipe);
    assert_eq!(placed(&packing, "cap"), 40);
    let crowd = &packing.crowd;
    let mut stems = HashSet::new();
    for cap in members_of(&packing.rows, &recipe, "caps") {
        let joint = crowd
            .joints()
            .iter()
            .find(|joint| joint.members[0] as usize == cap);
        let stem = joint.expect("each cap has a joint").members[1] as usize;
        assert!(stems.insert(stem), "two caps on stem {stem}");
        // The sites are outside of both.
        let [own, other] = [
            from_file(crowd, cap, own_site),
            from_file(crowd, stem, site),
        ];
        let gap = own.distance(other);
        assert!(gap < TOLERANCE + SLACK, "{gap} nm");
        let axes = [cap, stem]
            .map(|m| from_file(crowd, m, [0.0, 0.0, 1.0]) - from_file(crowd, m, [0.0; 3]));
        let angle = axes[0].angle_between(axes[1]);
        assert!(angle < ANGLE + SLACK, "{angle} rad");
    }
}

#[test]
fn molecules_at_a_site_inside_slide_out_along_the_axis() {
    let rule =
        json!({ "attached_to": { "to": "protein", "site": [3.0, 2.9, 1.6], "axis": [1, 0, 0] } });
    let recipe = recipe_with(
        12.0,
        json!({ "protein": structure("1ubq"), "ligand": structure("p_xylene") }),
        &[
            ("proteins", "protein", json!({ "count": 4 }), Value::Null),
            ("ligands", "ligand", json!({ "count": 3 }), rule),
        ],
    );
    let packing = packed(&recipe);
    assert_eq!(placed(&packing, "ligand"), 3);
    let crowd = &packing.crowd;
    for joint in crowd.joints() {
        let [ligand, protein] = joint.members.map(|member| member as usize);
        let site = from_file(crowd, protein, [3.0, 2.9, 1.6]);
        let axis = from_file(crowd, protein, [4.0, 2.9, 1.6]) - site;
        let out = crowd.members()[ligand].pose.position.as_dvec3() - site;
        assert!(out.dot(axis) > 0.3, "outside: {} nm", out.dot(axis));
        assert!(out.reject_from(axis).length() < TOLERANCE + SLACK, "{out}");
    }
}

#[test]
fn a_ligand_stays_in_the_cavity_of_its_protein() {
    // The center of p-xylene in the complex.
    let site = [4.232, 4.543, 1.817];
    let axis = [4.5, 3.5, -1.3];
    let rule = json!({ "attached_to": {
        "to": "protein", "site": site, "own_site": site, "axis": axis, "own_axis": axis,
    } });
    let mut recipe = recipe_with(
        14.0,
        json!({ "protein": structure("t4_lysozyme"), "ligand": structure("p_xylene") }),
        &[
            ("proteins", "protein", json!({ "count": 3 }), Value::Null),
            ("ligands", "ligand", json!({}), rule),
        ],
    );
    recipe["bevy_rapier_molecules"]["objects"] =
        json!({ "protein": { "hydrogens": false }, "ligand": { "hydrogens": false } });
    let packing = packed(&recipe);
    for joint in packing.crowd.joints() {
        let [ligand, protein] = joint.members.map(|member| member as usize);
        let [own, other] = [ligand, protein].map(|m| from_file(&packing.crowd, m, site));
        assert!(
            own.distance(other) < TOLERANCE + SLACK,
            "{} nm",
            own.distance(other)
        );
    }
    assert_eq!(packing.crowd.joints().len(), 3);
}

/// A recipe with a straight fiber of 20 links of 4 nm along x, and balls beside it.
fn beads_on_a_fiber(rule: Value, twist: f64) -> Value {
    let mut recipe = recipe_with(
        90.0,
        json!({ "link": { "type": "grow" }, "bead": ball(0.8) }),
        &[
            ("fibers", "link", json!({ "count": 1 }), Value::Null),
            ("beads", "bead", json!({}), rule),
        ],
    );
    let additions = &mut recipe["bevy_rapier_molecules"];
    additions["objects"] = json!({ "link": { "fiber": {
        "radius": 1, "length": 3.9, "rise": 4, "twist": twist,
    } } });
    additions["composition"]["fibers"] =
        json!({ "fiber": { "points": [[-40, 1, 0], [0, 1, 0], [40, 1, 0]] } });
    recipe
}

#[test]
fn molecules_along_a_fiber_keep_their_distance_from_it() {
    let rule = json!({ "along": { "fiber": "fibers", "every": 2, "distance": 2.5 } });
    let recipe = beads_on_a_fiber(rule, 0.0);
    let packing = packed(&recipe);
    assert_eq!(placed(&packing, "link"), 20);
    assert_eq!(placed(&packing, "bead"), 10);
    let crowd = &packing.crowd;
    for bead in members_of(&packing.rows, &recipe, "beads") {
        let joint = crowd
            .joints()
            .iter()
            .find(|joint| joint.members[0] as usize == bead);
        let link = joint.expect("each bead has a joint").members[1] as usize;
        let own = spheres(crowd, link);
        let axis = (own[own.len() - 1].0 - own[0].0).normalize();
        let lever = crowd.members()[bead].pose.position.as_dvec3()
            - crowd.members()[link].pose.position.as_dvec3();
        let distance = lever.reject_from(axis).length();
        assert!((distance - 2.5).abs() < TOLERANCE + SLACK, "{distance} nm");
        assert!(lever.dot(axis).abs() < TOLERANCE + SLACK, "{lever}");
    }
}

#[test]
fn molecules_along_a_fiber_turn_about_it() {
    // The twist of the links does not turn the molecules.
    let rule = json!({ "along": { "fiber": "fibers", "spacing": 5, "angle": 0.3, "turn": 1.1 } });
    let recipe = beads_on_a_fiber(rule, 0.9);
    let population = populated(&recipe);
    let beads = members_of(&population.rows, &recipe, "beads");
    let links = members_of(&population.rows, &recipe, "fibers");
    assert_eq!((beads.len(), links.len()), (16, 20));
    let at = |bead: usize| population.crowd.members()[bead].pose.position.as_dvec3();
    for (index, pair) in beads.windows(2).enumerate() {
        let [first, second] = [at(pair[0]), at(pair[1])];
        assert!(
            (second.x - first.x - 5.0).abs() < 0.05,
            "{index}: {first} {second}"
        );
        let sides = [first, second].map(|point| DVec3::new(0.0, point.y - 1.0, point.z));
        let turn = DVec3::X
            .dot(sides[0].cross(sides[1]))
            .atan2(sides[0].dot(sides[1]));
        assert!((turn - 1.1).abs() < 0.02, "{index}: {turn} rad");
        // Touching the fiber, also between two links.
        let bead = spheres(&population.crowd, pair[0]);
        let to_link = |link: &usize| distance(&bead, &spheres(&population.crowd, *link));
        let least = links.iter().map(to_link).fold(f64::INFINITY, f64::min);
        assert!((0.0..0.02).contains(&least), "{index}: {least} nm");
    }
}

#[test]
fn a_sphere_is_filled_until_places_fail() {
    let mut recipe = recipe_with(
        14.0,
        json!({ "shell": ball(5.0), "seed": ball(1.5), "grain": ball(0.5) }),
        &[
            ("seeds", "seed", json!({ "count": 1 }), Value::Null),
            (
                "grains",
                "grain",
                json!({}),
                json!({ "fill": { "failures": 400 } }),
            ),
        ],
    );
    recipe["composition"]["cell"] =
        json!({ "object": "shell", "count": 1, "regions": { "interior": ["seeds", "grains"] } });
    recipe["composition"]["space"] = json!({ "regions": { "interior": ["cell"] } });
    let population = populated(&recipe);
    let grains = members_of(&population.rows, &recipe, "grains");
    let row = &population.report.entries[population.rows[grains[0]] as usize];
    assert_eq!((row.asked, row.placed), (None, grains.len() as u32));
    // Random sequential addition of equal balls fills at most 38 %.
    let fraction = grains.len() as f64 * 0.5_f64.powi(3) / (5.0_f64.powi(3) - 1.5_f64.powi(3));
    assert!((0.2..0.38).contains(&fraction), "{fraction}");
    assert_eq!(deepest_overlap(&population.crowd), 0.0);
    for grain in grains {
        let distance = population.crowd.members()[grain].pose.position.length();
        assert!(distance <= 4.5 + 1.0e-4, "{distance} nm");
    }
}

#[test]
fn a_surface_is_filled_until_places_fail() {
    let mut recipe = recipe_with(
        14.0,
        json!({ "shell": ball(5.0), "grain": ball(0.5) }),
        &[(
            "grains",
            "grain",
            json!({}),
            json!({ "fill": { "failures": 400 } }),
        )],
    );
    recipe["composition"]["cell"] =
        json!({ "object": "shell", "count": 1, "regions": { "surface": ["grains"] } });
    recipe["composition"]["space"] = json!({ "regions": { "interior": ["cell"] } });
    let population = populated(&recipe);
    // Discs of 0.5 nm on a sphere of 5 nm; random sequential addition fills at most 54.7 %.
    let fraction = population.report.molecules as f64 * 0.25 / (4.0 * 25.0);
    assert!((0.4..0.56).contains(&fraction), "{fraction}");
    assert_eq!(deepest_overlap(&population.crowd), 0.0);
}

#[test]
fn rules_follow_each_other_in_any_order_of_sizes() {
    let recipe = recipe_with(
        30.0,
        json!({ "small": ball(0.4), "middle": rod(0.6, 0.3), "large": ball(1.5) }),
        &[
            (
                "a",
                "large",
                json!({}),
                json!({ "on_surface_of": { "of": "b", "per_instance": 1 } }),
            ),
            (
                "b",
                "middle",
                json!({}),
                json!({ "on_surface_of": { "of": "c", "per_instance": 2 } }),
            ),
            ("c", "small", json!({ "count": 5 }), Value::Null),
        ],
    );
    let packing = packed(&recipe);
    let numbers = ["large", "middle", "small"].map(|object| placed(&packing, object));
    assert_eq!(numbers, [10, 10, 5]);
    assert_eq!(packing.crowd.joints().len(), 20);
}

#[test]
fn the_same_seed_gives_the_same_places() {
    let recipe = recipe_with(
        20.0,
        json!({ "core": ball(2.0), "tag": structure("p_xylene") }),
        &[
            ("cores", "core", json!({ "count": 3 }), Value::Null),
            (
                "tags",
                "tag",
                json!({ "count": 20 }),
                json!({ "on_surface_of": { "of": "cores" } }),
            ),
        ],
    );
    let poses = |seed| {
        let population = populate(&read(&recipe), Some(seed)).expect("it can be filled");
        let members = population.crowd.members().to_vec();
        members.iter().map(|member| member.pose).collect::<Vec<_>>()
    };
    assert_eq!(poses(7), poses(7));
    assert_ne!(poses(7), poses(8));
}

#[test]
fn rules_with_too_few_others_are_reported() {
    let attached = json!({ "attached_to": { "to": "stems", "site": [0, 0, 1.2] } });
    let objects = json!({ "stem": rod(0.5, 0.5), "cap": rod(0.4, 0.3) });
    let recipe = |stems: u32| {
        recipe_with(
            12.0,
            objects.clone(),
            &[
                ("stems", "stem", json!({ "count": stems }), Value::Null),
                ("caps", "cap", json!({ "count": 3 }), attached.clone()),
            ],
        )
    };
    let place = "bevy_rapier_molecules.composition.caps.rule";
    let few = populated(&recipe(2));
    let warnings: Vec<String> = few.warnings.iter().map(ToString::to_string).collect();
    let expected = format!("{place}: 3 molecules cannot be attached to 2 of 'stems'");
    assert_eq!((few.report.molecules, warnings), (4, vec![expected]));
    let none = populated(&recipe(0));
    let warnings: Vec<String> = none.warnings.iter().map(ToString::to_string).collect();
    let expected = format!("{place}: there are no molecules of 'stems', so that none are placed");
    assert_eq!((none.report.molecules, warnings), (0, vec![expected]));
}

#[test]
fn errors_of_rules_name_their_place() {
    let objects = json!({
        "ball": ball(1.0), "rod": rod(0.5, 0.5), "spare": ball(1.0),
    });
    let error_of = |object: &str, fields: Value, rule: Value| {
        let recipe = recipe_with(
            20.0,
            objects.clone(),
            &[
                ("balls", "ball", json!({ "count": 2 }), Value::Null),
                ("rods", "rod", json!({ "count": 2 }), Value::Null),
                ("guests", object, fields, rule),
            ],
        );
        let read = try_read(&recipe);
        read.and_then(|recipe| {
            let populated = populate(&recipe, None).map_err(|error| error.to_string());
            populated.map(|_| ())
        })
        .expect_err("the rule is invalid")
    };
    let one = json!({ "count": 1 });
    let rule = "bevy_rapier_molecules.composition.guests.rule";
    let cases = [
        (
            one.clone(),
            json!({ "on_surface_of": { "of": "rodss" } }),
            format!("{rule}.on_surface_of.of: there is no object or entry 'rodss'; did you mean 'rods'?"),
        ),
        (
            one.clone(),
            json!({ "on_surface_of": { "of": "spare" } }),
            format!("{rule}.on_surface_of.of: 'spare' is in no region; expected an entry that is"),
        ),
        (
            one.clone(),
            json!({ "on_surface_of": { "of": "guests" } }),
            format!("{rule}: rules refer to each other in a circle: guests → guests"),
        ),
        (
            one.clone(),
            json!({ "on_surface_of": { "of": "balls", "per_instance": 2 } }),
            "composition.guests: expected no count and no molarity: the rule on_surface_of determines the number".to_owned(),
        ),
        (
            json!({}),
            json!({ "on_surface_of": { "of": "balls" } }),
            "composition.guests: expected a count or a molarity".to_owned(),
        ),
        (
            one.clone(),
            json!({ "distance_from": { "of": "balls", "min": 3, "max": 2 } }),
            format!("{rule}.distance_from.min: min must be from 0 to max, not 3"),
        ),
        (
            one.clone(),
            json!({ "attached_to": { "to": "balls", "site": [0, 0, 1] } }),
            format!("{rule}.attached_to.to: a site of the single sphere 'balls' is not supported; use on_surface_of"),
        ),
        (
            one.clone(),
            json!({ "attached_to": { "to": "rods", "site": [0, 0, 1], "own_site": [0, 0, 1] } }),
            format!("{rule}.attached_to.own_site: own_site of the single sphere 'ball' is not supported; remove it"),
        ),
        (
            one.clone(),
            json!({ "attached_to": { "to": "rods", "site": [0, 0, 1], "axis": [0, 0, 0] } }),
            format!("{rule}.attached_to.axis: an axis must be finite and not zero, not [0.0, 0.0, 0.0]"),
        ),
        (
            one.clone(),
            json!({ "attached_to": { "to": "rods", "site": [0, 0, 0] } }),
            format!("{rule}: expected axis, since the site is the center of mass of 'rod'"),
        ),
        (
            json!({}),
            json!({ "along": { "fiber": "rods", "every": 2 } }),
            format!("{rule}.along.fiber: expected a fiber, but 'rods' is none; use on_surface_of or distance_from"),
        ),
        (
            json!({}),
            json!({ "along": { "fiber": "rods", "every": 2, "spacing": 3 } }),
            format!("{rule}.along: expected either every or spacing"),
        ),
        (
            json!({}),
            json!({ "along": { "fiber": "rods", "every": 0 } }),
            format!("{rule}.along.every: the number of links must be at least 1, not 0"),
        ),
        (
            json!({}),
            json!({ "fill": { "failures": 0 } }),
            format!("{rule}.fill.failures: the number of failures must be from 1 to 100,000, not 0"),
        ),
        (
            json!({}),
            json!({ "fills": { "failures": 1 } }),
            format!("{rule}: expected one of 'on_surface_of', 'distance_from', 'attached_to', 'along', 'fill', found 'fills'; did you mean 'fill'?"),
        ),
    ];
    for (fields, rule, expected) in cases {
        assert_eq!(
            error_of("ball", fields, rule),
            format!("cell.json: {expected}")
        );
    }
}

#[test]
fn rules_in_a_circle_are_an_error() {
    let on = |other: &str| json!({ "on_surface_of": { "of": other, "per_instance": 1 } });
    let recipe = recipe_with(
        20.0,
        json!({ "ball": ball(1.0) }),
        &[
            ("a", "ball", json!({}), on("b")),
            ("b", "ball", json!({}), on("c")),
            ("c", "ball", json!({}), on("b")),
        ],
    );
    let expected = "cell.json: bevy_rapier_molecules.composition.b.rule: rules refer to each other in a circle: b → c → b";
    assert_eq!(try_read(&recipe).err().as_deref(), Some(expected));
}

#[test]
fn only_regions_without_lipids_have_rules() {
    let mut recipe = recipe_with(
        30.0,
        json!({ "shell": ball(5.0), "lipid": structure("popc"), "protein": structure("1ubq") }),
        &[(
            "proteins",
            "protein",
            json!({}),
            json!({ "fill": { "failures": 10 } }),
        )],
    );
    recipe["composition"]["cell"] =
        json!({ "object": "shell", "count": 1, "regions": { "surface": ["proteins"] } });
    recipe["composition"]["space"] = json!({ "regions": { "interior": ["cell"] } });
    recipe["bevy_rapier_molecules"]["composition"]["cell"] =
        json!({ "outer_leaflet": { "lipid": 1 } });
    let error = populate(&read(&recipe), None).map_err(|error| error.to_string());
    let expected = "cell.json: bevy_rapier_molecules.composition.proteins.rule.fill: the rule fill in a membrane with lipids is not supported; give a count";
    assert_eq!(error.err().as_deref(), Some(expected));
}

#[test]
fn the_bundled_recipe_of_rules_comes_to_rest() {
    let path = folder("assets/recipes/rules.json");
    let recipe = Recipe::load(&path, &ReadOptions::default());
    let recipe = recipe.unwrap_or_else(|error| panic!("{error}"));
    let packing = pack(&recipe, &PackOptions::default(), |_| {
        ControlFlow::Continue(())
    });
    let packing = packing.unwrap_or_else(|error| panic!("{error}"));
    assert!(packing.is_complete(), "{packing}");
    assert!(packing.warnings.is_empty(), "{:?}", packing.warnings);
    let kinds = packing.report.entries.iter();
    let numbers: Vec<(&str, u32)> = kinds.map(|entry| (&*entry.name, entry.placed)).collect();
    for expected in [
        ("tags", 36),
        ("visitors", 20),
        ("ligands", 40),
        ("beads", 24),
    ] {
        assert!(numbers.contains(&expected), "{expected:?} in {numbers:?}");
    }
    // Those of rules, and 23 in each fiber of 24 links.
    assert_eq!(packing.crowd.joints().len(), 120 + 46);
}
