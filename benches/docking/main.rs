//! What a check for overlaps and a motion until touch cost, against brute force: the
//! comparison of Turk (1989), for a drug at its receptor and for two proteins. Then his two
//! grids against each other, the energy from a lattice against the sum over all pairs, and
//! the search for where the drug belongs.
//!
//! The molecules are where a user has them: at the surface, and moving by about the width
//! of an atom. The contestants take turns, and each one's best round counts.
#![allow(clippy::print_stdout, reason = "the table is the purpose")]

mod energy;
mod grids;
mod search;

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::docking::{DockingMolecule, Encounter, Motion, interferes};
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Receptors and the molecules that are moved.
const SCENES: [(&str, &str); 2] = [
    ("t4_lysozyme_l99a.pdb", "p_xylene.pdb"),
    ("1gzx.pdb", "dhfr.pdb"),
];

/// Poses of each scene.
const POSES: usize = 32;

/// Rounds of which the best counts.
const ROUNDS: usize = 9;

/// Length of a motion, nm.
const STEP_NM: f32 = 0.1;

/// Angle of a motion, radian.
const TURN: f32 = 0.1;

fn main() {
    // `cargo bench` says so; `cargo test --benches` only wants to see it run.
    let rounds = if std::env::args().any(|arg| arg == "--bench") {
        ROUNDS
    } else {
        1
    };
    println!(
        "Microseconds, mean of {POSES} poses at the surface, best of {rounds} interleaved rounds, one thread.\n"
    );
    println!(
        "| receptor | atoms | moved | atoms | brute force | check | motion until touch | brute force ÷ check | motion ÷ check |"
    );
    println!("|---|--:|---|--:|--:|--:|--:|--:|--:|");
    for (receptor, ligand) in SCENES {
        let scene = Scene::new(receptor, ligand);
        let [brute, check, motion] = scene.race(rounds);
        println!(
            "| {} | {} | {} | {} | {:.1} | {:.2} | {:.2} | {:.0} | {:.1} |",
            receptor,
            scene.receptor.atom_count(),
            ligand,
            scene.ligand.atom_count(),
            micros(brute),
            micros(check),
            micros(motion),
            brute.as_secs_f64() / check.as_secs_f64(),
            motion.as_secs_f64() / check.as_secs_f64(),
        );
    }
    let scene = Scene::new(SCENES[0].0, SCENES[0].1);
    grids::print(&scene, rounds);
    energy::print(&scene, rounds);
    search::print(&scene, if rounds == 1 { 1 } else { 5 });
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1.0e6 / POSES as f64
}

struct Scene {
    receptor: DockingMolecule,
    ligand: DockingMolecule,
    /// Free poses at the surface, each with a motion.
    poses: Vec<(Pose, Motion)>,
}

impl Scene {
    fn new(receptor: &str, ligand: &str) -> Self {
        let (receptor, ligand) = (molecule(receptor), molecule(ligand));
        let mut random = Pcg64::seed_from_u64(1);
        let mut vector = |length: f32| {
            let vector = Vec3::from_array([(); 3].map(|()| random.random_range(-1.0..1.0)));
            vector.normalize_or(Vec3::X) * length
        };
        let poses = (0..POSES)
            .map(|_| {
                let outside = 0.7 * receptor.template().bounding_radius();
                let start = Pose::new(vector(outside), Quat::from_scaled_axis(vector(2.0)));
                let home = Pose::IDENTITY;
                let pose = Encounter::new(&ligand, start, &receptor, home)
                    .nearest_free_pose()
                    .expect("the poses are finite");
                let motion = Motion {
                    translation: vector(STEP_NM),
                    rotation: vector(TURN),
                };
                (pose, motion)
            })
            .collect();
        Self {
            receptor,
            ligand,
            poses,
        }
    }

    /// Best times of brute force, check and motion over all poses.
    fn race(&self, rounds: usize) -> [Duration; 3] {
        let mut best = [Duration::MAX; 3];
        let home = Pose::IDENTITY;
        for _ in 0..rounds {
            let contestants: [&dyn Fn(&Pose, &Motion) -> usize; 3] = [
                &|pose, _| self.brute_force(pose),
                &|pose, _| interferes(&self.ligand, pose, &self.receptor, &home).len(),
                &|pose, motion| {
                    Encounter::new(&self.ligand, *pose, &self.receptor, home)
                        .move_to_touch(motion)
                        .expect("the poses are free")
                        .pairs
                        .len()
                },
            ];
            for (best, contestant) in best.iter_mut().zip(contestants) {
                let begin = Instant::now();
                for (pose, motion) in &self.poses {
                    black_box(contestant(pose, motion));
                }
                *best = (*best).min(begin.elapsed());
            }
        }
        best
    }

    /// Every atom against every other.
    fn brute_force(&self, pose: &Pose) -> usize {
        let (one, other) = (self.ligand.template(), self.receptor.template());
        let mut pairs = 0;
        for (position, radius) in one.positions().iter().zip(one.radii()) {
            let centre = pose.transform_point(*position);
            for (place, other_radius) in other.positions().iter().zip(other.radii()) {
                let reach = radius + other_radius;
                pairs += usize::from(centre.distance_squared(*place) <= reach * reach);
            }
        }
        pairs
    }
}

fn molecule(file: &str) -> DockingMolecule {
    let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
    let template =
        load(&path, &LoadOptions::default()).expect("the bundled structures can be read");
    DockingMolecule::new(Arc::new(template))
}
