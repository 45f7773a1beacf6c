//! The relaxation of a scene with parameters that can change at any time. Does not depend on
//! a window or a thread; see `worker.rs`.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::export::{ExportError, ExportOptions, export};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::capacity::{
    CapacityWarning, HOPELESS_COVERAGE, capacity_warnings,
};
use bevy_rapier_molecules::relax::{
    CoarseStart, RelaxConfig, RelaxError, RelaxStatus, Relaxer, StageTimes, StopReason,
};
use bevy_rapier_molecules::search::{PairSearch, UniformGrid};
use thiserror::Error;

use super::library::Library;
use super::preset::{Preset, PresetError};
use super::scene::{Layout, Scene, SceneError};

/// Why a scene cannot be built or relaxed.
#[derive(Debug, Error)]
pub enum SimulationError {
    /// A value of the preset is invalid.
    #[error(transparent)]
    Preset(#[from] PresetError),
    /// There is no such scene.
    #[error(transparent)]
    Scene(#[from] SceneError),
    /// Far too many molecules for the surface.
    #[error("{0}")]
    Hopeless(CapacityWarning),
    /// The relaxation failed.
    #[error(transparent)]
    Relax(#[from] RelaxError),
}

/// The effect of a change of the preset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// None.
    Nothing,
    /// The relaxation continues with the new parameters.
    Adjusted,
    /// The relaxation restarts with new molecules.
    Restarted,
}

/// A molecule of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Placed {
    /// World frame.
    pub pose: Pose,
    /// Index of its template.
    pub template: u32,
    /// Deepest overlap with another molecule, nm.
    pub penetration: f32,
}

/// The status after an iteration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample {
    /// Iterations since the start.
    pub iteration: u32,
    pub status: RelaxStatus,
}

/// The state of a simulation, for the editor.
#[derive(Clone, Debug)]
pub struct Snapshot {
    pub templates: Vec<Arc<MoleculeTemplate>>,
    pub molecules: Vec<Placed>,
    /// Number of atoms of all molecules.
    pub atoms: usize,
    /// What the molecules are, and where.
    pub layout: Arc<Layout>,
    pub sample: Sample,
    /// Why the relaxation ended, if it did.
    pub ended: Option<StopReason>,
    /// Mean time of each stage since the previous snapshot.
    pub stages: StageTimes,
    pub backend: Backend,
    /// The graphics adapter, if the backend is a GPU.
    pub adapter: Option<String>,
    /// Why the CPU replaced the requested GPU.
    pub fell_back: Option<String>,
    /// Leaflets with more molecules than fit.
    pub warnings: Vec<CapacityWarning>,
}

/// A scene during its relaxation.
pub struct Simulation {
    preset: Preset,
    library: Library,
    layout: Arc<Layout>,
    relaxer: Relaxer,
    /// Iterations of previous relaxers.
    iterations_before: u32,
    ended: Option<StopReason>,
    /// Max time of all runs, and their time so far.
    max_time: Option<Duration>,
    run_time: Duration,
    /// Stages and iterations at the previous snapshot.
    last_stages: (StageTimes, u32),
    mean_stages: StageTimes,
}

impl Simulation {
    /// Builds the scene of a preset.
    pub fn new(preset: Preset) -> Result<Self, SimulationError> {
        let mut library = Library::default();
        let mut simulation = Self::start(preset, &mut library)?;
        simulation.library = library;
        Ok(simulation)
    }

    /// Builds the scene of a preset with the molecules of a library.
    fn start(preset: Preset, library: &mut Library) -> Result<Self, SimulationError> {
        let Scene { crowd, layout } = build(&preset, library)?;
        let relaxer = relaxer(crowd, &preset, preset.config())?;
        let last_stages = (relaxer.stages(), 0);
        Ok(Self {
            preset,
            library: Library::default(),
            layout: Arc::new(layout),
            relaxer,
            iterations_before: 0,
            ended: None,
            max_time: None,
            run_time: Duration::ZERO,
            last_stages,
            mean_stages: StageTimes::default(),
        })
    }

