//! The two tables of the thesis for the graphics adapter at hand: FFRNN against brute
//! force, and the stages of one iteration.
//!
//! `cargo bench --bench gpu -- --help` says more. Scenes are vesicles of POPC at the density
//! of the other benches.

mod common;
#[allow(dead_code, reason = "the contestants of the CPU do not run here")]
mod contest;

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bevy_rapier_molecules::gpu::{
    GpuBruteForce, GpuDevice, GpuError, GpuGrid, GpuOptions, GpuRelaxEngine, PassTime,
};
use bevy_rapier_molecules::relax::engine::{
    CenterWeights, EngineError, EngineStep, Motion, RelaxEngine,
};
use bevy_rapier_molecules::relax::{RelaxConfig, RelaxStatus, Relaxer, StageTimes};
use bevy_rapier_molecules::search::PairSearch;
use clap::Args;
use common::molecules::{POPC_ATOMS, VESICLE_ATOMS, atoms_from, popc, vesicle_of};
use common::turns::{Laps, ms, ratio};
use common::{Column, Done, Part, Run, cells};
use contest::TOLERANCE_NM;
use contest::scene::Scene;

/// Atoms of the first table: those of the thesis.
const ATOMS: [usize; 7] = [
    50_000, 100_000, 200_000, 400_000, 1_000_000, 2_000_000, 4_000_000,
];

/// Atoms of the second table: those of the thesis.
const STAGE_ATOMS: usize = 3_000_000;

/// How many times faster than brute force FFRNN is in the thesis, on a GTX 970, by atoms.
const THESIS: [(usize, f64); 3] = [(50_000, 6.8), (100_000, 28.0), (200_000, 89.0)];

/// Atoms of both tables in a run that only shows that it works.
const FEW_ATOMS: usize = 2000;

/// Most atoms for brute force unless told otherwise: bearable on a real GPU, and patience
/// for minutes on one in software.
const BRUTE_MOST: usize = 200_000;

/// Searches of which the best counts.
const ROUNDS: usize = 3;

/// Iterations of which the mean counts.
const ITERATIONS: u32 = 2;

/// Fewest lipids that make a vesicle of that density.
const FEWEST_LIPIDS: usize = 150;

/// Stages of an iteration in the order in which they run.
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

/// What only this bench has.
#[derive(Args)]
struct Switches {
    /// Atoms of the scenes of `search`, at least the 134 of a lipid, with commas [default:
    /// 50,000 to 4,000,000].
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = atoms_from(POPC_ATOMS))]
    atoms: Vec<usize>,
    /// Brute force is left out beyond this many atoms: its time grows with the square.
    #[arg(long, value_name = "N", default_value_t = BRUTE_MOST)]
    brute_most: usize,
    /// Atoms of `stages`, at least 20,000 [default: 3,000,000].
    #[arg(long, value_name = "N", value_parser = atoms_from(VESICLE_ATOMS))]
    stage_atoms: Option<usize>,
}

fn main() -> ExitCode {
    let about = "The two tables of the thesis, for the graphics adapter at hand";
    let parts = [
        Part::new("search", "FFRNN against brute force", |run, switches| {
            on_device(run, switches, search)
        }),
        Part::new(
            "stages",
            "the time of each stage of an iteration of the relaxer",
            |run, switches| on_device(run, switches, stages),
        ),
    ];
    common::run("gpu", about, &parts)
}

/// Runs a part with the adapter at hand. That there is none, or that it ends where a scene
/// is too large for it, is a result.
fn on_device(
    run: &mut Run,
    switches: &Switches,
    part: fn(&mut Run, &Switches, &Arc<GpuDevice>) -> Result<(), GpuError>,
) -> Done {
    let device = match GpuDevice::headless(&GpuOptions::default()) {
        Ok(device) => Arc::new(device),
        Err(error) => {
            run.note(&format!("Skipped: {error}"));
            return Ok(());
        }
    };
    run.note(&format!("On {}.", device.summary()));
    if let Err(error) = part(run, switches, &device) {
        run.note(&format!("Ended: {error}"));
    }
    Ok(())
}

