//! A box of proteins: placement, relaxation until none overlap, and Brownian motion.

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

use super::Arguments;
use super::common::{AnyError, Device, fall_back_to_cpu, search_for_backend};
use super::recording::Recording;

/// The kinds of proteins, which alternate.
const PROTEINS: [&str; 4] = ["1ubq.cif", "t4_lysozyme_l99a.pdb", "dhfr.pdb", "1gzx.pdb"];

/// Valid volume fractions.
const VOLUME_FRACTIONS: std::ops::RangeInclusive<f64> = 0.001..=0.4;

/// Diffusion and clustering at a time.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Time since the start, ns.
    pub time_ns: f64,
    /// Mean squared displacement, nm².
    pub displacement: f64,
    /// Mean squared displacement of free diffusion, nm².
    pub free_displacement: f64,
    /// Mean size of the cluster that a protein belongs to.
    pub cluster: f64,
}

impl Sample {
    /// Mean squared displacement over that of free diffusion.
    pub fn slowed_to(&self) -> f64 {
        self.displacement / self.free_displacement
    }
}

/// A box of proteins.
pub struct Cytoplasm {
    brownian: BrownianMolecules,
    templates: Vec<Arc<MoleculeTemplate>>,
    start: Vec<Vec3>,
    step: f64,
    time: f64,
    /// Mean free diffusion coefficient, nm²/s.
    diffusion: f64,
    history: Vec<Sample>,
    /// Probability that colliding proteins stick together.
    stick: f64,
    /// The device of the pair search.
    device: Device,
    recording: Option<Recording>,
    /// Half the side of the box, nm.
    pub half_side: f32,
}

impl Cytoplasm {
    /// Places the proteins and relaxes them.
    pub fn new(arguments: &Arguments) -> Result<Self, AnyError> {
        if !VOLUME_FRACTIONS.contains(&arguments.filled) {
            let (min, max) = (VOLUME_FRACTIONS.start(), VOLUME_FRACTIONS.end());
            let value = arguments.filled;
            return Err(format!("--filled must be from {min} to {max}, but is {value}").into());
        }
        if !(arguments.spread > 0.0 && arguments.spread <= 0.5) {
            let value = arguments.spread;
            return Err(
                format!("--spread must be positive and at most 0.5, but is {value}").into(),
            );
        }
        if !(0.0..=1.0).contains(&arguments.stick) {
            let value = arguments.stick;
            return Err(format!("--stick must be from 0 to 1, but is {value}").into());
        }
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/molecules");
        let templates: Result<Vec<_>, _> = PROTEINS
            .iter()
            .map(|file| load(folder.join(file), &LoadOptions::default()).map(Arc::new))
            .collect();
        let templates = templates?;
        let volume = |template: &MoleculeTemplate| protein_volume(f64::from(template.mass()));
        let mean_volume =
            templates.iter().map(|one| volume(one)).sum::<f64>() / templates.len() as f64;
        let radii = templates
            .iter()
            .map(|one| one.bounding_radius())
            .sum::<f32>();
        let spacing = (mean_volume / arguments.filled).cbrt() as f32;
        let seed = arguments.scene.seed.get();
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
            return Err(format!(
                "the proteins do not fit at a volume fraction of {filled}: choose a lower --filled"
            )
            .into());
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
        // The walls enclose all bounding spheres.
        let extents = molecules.iter().map(|one| {
            let radius = templates[one.template as usize].bounding_radius();
            one.pose.position.abs().max_element() + radius
        });
        let half_side = extents.fold(0.0, f32::max);
        let walls = Wall::box_faces(
            DVec3::splat(-f64::from(half_side)),
            DVec3::splat(half_side.into()),
        );
        let mut brownian = BrownianMolecules::new(&templates, &molecules, walls.to_vec(), seed)?;
        brownian.set_steps(arguments.step_kind());
        let backend = arguments.scene.backend.get();
        let (search, device) = search_for_backend(backend);
        if let Some(search) = search {
            brownian.set_search(search);
        }
        let bounds = [Vec3::splat(-half_side), Vec3::splat(half_side)];
        let mut recording = arguments.recording.start(&templates, bounds)?;
        if let Some(recording) = &mut recording {
            recording.write(0.0, &molecules)?;
        }
        Ok(Self {
            start: molecules.iter().map(|one| one.pose.position).collect(),
            brownian,
            templates,
            // The standard deviation along each axis is sqrt(2 D t).
            step: 0.5 * arguments.spread * arguments.spread / fastest.max(f64::MIN_POSITIVE),
            time: 0.0,
            diffusion,
            history: Vec::new(),
            stick: arguments.stick,
            device,
            recording,
            half_side,
        })
    }

