//! Pair searches on the available adapter: FFRNN against brute force.
//!
//! Scenes are POPC vesicles at the density of the other benches. Whole iterations with forces are
//! in `cargo bench --bench papers -- thesis`.

mod common;
#[allow(dead_code, reason = "the CPU searches are not used here")]
mod peers;

use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::gpu::{GpuBruteForce, GpuDevice, GpuOptions, GpuUniformGrid};
use bevy_rapier_molecules::search::PairSearch;
use clap::Args;
use common::interleave::{Samples, ms, ratio};
use common::molecules::{POPC_ATOMS, atoms_from};
use common::{Column, Done, Part, Run, cells};
use peers::TOLERANCE_NM;
use peers::scene::Scene;

/// Scene sizes, atoms.
const ATOMS: [usize; 7] = [
    50_000, 100_000, 200_000, 400_000, 1_000_000, 2_000_000, 4_000_000,
];

/// Scene size in a quick run, atoms.
const FEW_ATOMS: usize = 2000;

/// Default limit for brute force, atoms: fast enough on a GPU, minutes on a software
/// adapter.
const BRUTE_FORCE_MAX: usize = 200_000;

/// Searches; the best one is reported.
const ROUNDS: usize = 3;

#[derive(Args)]
struct Options {
    /// Scene sizes in atoms, separated by commas, at least 134 (one lipid)
    /// [default: 50,000 to 4,000,000].
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = atoms_from(POPC_ATOMS))]
    atoms: Vec<usize>,
    /// Skip brute force above this many atoms: its time grows quadratically.
    #[arg(long, value_name = "N", default_value_t = BRUTE_FORCE_MAX)]
    brute_force_max: usize,
}

fn main() -> ExitCode {
    let about = "Pair searches on the available adapter";
    let parts = [Part::new(
        "search",
        "FFRNN against brute force",
        |run, options| on_device(run, options, search),
    )];
    common::run("gpu", about, &parts)
}

/// Runs a part on the available adapter. A missing adapter, or a scene too large for it, is
/// noted and is not an error.
fn on_device(
    run: &mut Run,
    options: &Options,
    part: fn(&mut Run, &Options, &Arc<GpuDevice>) -> Result<(), DeviceError>,
) -> Done {
    let device = match GpuDevice::headless(&GpuOptions::default()) {
        Ok(device) => Arc::new(device),
        Err(error) => {
            run.note(&format!("Skipped: {error}"));
            return Ok(());
        }
    };
    run.note(&format!("On {}.", device.summary()));
    if let Err(error) = part(run, options, &device) {
        run.note(&format!("Ended: {error}"));
    }
    Ok(())
}

/// FFRNN against brute force.
fn search(run: &mut Run, options: &Options, device: &Arc<GpuDevice>) -> Result<(), DeviceError> {
    let sizes = match &options.atoms[..] {
        [] => run.pick(&ATOMS[..], &[FEW_ATOMS]),
        sizes => sizes,
    };
    let brute_force_max = options.brute_force_max;
    let rounds = run.pick(ROUNDS, 1);
    let title = format!(
        "Pairs of atoms of different molecules closer than {TOLERANCE_NM} nm, counted; ms, best \
         of {rounds}, brute force once and up to {brute_force_max} atoms. FFRNN includes sending the \
         atoms; detect is the walk alone."
    );
    let columns = vec![
        Column::number("atoms"),
        Column::number("pairs"),
        Column::measured("FFRNN", "ms"),
        Column::measured("detect", "ms"),
        Column::measured("brute force", "ms"),
        Column::number("brute force ÷ FFRNN"),
    ];
    let mut table = run.table(&title, columns);
    for &atoms in sizes {
        let scene = Scene::vesicle(atoms);
        let mut grid = GpuUniformGrid::new(Arc::clone(device))?;
        grid.time_stages(true)?;
        // The first search allocates the buffers.
        let mut pairs = count(&mut grid, &scene);
        let mut samples = Samples::default();
        let mut detect = None;
        for _ in 0..rounds {
            let before = samples.best();
            pairs = samples.time(|| count(&mut grid, &scene));
            if samples.best() != before {
                detect = walk_time(&grid);
            }
        }
        let brute = if scene.len() <= brute_force_max {
            Some(brute_force(device, &scene, pairs)?)
        } else {
            None
        };
        let best = samples.best();
        table.row(cells![
            scene.len(),
            pairs,
            ms(best),
            detect.map(ms),
            brute.map(ms),
            brute.map(|time| ratio(time, best)),
        ]);
    }
    Ok(())
}

/// Duration of the last neighbor walk, if the adapter supports timestamps.
fn walk_time(grid: &GpuUniformGrid) -> Option<Duration> {
    let mut stages = grid.stage_times().iter();
    let walk = stages.find(|pass| pass.label == "detect")?;
    Some(walk.time)
}

/// Time of one brute-force search, which must find the same pairs.
fn brute_force(
    device: &Arc<GpuDevice>,
    scene: &Scene,
    pairs: u64,
) -> Result<Duration, DeviceError> {
    let mut search = GpuBruteForce::new(Arc::clone(device))?;
    let mut samples = Samples::default();
    let found = samples.time(|| count(&mut search, scene));
    // Pairs exactly at the tolerance may be rounded differently.
    assert!(
        found.abs_diff(pairs) <= 2 + pairs / 100_000,
        "brute force counts {found} pairs instead of {pairs}"
    );
    Ok(samples.best())
}

fn count(search: &mut dyn PairSearch, scene: &Scene) -> u64 {
    match search.count_pairs(&scene.spheres, 0.0) {
        Ok(pairs) => pairs,
        Err(error) => panic!("{} of {} atoms: {error}", search.name(), scene.len()),
    }
}
