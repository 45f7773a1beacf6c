//! A vesicle that is being relaxed, with parameters that change under way. No window in
//! here, and no threads: see `worker.rs` for those.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::crowd::{Crowd, CrowdError, CrowdPlacement};
use bevy_rapier_molecules::export::{ExportError, ExportOptions, export};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::capacity::{
    CapacityWarning, HOPELESS_COVERAGE, capacity_warnings,
};
use bevy_rapier_molecules::relax::{RelaxError, RelaxStatus, Relaxer, StageTimes, StopReason};
use bevy_rapier_molecules::scenes::{Vesicle, VesicleError, vesicle};
use bevy_rapier_molecules::search::{AutoGrid, PairSearch, UniformGrid};
use thiserror::Error;

use super::molecules::KindError;
use super::preset::{Preset, PresetError};

/// Most atoms of a vesicle: their numbers have 32 bits.
const MAX_ATOMS: u64 = u32::MAX as u64;

/// Why there is no vesicle, or it cannot go on.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// A value of the preset is impossible.
    #[error(transparent)]
    Preset(#[from] PresetError),
    /// There is no such molecule.
    #[error(transparent)]
    Molecule(#[from] KindError),
    /// The vesicle cannot be built.
    #[error(transparent)]
    Vesicle(#[from] VesicleError),
    /// Molecules cannot be taken over.
    #[error(transparent)]
    Crowd(#[from] CrowdError),
    /// There are far too many molecules for their surface.
    #[error("{0}")]
    Hopeless(CapacityWarning),
    /// The atoms cannot be numbered.
    #[error("{molecules} molecules of {atoms} atoms are too many: the limit is {most} molecules")]
    TooMany {
        /// Molecules that were asked for.
        molecules: u64,
        /// Atoms of each.
        atoms: usize,
        /// Most molecules of so many atoms.
        most: u64,
    },
    /// The relaxation cannot go on.
    #[error(transparent)]
    Relax(#[from] RelaxError),
}

/// What a change of the preset did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Nothing that the simulation knows of.
    Nothing,
    /// It goes on from where it is, with the new parameters.
    Adjusted,
    /// It starts again with new molecules.
    Restarted,
}

/// One molecule as it is now.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// Where it is.
    pub pose: Pose,
    /// 0 in the outer leaflet, 1 in the inner one.
    pub leaflet: u32,
    /// Deepest overlap with any other, nm.
    pub penetration: f32,
}

/// How it was after an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Iterations since the start.
    pub iteration: u32,
    /// What the relaxer counted.
    pub status: RelaxStatus,
}

/// What the outside gets to see.
#[derive(Clone, Debug)]
pub struct Snapshot {
    /// Shape of all molecules.
    pub template: Arc<MoleculeTemplate>,
    /// The molecules.
    pub molecules: Vec<Placed>,
    /// Radius of the mid-surface, nm.
    pub radius: f32,
    /// Iterations and overlaps.
    pub sample: Sample,
    /// Why it ended, if it did.
    pub ended: Option<StopReason>,
    /// Mean time of each stage in the last iterations.
    pub stages: StageTimes,
    /// Who does the work.
    pub backend: Backend,
    /// The device, if it is not the processor.
    pub adapter: Option<String>,
    /// Why the processor does what a device was to do.
    pub fell_back: Option<String>,
    /// Leaflets that have more molecules than they can hold.
    pub warnings: Vec<CapacityWarning>,
}

/// A vesicle that is being relaxed.
pub struct Simulation {
    preset: Preset,
    relaxer: Relaxer,
    /// Iterations of the relaxers before this one.
    iterations_before: u32,
    ended: Option<StopReason>,
    /// Stages and iterations at the last snapshot, and their means then.
    last_stages: (StageTimes, u32),
    mean_stages: StageTimes,
}

impl Simulation {
    /// Builds the vesicle of a preset.
    pub fn new(preset: Preset) -> Result<Self, SimulationError> {
        let crowd = build(&preset)?.crowd;
        let relaxer = relaxer(crowd, &preset)?;
        let last_stages = (relaxer.stages(), 0);
        Ok(Self {
            preset,
            relaxer,
            iterations_before: 0,
            ended: None,
            last_stages,
            mean_stages: StageTimes::default(),
        })
    }

    /// The preset that holds now.
    #[allow(dead_code, reason = "for tests, which share this file")]
    pub fn preset(&self) -> &Preset {
        &self.preset
    }

    /// Takes a new preset over: at once where it can, else from the start. If it is
    /// impossible, everything stays as it was.
    pub fn change(&mut self, preset: Preset) -> Result<Change, SimulationError> {
        preset.check()?;
        let old = &self.preset;
        let same_molecules = old.molecule == preset.molecule
            && (old.outer, old.inner) == (preset.outer, preset.inner)
            && old.radius == preset.radius
            && old.seed == preset.seed
            && old.coarse_start == preset.coarse_start;
        if !same_molecules {
            *self = Self::new(preset)?;
            return Ok(Change::Restarted);
        }
        let same_crowd = old.tolerance == preset.tolerance
            && (old.leeway, old.tilt_leeway) == (preset.leeway, preset.tilt_leeway)
            && old.backend == preset.backend;
        let same_config = old.config() == preset.config();
        let same_cells = old.cell_width == preset.cell_width;
        if same_crowd && same_config && same_cells {
            self.preset = preset;
            return Ok(Change::Nothing);
        }
        let on_device = self.relaxer.backend() == Backend::Gpu;
        if !same_crowd || (on_device && !same_config) {
            let crowd = adjusted(self.relaxer.crowd(), &preset)?;
            let relaxer = relaxer(crowd, &preset)?;
            self.iterations_before += self.relaxer.iterations();
            self.last_stages = (relaxer.stages(), 0);
            self.relaxer = relaxer;
        } else {
            let search = grid(&preset)?;
            self.relaxer.set_config(preset.config())?;
            self.relaxer.set_search(search);
        }
        self.preset = preset;
        self.ended = None;
        Ok(Change::Adjusted)
    }

    /// Iterates for a while, but at most up to so many iterations since the start.
    /// Samples are of each iteration, and of the start if nothing was done yet.
    pub fn run(
        &mut self,
        budget: Duration,
        until: Option<u32>,
        samples: &mut Vec<Sample>,
    ) -> Result<(), SimulationError> {
        let (begin, before) = (Instant::now(), self.iterations_before);
        let first = self.relaxer.iterations();
        let report = self.relaxer.run(|relaxer| {
            let done = relaxer.iterations();
            let iteration = before + done;
            if done > first || iteration == 0 {
                samples.push(Sample {
                    iteration,
                    status: relaxer.status(),
                });
            }
            let spent = done > first && begin.elapsed() >= budget;
            if spent || until.is_some_and(|most| iteration >= most) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        self.ended = match report.reason {
            StopReason::Interrupted => None,
            reason => Some(reason),
        };
        Ok(())
    }

    /// Iterations since the start.
    pub fn iterations(&self) -> u32 {
        self.iterations_before + self.relaxer.iterations()
    }

    /// Why it ended, if it did.
    pub fn ended(&self) -> Option<StopReason> {
        self.ended
    }

    /// What the outside gets to see.
    pub fn snapshot(&mut self) -> Result<Snapshot, SimulationError> {
        let penetrations = self.relaxer.penetrations()?;
        let (stages, iterations) = (self.relaxer.stages(), self.relaxer.iterations());
        let (last, before) = self.last_stages;
        if let Some(count @ 1..) = iterations.checked_sub(before) {
            let mean = |now: Duration, then: Duration| now.saturating_sub(then) / count;
            self.mean_stages = StageTimes {
                gather: mean(stages.gather, last.gather),
                grid: mean(stages.grid, last.grid),
                search: mean(stages.search, last.search),
                respond: mean(stages.respond, last.respond),
                apply: mean(stages.apply, last.apply),
            };
            self.last_stages = (stages, iterations);
        }
        let crowd = self.relaxer.crowd();
        let molecules = crowd.members().iter().zip(penetrations);
        let molecules = molecules.map(|(member, penetration)| Placed {
            pose: member.pose,
            leaflet: member.placement.unwrap_or(0),
            penetration,
        });
        Ok(Snapshot {
            template: Arc::clone(&crowd.templates()[0]),
            molecules: molecules.collect(),
            radius: self.preset.radius,
            sample: Sample {
                iteration: self.iterations(),
                status: self.relaxer.status(),
            },
            ended: self.ended,
            stages: self.mean_stages,
            backend: self.relaxer.backend(),
            adapter: self.relaxer.adapter().map(str::to_owned),
            fell_back: self.relaxer.fell_back().map(str::to_owned),
            warnings: self.relaxer.warnings().to_vec(),
        })
    }

    /// Writes the molecules to a structure file, and says how that went.
    pub fn export(&self, path: &Path) -> Result<String, ExportError> {
        let crowd = self.relaxer.crowd();
        let summary = export(path, crowd.instances(), &ExportOptions::default())?;
        let (molecules, megabytes) = (summary.molecules, summary.bytes as f64 / 1e6);
        Ok(format!(
            "wrote {}: {molecules} molecules, {megabytes:.1} MB",
            path.display()
        ))
    }
}

/// The vesicle of a preset, if it is not hopeless.
pub fn build(preset: &Preset) -> Result<Vesicle, SimulationError> {
    preset.check()?;
    let template = preset.molecule.template(preset.tolerance)?;
    let molecules = u64::from(preset.outer) + u64::from(preset.inner);
    refuse_too_many(molecules, &template)?;
    let vesicle = vesicle(Arc::new(template), &preset.vesicle())?;
    refuse_hopeless(&vesicle.crowd)?;
    Ok(vesicle)
}

/// Finds out before any is placed whether the atoms of so many molecules can be numbered.
pub fn refuse_too_many(count: u64, template: &MoleculeTemplate) -> Result<(), SimulationError> {
    let atoms = template.atom_count();
    let most = MAX_ATOMS / atoms as u64;
    if count > most {
        return Err(SimulationError::TooMany {
            molecules: count,
            atoms,
            most,
        });
    }
    Ok(())
}

fn refuse_hopeless(crowd: &Crowd) -> Result<(), SimulationError> {
    let mut warnings = capacity_warnings(crowd).into_iter();
    match warnings.find(|warning| warning.coverage > HOPELESS_COVERAGE) {
        Some(hopeless) => Err(SimulationError::Hopeless(hopeless)),
        None => Ok(()),
    }
}

/// The molecules of a crowd where they are, with radii and leeways of a preset.
fn adjusted(old: &Crowd, preset: &Preset) -> Result<Crowd, SimulationError> {
    let mut crowd = Crowd::new();
    crowd.add_template(Arc::new(preset.molecule.template(preset.tolerance)?));
    for compartment in old.compartments() {
        crowd.add_compartment(Arc::clone(compartment));
    }
    for &CrowdPlacement {
        compartment,
        mut placement,
    } in old.placements()
    {
        placement.leeway = preset.leeway;
        placement.tilt_leeway = preset.tilt_leeway.to_radians();
        crowd.add_placement(compartment, placement)?;
    }
    for &member in old.members() {
        crowd.add_member(member)?;
    }
    refuse_hopeless(&crowd)?;
    Ok(crowd)
}

fn relaxer(crowd: Crowd, preset: &Preset) -> Result<Relaxer, SimulationError> {
    let mut relaxer = Relaxer::with_backend(crowd, preset.config(), preset.backend)?;
    relaxer.set_search(grid(preset)?);
    Ok(relaxer)
}

/// The search of the processor.
fn grid(preset: &Preset) -> Result<Box<dyn PairSearch>, RelaxError> {
    match preset.cell_width {
        Some(width) => Ok(Box::new(UniformGrid::with_cell_width(width)?)),
        None => Ok(Box::new(AutoGrid::new())),
    }
}
