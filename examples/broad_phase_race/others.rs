//! A sparse gas, a dense liquid, one large sphere among small ones, and proteins.

use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::spheres::SphereSet;
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::Arguments;
use crate::common::AnyError;
use crate::runners::{SphereRunner, race};
use crate::table::{self, Tables};

/// Number of frames; the first is a warm-up.
const FRAMES: usize = 8;

/// Max motion per frame along each axis, nm.
const MOTION_NM: f32 = 0.05;

pub fn run(arguments: &Arguments, tables: &mut Tables) -> Result<(), AnyError> {
    let count = if arguments.quick { 1000 } else { 20_000 };
    let scenes = [
        ("sparse gas", gas(count, 5.0, None)?),
        ("dense liquid", gas(count, 0.25, None)?),
        ("one large sphere", gas(count, 0.5, Some(5.0))?),
        (
            "proteins 2 nm apart",
            proteins(if arguments.quick { 5 } else { 60 }, 2.0)?,
        ),
        (
            "proteins side by side",
            proteins(if arguments.quick { 5 } else { 60 }, -0.3)?,
        ),
    ];
    let names: Vec<&str> = SphereRunner::for_spheres(0)
        .iter()
        .map(|runner| runner.name)
        .collect();
    let mut rows = Vec::new();
    let all = scenes.len();
    for (step, (scene, frames)) in scenes.into_iter().enumerate() {
        tables.progress(step, all, || format!("other scenes: {scene}"));
        let mut runners = SphereRunner::for_spheres(frames[0].len());
        let pairs = race(&mut runners, &frames)?;
        let mut row = vec![
            scene.to_owned(),
            frames[0].len().to_string(),
            format!("{pairs:.0}"),
        ];
        row.extend(names.iter().map(|name| {
            let runner = runners.iter_mut().find(|runner| runner.name == *name);
            table::format_number(runner.and_then(SphereRunner::median))
        }));
        rows.push(row);
    }
    let mut header = table::strings(&["scene", "spheres", "pairs"]);
    header.extend(table::strings(&names));
    tables.add("**Other scenes**, all spheres moving.", header, rows)
}

/// Single spheres of 0.1 nm with a mean distance of `spacing` nm, and an optional large one.
fn gas(count: u32, spacing: f32, large_radius: Option<f32>) -> Result<Vec<SphereSet>, AnyError> {
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let edge = spacing * (count as f32).cbrt();
    let mut first = SphereSet::new();
    for owner in 0..count {
        let position: [f32; 3] = std::array::from_fn(|_| edge * random.random::<f32>());
        first.push(position.into(), 0.1, owner)?;
    }
    if let Some(radius) = large_radius {
        first.push(Vec3::splat(0.5 * edge), radius, count)?;
    }
    moving(first, &mut random)
}

/// Hemoglobins on a lattice with random rotations, their bounding spheres `gap` nm apart.
fn proteins(count: u32, gap: f32) -> Result<Vec<SphereSet>, AnyError> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/1gzx.pdb");
    let protein = load(path, &LoadOptions::default())?;
    let mut random = Pcg64Mcg::seed_from_u64(4);
    let spacing = 2.0 * protein.bounding_radius() + gap;
    let poses: Vec<Pose> = (0..count)
        .map(|k| {
            let cell = Vec3::new((k % 4) as f32, (k / 4 % 4) as f32, (k / 16) as f32);
            let axis: [f32; 3] = std::array::from_fn(|_| random.random::<f32>() - 0.5);
            Pose {
                position: spacing * cell,
                rotation: Quat::from_scaled_axis(6.0 * Vec3::from_array(axis)),
            }
        })
        .collect();
    let first = SphereSet::from_molecules(poses.iter().map(|pose| (&protein, *pose)))?;
    moving(first, &mut random)
}

/// Frames in which each sphere moves slightly.
fn moving(first: SphereSet, random: &mut Pcg64Mcg) -> Result<Vec<SphereSet>, AnyError> {
    let mut frames = vec![first];
    for frame in 1..FRAMES {
        let previous = &frames[frame - 1];
        let mut next = SphereSet::new();
        for index in 0..previous.len() {
            let motion: [f32; 3] =
                std::array::from_fn(|_| MOTION_NM * (2.0 * random.random::<f32>() - 1.0));
            let center = previous.center(index) + Vec3::from_array(motion);
            next.push(center, previous.radius(index), previous.owner(index))?;
        }
        frames.push(next);
    }
    Ok(frames)
}
