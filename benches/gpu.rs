//! The two GPU tables of the thesis on the available adapter: FFRNN against brute force, and
//! the stages of one iteration.
//!
//! Scenes are POPC vesicles at the density of the other benches.

mod common;
#[allow(dead_code, reason = "the CPU searches are not used here")]
mod peers;

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::gpu::{GpuBruteForce, GpuDevice, GpuOptions, GpuUniformGrid, PassTime};
use bevy_rapier_molecules::relax::{
    CenterWeights, DeviceRelaxer, DeviceScene, DeviceStep, GpuRelaxer, Motion, RelaxConfig,
    RelaxStatus, Relaxer, StageTimes,
};
use bevy_rapier_molecules::search::PairSearch;
use clap::Args;
use common::interleave::{Samples, ms, ratio};
use common::molecules::{MIN_VESICLE_ATOMS, POPC_ATOMS, atoms_from, popc, vesicle_of};
use common::{Column, Done, Part, Run, cells};
use peers::TOLERANCE_NM;
use peers::scene::Scene;

/// Scene sizes of `search`, as in the thesis, atoms.
const ATOMS: [usize; 7] = [
    50_000, 100_000, 200_000, 400_000, 1_000_000, 2_000_000, 4_000_000,
];

/// Scene size of `stages`, as in the thesis, atoms.
const STAGE_ATOMS: usize = 3_000_000;

/// Speed-up of FFRNN over brute force in the thesis (GTX 970), by atoms.
const THESIS: [(usize, f64); 3] = [(50_000, 6.8), (100_000, 28.0), (200_000, 89.0)];

/// Scene size in a quick run, atoms.
const FEW_ATOMS: usize = 2000;

/// Default limit for brute force, atoms: fast enough on a GPU, minutes on a software
/// adapter.
const BRUTE_FORCE_MAX: usize = 200_000;

/// Searches; the best one is reported.
const ROUNDS: usize = 3;

/// Iterations; the mean is reported.
const ITERATIONS: u32 = 2;

/// Smallest vesicle at this density, lipids.
const MIN_LIPIDS: usize = 150;

/// Stages of an iteration, in order.
const STAGES: [&str; 8] = [
    "transform",
    "insert",
    "prefix sum",
    "sort",
    "detect",
    "sum",
    "spring",
    "apply",
];

#[derive(Args)]
struct Options {
    /// Scene sizes of `search` in atoms, separated by commas, at least 134 (one lipid)
    /// [default: 50,000 to 4,000,000].
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = atoms_from(POPC_ATOMS))]
    atoms: Vec<usize>,
    /// Skip brute force above this many atoms: its time grows quadratically.
    #[arg(long, value_name = "N", default_value_t = BRUTE_FORCE_MAX)]
    brute_force_max: usize,
    /// Scene size of `stages` in atoms, at least 20,000 [default: 3,000,000].
    #[arg(long, value_name = "N", value_parser = atoms_from(MIN_VESICLE_ATOMS))]
    stage_atoms: Option<usize>,
}

fn main() -> ExitCode {
    let about = "The two GPU tables of the thesis, on the available adapter";
    let parts = [
        Part::new("search", "FFRNN against brute force", |run, options| {
            on_device(run, options, search)
        }),
        Part::new(
            "stages",
            "the time of each stage of an iteration of the relaxer",
            |run, options| on_device(run, options, stages),
        ),
    ];
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
        Column::number("ratio in the thesis (GTX 970)"),
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
        let thesis = THESIS.iter().find(|row| row.0 == atoms);
        table.row(cells![
            scene.len(),
            pairs,
            ms(best),
            detect.map(ms),
            brute.map(ms),
            brute.map(|time| ratio(time, best)),
            thesis.map(|row| row.1),
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

/// The stages of an iteration.
fn stages(run: &mut Run, options: &Options, device: &Arc<GpuDevice>) -> Result<(), DeviceError> {
    let wanted = options.stage_atoms;
    let wanted = wanted.unwrap_or_else(|| run.pick(STAGE_ATOMS, FEW_ATOMS));
    let lipid = Arc::new(popc());
    let lipids = (wanted / lipid.atom_count()).max(MIN_LIPIDS) as u32;
    let vesicle = vesicle_of(&lipid, lipids);
    let atoms = vesicle.crowd.atom_count();
    let passes = Arc::new(Mutex::new(Vec::new()));
    let create = {
        let (device, passes) = (Arc::clone(device), Arc::clone(&passes));
        move |scene: &DeviceScene<'_>| -> Result<Box<dyn DeviceRelaxer>, DeviceError> {
            let relaxer = GpuRelaxer::new(Arc::clone(&device), scene)?;
            let passes = Arc::clone(&passes);
            Ok(Box::new(TimedRelaxer { relaxer, passes }))
        }
    };
    let relaxer = Relaxer::with_device_relaxer(vesicle.crowd, RelaxConfig::default(), create);
    let mut relaxer = relaxer.expect("the vesicle is finite");
    if let Some(error) = relaxer.device_error() {
        return Err(error.clone());
    }
    let begin = Instant::now();
    for _ in 0..ITERATIONS {
        relaxer.step().expect("the iteration does not diverge");
    }
    let whole = ms(begin.elapsed()) / f64::from(ITERATIONS);
    assert_eq!(relaxer.device_error(), None);
    let passes = passes.lock().unwrap_or_else(PoisonError::into_inner);
    let time_of = |label: &str| {
        let passes = passes.iter().filter(|pass| pass.label == label);
        passes.map(|pass| ms(pass.time)).sum::<f64>() / f64::from(ITERATIONS)
    };
    let total: f64 = STAGES.iter().map(|stage| time_of(stage)).sum();
    let title = format!(
        "One iteration of the relaxer, {lipids} lipids, {atoms} atoms, mean of {ITERATIONS}."
    );
    let columns = vec![
        Column::text("stage"),
        Column::measured("ms", "ms").decimals(2),
        Column::measured("%", "%").decimals(1),
    ];
    let mut table = run.table(&title, columns);
    if total == 0.0 {
        let name = "total, host clock (the adapter has no timestamps)";
        table.row(cells![name, whole, 100.0]);
        return Ok(());
    }
    for stage in STAGES {
        let time = time_of(stage);
        table.row(cells![stage, time, 100.0 * time / total]);
    }
    table.row(cells!["total, host clock", whole, None]);
    let sorting = time_of("prefix sum") + time_of("sort");
    run.note(&format!(
        "Prefix sum and sort: {:.1} % of an iteration.",
        100.0 * sorting / total
    ));
    Ok(())
}

/// A GPU relaxer that collects the times of its passes.
struct TimedRelaxer {
    relaxer: GpuRelaxer,
    passes: Arc<Mutex<Vec<PassTime>>>,
}

impl DeviceRelaxer for TimedRelaxer {
    fn adapter(&self) -> String {
        self.relaxer.adapter()
    }

    fn status(&mut self, next: f32) -> Result<RelaxStatus, DeviceError> {
        let status = self.relaxer.status(next);
        // Not part of an iteration.
        let _ = self.relaxer.take_passes();
        status
    }

    fn step(&mut self, weights: CenterWeights) -> Result<DeviceStep, DeviceError> {
        let step = self.relaxer.step(weights);
        if let Ok(passes) = self.relaxer.take_passes() {
            let mut all = self.passes.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend(passes);
        }
        step
    }

    fn motion(&mut self) -> Result<Motion, DeviceError> {
        self.relaxer.motion()
    }

    fn take_stages(&mut self) -> StageTimes {
        self.relaxer.take_stages()
    }
}