    /// Limits the total time of [`run`](Self::run). A restart keeps the limit and resets the
    /// time.
    pub fn with_max_time(mut self, max_time: Option<Duration>) -> Self {
        self.max_time = max_time;
        self
    }

    /// Restarts with the scene of a preset. On an error, nothing changes.
    pub fn restart(&mut self, preset: Preset) -> Result<(), SimulationError> {
        let restarted = Self::start(preset, &mut self.library)?;
        let library = std::mem::take(&mut self.library);
        *self = Self {
            library,
            ..restarted.with_max_time(self.max_time)
        };
        Ok(())
    }

    /// The current preset.
    #[allow(dead_code, reason = "used by the tests, which share this file")]
    pub fn preset(&self) -> &Preset {
        &self.preset
    }

    /// Changes the preset, with a restart only if the molecules change. On an error, nothing
    /// changes.
    pub fn change(&mut self, preset: Preset) -> Result<Change, SimulationError> {
        preset.check()?;
        let old = &self.preset;
        let same_vesicle = old.molecule == preset.molecule
            && (old.outer, old.inner, old.inside) == (preset.outer, preset.inner, preset.inside)
            && (old.radius, old.start) == (preset.radius, preset.start);
        let same_molecules = old.membrane == preset.membrane
            && (preset.membrane.is_some() || same_vesicle)
            && old.seed == preset.seed
            && old.coarse_start == preset.coarse_start;
        if !same_molecules {
            self.restart(preset)?;
            return Ok(Change::Restarted);
        }
        let same_atoms = old.tolerance == preset.tolerance && old.backend == preset.backend;
        let same_leeways = (old.leeway, old.tilt_leeway) == (preset.leeway, preset.tilt_leeway);
        let same_config = old.config() == preset.config();
        let same_cells = old.cell_width == preset.cell_width;
        if same_atoms && same_leeways && same_config && same_cells {
            self.preset = preset;
            return Ok(Change::Nothing);
        }
        let search = grid(&preset)?;
        if !same_atoms {
            let crowd = self.adjusted(&preset)?;
            let config = RelaxConfig {
                coarse: self.remaining_coarse_start(&preset),
                ..preset.config()
            };
            let relaxer = relaxer(crowd, &preset, config)?;
            self.iterations_before += self.relaxer.iterations();
            self.last_stages = (relaxer.stages(), 0);
            self.relaxer = relaxer;
        } else {
            if !same_leeways {
                // Fails if the molecules no longer fit.
                self.adjusted(&preset)?;
                self.relaxer
                    .update_placements(self.layout.leeways(&preset))?;
            }
            if !same_config {
                self.relaxer.set_config(preset.config())?;
            }
            self.relaxer.set_search(search);
        }
        self.preset = preset;
        self.ended = None;
        Ok(Change::Adjusted)
    }

    /// The molecules at their poses with the radii and leeways of a preset.
    fn adjusted(&self, preset: &Preset) -> Result<Crowd, SimulationError> {
        let crowd = self.layout.adjusted(self.relaxer.crowd(), preset)?;
        check_capacity(&crowd)?;
        Ok(crowd)
    }

    /// What is left of the coarse start: nothing once the atoms have replaced the proxies.
    fn remaining_coarse_start(&self, preset: &Preset) -> Option<CoarseStart> {
        let coarse = preset.config().coarse.filter(|_| self.is_coarse())?;
        Some(CoarseStart {
            iterations: coarse.iterations.saturating_sub(self.iterations()),
            ..coarse
        })
    }

    /// Whether proxies replace the atoms.
    pub fn is_coarse(&self) -> bool {
        self.relaxer.is_coarse()
    }

