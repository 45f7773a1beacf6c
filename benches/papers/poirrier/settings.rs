//! Which setting of the falling spheres fits the paper: it states neither the proportions of the
//! cuboid, nor gravity, nor the response of velocities.

use std::ops::RangeInclusive;

use bevy_rapier_molecules::scenes::{
    FallingConfig, FallingRegion, FallingResponse, FallingSpheres,
};
use bevy_rapier_molecules::search::PairBuffer;
use bevy_rapier_molecules::search::boxes::{BoxGrid, BoxSearch, BoxSet};
use glam::Vec3;

use super::{Checked, EARLY, LATE, fall};
use crate::common::{Column, Done, Run, cells};

/// Numbers of spheres; the paper has the middle two.
const COUNTS: [u32; 4] = [10_000, 50_000, 100_000, 300_000];

/// Candidates per sphere of kd-tree-2 and of sweep and prune at the middle two of [`COUNTS`] in
/// tables 2 and 3.
const PAPER: [[f64; 2]; 2] = [[5.56, 9.42], [5.65, 9.73]];

/// Steps after the late ones, in which the pile should be stable.
const AFTER: RangeInclusive<u32> = 80..=84;

/// A setting to try.
#[derive(Clone, Copy)]
enum Shape {
    Slab(f32),
    Cube,
    /// A cube, with gravity scaled with its edge, in edges per step².
    ScaledCube,
}

use FallingResponse::{Impulses, Positions};
use Shape::{Cube, ScaledCube, Slab};

/// Region, gravity, response and restitution.
const SETTINGS: [(Shape, f32, FallingResponse, f32); 22] = [
    (Slab(35.0), 0.03, Positions, 0.0),
    (Slab(35.0), 0.02, Positions, 0.0),
    (Slab(35.0), 0.04, Positions, 0.0),
    (Slab(35.0), 0.1, Positions, 0.0),
    (Slab(20.0), 0.03, Positions, 0.0),
    (Slab(30.0), 0.03, Positions, 0.0),
    (Slab(40.0), 0.03, Positions, 0.0),
    (Slab(50.0), 0.03, Positions, 0.0),
    (Slab(35.0), 0.03, Positions, 0.5),
    (Slab(35.0), 0.03, Positions, 1.0),
    (Slab(35.0), 0.03, Impulses, 0.0),
    (Slab(35.0), 0.03, Impulses, 0.5),
    (Slab(35.0), 0.03, Impulses, 1.0),
    (Slab(50.0), 0.03, Impulses, 0.0),
    (Slab(50.0), 0.06, Impulses, 0.0),
    (Slab(80.0), 0.04, Impulses, 0.0),
    (Cube, 0.04, Impulses, 0.0),
    (Cube, 0.02, Positions, 0.0),
    (Cube, 0.04, Positions, 0.0),
    (ScaledCube, 0.0008, Impulses, 0.0),
    (ScaledCube, 0.0004, Positions, 0.0),
    (ScaledCube, 0.0008, Positions, 0.0),
];

/// Candidates per sphere.
#[derive(Default)]
struct Candidates {
    early: f64,
    /// Overlapping spheres and boxes in the late steps.
    late: [f64; 2],
    after: f64,
}