    /// Runs one step. If the GPU fails, the CPU repeats it.
    pub fn step(&mut self) -> Result<(), AnyError> {
        match self.try_step() {
            Err(MotionError::Search(SearchError::Device(fault))) => {
                self.device = fall_back_to_cpu(&fault);
                self.brownian.set_search(Box::new(AutoGrid::new()));
                self.try_step()?;
            }
            done => done?,
        }
        self.time += self.step;
        if let Some(recording) = &mut self.recording {
            recording.step(self.time, self.brownian.molecules())?;
        }
        let sizes = self.brownian.clusters().map(|cluster| cluster.len() as f64);
        let cluster = sizes.map(|size| size * size).sum::<f64>();
        let positions = self.brownian.molecules().iter().zip(&self.start);
        let squares =
            positions.map(|(one, start)| f64::from(one.pose.position.distance_squared(*start)));
        self.history.push(Sample {
            time_ns: self.time * 1e9,
            displacement: squares.sum::<f64>() / self.start.len().max(1) as f64,
            free_displacement: 6.0 * self.diffusion * self.time,
            cluster: cluster / self.start.len().max(1) as f64,
        });
        Ok(())
    }

    fn try_step(&mut self) -> Result<(), MotionError> {
        let (stick, steps) = (self.stick, self.history.len() as u64);
        self.brownian.advance(self.step, &mut |pair: Pair| {
            if random_number(pair, steps) < stick {
                CollisionOutcome::Stick
            } else {
                CollisionOutcome::Bounce
            }
        })?;
        Ok(())
    }

    /// The number of clusters of each size from two on, in ascending order.
    pub fn cluster_sizes(&self) -> BTreeMap<usize, usize> {
        let mut sizes = BTreeMap::new();
        for cluster in self.brownian.clusters().filter(|cluster| cluster.len() > 1) {
            *sizes.entry(cluster.len()).or_default() += 1;
        }
        sizes
    }

    /// Whether proteins can stick together.
    pub fn can_stick(&self) -> bool {
        self.stick > 0.0
    }

    /// The device of the pair search.
    pub fn device(&self) -> &Device {
        &self.device
    }

    pub fn molecules(&self) -> &[BrownianMolecule] {
        self.brownian.molecules()
    }

    pub fn templates(&self) -> &[Arc<MoleculeTemplate>] {
        &self.templates
    }

    pub fn atom_count(&self) -> usize {
        let atoms = |one: &BrownianMolecule| self.templates[one.template as usize].atom_count();
        self.molecules().iter().map(atoms).sum()
    }

    /// Number of collisions in the last step.
    pub fn collisions(&self) -> usize {
        self.brownian.collisions().len()
    }

    /// Whether each protein collided in the last step.
    pub fn colliding(&self) -> Vec<bool> {
        let mut colliding = vec![false; self.molecules().len()];
        for pair in self.brownian.collisions() {
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

/// A reproducible random number in [0, 1) for a pair in a step.
fn random_number(pair: Pair, step: u64) -> f64 {
    let mut state = (u64::from(pair.a) << 32 | u64::from(pair.b)) ^ step << 20;
    // Two rounds of SplitMix64.
    for factor in [0xBF58_476D_1CE4_E5B9, 0x94D0_49BB_1331_11EB_u64] {
        state = (state ^ state >> 30).wrapping_mul(factor);
    }
    (state >> 11) as f64 / (1_u64 << 53) as f64
}