    /// Iterates until `budget` is used up, or `until` iterations since the start are done.
    /// Appends a sample per iteration, and one of the start before the first iteration.
    pub fn run(
        &mut self,
        budget: Duration,
        until: Option<u32>,
        samples: &mut Vec<Sample>,
    ) -> Result<(), SimulationError> {
        let (begin, iterations_before) = (Instant::now(), self.iterations_before);
        let first = self.relaxer.iterations();
        let time_left = self
            .max_time
            .map(|max_time| max_time.saturating_sub(self.run_time));
        let mut timed_out = false;
        let report = self.relaxer.run(|relaxer| {
            let done = relaxer.iterations();
            let iteration = iterations_before + done;
            if done > first || iteration == 0 {
                samples.push(Sample {
                    iteration,
                    status: relaxer.status(),
                });
            }
            let elapsed = begin.elapsed();
            timed_out = time_left.is_some_and(|time_left| elapsed >= time_left);
            let budget_used = done > first && elapsed >= budget;
            if timed_out || budget_used || until.is_some_and(|until| iteration >= until) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        })?;
        self.run_time += begin.elapsed();
        self.ended = match report.reason {
            StopReason::Interrupted if timed_out => Some(StopReason::MaxTime),
            StopReason::Interrupted => None,
            reason => Some(reason),
        };
        Ok(())
    }

    /// Iterations since the start.
    pub fn iterations(&self) -> u32 {
        self.iterations_before + self.relaxer.iterations()
    }

    /// Why the relaxation ended, if it did.
    pub fn ended(&self) -> Option<StopReason> {
        self.ended
    }

    /// The current state.
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
            template: member.template,
            penetration,
        });
        Ok(Snapshot {
            templates: crowd.templates().to_vec(),
            molecules: molecules.collect(),
            atoms: crowd.atom_count(),
            layout: Arc::clone(&self.layout),
            sample: Sample {
                iteration: self.iterations(),
                status: self.relaxer.status(),
            },
            ended: self.ended,
            stages: self.mean_stages,
            backend: self.relaxer.backend(),
            adapter: self.relaxer.adapter().map(str::to_owned),
            fell_back: self.relaxer.device_error().map(ToString::to_string),
            warnings: self.relaxer.warnings().to_vec(),
        })
    }

    /// Writes the molecules to a structure file. Returns a message about it.
    pub fn export(&self, path: &Path) -> Result<String, ExportError> {
        let crowd = self.relaxer.crowd();
        let summary = export(path, crowd.instances(), &export_options(crowd))?;
        let (molecules, megabytes) = (summary.molecules, summary.bytes as f64 / 1e6);
        Ok(format!(
            "wrote {}: {molecules} molecules, {megabytes:.1} MB",
            path.display()
        ))
    }
}

/// The options of an export: the periodic box of the molecules.
pub fn export_options(crowd: &Crowd) -> ExportOptions {
    ExportOptions {
        periodic_box: crowd.periodic_box(),
        ..ExportOptions::default()
    }
}

/// Builds the scene of a preset. Fails if its molecules cannot fit.
pub fn build(preset: &Preset, library: &mut Library) -> Result<Scene, SimulationError> {
    preset.check()?;
    let scene = Scene::new(preset, library)?;
    check_capacity(&scene.crowd)?;
    Ok(scene)
}

fn check_capacity(crowd: &Crowd) -> Result<(), SimulationError> {
    let mut warnings = capacity_warnings(crowd).into_iter();
    match warnings.find(|warning| warning.coverage > HOPELESS_COVERAGE) {
        Some(hopeless) => Err(SimulationError::Hopeless(hopeless)),
        None => Ok(()),
    }
}

/// A relaxer with the backend and the cell width of a preset.
pub fn relaxer(
    crowd: Crowd,
    preset: &Preset,
    config: RelaxConfig,
) -> Result<Relaxer, SimulationError> {
    let mut relaxer = Relaxer::with_backend(crowd, config, preset.backend)?;
    relaxer.set_search(grid(preset)?);
    Ok(relaxer)
}

/// The grid over all atoms, if the preset has a cell width.
fn grid(preset: &Preset) -> Result<Option<Box<dyn PairSearch>>, RelaxError> {
    match preset.cell_width {
        Some(width) => Ok(Some(Box::new(UniformGrid::with_cell_width(width)?))),
        None => Ok(None),
    }
}