pub fn run(run: &mut Run) -> Done {
    let counts = run.pick(&COUNTS[..], &[500, 1000]);
    let settings = run.pick(&SETTINGS[..], &SETTINGS[..2]);
    let last = counts[counts.len().min(3) - 1];
    let mut columns = vec![
        Column::text("region"),
        Column::number("gravity, diameters per step²"),
        Column::text("pairs change"),
        Column::number("restitution").decimals(1),
        Column::number("steps to fall").decimals(0),
    ];
    let numbered = |name: &str, count: u32| Column::number(format!("{name}, {count}")).decimals(2);
    columns.extend(counts.iter().map(|&count| numbered("spheres / N", count)));
    columns.push(numbered("boxes / N", last));
    columns.push(numbered("early spheres / N", last));
    columns.push(numbered("steps 80 to 84, spheres / N", last));
    columns.push(Column::number("largest deviation from the paper, %").decimals(0));
    let title = "**Poirrier: search through settings.** Candidates per sphere in steps 50 to 60: \
                 overlapping spheres (kd-tree-2) and boxes (sweep and prune). The paper has 5.56 \
                 and 9.42 at 50,000 spheres, 5.65 and 9.73 at 100,000. One run each.";
    let mut table = run.table(title, columns);
    for (at, &(shape, gravity, response, restitution)) in settings.iter().enumerate() {
        let mut found = Vec::new();
        let mut steps = 0.0;
        // Most scenes are small, since that is enough to exclude a setting.
        for &count in counts.iter().filter(|&&count| at == 0 || count <= last) {
            let config = config(count, (shape, gravity, response, restitution));
            steps = steps_to_fall(&config)?;
            found.push(candidates(&config)?);
        }
        let region = match shape {
            Slab(height) => format!("slab, {height} diameters high"),
            Cube => "cube".to_owned(),
            ScaledCube => "cube, gravity times its edge".to_owned(),
        };
        let change = match response {
            Positions => "positions",
            _ => "velocities, too",
        };
        let [gravity, restitution] = [gravity, restitution].map(f64::from);
        let mut row = cells![region, gravity, change, restitution, steps].to_vec();
        let late = |at: usize| found.get(at).map(|found: &Candidates| found.late[0]);
        row.extend((0..counts.len()).map(|at| late(at).into()));
        let largest = &found[found.len().min(3) - 1];
        let deviation = (found.len() > 2).then(|| 100.0 * deviation(&found));
        row.extend(cells![
            largest.late[1],
            largest.early,
            largest.after,
            deviation
        ]);
        table.row(row);
    }
    Ok(())
}

fn config(
    count: u32,
    (shape, gravity, response, restitution): (Shape, f32, FallingResponse, f32),
) -> FallingConfig {
    let region = match shape {
        Slab(height) => FallingRegion::Slab { height },
        Cube | ScaledCube => FallingRegion::Cuboid {
            proportions: Vec3::ONE,
        },
    };
    let config = FallingConfig {
        region,
        gravity,
        response,
        restitution,
        ..FallingConfig::of(count)
    };
    match shape {
        ScaledCube => FallingConfig {
            gravity: gravity * height(&config).unwrap_or_default(),
            ..config
        },
        _ => config,
    }
}

/// Height of the initial region, nm.
fn height(config: &FallingConfig) -> Checked<f32> {
    let falling = FallingSpheres::new(config).map_err(|error| error.to_string())?;
    Ok(falling.size().y)
}

/// Steps after which the highest sphere lands.
fn steps_to_fall(config: &FallingConfig) -> Checked<f64> {
    Ok(f64::from(2.0 * height(config)? / config.gravity).sqrt())
}

fn candidates(config: &FallingConfig) -> Checked<Candidates> {
    let mut found = Candidates::default();
    let (mut grid, mut boxes, mut pairs) = (BoxGrid::new(), BoxSet::new(), PairBuffer::new());
    let count = f64::from(config.count);
    let mean = |pairs: &PairBuffer, steps: &RangeInclusive<u32>| {
        pairs.len() as f64 / (count * steps.clone().count() as f64)
    };
    fall(config, *AFTER.end(), |step, spheres, overlapping| {
        if EARLY.contains(&step) {
            found.early += mean(overlapping, &EARLY);
        }
        if AFTER.contains(&step) {
            found.after += mean(overlapping, &AFTER);
        }
        if LATE.contains(&step) {
            boxes
                .set_around_spheres(spheres, 0.0)
                .map_err(|error| error.to_string())?;
            grid.find_box_pairs(&boxes, &mut pairs)
                .map_err(|error| error.to_string())?;
            found.late[0] += mean(overlapping, &LATE);
            found.late[1] += mean(&pairs, &LATE);
        }
        Ok(())
    })?;
    Ok(found)
}

/// The largest relative deviation from [`PAPER`].
fn deviation(found: &[Candidates]) -> f64 {
    let ratios = found[1..].iter().zip(PAPER).flat_map(|(found, paper)| {
        found
            .late
            .into_iter()
            .zip(paper)
            .map(|(ours, paper)| ours / paper - 1.0)
    });
    ratios.map(f64::abs).fold(0.0, f64::max)
}
