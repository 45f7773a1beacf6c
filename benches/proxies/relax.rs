//! Relaxation from coarse to fine against atoms alone: a vesicle of 620 lipids and a box of
//! 200 proteins.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::Instant;

use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::relax::{CoarseStart, RelaxConfig, Relaxer};
use bevy_rapier_molecules::scenes::{CrowdedBoxConfig, VesicleConfig, crowded_box, vesicle};

/// Seeds of the scenes.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=5;

/// Proteins of the box, in turn.
const PROTEINS: [&str; 5] = [
    "1gzx.pdb",
    "dhfr.pdb",
    "t4_lysozyme_l99a.pdb",
    "1ubq.cif",
    "2por.pdb",
];

/// Distance of the proteins, in units of their mean bounding radius: so close that they
/// overlap.
const SPACING: f32 = 1.3;

/// Radius of the lipids' atoms, nm: those closer than 0.2 nm overlap.
const LIPID_RADIUS_NM: f32 = 0.1;

pub fn run() {
    println!("\nRelaxation to rest, median of {} seeds\n", SEEDS.count());
    println!("| scene | start | iterations | ms |");
    println!("|---|---|--:|--:|");
    compare("620 lipids", |seed| {
        let lipid = molecule("popc.pdb").with_uniform_radius(LIPID_RADIUS_NM);
        let config = VesicleConfig {
            seed,
            ..VesicleConfig::default()
        };
        let lipid = Arc::new(lipid.expect("the radius is positive"));
        vesicle(lipid, &config)
            .expect("the vesicle is possible")
            .crowd
    });
    compare("200 proteins", |seed| {
        let proteins = PROTEINS.map(|file| Arc::new(molecule(file)));
        let config = CrowdedBoxConfig {
            spacing: SPACING,
            seed,
            ..CrowdedBoxConfig::default()
        };
        crowded_box(&proteins, &config).expect("the numbers are finite")
    });
}

fn molecule(file: &str) -> MoleculeTemplate {
    let path = format!("assets/molecules/{file}");
    load(path, &LoadOptions::default()).expect("the file is good")
}

fn compare(name: &str, scene: impl Fn(u64) -> Crowd) {
    let mut results = [Vec::new(), Vec::new()];
    for seed in SEEDS {
        let crowd = scene(seed);
        let starts = [None, Some(CoarseStart::for_crowd(&crowd))];
        // In turns, so that both see the same machine.
        for (results, coarse) in results.iter_mut().zip(starts) {
            results.push(relax(crowd.clone(), coarse));
        }
    }
    for (start, results) in ["atoms", "proxies, then atoms"].iter().zip(&mut results) {
        results.sort_unstable_by_key(|result| result.0);
        let iterations = results[results.len() / 2].0;
        results.sort_unstable_by(|a, b| a.1.total_cmp(&b.1));
        let time = results[results.len() / 2].1;
        println!("| {name} | {start} | {iterations} | {time:.0} |");
    }
}

/// Iterations and ms to rest.
fn relax(crowd: Crowd, coarse: Option<CoarseStart>) -> (u32, f64) {
    let config = RelaxConfig {
        coarse,
        ..RelaxConfig::default()
    };
    let begin = Instant::now();
    let mut relaxer = Relaxer::new(crowd, config).expect("the crowd is finite");
    let report = relaxer
        .run(|_| ControlFlow::Continue(()))
        .expect("the crowd is finite");
    assert!(report.converged() && report.end.overlaps == 0);
    (report.iterations, 1.0e3 * begin.elapsed().as_secs_f64())
}
