//! Coarse-to-fine relaxation against atoms only: a vesicle of 620 lipids and a box of 200
//! proteins.

use std::ops::ControlFlow;
use std::sync::Arc;

use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::relax::{CoarseStart, RelaxConfig, Relaxer};
use bevy_rapier_molecules::scenes::{
    CrowdedBoxConfig, VesicleConfig, VesicleStart, crowded_box, vesicle,
};

use crate::common::interleave::{Samples, ms};
use crate::common::molecules::{bundled, popc};
use crate::common::{Column, Done, NoOptions, Run, Table, cells};

/// Seeds of the scenes.
const SEEDS: u64 = 5;

/// Proteins of the box, repeated in order.
const PROTEINS: [&str; 5] = [
    "1gzx.pdb",
    "dhfr.pdb",
    "t4_lysozyme_l99a.pdb",
    "1ubq.cif",
    "2por.pdb",
];

/// Spacing of the proteins in units of their mean bounding radius. They overlap.
const SPACING: f32 = 1.3;

/// Radius of the lipid atoms, nm: atoms closer than 0.2 nm overlap.
const LIPID_RADIUS_NM: f32 = 0.1;

pub fn run(run: &mut Run, _: &NoOptions) -> Done {
    let seeds = run.pick(SEEDS, 1);
    let columns = vec![
        Column::text("scene"),
        Column::number("iterations: atoms"),
        Column::number("iterations: coarse to fine"),
        Column::measured("ms: atoms", "ms"),
        Column::measured("ms: coarse to fine", "ms"),
    ];
    let proteins = run.pick(CrowdedBoxConfig::default().molecules, 20);
    let title = format!("Relaxation to rest, median of {seeds} seeds.");
    let mut table = run.table(&title, columns);
    compare(&mut table, "620 lipids", seeds, |seed| {
        let lipid = popc().with_uniform_radius(LIPID_RADIUS_NM);
        let config = VesicleConfig {
            seed,
            start: VesicleStart::Uniform,
            ..VesicleConfig::default()
        };
        let lipid = Arc::new(lipid.expect("the radius is positive"));
        vesicle(lipid, &config)
            .expect("the vesicle is large enough")
            .crowd
    });
    let templates = PROTEINS.map(|file| Arc::new(bundled(file)));
    compare(&mut table, &format!("{proteins} proteins"), seeds, |seed| {
        let config = CrowdedBoxConfig {
            molecules: proteins,
            spacing: SPACING,
            seed,
            ..CrowdedBoxConfig::default()
        };
        crowded_box(&templates, &config).expect("the numbers are finite")
    });
    Ok(())
}

fn compare(table: &mut Table, name: &str, seeds: u64, scene: impl Fn(u64) -> Crowd) {
    let mut samples = [Samples::default(), Samples::default()];
    let mut iterations = [Vec::new(), Vec::new()];
    for seed in 1..=seeds {
        let crowd = scene(seed);
        let starts = [None, Some(CoarseStart::for_crowd(&crowd))];
        for ((samples, iterations), coarse) in samples.iter_mut().zip(&mut iterations).zip(starts) {
            let crowd = crowd.clone();
            iterations.push(samples.time(|| relax(crowd, coarse)));
        }
    }
    let [atoms, coarse] = iterations.map(|mut iterations| {
        iterations.sort_unstable();
        iterations[iterations.len() / 2]
    });
    let [slow, quick] = samples.map(|samples| ms(samples.median()));
    table.row(cells![name, atoms, coarse, slow, quick]);
}

/// Iterations to rest.
fn relax(crowd: Crowd, coarse: Option<CoarseStart>) -> u32 {
    let config = RelaxConfig {
        coarse,
        ..RelaxConfig::default()
    };
    let mut relaxer = Relaxer::new(crowd, config).expect("the crowd is finite");
    let report = relaxer
        .run(|_| ControlFlow::Continue(()))
        .expect("the crowd is finite");
    assert!(report.converged() && report.end.overlaps == 0);
    report.iterations
}
