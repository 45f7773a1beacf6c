//! Search for the pose of a ligand with the lowest energy on a receptor.
//!
//! 1. Each restart begins at a random pose. How strongly points in pockets are preferred varies
//!    between restarts. Atoms are small at first: in a tight cavity fewer than one rotation in a
//!    thousand is free.
//! 2. Simulated annealing with decreasing steps and temperature. Steps that would end in an
//!    overlap [slide](crate::docking::DockingPair::slide) instead.
//! 3. Atoms grow to their full size. If they overlap then, random moves try to resolve the
//!    overlap; otherwise the restart is discarded.
//! 4. The best restarts are annealed again, for longer.
//!
//! Restarts begin anywhere inside the bounding sphere of the receptor, because many binding
//! sites are closed in a rigid structure: there is
//! [no path](DockingSearch::escape_path) into the cavity of T4 lysozyme L99A unless atoms are
//! scaled to half their size. The search knows nothing about the binding site.
//!
//! # Quality
//!
//! The search finds p-xylene in lysozyme, the pair that the softness of the
//! [energy](super::energy) was chosen for. Few other ligands have their lowest energy in the
//! crystal pose. Heme, which is held by a bond that this energy does not model, is always among
//! the results but never the best one. Treat results as suggestions.
//!
//! Each restart has its own random numbers, and results are ordered by restart: the same seed
//! finds the same poses on any number of threads.

mod escape_path;
mod simulated_annealing;
mod start_pose;

pub use escape_path::EscapePathConfig;

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::prelude::*;
use thiserror::Error;

use self::simulated_annealing::{Annealer, resolve_overlap};
use self::start_pose::StartPoses;
use super::energy::EnergyGrid;
use super::{CONTACT_TOLERANCE_NM, DockingError, DockingMolecule, DockingPair};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Maximum of all counts in the configuration.
const MAX_COUNT: u32 = 1_000_000;

/// Factor on the radii in the first annealing.
const INITIAL_RADIUS_SCALE: f32 = 0.6;

/// Configuration of a [`DockingSearch`]. Counts are from 1 to 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DockingSearchConfig {
    /// Random seed. Default: 1.
    pub seed: u64,
    /// Number of start poses. Default: 384.
    pub restarts: u32,
    /// Annealing steps per start pose. Default: 150.
    pub steps: u32,
    /// Number of poses that are annealed again. Default: 24.
    pub finalists: u32,
    /// Annealing steps of these. Default: 600.
    pub final_steps: u32,
    /// Gap at which atoms count as touching, nm. Default: [`CONTACT_TOLERANCE_NM`].
    pub tolerance: f32,
}

impl Default for DockingSearchConfig {
    fn default() -> Self {
        Self {
            seed: 1,
            restarts: 384,
            steps: 150,
            finalists: 24,
            final_steps: 600,
            tolerance: CONTACT_TOLERANCE_NM,
        }
    }
}

/// Error of a [`DockingSearch`].
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DockingSearchError {
    /// A count in the configuration is out of range.
    #[error("the number of {what} must be from 1 to {MAX_COUNT}, not {value}")]
    BadParameter {
        /// Name of the count.
        what: &'static str,
        /// The invalid value.
        value: u32,
    },
    /// A pose or the tolerance is invalid.
    #[error(transparent)]
    Docking(#[from] DockingError),
    /// No start pose without overlaps was found.
    #[error("no free start pose of '{ligand}' on '{receptor}' was found")]
    NoFreePose {
        /// Name of the ligand.
        ligand: String,
        /// Name of the receptor.
        receptor: String,
    },
}

/// A pose and its energy.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DockedPose {
    /// Pose of the ligand, world frame, nm.
    pub pose: Pose,
    /// Energy of the grid, kJ/mol.
    pub energy: f64,
    /// Index of the restart.
    pub restart: u32,
}

/// A search for the pose of lowest energy.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::docking::energy::{EnergyConfig, EnergyGrid, ForceFieldMolecule};
/// use bevy_rapier_molecules::docking::search::{DockingSearch, DockingSearchConfig};
/// use bevy_rapier_molecules::docking::{DockingMolecule, is_free};
/// use bevy_rapier_molecules::prelude::*;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let file = |name: &str| load(format!("assets/molecules/{name}"), &LoadOptions::default());
/// let receptor = Arc::new(file("popc.pdb")?);
/// let ligand = Arc::new(file("p_xylene.pdb")?);
/// // Coarser than the default, for speed.
/// let config = EnergyConfig { spacing: 0.1, ..EnergyConfig::default() };
/// let typed = [&receptor, &ligand].map(|one| ForceFieldMolecule::new(Arc::clone(one)));
/// let energy = EnergyGrid::new(&typed[0], &typed[1], &config)?;
/// let [receptor, ligand] = [receptor, ligand].map(DockingMolecule::new);
/// let search = DockingSearch {
///     ligand: &ligand,
///     receptor: &receptor,
///     receptor_pose: Pose::IDENTITY,
///     energy: &energy,
/// };
/// let short = DockingSearchConfig {
///     restarts: 4,
///     steps: 20,
///     finalists: 2,
///     final_steps: 20,
///     ..DockingSearchConfig::default()
/// };
/// let found = search.run(&short, &|_done, _of| {})?;
/// // The best pose is first, and no pose overlaps the receptor.
/// assert!(found[0].energy <= found[1].energy && found[0].energy < 0.0);
/// assert!(found.iter().all(|one| is_free(&ligand, &one.pose, &receptor, &Pose::IDENTITY)));
/// // The same seed finds the same poses.
/// assert_eq!(search.run(&short, &|_done, _of| {})?, found);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DockingSearch<'a> {
    /// The molecule that moves.
    pub ligand: &'a DockingMolecule,
    /// The fixed molecule.
    pub receptor: &'a DockingMolecule,
    /// Its pose, world frame, nm.
    pub receptor_pose: Pose,
    /// Energy of the ligand around the receptor.
    pub energy: &'a EnergyGrid,
}

