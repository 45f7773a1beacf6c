//! The two tables of the thesis for the graphics adapter at hand: FFRNN against brute
//! force, and the stages of one iteration.
//!
//! ```text
//! cargo bench --bench gpu -- [ATOMS...] [--brute-most N] [--stages N]
//! ```
//!
//! `--help` says more. Scenes are vesicles of POPC at the density of the other benches.
#![allow(clippy::print_stdout, reason = "the tables are the purpose")]

#[allow(dead_code, reason = "the contestants of the CPU do not run here")]
mod contest;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use bevy_rapier_molecules::gpu::{
    GpuBruteForce, GpuDevice, GpuError, GpuGrid, GpuOptions, GpuRelaxEngine, PassTime,
};
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::relax::engine::{
    CentreWeights, EngineError, EngineStep, Motion, RelaxEngine,
};
use bevy_rapier_molecules::relax::{RelaxConfig, RelaxStatus, Relaxer, StageTimes};
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, vesicle};
use bevy_rapier_molecules::search::PairSearch;
use clap::Parser;
use contest::TOLERANCE_NM;
use contest::scene::Scene;

/// Atoms of the first table: those of the thesis.
const ATOMS: [usize; 7] = [
    50_000, 100_000, 200_000, 400_000, 1_000_000, 2_000_000, 4_000_000,
];

/// Atoms of the second table: those of the thesis.
const STAGE_ATOMS: usize = 3_000_000;

/// Atoms of both tables when `cargo test --benches` only wants to see them run.
const FEW_ATOMS: usize = 2000;

/// Most atoms for brute force unless told otherwise: bearable on a real GPU, and patience
/// for minutes on one in software.
const BRUTE_MOST: usize = 200_000;

/// Searches of which the best counts.
const ROUNDS: usize = 3;

/// Iterations of which the mean counts.
const ITERATIONS: u32 = 2;

/// Area of a leaflet at its heads for each lipid, nm².
const AREA_PER_LIPID_NM2: f32 = 1.23;

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

/// FFRNN against brute force on the graphics adapter at hand, and the time of each stage of
/// an iteration of the relaxer.
#[derive(Parser)]
struct Arguments {
    /// Atoms of the scenes [default: 50,000 to 4,000,000].
    atoms: Vec<usize>,
    /// Brute force is left out beyond this many atoms: its time grows with the square.
    #[arg(long, value_name = "N", default_value_t = BRUTE_MOST)]
    brute_most: usize,
    /// Atoms of the table of stages, 0 for none [default: 3,000,000].
    #[arg(long, value_name = "N")]
    stages: Option<usize>,
    /// What cargo says when this is run in earnest.
    #[arg(long, hide = true)]
    bench: bool,
}

fn main() {
    let arguments = Arguments::parse();
    let device = match GpuDevice::headless(&GpuOptions::default()) {
        Ok(device) => Arc::new(device),
        Err(error) => {
            println!("skipped: {error}");
            return;
        }
    };
    println!("On {}.\n", device.summary());
    let sizes = match (&arguments.atoms[..], arguments.bench) {
        ([], true) => &ATOMS[..],
        ([], false) => &[FEW_ATOMS],
        (atoms, _) => atoms,
    };
    let few_or = |many| if arguments.bench { many } else { FEW_ATOMS };
    let stage_atoms = arguments.stages.unwrap_or_else(|| few_or(STAGE_ATOMS));
    let done = compare(&device, sizes, arguments.brute_most).and_then(|()| match stage_atoms {
        0 => Ok(()),
        atoms => stages(&device, atoms),
    });
    if let Err(error) = done {
        println!("\nended: {error}");
    }
}

