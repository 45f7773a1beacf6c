//! The proteins: placed, relaxed until none overlap, and moved.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::motion::brownian::{
    BrownianMolecule, BrownianMolecules, Medium, hydrodynamic_radius, protein_volume,
};
use bevy_rapier_molecules::motion::time_of_impact::Wall;
use bevy_rapier_molecules::motion::{CollisionOutcome, MotionError};
use bevy_rapier_molecules::relax::{RelaxConfig, Relaxer, StopReason};
use bevy_rapier_molecules::scenes::{CrowdedBoxConfig, crowded_box};
use bevy_rapier_molecules::search::{AutoGrid, Pair, SearchError};
use glam::{DVec3, Vec3};

use super::common::{AnyError, Device};
use super::{Arguments, device_search, fallback};

/// The proteins, in turn.
const PROTEINS: [&str; 4] = ["1ubq.cif", "t4_lysozyme_l99a.pdb", "dhfr.pdb", "1gzx.pdb"];

/// Parts of space that can be filled.
const FILLED: std::ops::RangeInclusive<f64> = 0.001..=0.4;

/// How far proteins have come.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Since the start, ns.
    pub time_ns: f64,
    /// Mean squared displacement, nm².
    pub moved: f64,
    /// What it would be for proteins that are alone, nm².
    pub alone: f64,
    /// Proteins of a cluster on average, as a protein sees it.
    pub cluster: f64,
}

impl Sample {
    /// The one over the other.
    pub fn slowed_to(&self) -> f64 {
        self.moved / self.alone
    }
}

/// A box of proteins.
pub struct Cytoplasm {
    crowd: BrownianMolecules,
    templates: Vec<Arc<MoleculeTemplate>>,
    start: Vec<Vec3>,
    step: f64,
    time: f64,
    /// Mean diffusion coefficient of those that are alone, nm²/s.
    diffusion: f64,
    history: Vec<Sample>,
    /// Chance that two that meet stick together.
    stick: f64,
    /// Who searches.
    device: Device,
    /// Half of a side of the box, nm.
    pub half: f32,
}

