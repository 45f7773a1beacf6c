//! Table 5.1 and figure 5.1: the time of one iteration with FFRNN and with brute force.
//!
//! A software adapter runs the shaders on threads of this process. Their CPU time does not depend on
//! other programs, unlike wall time, but the system counts it in steps of 10 ms.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::gpu::GpuDevice;
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::relax::DeviceSearch;

use super::{OnDevice, lipid, scene};
use crate::common::interleave::{Samples, ms};
use crate::common::{Column, Run, cells, cpu_time};

/// Atoms, and ms of an iteration with FFRNN and with brute force: table 5.1, GTX 970.
const THESIS: [(usize, f64, f64); 7] = [
    (50_000, 9.0, 61.0),
    (100_000, 10.0, 280.0),
    (200_000, 11.0, 977.0),
    (400_000, 16.0, 4_530.0),
    (1_000_000, 28.0, 25_392.0),
    (2_000_000, 44.0, 102_604.0),
    (4_000_000, 78.0, 599_236.0),
];

/// Scene size in a quick run, atoms.
const FEW_ATOMS: [(usize, f64, f64); 1] = [(2000, f64::NAN, f64::NAN)];

/// The times of a size.
struct Measured {
    atoms: usize,
    pairs: u64,
    ffrnn: Duration,
    brute_force: Option<Duration>,
    /// Wall time of brute force, for the limit.
    brute_force_wall: Option<Duration>,
}

pub fn run(run: &mut Run, device: &Arc<GpuDevice>, limit: Duration) -> Result<(), DeviceError> {
    let sizes = run.pick(&THESIS[..], &FEW_ATOMS);
    let clock = match device.summary().is_software() {
        true => "CPU time of all threads, since the adapter is a software one",
        false => "wall time",
    };
    let title = format!(
        "Table 5.1: one whole iteration with forces, ms, {clock}. FFRNN: best of two around that of brute \
         force. Brute force: one iteration, of sizes that end within {:.1} minutes. Columns in \
         italics are extrapolated: the largest measured one times (atoms ÷ its atoms)².",
        limit.as_secs_f64() / 60.0
    );
    let columns = vec![
        Column::number("atoms"),
        Column::number("overlapping pairs"),
        Column::measured("FFRNN", "ms"),
        Column::measured("brute force", "ms"),
        Column::measured("*brute force, extrapolated*", "ms"),
        Column::number("brute force ÷ FFRNN"),
        Column::number("*ratio, extrapolated*"),
        Column::measured("thesis: FFRNN", "ms"),
        Column::measured("thesis: brute force", "ms"),
        Column::number("thesis: ratio"),
    ];
    let lipid = lipid();
    let begin = Instant::now();
    let mut table = run.table(&title, columns);
    // Atoms, time and wall time of the largest brute force.
    let mut largest: Option<(usize, Duration, Duration)> = None;
    for &(atoms, thesis_ffrnn, thesis_brute_force) in sizes {
        let lipids = atoms / lipid.atom_count();
        let expected = largest.map(|(measured, _, wall)| extrapolated((measured, wall), atoms));
        // Detection at the start and one iteration.
        let fits = expected.is_none_or(|time| begin.elapsed() + 2 * time <= limit);
        let row = measure(&lipid, lipids, device, fits)?;
        if let (Some(time), Some(wall)) = (row.brute_force, row.brute_force_wall) {
            largest = Some((row.atoms, time, wall));
        }
        let guess = match (row.brute_force, largest) {
            (None, Some((atoms, time, _))) => Some(ms(extrapolated((atoms, time), row.atoms))),
            _ => None,
        };
        let ffrnn = ms(row.ffrnn);
        let given = |value: f64| Some(value).filter(|value| value.is_finite());
        table.row(cells![
            row.atoms,
            row.pairs,
            ffrnn,
            row.brute_force.map(ms),
            guess,
            row.brute_force.map(|time| ms(time) / ffrnn),
            guess.map(|time| time / ffrnn),
            given(thesis_ffrnn),
            given(thesis_brute_force),
            given(thesis_brute_force / thesis_ffrnn),
        ]);
    }
    Ok(())
}

/// The time of brute force at another size.
fn extrapolated((atoms, time): (usize, Duration), other: usize) -> Duration {
    time.mul_f64((other as f64 / atoms as f64).powi(2))
}

/// Time of `run`: of all threads on a software adapter, else wall time.
fn timed<T>(device: &GpuDevice, run: impl FnOnce() -> T) -> (T, Duration) {
    let cpu = || {
        let is_software = device.summary().is_software();
        is_software.then(cpu_time::process_seconds).flatten()
    };
    let (begin, wall) = (cpu(), Instant::now());
    let result = run();
    let time = match (begin, cpu()) {
        (Some(begin), Some(end)) => Duration::from_secs_f64((end - begin).max(0.0)),
        _ => wall.elapsed(),
    };
    (result, time)
}

fn measure(
    lipid: &Arc<MoleculeTemplate>,
    lipids: usize,
    device: &Arc<GpuDevice>,
    with_brute_force: bool,
) -> Result<Measured, DeviceError> {
    let crowd = scene(lipid, lipids);
    let atoms = crowd.atom_count();
    let mut ffrnn = OnDevice::new(crowd.clone(), device, DeviceSearch::Ffrnn)?;
    let pairs = ffrnn.relaxer.status().overlaps;
    let (first, before) = timed(device, || ffrnn.step());
    let first = first?;
    let mut wall = Samples::default();
    let brute_force = if with_brute_force {
        let mut relaxer = OnDevice::new(crowd, device, DeviceSearch::BruteForce)?;
        let start = relaxer.relaxer.status().overlaps;
        assert_eq!(start, pairs, "both find the same overlaps");
        let (moved, time) = wall.time(|| timed(device, || relaxer.step()));
        let moved = moved?;
        // Sums are rounded differently, and so are the poses.
        let differ = moved.overlaps.abs_diff(first.overlaps);
        assert!(
            differ <= 2 + first.overlaps / 1000,
            "{moved:?} by brute force, {first:?} with FFRNN"
        );
        Some(time)
    } else {
        None
    };
    let (last, after) = timed(device, || ffrnn.step());
    last?;
    Ok(Measured {
        atoms,
        pairs,
        ffrnn: before.min(after),
        brute_force,
        brute_force_wall: brute_force.map(|_| wall.best()),
    })
}