/// The first table.
fn compare(device: &Arc<GpuDevice>, sizes: &[usize], brute_most: usize) -> Result<(), GpuError> {
    println!(
        "Pairs of atoms of different molecules closer than {TOLERANCE_NM} nm, counted; ms, best \
         of {ROUNDS}, brute force once and up to {brute_most} atoms. FFRNN includes sending the \
         atoms; detect is the walk alone.\n"
    );
    println!("| atoms | pairs | FFRNN | detect | brute force | brute force ÷ FFRNN |");
    println!("|--:|--:|--:|--:|--:|--:|");
    for &atoms in sizes {
        let scene = Scene::vesicle(atoms);
        let mut grid = GpuGrid::new(Arc::clone(device))?;
        grid.time_stages(true)?;
        let mut best = Duration::MAX;
        let mut detect = None;
        let mut pairs = 0;
        // Once more: the first search makes the arrays.
        for round in 0..=ROUNDS {
            let begin = Instant::now();
            pairs = count(&mut grid, &scene);
            if round > 0 && begin.elapsed() < best {
                best = begin.elapsed();
                let mut stages = grid.stage_times().iter();
                detect = stages
                    .find(|pass| pass.label == "detect")
                    .map(|pass| pass.time);
            }
        }
        let detect = detect.map_or("—".to_owned(), |time| format!("{:.2}", ms(time)));
        let brute = if scene.len() <= brute_most {
            let mut search = GpuBruteForce::new(Arc::clone(device))?;
            let begin = Instant::now();
            let found = count(&mut search, &scene);
            let time = begin.elapsed();
            // Pairs at the very tolerance may be seen by one and not by the other.
            assert!(
                found.abs_diff(pairs) <= 2 + pairs / 100_000,
                "brute force counts {found} pairs, and not {pairs}"
            );
            let ratio = time.as_secs_f64() / best.as_secs_f64();
            format!("{:.1} | {ratio:.1}", ms(time))
        } else {
            "— | —".to_owned()
        };
        println!(
            "| {} | {pairs} | {:.2} | {detect} | {brute} |",
            scene.len(),
            ms(best)
        );
    }
    println!();
    Ok(())
}

fn count(search: &mut dyn PairSearch, scene: &Scene) -> u64 {
    match search.count_pairs(&scene.spheres, 0.0) {
        Ok(pairs) => pairs,
        Err(error) => panic!("{} of {} atoms: {error}", search.name(), scene.len()),
    }
}

/// The second table.
fn stages(device: &Arc<GpuDevice>, atoms: usize) -> Result<(), GpuError> {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/popc.pdb");
    let lipid = load(path, &LoadOptions::default()).expect("the bundled lipid can be read");
    let lipids = (atoms / lipid.atom_count()).max(FEWEST_LIPIDS) as u32;
    let size = VesicleSize::Density {
        lipids,
        area_per_lipid: AREA_PER_LIPID_NM2,
    };
    let config = VesicleConfig {
        size,
        ..VesicleConfig::default()
    };
    let vesicle = vesicle(Arc::new(lipid), &config).expect("the vesicle is possible");
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
    println!(
        "One iteration of the relaxer, {lipids} lipids, {atoms} atoms, mean of {ITERATIONS}:\n"
    );
    println!("| stage | ms | % |\n|---|--:|--:|");
    let passes = passes.lock().unwrap_or_else(PoisonError::into_inner);
    let time_of = |label: &str| {
        let passes = passes.iter().filter(|pass| pass.label == label);
        passes.map(|pass| ms(pass.time)).sum::<f64>() / f64::from(ITERATIONS)
    };
    let total: f64 = STAGES.iter().map(|stage| time_of(stage)).sum();
    if total == 0.0 {
        println!("| whole, on the host's clock: the adapter has none | {whole:.2} | 100 |");
        return Ok(());
    }
    for stage in STAGES {
        let time = time_of(stage);
        println!("| {stage} | {time:.2} | {:.1} |", 100.0 * time / total);
    }
    println!("| whole, on the host's clock | {whole:.2} | |");
    let sorting = time_of("prefix sum") + time_of("sort");
    println!(
        "\nPrefix sum and sort: {:.1} % of an iteration.",
        100.0 * sorting / total
    );
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

    fn step(&mut self, weights: CentreWeights) -> Result<EngineStep, EngineError> {
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

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
