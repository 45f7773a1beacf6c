//! Docking without a hand: where on a receptor does a ligand have the lowest energy?
//!
//! 1. Each of many restarts begins at a random pose. How much random points are preferred
//!    that lie in a pocket differs from restart to restart (`start.rs`). Atoms are small at
//!    first: in a tight cavity not one rotation in a thousand is free.
//! 2. From there the ligand is shaken with steps and energies that become smaller and
//!    smaller; where a step would lead into the receptor it
//!    [slides](crate::docking::DockingPair::slide) (`anneal.rs`).
//! 3. Atoms get their size. Where they overlap then, the ligand is shaken until they do
//!    not, or is given up.
//! 4. The best are shaken once more, for longer.
//!
//! Many binding sites are closed in a rigid structure: into the cavity of T4 lysozyme L99A,
//! which breathes in reality, [no way is found](DockingSearch::escape_path) unless atoms are made half
//! as large. So restarts begin anywhere inside the
//! sphere around the receptor where there is room, and not only outside. Nothing is known
//! about where the ligand belongs but the two molecules.
//!
//! What this is worth: p-xylene is found in lysozyme, the pair on which the softness of the
//! [energy](super::energy) was chosen. Of other ligands few have their lowest energy where
//! they belong; heme, which is held by a bond that this energy does not know, is always
//! among the poses that are kept and never the first. Take results for suggestions.
//!
//! Each restart has random numbers of its own, and results are compared in the order of the
//! restarts: the same seed finds the same poses on any number of threads.

mod escape_path;
mod simulated_annealing;
mod start_pose;

pub use escape_path::{EscapePathConfig, motion_between};

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use rand::SeedableRng;
use rand_pcg::Pcg64;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use self::simulated_annealing::{Shaking, grow};
use self::start_pose::Starts;
use super::energy::EnergyGrid;
use super::{CONTACT_TOLERANCE_NM, DockingError, DockingMolecule};
use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Most restarts and most steps of each: more is a mistake.
const MOST: u32 = 1_000_000;

/// Size of atoms in the first run, in units of their own.
const SMALL: f32 = 0.6;

/// How long to search. Counts are from 1 to 1,000,000.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct DockingSearchConfig {
    /// Where random numbers begin. Default: 1.
    pub seed: u64,
    /// Poses to begin from. Default: 384.
    pub restarts: u32,
    /// Steps from each of them. Default: 150.
    pub steps: u32,
    /// How many of the best go on. Default: 24.
    pub finalists: u32,
    /// Steps of those. Default: 600.
    pub final_steps: u32,
    /// How close atoms come before they touch, nm. Default: [`CONTACT_TOLERANCE_NM`].
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

/// Why nothing was found.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum DockingSearchError {
    /// A parameter is not a number that makes sense.
    #[error("the number of {what} is {value}, and has to be from 1 to {MOST}")]
    BadParameter {
        /// Which parameter.
        what: &'static str,
        /// What was given.
        value: u32,
    },
    /// The ligand cannot be moved.
    #[error(transparent)]
    Docking(#[from] DockingError),
    /// There is no room for the ligand anywhere.
    #[error("no free pose of '{ligand}' at '{receptor}' was found from which to begin")]
    NoRoom {
        /// Name of the ligand.
        ligand: String,
        /// Name of the receptor.
        receptor: String,
    },
}

/// A pose and its energy.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct DockedPose {
    /// Where the ligand is, world frame, nm.
    pub pose: Pose,
    /// What the lattice says there, kJ/mol.
    pub energy: f64,
    /// The restart that led there, counted from zero.
    pub restart: u32,
}

/// The two molecules of a search, and the energy between them.
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
/// // Coarser than the default, for haste.
/// let config = EnergyConfig { spacing: 0.1, ..EnergyConfig::default() };
/// let kinds = [&receptor, &ligand].map(|one| ForceFieldMolecule::new(Arc::clone(one)));
/// let energy = EnergyGrid::new(&kinds[0], &kinds[1], &config)?;
/// let [receptor, ligand] = [receptor, ligand].map(DockingMolecule::new);
/// let docking = DockingSearch {
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
/// let found = docking.search(&short, &|_done, _of| {})?;
/// // The best first, and all of them outside of the receptor.
/// assert!(found[0].energy <= found[1].energy && found[0].energy < 0.0);
/// assert!(found.iter().all(|one| is_free(&ligand, &one.pose, &receptor, &Pose::IDENTITY)));
/// // The same seed finds the same.
/// assert_eq!(docking.search(&short, &|_done, _of| {})?, found);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct DockingSearch<'a> {
    /// The molecule that is moved.
    pub ligand: &'a DockingMolecule,
    /// The molecule that stands still.
    pub receptor: &'a DockingMolecule,
    /// Where that one is, world frame, nm.
    pub receptor_pose: Pose,
    /// Energies around the receptor for the ligand.
    pub energy: &'a EnergyGrid,
}