impl Cytoplasm {
    pub fn new(arguments: &Arguments) -> Result<Self, AnyError> {
        if !FILLED.contains(&arguments.filled) {
            let (least, most) = (FILLED.start(), FILLED.end());
            let value = arguments.filled;
            return Err(format!("--filled must be from {least} to {most}, and is {value}").into());
        }
        if !(arguments.spread > 0.0 && arguments.spread <= 0.5) {
            let value = arguments.spread;
            return Err(
                format!("--spread must be positive and at most 0.5, and is {value}").into(),
            );
        }
        if !(0.0..=1.0).contains(&arguments.stick) {
            let value = arguments.stick;
            return Err(format!("--stick must be from 0 to 1, and is {value}").into());
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/molecules");
        let templates: Result<Vec<_>, _> = PROTEINS
            .iter()
            .map(|file| load(folder.join(file), &LoadOptions::default()).map(Arc::new))
            .collect();
        let templates = templates?;
        let volume = |template: &MoleculeTemplate| protein_volume(f64::from(template.mass()));
        let mean = templates.iter().map(|one| volume(one)).sum::<f64>() / templates.len() as f64;
        let radii = templates
            .iter()
            .map(|one| one.bounding_radius())
            .sum::<f32>();
        let spacing = (mean / arguments.filled).cbrt() as f32;
        let seed = arguments.scene.seed.or(None);
        let config = CrowdedBoxConfig {
            molecules: arguments.molecules,
            spacing: spacing / (radii / templates.len() as f32),
            seed,
            ..CrowdedBoxConfig::default()
        };
        let crowd = crowded_box(&templates, &config)?;
        let mut relaxer = Relaxer::new(crowd, RelaxConfig::default())?;
        let report = relaxer.run(|_| std::ops::ControlFlow::Continue(()))?;
        if report.reason != StopReason::AtRest {
            let filled = arguments.filled;
            return Err(format!("proteins do not fit into {filled} of the box").into());
        }
        let crowd = relaxer.into_crowd();
        let medium = Medium::default();
        let molecule = |member: &bevy_rapier_molecules::crowd::CrowdMember| {
            let mass = templates[member.template as usize].mass();
            let radius = hydrodynamic_radius(f64::from(mass));
            BrownianMolecule::in_medium(member.template, member.pose, radius, &medium)
        };
        let molecules: Vec<BrownianMolecule> = crowd.members().iter().map(molecule).collect();
        let fastest = molecules
            .iter()
            .map(|one| one.diffusion)
            .fold(0.0, f64::max);
        let count = molecules.len().max(1) as f64;
        let diffusion = molecules.iter().map(|one| one.diffusion).sum::<f64>() / count;
        // All are inside of the walls, whose bounding spheres count.
        let reach = molecules.iter().map(|one| {
            let around = templates[one.template as usize].bounding_radius();
            one.pose.position.abs().max_element() + around
        });
        let half = reach.fold(0.0, f32::max);
        let walls = Wall::box_faces(DVec3::splat(-f64::from(half)), DVec3::splat(half.into()));
        let mut crowd = BrownianMolecules::new(&templates, &molecules, walls.to_vec(), seed)?;
        let backend = arguments.scene.backend.backend.unwrap_or_default();
        let (search, device) = device_search::for_backend(backend);
        if let Some(search) = search {
            crowd.set_search(search);
        }
        Ok(Self {
            start: molecules.iter().map(|one| one.pose.position).collect(),
            crowd,
            templates,
            // Along each axis the spread is sqrt(2 D t).
            step: 0.5 * arguments.spread * arguments.spread / fastest.max(f64::MIN_POSITIVE),
            time: 0.0,
            diffusion,
            history: Vec::new(),
            stick: arguments.stick,
            device,
            half,
        })
    }

    /// One step.
    pub fn step(&mut self) -> Result<(), AnyError> {
        match self.try_step() {
            // The device is to blame, not the proteins.
            Err(MotionError::Search(SearchError::Device(fault))) => {
                self.device = fallback::processor(&fault);
                self.crowd.set_search(Box::new(AutoGrid::new()));
                self.try_step()?;
            }
            done => done?,
        }
        self.time += self.step;
        let sizes = self.crowd.clusters().map(|cluster| cluster.len() as f64);
        let cluster = sizes.map(|size| size * size).sum::<f64>();
        let places = self.crowd.molecules().iter().zip(&self.start);
        let squares =
            places.map(|(one, start)| f64::from(one.pose.position.distance_squared(*start)));
        self.history.push(Sample {
            time_ns: self.time * 1e9,
            moved: squares.sum::<f64>() / self.start.len().max(1) as f64,
            alone: 6.0 * self.diffusion * self.time,
            cluster: cluster / self.start.len().max(1) as f64,
        });
        Ok(())
    }

    fn try_step(&mut self) -> Result<(), MotionError> {
        let (stick, steps) = (self.stick, self.history.len() as u64);
        self.crowd.step_with(self.step, &mut |pair: Pair| {
            if chance(pair, steps) < stick {
                CollisionOutcome::Stick
            } else {
                CollisionOutcome::Bounce
            }
        })?;
        Ok(())
    }

    /// How many clusters of two and more there are of each size, the smallest first.
    pub fn cluster_sizes(&self) -> BTreeMap<usize, usize> {
        let mut sizes = BTreeMap::new();
        for cluster in self.crowd.clusters().filter(|cluster| cluster.len() > 1) {
            *sizes.entry(cluster.len()).or_default() += 1;
        }
        sizes
    }

    /// Whether proteins may stick at all.
    pub fn sticks(&self) -> bool {
        self.stick > 0.0
    }

    /// Who searches.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn molecules(&self) -> &[BrownianMolecule] {
        self.crowd.molecules()
    }

    pub fn templates(&self) -> &[Arc<MoleculeTemplate>] {
        &self.templates
    }

    pub fn atom_count(&self) -> usize {
        let atoms = |one: &BrownianMolecule| self.templates[one.template as usize].atom_count();
        self.molecules().iter().map(atoms).sum()
    }

    /// Pairs that collided in the last step.
    pub fn collisions(&self) -> usize {
        self.crowd.collisions().len()
    }

    /// Which molecules collided in the last step.
    pub fn colliding(&self) -> Vec<bool> {
        let mut colliding = vec![false; self.molecules().len()];
        for pair in self.crowd.collisions() {
            colliding[pair.a as usize] = true;
            colliding[pair.b as usize] = true;
        }
        colliding
    }

    pub fn step_seconds(&self) -> f64 {
        self.step
    }

    pub fn history(&self) -> &[Sample] {
        &self.history
    }
}

/// A number from 0 to 1 for two proteins in a step, the same in every run.
fn chance(pair: Pair, step: u64) -> f64 {
    let mut state = (u64::from(pair.a) << 32 | u64::from(pair.b)) ^ step << 20;
    // SplitMix64.
    for factor in [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB_u64] {
        state = (state ^ state >> 30).wrapping_mul(factor);
    }
    (state >> 11) as f64 / (1_u64 << 53) as f64
}