impl DockingSearch<'_> {
    /// Runs the search and returns the best poses, lowest energy first, one per finalist.
    ///
    /// Calls `progress` with the number of finished runs and the total, from any thread.
    ///
    /// # Errors
    /// [`DockingSearchError`] if the configuration or the pose of the receptor is invalid, or no
    /// free start pose is found.
    pub fn run(
        &self,
        config: &DockingSearchConfig,
        progress: &(dyn Fn(u32, u32) + Sync),
    ) -> Result<Vec<DockedPose>, DockingSearchError> {
        let counts = [
            ("restarts", config.restarts),
            ("steps", config.steps),
            ("finalists", config.finalists),
            ("final steps", config.final_steps),
        ];
        for (what, value) in counts {
            if !(1..=MAX_COUNT).contains(&value) {
                return Err(DockingSearchError::BadParameter { what, value });
            }
        }
        if !self.receptor_pose.is_rigid() {
            let what = "pose of the receptor";
            return Err(DockingError::BadPose { what }.into());
        }
        let finalists = config.finalists.min(config.restarts);
        let (done, total) = (AtomicU32::new(0), config.restarts + finalists);
        let count_run = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, total);
        let [ligand, receptor] = [self.ligand, self.receptor].map(with_initial_radii);
        let small = DockingSearch {
            ligand: &ligand,
            receptor: &receptor,
            ..*self
        };
        let starts = StartPoses::new(self, &small);
        let first_runs = (0..config.restarts).into_par_iter().map(|restart| {
            let mut random = generator(config.seed, restart, 0);
            let found = self.restart(&starts, restart, config, &mut random);
            count_run();
            found
        });
        let first_runs: Result<Vec<_>, DockingError> = first_runs.collect();
        let mut found: Vec<DockedPose> = first_runs?.into_iter().flatten().collect();
        if found.is_empty() {
            return Err(DockingSearchError::NoFreePose {
                ligand: self.ligand.template().name().to_owned(),
                receptor: self.receptor.template().name().to_owned(),
            });
        }
        sort(&mut found);
        found.truncate(finalists as usize);
        let final_runs = found.par_iter().map(|start| {
            let mut random = generator(config.seed, start.restart, 1);
            let annealer = Annealer::narrow(config.final_steps, config.tolerance);
            let found = annealer.run(self, start.pose, &mut random);
            count_run();
            found.map(|(pose, energy)| DockedPose {
                pose,
                energy,
                ..*start
            })
        });
        let final_runs: Result<Vec<_>, DockingError> = final_runs.collect();
        let mut found = final_runs?;
        sort(&mut found);
        Ok(found)
    }

    /// The first annealing of a restart; none if its overlaps cannot be resolved.
    fn restart(
        &self,
        starts: &StartPoses,
        restart: u32,
        config: &DockingSearchConfig,
        random: &mut Pcg64,
    ) -> Result<Option<DockedPose>, DockingError> {
        let Some(start) = starts.draw(restart, random) else {
            return Ok(None);
        };
        let annealer = Annealer::wide(config.steps, config.tolerance);
        let (pose, _) = annealer.run(starts.small, start, random)?;
        let free = resolve_overlap(self, pose, random);
        Ok(free.map(|pose| DockedPose {
            energy: self.energy.energy(&pose, &self.receptor_pose),
            pose,
            restart,
        }))
    }

    /// The ligand at a pose, and the receptor.
    fn pair(&self, pose: Pose, tolerance: f32) -> DockingPair<'_> {
        DockingPair {
            tolerance,
            ..DockingPair::new(self.ligand, pose, self.receptor, self.receptor_pose)
        }
    }

    /// Whether the ligand does not overlap the receptor at a pose.
    fn is_free(&self, pose: &Pose) -> bool {
        self.pair(*pose, CONTACT_TOLERANCE_NM).is_free()
    }
}

/// A molecule with the radii of the first annealing.
fn with_initial_radii(molecule: &DockingMolecule) -> DockingMolecule {
    let template = MoleculeTemplate::clone(molecule.template());
    match template.with_scaled_radii(INITIAL_RADIUS_SCALE) {
        Ok(scaled) => DockingMolecule::new(Arc::new(scaled)),
        // The radii are too small to scale.
        Err(_) => molecule.clone(),
    }
}

/// Sorts by energy, then by restart.
fn sort(poses: &mut [DockedPose]) {
    poses.sort_by(|a, b| {
        let energies = a.energy.total_cmp(&b.energy);
        energies.then(a.restart.cmp(&b.restart))
    });
}

/// The random generator of one run of one restart.
fn generator(seed: u64, restart: u32, run: u64) -> Pcg64 {
    Pcg64::seed_from_u64(seed ^ (u64::from(restart) << 33) ^ (run << 32))
}