impl DockingSearch<'_> {
    /// The poses with the lowest energies that were found, best first; one for each finalist.
    ///
    /// `progress` is told how many of how many runs are done, from any thread.
    ///
    /// # Errors
    /// [`DockingSearchError`] if a parameter makes no sense, the receptor's pose is not
    /// finite, or nowhere is room for the ligand.
    pub fn search(
        &self,
        config: &DockingSearchConfig,
        progress: &(dyn Fn(u32, u32) + Sync),
    ) -> Result<Vec<DockedPose>, DockingSearchError> {
        let settings = [
            ("restarts", config.restarts),
            ("steps", config.steps),
            ("finalists", config.finalists),
            ("final steps", config.final_steps),
        ];
        for (what, value) in settings {
            if !(1..=MOST).contains(&value) {
                return Err(DockingSearchError::BadParameter { what, value });
            }
        }
        if !self.receptor_pose.is_rigid() {
            let what = "pose of the other molecule";
            return Err(DockingError::BadPose { what }.into());
        }
        let finalists = config.finalists.min(config.restarts);
        let (done, all) = (AtomicU32::new(0), config.restarts + finalists);
        let tell = || progress(done.fetch_add(1, Ordering::Relaxed) + 1, all);
        let small = Small::new(self);
        let starts = Starts::new(self, &small);
        let begun = (0..config.restarts).into_par_iter().map(|restart| {
            let mut random = random_numbers(config.seed, restart, 0);
            let found = self.begin(&starts, restart, config, &mut random);
            tell();
            found.map(|found| {
                found.map(|(pose, energy)| DockedPose {
                    pose,
                    energy,
                    restart,
                })
            })
        });
        let begun: Result<Vec<_>, DockingError> = begun.collect();
        let mut found: Vec<DockedPose> = begun?.into_iter().flatten().collect();
        if found.is_empty() {
            return Err(DockingSearchError::NoRoom {
                ligand: self.ligand.template().name().to_owned(),
                receptor: self.receptor.template().name().to_owned(),
            });
        }
        sort(&mut found);
        found.truncate(finalists as usize);
        let ended = found.par_iter().map(|start| {
            let mut random = random_numbers(config.seed, start.restart, 1);
            let shaking = Shaking::narrow(config.final_steps, config.tolerance);
            let found = shaking.run(self, self.bodies(), start.pose, &mut random);
            tell();
            found.map(|(pose, energy)| DockedPose {
                pose,
                energy,
                ..*start
            })
        });
        let ended: Result<Vec<_>, DockingError> = ended.collect();
        let mut found = ended?;
        sort(&mut found);
        Ok(found)
    }

    /// The first run of a restart; nothing if it ends where there is no room.
    fn begin(
        &self,
        starts: &Starts,
        restart: u32,
        config: &DockingSearchConfig,
        random: &mut Pcg64,
    ) -> Result<Option<(Pose, f64)>, DockingError> {
        let Some(start) = starts.draw(restart, random) else {
            return Ok(None);
        };
        let shaking = Shaking::wide(config.steps, config.tolerance);
        let (pose, _) = shaking.run(self, starts.small().bodies(), start, random)?;
        let Some(free) = grow(self, pose, random) else {
            return Ok(None);
        };
        Ok(Some((free, self.energy.energy(&free, &self.receptor_pose))))
    }

    fn bodies(&self) -> Bodies<'_> {
        Bodies {
            ligand: self.ligand,
            receptor: self.receptor,
        }
    }
}

/// Two molecules that do not get into each other.
#[derive(Clone, Copy)]
struct Bodies<'a> {
    ligand: &'a DockingMolecule,
    receptor: &'a DockingMolecule,
}

/// The two molecules with small atoms.
struct Small {
    ligand: DockingMolecule,
    receptor: DockingMolecule,
}

impl Small {
    fn new(docking: &DockingSearch) -> Self {
        let small = |molecule: &DockingMolecule| {
            let template = MoleculeTemplate::clone(molecule.template());
            match template.with_scaled_radii(SMALL) {
                Ok(small) => DockingMolecule::new(Arc::new(small)),
                // Atoms that are too small to be made smaller.
                Err(_) => molecule.clone(),
            }
        };
        Self {
            ligand: small(docking.ligand),
            receptor: small(docking.receptor),
        }
    }

    fn bodies(&self) -> Bodies<'_> {
        Bodies {
            ligand: &self.ligand,
            receptor: &self.receptor,
        }
    }
}

/// Lowest energy first; of the same energy the earlier restart.
fn sort(poses: &mut [DockedPose]) {
    poses.sort_by(|a, b| {
        let energies = a.energy.total_cmp(&b.energy);
        energies.then(a.restart.cmp(&b.restart))
    });
}

/// Random numbers of one run of one restart.
fn random_numbers(seed: u64, restart: u32, run: u64) -> Pcg64 {
    // Seeds are mixed well by the generator's own seeding.
    Pcg64::seed_from_u64(seed ^ (u64::from(restart) << 33) ^ (run << 32))
}