/// The first table.
fn search(run: &mut Run, switches: &Switches, device: &Arc<GpuDevice>) -> Result<(), GpuError> {
    let sizes = match &switches.atoms[..] {
        [] => run.pick(&ATOMS[..], &[FEW_ATOMS]),
        sizes => sizes,
    };
    let brute_most = switches.brute_most;
    let rounds = run.pick(ROUNDS, 1);
    let title = format!(
        "Pairs of atoms of different molecules closer than {TOLERANCE_NM} nm, counted; ms, best \
         of {rounds}, brute force once and up to {brute_most} atoms. FFRNN includes sending the \
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
        let mut grid = GpuGrid::new(Arc::clone(device))?;
        grid.time_stages(true)?;
        // The first search makes the arrays.
        let mut pairs = count(&mut grid, &scene);
        let mut laps = Laps::default();
        let mut detect = None;
        for _ in 0..rounds {
            let before = laps.best();
            pairs = laps.time(|| count(&mut grid, &scene));
            if laps.best() != before {
                detect = walk_time(&grid);
            }
        }
        let brute = if scene.len() <= brute_most {
            Some(brute_force(device, &scene, pairs)?)
        } else {
            None
        };
        let best = laps.best();
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

/// How long the neighbor walk of the last search took, if the adapter has a clock.
fn walk_time(grid: &GpuGrid) -> Option<Duration> {
    let mut stages = grid.stage_times().iter();
    let walk = stages.find(|pass| pass.label == "detect")?;
    Some(walk.time)
}

/// Time of one search by brute force, which must find the same.
fn brute_force(device: &Arc<GpuDevice>, scene: &Scene, pairs: u64) -> Result<Duration, GpuError> {
    let mut search = GpuBruteForce::new(Arc::clone(device))?;
    let mut laps = Laps::default();
    let found = laps.time(|| count(&mut search, scene));
    // Pairs at the very tolerance may be seen by one and not by the other.
    assert!(
        found.abs_diff(pairs) <= 2 + pairs / 100_000,
        "brute force counts {found} pairs, and not {pairs}"
    );
    Ok(laps.best())
}

fn count(search: &mut dyn PairSearch, scene: &Scene) -> u64 {
    match search.count_pairs(&scene.spheres, 0.0) {
        Ok(pairs) => pairs,
        Err(error) => panic!("{} of {} atoms: {error}", search.name(), scene.len()),
    }
}

/// The second table.
fn stages(run: &mut Run, switches: &Switches, device: &Arc<GpuDevice>) -> Result<(), GpuError> {
    let wanted = switches.stage_atoms;
    let wanted = wanted.unwrap_or_else(|| run.pick(STAGE_ATOMS, FEW_ATOMS));
    let lipid = Arc::new(popc());
    let lipids = (wanted / lipid.atom_count()).max(FEWEST_LIPIDS) as u32;
    let vesicle = vesicle_of(&lipid, lipids);
    let atoms = vesicle.crowd.atom_count();
    let passes = Arc::new(Mutex::new(Vec::new()));
    let mut failed = None;
    let relaxer = Relaxer::with_engine(vesicle.crowd, RelaxConfig::default(), |scene| {
        let engine = GpuRelaxEngine::new(Arc::clone(device), scene).map_err(|error| {
            failed = Some(error.clone());
            EngineError {
                fault: error.as_fault(),
                message: error.to_string(),
            }
        })?;
        let passes = Arc::clone(&passes);
        Ok(Box::new(Watched { engine, passes }) as Box<dyn RelaxEngine>)
    });
    if let Some(error) = failed {
        return Err(error);
    }
    let mut relaxer = relaxer.expect("the vesicle can be searched");
    let begin = Instant::now();
    for _ in 0..ITERATIONS {
        relaxer.step().expect("the law is sane");
    }
    let whole = ms(begin.elapsed()) / f64::from(ITERATIONS);
    assert_eq!(relaxer.fell_back(), None);
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
        let name = "whole, on the host's clock: the adapter has none";
        table.row(cells![name, whole, 100.0]);
        return Ok(());
    }
    for stage in STAGES {
        let time = time_of(stage);
        table.row(cells![stage, time, 100.0 * time / total]);
    }
    table.row(cells!["whole, on the host's clock", whole, None]);
    let sorting = time_of("prefix sum") + time_of("sort");
    run.note(&format!(
        "Prefix sum and sort: {:.1} % of an iteration.",
        100.0 * sorting / total
    ));
    Ok(())
}

/// An engine whose passes are listened to.
struct Watched {
    engine: GpuRelaxEngine,
    passes: Arc<Mutex<Vec<PassTime>>>,
}

impl RelaxEngine for Watched {
    fn device(&self) -> String {
        self.engine.device()
    }

    fn look(&mut self, next: f32) -> Result<RelaxStatus, EngineError> {
        let status = self.engine.look(next);
        // The first look is no iteration.
        let _ = self.engine.take_passes();
        status
    }

    fn step(&mut self, weights: CenterWeights) -> Result<EngineStep, EngineError> {
        let step = self.engine.step(weights);
        if let Ok(passes) = self.engine.take_passes() {
            let mut all = self.passes.lock().unwrap_or_else(PoisonError::into_inner);
            all.extend(passes);
        }
        step
    }

    fn motion(&mut self) -> Result<Motion, EngineError> {
        self.engine.motion()
    }

    fn take_stages(&mut self) -> StageTimes {
        self.engine.take_stages()
    }
}
