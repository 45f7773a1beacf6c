//! Scene sizes at which one search overtakes another. The automatic choice is based on them.

use bevy_rapier_molecules::search::SearchKind;
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::Arguments;
use crate::common::AnyError;
use crate::runners::{SphereRunner, race};
use crate::table::{self, Tables};

/// Number of frames.
const FRAMES: usize = 60;

pub fn run(arguments: &Arguments, tables: &mut Tables) -> Result<(), AnyError> {
    let counts: &[u32] = if arguments.quick {
        &[16]
    } else {
        &[8, 16, 32, 48, 64, 96, 128, 256]
    };
    let kinds = [
        SearchKind::BruteForce,
        SearchKind::UniformGrid,
        SearchKind::SweepAndPrune,
    ];
    let factors: &[f32] = if arguments.quick {
        &[2.0]
    } else {
        &[1.0, 2.0, 4.0, 6.0, 8.0, 16.0, 32.0]
    };
    let all = counts.len() + factors.len();
    let mut rows = Vec::new();
    for (step, &count) in counts.iter().enumerate() {
        tables.progress(step, all, || format!("crossovers: {count} spheres"));
        let scene = |seed| liquid(count, 1.0, seed);
        rows.push(row(count.to_string(), kinds, scene)?);
    }
    let mut header = table::strings(&["spheres"]);
    header.extend(kinds.map(|kind| kind.name().to_string()));
    tables.add("**Few spheres** of a liquid.", header, rows)?;

    let kinds = [
        SearchKind::UniformGrid,
        SearchKind::BoxGrid,
        SearchKind::KdTree2,
    ];
    let mut rows = Vec::new();
    for (step, &factor) in factors.iter().enumerate() {
        tables.progress(counts.len() + step, all, || {
            format!("crossovers: one sphere {factor} times as large")
        });
        let scene = |seed| liquid(10_000, factor, seed);
        rows.push(row(factor.to_string(), kinds, scene)?);
    }
    let mut header = table::strings(&["largest ÷ other radii"]);
    header.extend(kinds.map(|kind| kind.name().to_string()));
    tables.add(
        "**One large sphere** among 10,000 of a liquid.",
        header,
        rows,
    )
}

fn row<const N: usize>(
    first: String,
    kinds: [SearchKind; N],
    scene: impl Fn(u64) -> Result<SphereSet, AnyError>,
) -> Result<Vec<String>, AnyError> {
    let mut runners: Vec<SphereRunner> = kinds.map(|kind| SphereRunner::new(kind.search())).into();
    let frames: Result<Vec<SphereSet>, _> = (0..FRAMES as u64).map(scene).collect();
    race(&mut runners, &frames?)?;
    let mut row = vec![first];
    row.extend(
        runners
            .iter_mut()
            .map(|runner| table::format_number(runner.median())),
    );
    Ok(row)
}

/// Spheres of 0.1 nm at the density of a liquid, the first of them `factor` times as large.
/// The seed varies their positions slightly.
fn liquid(count: u32, factor: f32, seed: u64) -> Result<SphereSet, AnyError> {
    let mut positions = Pcg64Mcg::seed_from_u64(9);
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let edge = (count as f32 / 100.0).cbrt();
    let mut spheres = SphereSet::new();
    for owner in 0..count {
        let position: [f32; 3] = std::array::from_fn(|_| {
            edge * positions.random::<f32>() + 0.02 * random.random::<f32>()
        });
        let radius = if owner == 0 { 0.1 * factor } else { 0.1 };
        spheres.push(Vec3::from_array(position), radius, owner)?;
    }
    Ok(spheres)
}
