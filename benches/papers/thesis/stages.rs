//! Table 5.2: the stages of an iteration with FFRNN.

use std::sync::Arc;

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::gpu::GpuDevice;
use bevy_rapier_molecules::relax::DeviceSearch;

use super::{OnDevice, lipid, scene};
use crate::common::interleave::{Samples, ms};
use crate::common::{Column, Run, cells, grouped};

/// Scene size, atoms.
const ATOMS: usize = 3_000_000;

/// Scene size in a quick run, atoms.
const FEW_ATOMS: usize = 2000;

/// Stages of table 5.2 with their times in ms, and the passes of ours that do the same. The thesis
/// does not say where it places its atoms in the world; here it is part of the first stage.
const STAGES: [(&str, f64, &[&str]); 7] = [
    ("insert atoms", 1.0, &["transform", "insert"]),
    ("prefix sum", 8.0, &["prefix sum"]),
    ("sort particles", 3.0, &["sort"]),
    ("detect collisions", 40.0, &["detect"]),
    ("calculate spring force", 0.0, &["spring"]),
    ("sum forces", 7.0, &["sum"]),
    ("apply forces", 1.0, &["apply"]),
];

pub fn run(run: &mut Run, device: &Arc<GpuDevice>) -> Result<(), DeviceError> {
    let lipid = lipid();
    let crowd = scene(&lipid, run.pick(ATOMS, FEW_ATOMS) / lipid.atom_count());
    let atoms = crowd.atom_count();
    let mut relaxer = OnDevice::new(crowd, device, DeviceSearch::Ffrnn)?;
    let mut samples = Samples::default();
    samples.time(|| relaxer.step())?;
    let passes = relaxer.take_passes();
    let whole = ms(samples.best());
    if passes.is_empty() {
        run.note("Table 5.2 is skipped: the adapter has no timestamps.");
        return Ok(());
    }
    let time_of = |labels: &[&str]| -> f64 {
        let passes = passes.iter().filter(|pass| labels.contains(&pass.label));
        passes.map(|pass| ms(pass.time)).sum()
    };
    let title = format!(
        "Table 5.2: the stages of one iteration with FFRNN, {} atoms, wall time; beside the \
         thesis's times of 3,000,000 atoms on a GTX 970. Our force and torque sums are a reduction \
         over the atoms of each molecule, the thesis's are atomic additions.",
        grouped(&atoms.to_string())
    );
    let columns = vec![
        Column::text("stage"),
        Column::measured("time", "ms"),
        Column::measured("share", "%").decimals(1),
        Column::measured("thesis: time", "ms").decimals(0),
        Column::measured("thesis: share", "%").decimals(1),
    ];
    let total: f64 = STAGES.iter().map(|stage| time_of(stage.2)).sum();
    let thesis: f64 = STAGES.iter().map(|stage| stage.1).sum();
    let mut table = run.table(&title, columns);
    let mut row = |name: &str, ours: f64, theirs: f64| {
        table.row(cells![
            name,
            ours,
            100.0 * ours / total,
            theirs,
            100.0 * theirs / thesis,
        ]);
    };
    for (name, theirs, labels) in STAGES {
        row(name, time_of(labels), theirs);
    }
    row("sum", total, thesis);
    table.row(cells![
        "whole iteration, host clock",
        whole,
        None,
        None,
        None
    ]);
    Ok(())
}
