//! Pauschenwein (2022): tables 5.1 and 5.2, and the law of section 4.3 brought to rest.
//!
//! The scene is that of sections 3.2 and 4.1: lipids in two leaflets on a sphere, at independent
//! uniform positions (algorithm 4.2), with atoms of one size. The thesis names neither its lipid,
//! nor the radius of its atoms, nor the density: here it is POPC with hydrogens, 134 atoms of
//! radius 0.1 nm, at 1.23 nm² per lipid.

mod iterations;
mod rest;
mod stages;

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::crowd::Crowd;
use bevy_rapier_molecules::force::ThesisSteps;
use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions, PassTime};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::relax::{
    CenterWeights, DeviceRelaxer, DeviceScene, DeviceSearch, DeviceStep, GpuRelaxer, Motion,
    ReactionLaw, RelaxConfig, RelaxStatus, Relaxer, StageTimes,
};
use bevy_rapier_molecules::scenes::{VesicleConfig, VesicleSize, VesicleStart, vesicle};

use crate::Options;
use crate::common::molecules::popc;
use crate::common::{Done, Run};

/// Radius of all atoms, nm.
const ATOM_RADIUS_NM: f32 = 0.1;

/// Area per lipid at the heads, nm².
const AREA_PER_LIPID_NM2: f32 = 1.23;

/// Fewest lipids that close a vesicle at this density.
const MIN_LIPIDS: usize = 150;

/// Lipids of the smallest vesicle, and their area, nm².
const FEW_LIPIDS: usize = 20;
const SPARSE_AREA_NM2: f32 = 10.0;

pub fn run(run: &mut Run, options: &Options) -> Done {
    match GpuDevice::headless(&GpuOptions::default()) {
        Ok(device) => {
            let device = Arc::new(device);
            run.note(&format!("On {}.", device.summary()));
            let limit = Duration::from_secs_f64(60.0 * options.brute_force_minutes.max(0.0));
            let done = iterations::run(run, &device, limit);
            if let Err(error) = done.and_then(|()| stages::run(run, &device)) {
                // Such as a scene that is too large for the adapter.
                run.note(&format!("Ended: {error}"));
            }
        }
        Err(error) => run.note(&format!("Tables 5.1 and 5.2 are skipped: {error}")),
    }
    rest::run(run)
}

/// POPC with atoms of one size, as in the thesis.
fn lipid() -> Arc<MoleculeTemplate> {
    let lipid = popc().with_uniform_radius(ATOM_RADIUS_NM);
    Arc::new(lipid.expect("the radius is positive"))
}

/// The vesicle of `lipids` at independent uniform positions.
fn scene(lipid: &Arc<MoleculeTemplate>, lipids: usize) -> Crowd {
    // Quick runs have too few lipids for a closed vesicle at that density.
    let (lipids, area_per_lipid) = match lipids < MIN_LIPIDS {
        true => (lipids.max(FEW_LIPIDS), SPARSE_AREA_NM2),
        false => (lipids, AREA_PER_LIPID_NM2),
    };
    let config = VesicleConfig {
        size: VesicleSize::Density {
            lipids: lipids as u32,
            area_per_lipid,
        },
        start: VesicleStart::Uniform,
        ..VesicleConfig::default()
    };
    let built = vesicle(Arc::clone(lipid), &config);
    built.expect("the vesicle is large enough").crowd
}

/// A relaxer with the law of the thesis on a device, whose passes are timed.
struct OnDevice {
    relaxer: Relaxer,
    passes: Arc<Mutex<Vec<PassTime>>>,
}

impl OnDevice {
    /// Uploads a crowd and detects its contacts once.
    fn new(
        crowd: Crowd,
        device: &Arc<GpuDevice>,
        search: DeviceSearch,
    ) -> Result<Self, DeviceError> {
        let config = RelaxConfig {
            law: ReactionLaw::Thesis(ThesisSteps::default()),
            ..RelaxConfig::default()
        };
        let passes = Arc::new(Mutex::new(Vec::new()));
        let create = {
            let (device, passes) = (Arc::clone(device), Arc::clone(&passes));
            move |scene: &DeviceScene<'_>| -> Result<Box<dyn DeviceRelaxer>, DeviceError> {
                let relaxer = GpuRelaxer::with_search(Arc::clone(&device), scene, search)?;
                let passes = Arc::clone(&passes);
                Ok(Box::new(TimedRelaxer { relaxer, passes }))
            }
        };
        let relaxer = Relaxer::with_device_relaxer(crowd, config, create);
        let relaxer = relaxer.expect("the vesicle is finite");
        match relaxer.device_error() {
            Some(error) => Err(error.clone()),
            None => Ok(Self { relaxer, passes }),
        }
    }

    /// Runs one iteration.
    fn step(&mut self) -> Result<RelaxStatus, DeviceError> {
        let status = self.relaxer.step();
        match self.relaxer.device_error() {
            Some(error) => Err(error.clone()),
            None => Ok(status.expect("the iteration does not diverge")),
        }
    }

    /// Takes the time of each pass since the last call; empty without timestamps.
    fn take_passes(&self) -> Vec<PassTime> {
        let mut passes = self.passes.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::take(&mut passes)
    }
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
