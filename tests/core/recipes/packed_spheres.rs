//! Recipes as JSON values, and brute-force checks of the spheres of their molecules in `f64`.

use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::recipe::{
    PackOptions, Packing, Population, ReadOptions, Recipe, pack, populate,
};
use glam::DVec3;
use serde_json::{Value, json};

/// A path from the folder of the crate.
pub fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// Replaces and adds keys of an object, at any depth; null removes a key.
pub fn change(value: &mut Value, changes: &Value) {
    match (value, changes) {
        (Value::Object(fields), Value::Object(changes)) => {
            for (key, changed) in changes {
                if changed.is_null() {
                    fields.remove(key);
                } else {
                    change(fields.entry(key).or_insert_with(|| json!({})), changed);
                }
            }
        }
        (value, changes) => *value = changes.clone(),
    }
}

/// Reads a recipe whose files are in `tests/data/recipes`.
pub fn try_read(recipe: &Value) -> Result<Recipe, String> {
    try_read_text(&recipe.to_string())
}

/// As [`try_read`], from text.
pub fn try_read_text(text: &str) -> Result<Recipe, String> {
    let (folder, options) = (folder("tests/data/recipes"), ReadOptions::default());
    let read = Recipe::read(text.as_bytes(), "cell.json", &folder, &options);
    read.map_err(|error| error.to_string())
}

/// Reads a recipe that is valid.
pub fn read(recipe: &Value) -> Recipe {
    try_read(recipe).unwrap_or_else(|error| panic!("{error}"))
}

/// The warnings of a recipe as text.
pub fn warnings(recipe: &Recipe) -> Vec<String> {
    recipe.warnings.iter().map(ToString::to_string).collect()
}

/// Fills a recipe that is valid.
pub fn populated(recipe: &Recipe) -> Population {
    populate(recipe, None).unwrap_or_else(|error| panic!("{error}"))
}

/// Fills a recipe and relaxes it to rest.
pub fn packed(recipe: &Recipe) -> Packing {
    let packing = pack(recipe, &PackOptions::default(), |_| {
        ControlFlow::Continue(())
    });
    let packing = packing.unwrap_or_else(|error| panic!("{error}"));
    assert!(
        packing.is_complete() && packing.left.is_empty(),
        "{packing}"
    );
    packing
}

/// Poses of all molecules.
pub fn poses(crowd: &Crowd) -> Vec<Pose> {
    crowd.members().iter().map(|member| member.pose).collect()
}

/// A sphere in the world, nm.
#[derive(Clone, Copy, Debug)]
pub struct Sphere {
    pub center: DVec3,
    pub radius: f64,
    /// Index of its molecule.
    pub member: usize,
}

/// The spheres of all molecules.
pub fn spheres(crowd: &Crowd) -> Vec<Sphere> {
    let mut spheres = Vec::new();
    for (index, member) in crowd.members().iter().enumerate() {
        let template = crowd.template_of(member);
        let rotation = member.pose.rotation.as_dquat().normalize();
        let position = member.pose.position.as_dvec3();
        for (center, radius) in template.positions().iter().zip(template.radii()) {
            spheres.push(Sphere {
                center: position + rotation * center.as_dvec3(),
                radius: f64::from(*radius),
                member: index,
            });
        }
    }
    spheres
}

/// Number of pairs of spheres of different molecules that overlap. All pairs are compared, except for
/// those of molecules whose enclosing balls are apart.
pub fn overlaps(crowd: &Crowd) -> usize {
    let mut molecules: Vec<Vec<Sphere>> = vec![Vec::new(); crowd.members().len()];
    for sphere in spheres(crowd) {
        molecules[sphere.member].push(sphere);
    }
    let ball = |spheres: &Vec<Sphere>| {
        let center = spheres.iter().map(|s| s.center).sum::<DVec3>() / spheres.len() as f64;
        let reach = spheres.iter().map(|s| s.center.distance(center) + s.radius);
        (center, reach.fold(0.0, f64::max))
    };
    let balls: Vec<(DVec3, f64)> = molecules.iter().map(ball).collect();
    let size = crowd
        .periodic_box()
        .map(|periodic| periodic.size().as_dvec3());
    let apart = |a: DVec3, b: DVec3| {
        let arm = a - b;
        let image = size.map_or(arm, |size| arm - size * (arm / size).round());
        image.length_squared()
    };
    let touch = |a: (DVec3, f64), b: (DVec3, f64)| apart(a.0, b.0) < (a.1 + b.1).powi(2);
    let mut overlaps = 0;
    for first in 0..molecules.len() {
        for second in 0..first {
            if !touch(balls[first], balls[second]) {
                continue;
            }
            let near = |own: usize, other: usize| {
                let spheres = molecules[own].iter().map(|s| (s.center, s.radius));
                spheres
                    .filter(|s| touch(*s, balls[other]))
                    .collect::<Vec<_>>()
            };
            let others = near(second, first);
            for a in near(first, second) {
                overlaps += others.iter().filter(|b| touch(a, **b)).count();
            }
        }
    }
    overlaps
}
