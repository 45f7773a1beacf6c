//! A receptor in all forms, a ligand, and poses of the ligand.

use std::error::Error;

use bevy_rapier_molecules::docking::{DockingMolecule, DockingPair};
use bevy_rapier_molecules::pose::{Pose, RigidMotion};
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

use super::cell_lists::{Ball, CellLists, Hash, Storage, Within};
use super::check::Receptor;
use super::molecules::{balls, docking_molecule};

/// Residues around the active site of the dihydrofolate reductase of *E. coli*.
const ACTIVE_SITE: [i32; 7] = [5, 7, 27, 31, 50, 94, 100];

/// Speed of the ligand, nm per call: about a tenth of an atom's diameter.
const STEP_NM: f32 = 0.03;

/// Unsteadiness of the user's hand: translation per call, nm, and rotation, radian.
const SHAKE_NM: f32 = 0.02;
const TURN: f32 = 0.1;

/// Distance from the first contact at the start of a session, nm.
const START_NM: f32 = 1.5;

/// Straight ways from outside of which the best one is chosen.
const WAYS: usize = 200;

/// A pose of the ligand, and its motion from there.
pub type Call = (Pose, RigidMotion);

/// A ligand at a receptor in its body frame.
pub struct Scene {
    pub receptor: DockingMolecule,
    pub ligand: DockingMolecule,
    /// The atoms of the ligand.
    pub atoms: Vec<Ball>,
    pub brute_force: Receptor,
    pub full: Receptor,
    pub wrapped: Receptor,
    pub mixed: Receptor,
}

impl Scene {
    pub fn new(receptor: &str, ligand: &str) -> Result<Self, Box<dyn Error>> {
        let (receptor, ligand) = (docking_molecule(receptor)?, docking_molecule(ligand)?);
        let all = balls(receptor.template());
        let lists = |storage| CellLists::new(&all, storage, Within::Box).map(Receptor::Cells);
        Ok(Self {
            atoms: balls(ligand.template()),
            full: lists(Storage::Full)?,
            wrapped: lists(Storage::Hashed(Hash::Wrapped))?,
            mixed: lists(Storage::Hashed(Hash::Mixed))?,
            brute_force: Receptor::BruteForce(all),
            receptor,
            ligand,
        })
    }

    /// The receptor as brute force, full grid, and hashed grids, wrapped and mixed.
    pub fn receptors(&self) -> [&Receptor; 4] {
        [&self.brute_force, &self.full, &self.wrapped, &self.mixed]
    }

    /// The ligand at a pose beside the receptor.
    pub fn pair(&self, pose: Pose) -> DockingPair<'_> {
        DockingPair::new(&self.ligand, pose, &self.receptor, Pose::IDENTITY)
    }

    /// The sum of both bounding radii, nm.
    fn reach(&self) -> f32 {
        let radius = |molecule: &DockingMolecule| molecule.template().bounding_radius();
        radius(&self.receptor) + radius(&self.ligand)
    }

    /// Random poses of the ligand at the surface of the receptor, where it touches.
    pub fn surface_poses(&self, count: usize) -> Result<Vec<Pose>, Box<dyn Error>> {
        let mut random = Pcg64::seed_from_u64(1);
        let mut poses = Vec::new();
        while poses.len() < count {
            let outside = unit(&mut random) * self.reach();
            let rotation = Quat::from_scaled_axis(unit(&mut random) * 2.0);
            let inwards = RigidMotion::translation(-2.0 * outside);
            let swept = self.pair(Pose::new(outside, rotation)).sweep(&inwards)?;
            if !swept.pairs.is_empty() {
                poses.push(swept.pose);
            }
        }
        Ok(poses)
    }

    /// Center of the active site of DHFR, nm.
    pub fn active_site(&self) -> Vec3 {
        let template = self.receptor.template();
        let is_near = |atom: &usize| {
            let is_alpha = template.atom_names()[*atom] == "CA";
            is_alpha && ACTIVE_SITE.contains(&template.residue_of(*atom).number)
        };
        let atoms = (0..template.atom_count()).filter(is_near);
        let (count, sum) = atoms.fold((0.0, Vec3::ZERO), |(count, sum), atom| {
            (count + 1.0, sum + template.positions()[atom])
        });
        sum / f32::max(count, 1.0)
    }

    /// The pose of first contact, of many straight ways from outside, that is nearest to the
    /// active site; and the direction that it was reached in.
    pub fn entrance(&self) -> Result<(Pose, Vec3), Box<dyn Error>> {
        let site = self.active_site();
        let mut random = Pcg64::seed_from_u64(1);
        let mut nearest = (f32::INFINITY, Pose::IDENTITY, Vec3::X);
        for _ in 0..WAYS {
            let inwards = unit(&mut random);
            let outside = site - 2.0 * self.reach() * inwards;
            let pose = Pose::new(outside, Quat::from_scaled_axis(unit(&mut random) * 2.0));
            let way = RigidMotion::translation(site - outside);
            let reached = self.pair(pose).sweep(&way)?.pose;
            let distance = reached.position.distance(site);
            if distance < nearest.0 {
                nearest = (distance, reached, inwards);
            }
        }
        Ok((nearest.1, nearest.2))
    }

    /// A session of `calls` motions into the active site by an unsteady hand: the pose before
    /// each motion, and the motion. Every motion ends at the first contact.
    pub fn session(&self, calls: usize) -> Result<Vec<Call>, Box<dyn Error>> {
        let mut random = Pcg64::seed_from_u64(1);
        let target = self.active_site();
        let (entrance, inwards) = self.entrance()?;
        let start = entrance.position - START_NM * inwards;
        let mut pose = Pose::new(start, entrance.rotation);
        let mut session = Vec::with_capacity(calls);
        for _ in 0..calls {
            let ahead = (target - pose.position).clamp_length_max(STEP_NM);
            let motion = RigidMotion {
                // Every other motion only tries another place.
                translation: ahead * f32::from(random.random_bool(0.5))
                    + unit(&mut random) * SHAKE_NM,
                rotation: unit(&mut random) * TURN,
            };
            session.push((pose, motion));
            pose = self.pair(pose).sweep(&motion)?.pose;
        }
        Ok(session)
    }

    /// An error unless both grids find the same pairs of atoms as brute force at the ends of all
    /// motions.
    pub fn compare(&self, calls: &[Call]) -> Result<(), Box<dyn Error>> {
        for (pose, motion) in calls {
            let end = motion.pose_at(pose, 1.0);
            let pairs = self
                .receptors()
                .map(|receptor| receptor.pairs(&self.atoms, &end, &mut 0));
            if pairs.iter().any(|found| *found != pairs[0]) {
                return Err(format!("the grids find other pairs at {end:?}: {pairs:?}").into());
            }
        }
        Ok(())
    }
}

/// A random direction.
pub fn unit(random: &mut Pcg64) -> Vec3 {
    loop {
        let vector = Vec3::from_array([(); 3].map(|()| random.random_range(-1.0..1.0_f32)));
        if (0.01..1.0).contains(&vector.length_squared()) {
            return vector.normalize();
        }
    }
}
