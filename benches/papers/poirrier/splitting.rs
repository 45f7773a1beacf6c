//! Table 1: the effect of splitting boxes.

use std::f64::consts::PI;
use std::sync::atomic::{AtomicU64, Ordering};

use bevy_rapier_molecules::search::LinearKdTree;
use bevy_rapier_molecules::search::boxes::BoxSet;
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::{Column, Done, Run, cells};

/// Number of spheres in the paper.
const SPHERES: u32 = 10_000;

/// Volume fractions in the paper.
const VOLUME_FRACTIONS: [f64; 5] = [0.01, 0.05, 0.1, 0.5, 1.0];

/// Longest edge of the region, nm: a power of two, as the cells of the tree.
const EDGE_NM: f64 = 64.0;

/// The paper gives neither the proportions of the cuboid nor its place in the root cell.
struct Region {
    name: &'static str,
    /// Height in edges of the base.
    height: f64,
    /// Distance of the centers from the faces, radii. With less than one, boxes extend beyond a
    /// power of two, so that the root cell is eight times as large as the region.
    margin: f64,
}

const REGIONS: [Region; 3] = [
    Region {
        name: "cube that fills the root cell",
        height: 1.0,
        margin: 1.0,
    },
    Region {
        name: "cube in the corner of the root cell",
        height: 1.0,
        margin: 0.0,
    },
    Region {
        name: "slab, 4 : 1 : 4, as wide as the root cell",
        height: 0.25,
        margin: 1.0,
    },
];

pub fn run(run: &mut Run) -> Done {
    let count = run.pick(SPHERES, 500);
    let columns = [
        "sub-elements / N",
        "Vn/Ve",
        "selected pairs",
        "true positives",
    ];
    let mut all = vec![Column::text("region"), Column::number("d")];
    for tree in ["whole", "split"] {
        all.extend(columns.map(|name| Column::number(format!("{name}, {tree}"))));
    }
    let title = format!(
        "**Poirrier, table 1.** Splitting of boxes, {count} spheres; leaves as small as codes allow."
    );
    let mut table = run.table(&title, all);
    for region in &REGIONS {
        for fraction in VOLUME_FRACTIONS {
            let spheres = random_spheres(count, fraction, region)?;
            let mut boxes = BoxSet::new();
            boxes.set_around_spheres(&spheres, 0.0)?;
            let mut row = cells![region.name, fraction].to_vec();
            let split = LinearKdTree::new().with_finest_leaves();
            for mut tree in [split.clone().without_splitting(), split] {
                let overlaps = AtomicU64::new(0);
                let selection = tree.select(&boxes, |pair| {
                    if pair.gap(&spheres) < 0.0 {
                        overlaps.fetch_add(1, Ordering::Relaxed);
                    }
                })?;
                let volume = f64::from(count) * sphere_volume(spheres.radius(0).into());
                row.extend(cells![
                    selection.sub_elements as f64 / f64::from(count),
                    selection.cell_volume / volume,
                    selection.pairs,
                    overlaps.into_inner(),
                ]);
            }
            table.row(row);
        }
    }
    Ok(())
}

fn sphere_volume(radius: f64) -> f64 {
    4.0 / 3.0 * PI * radius.powi(3)
}

/// Equal spheres of a volume fraction at random positions.
fn random_spheres(
    count: u32,
    fraction: f64,
    region: &Region,
) -> Result<SphereSet, Box<dyn std::error::Error>> {
    let volume = region.height * EDGE_NM.powi(3);
    let radius = (fraction * volume / (f64::from(count) * sphere_volume(1.0))).cbrt();
    let margin = region.margin * radius;
    // The largest coordinate is just below a power of two.
    let size = [1.0, region.height, 1.0].map(|edge| edge * EDGE_NM * (1.0 - 1.0e-6));
    let size = size.map(|edge| (edge - 2.0 * margin) as f32);
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut spheres = SphereSet::new();
    for owner in 0..count {
        let position = size.map(|edge| margin as f32 + edge * random.random::<f32>());
        spheres.push(Vec3::from_array(position), radius as f32, owner)?;
    }
    Ok(spheres)
}
