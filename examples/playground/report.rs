//! Report and summary of a run without a window.

use std::io::{self, Write};
use std::time::Duration;

use bevy_rapier_molecules::plugin::MoleculeTimes;
use serde::Serialize;

use super::arguments::{Arguments, Contacts};
use super::common::{Head, round};
use super::measurements::Measurements;
use super::scene::STEP;

/// The content of `--report`. All values describe the end of the run.
#[derive(Serialize)]
pub struct Report {
    #[serde(flatten)]
    pub head: Head,
    pub molecules: usize,
    pub atoms: usize,
    /// Number of blocks and balls.
    pub things: usize,
    /// `crowd` or `solver`.
    pub contacts: &'static str,
    pub steps: u32,
    pub substeps: u16,
    pub simulated_seconds: f64,
    /// Mean kinetic energy of the molecules, translation and rotation, Da·nm²/s².
    pub kinetic_energy_per_molecule: f64,
    /// Root mean square speed of the molecules, nm/s.
    pub rms_speed_nm_per_s: f64,
    /// Sleeping molecules.
    pub sleeping: usize,
    /// Overlapping pairs of atoms of different molecules.
    pub overlaps: usize,
    /// Deepest overlap of two atoms of different molecules, nm.
    pub max_penetration_nm: f32,
    /// Penetration depth over the smaller radius.
    pub max_penetration_share: f32,
    /// Molecules outside the box.
    pub outside: usize,
    /// Bodies whose pose or velocity is not finite.
    pub non_finite: usize,
    pub ms_per_step: StepMilliseconds,
    /// Hash of the poses and velocities of all bodies. Equal if every bit is.
    pub state_hash: String,
}

/// Mean time of a step and its stages, ms.
#[derive(Serialize)]
pub struct StepMilliseconds {
    /// The whole frame, including Bevy.
    pub total: f64,
    pub gather: f64,
    pub detect: f64,
    pub respond: f64,
    pub apply: f64,
    /// Rapier's own step.
    pub step: f64,
}

/// Sums over all steps.
#[derive(Default)]
pub struct StepTimes {
    pub total: Duration,
    gather: Duration,
    detect: Duration,
    respond: Duration,
    apply: Duration,
    step: Duration,
}

impl StepTimes {
    /// Adds the stages of a step.
    pub fn add(&mut self, times: &MoleculeTimes) {
        self.gather += times.gather;
        self.detect += times.detect;
        self.respond += times.respond;
        self.apply += times.apply;
        self.step += times.step;
    }
}

impl Report {
    pub fn new(
        head: Head,
        arguments: &Arguments,
        measured: &Measurements,
        times: &StepTimes,
    ) -> Self {
        let molecules = measured.molecules.max(1) as f64;
        let steps = f64::from(arguments.steps);
        let mean = |time: Duration| round(time.as_secs_f64() * 1e3 / steps.max(1.0));
        Self {
            head,
            molecules: measured.molecules,
            atoms: measured.atoms,
            things: measured.things,
            contacts: match arguments.contacts {
                Contacts::Crowd => "crowd",
                Contacts::Solver => "solver",
            },
            steps: arguments.steps,
            substeps: arguments.substeps,
            simulated_seconds: round(steps * f64::from(STEP)),
            kinetic_energy_per_molecule: measured.kinetic_energy / molecules,
            rms_speed_nm_per_s: (measured.squared_speeds / molecules).sqrt(),
            sleeping: measured.sleeping,
            overlaps: measured.overlap.pairs,
            max_penetration_nm: measured.overlap.depth,
            max_penetration_share: measured.overlap.share,
            outside: measured.outside,
            non_finite: measured.non_finite,
            ms_per_step: StepMilliseconds {
                total: mean(times.total),
                gather: mean(times.gather),
                detect: mean(times.detect),
                respond: mean(times.respond),
                apply: mean(times.apply),
                step: mean(times.step),
            },
            state_hash: format!("{:016x}", measured.state_hash),
        }
    }
}

/// Writes the summary.
pub fn write_summary(out: &mut dyn Write, report: &Report) -> io::Result<()> {
    let head = &report.head;
    writeln!(
        out,
        "{}: {} molecules, {} atoms and {} other bodies, contacts by {} on {}, seed {}",
        head.scene,
        report.molecules,
        report.atoms,
        report.things,
        report.contacts,
        head.device.adapter.as_deref().unwrap_or("the CPU"),
        head.seed.unwrap_or_default()
    )?;
    writeln!(
        out,
        "after {:.2} s: kinetic energy {:.3} Da nm²/s² per molecule, speed {:.4} nm/s, {} asleep",
        report.simulated_seconds,
        report.kinetic_energy_per_molecule,
        report.rms_speed_nm_per_s,
        report.sleeping
    )?;
    writeln!(
        out,
        "deepest overlap {:.4} nm ({:.0} % of the smaller radius) of {} pairs; outside: {}; not finite: {}",
        report.max_penetration_nm,
        report.max_penetration_share * 100.0,
        report.overlaps,
        report.outside,
        report.non_finite
    )?;
    let ms = &report.ms_per_step;
    writeln!(
        out,
        "{} steps in {:.2} s on {} threads; ms per step: {:.2} (gather {:.2}, detect {:.2}, respond {:.2}, apply {:.2}, step {:.2})",
        report.steps,
        head.seconds,
        head.threads,
        ms.total,
        ms.gather,
        ms.detect,
        ms.respond,
        ms.apply,
        ms.step
    )?;
    writeln!(out, "state: {}", report.state_hash)
}
