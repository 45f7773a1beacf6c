//! Poirrier's table 1: the effect of splitting boxes on the linear kd-tree.

use std::f64::consts::PI;
use std::sync::atomic::{AtomicU64, Ordering};

use bevy_rapier_molecules::scenes::FallingSpheres;
use bevy_rapier_molecules::search::boxes::BoxSet;
use bevy_rapier_molecules::search::{LinearKdTree, Selection};

use crate::Arguments;
use crate::common::AnyError;
use crate::table::{self, Tables};

/// Number of spheres in the paper.
const SPHERES: u32 = 10_000;

/// Volume fractions in the paper.
const VOLUME_FRACTIONS: [f32; 5] = [0.01, 0.05, 0.1, 0.5, 1.0];

pub fn run(arguments: &Arguments, tables: &mut Tables) -> Result<(), AnyError> {
    let count = if arguments.quick { 500 } else { SPHERES };
    let mut rows = Vec::new();
    for (step, ratio) in VOLUME_FRACTIONS.into_iter().enumerate() {
        tables.progress(step, VOLUME_FRACTIONS.len(), || {
            format!("splitting: {count} spheres, volume fraction {ratio}")
        });
        let falling = FallingSpheres::new(count, ratio, 1)?;
        let spheres = falling.spheres();
        let mut boxes = BoxSet::new();
        boxes.set_around_spheres(spheres, 0.0)?;
        let mut row = vec![format!("{ratio}")];
        let split = LinearKdTree::new().with_finest_leaves();
        for mut tree in [split.clone().without_splitting(), split] {
            let overlaps = AtomicU64::new(0);
            let selection: Selection = tree.select(&boxes, &|pair| {
                if pair.gap(spheres) < 0.0 {
                    overlaps.fetch_add(1, Ordering::Relaxed);
                }
            })?;
            let radius = f64::from(FallingSpheres::RADIUS_NM);
            let volume = f64::from(count) * 4.0 / 3.0 * PI * radius.powi(3);
            row.push(format!(
                "{:.2} N",
                selection.sub_elements as f64 / f64::from(count)
            ));
            row.push(table::format_number(Some(selection.cell_volume / volume)));
            row.push(selection.pairs.to_string());
            row.push(overlaps.into_inner().to_string());
        }
        rows.push(row);
    }
    let columns = ["sub-elements", "Vn/Ve", "selected pairs", "true positives"];
    let mut header = table::strings(&["d"]);
    header.extend(columns.map(|name| format!("{name}, whole")));
    header.extend(columns.map(|name| format!("{name}, split")));
    let title = format!("**Splitting of boxes in the linear kd-tree**, {count} spheres.");
    tables.add(&title, header, rows)
}
