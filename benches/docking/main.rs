//! Cost of an overlap check and of a motion until contact, against brute force, for a ligand at
//! its receptor and for two proteins. Also the energy from a lattice against the sum over all
//! pairs, turns about bonds, and the docking search.
//!
//! The molecules are at the surface and move by about the width of an atom. Rounds are
//! interleaved and the best round is reported.

#[path = "../common/mod.rs"]
mod common;
mod energy;
mod ligands;
mod search;
mod torsions;

use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bevy_rapier_molecules::docking::{
    DockingMolecule, DockingPair, RigidMotion, overlapping_atoms,
};
use bevy_rapier_molecules::pose::Pose;
use common::interleave::{Rounds, interleave, ratio};
use common::molecules::bundled;
use common::{Column, Done, NoOptions, Part, Run, cells};
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64;

/// Name and file of a bundled molecule.
type Named = (&'static str, &'static str);

/// Receptors and moved molecules.
const SCENES: [(Named, Named); 2] = [
    (
        ("T4 lysozyme", "t4_lysozyme_l99a.pdb"),
        ("p-xylene", "p_xylene.pdb"),
    ),
    (("hemoglobin", "1gzx.pdb"), ("DHFR", "dhfr.pdb")),
];

/// Poses per scene.
const POSES: usize = 32;

/// Rounds; the best one is reported.
const ROUNDS: usize = 9;

/// Length of a motion, nm.
const STEP_NM: f32 = 0.1;

/// Angle of a motion, radian.
const TURN: f32 = 0.1;

fn main() -> ExitCode {
    let about = "Cost of an overlap check and of a motion until contact";
    let parts = [
        Part::new(
            "touch",
            "brute force, an overlap check, and a motion until contact",
            touch,
        ),
        Part::new(
            "energy",
            "the energy from a lattice against the sum over all pairs",
            energy::run,
        ),
        Part::new("search", "the docking search for p-xylene", search::run),
        Part::new(
            "torsions",
            "a turn about a bond until contact against a motion",
            torsions::run,
        ),
        Part::new(
            "ligands",
            "the docking search for other ligands of the bundled structures",
            ligands::run,
        ),
    ];
    common::run("docking", about, &parts)
}

fn touch(run: &mut Run, _: &NoOptions) -> Done {
    let rounds = run.pick(ROUNDS, 1);
    let title = format!(
        "Microseconds, mean of {POSES} poses at the surface, best of {rounds} interleaved \
         rounds, one thread."
    );
    let columns = vec![
        Column::text("receptor"),
        Column::text("moved"),
        Column::measured("brute force", "µs"),
        Column::measured("overlap check", "µs").decimals(2),
        Column::measured("motion until contact", "µs").decimals(2),
        Column::number("brute force ÷ check").decimals(0),
        Column::number("motion ÷ check").decimals(1),
    ];
    let mut table = run.table(&title, columns);
    for (receptor, ligand) in SCENES {
        let scene = Scene::new(receptor.1, ligand.1);
        let [brute, check, motion] = scene.race(rounds);
        let named = |name: &str, molecule: &DockingMolecule| {
            let atoms = common::grouped(&molecule.atom_count().to_string());
            format!("{name}, {atoms} atoms")
        };
        table.row(cells![
            named(receptor.0, &scene.receptor),
            named(ligand.0, &scene.ligand),
            micros(brute),
            micros(check),
            micros(motion),
            ratio(brute, check),
            ratio(motion, check),
        ]);
    }
    Ok(())
}

/// Microseconds per pose.
fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1.0e6 / POSES as f64
}

struct Scene {
    receptor: DockingMolecule,
    ligand: DockingMolecule,
    /// Free poses at the surface, each with a motion.
    poses: Vec<(Pose, RigidMotion)>,
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
                let pose = DockingPair::new(&ligand, start, &receptor, home)
                    .nearest_free_pose()
                    .expect("the poses are finite");
                let motion = RigidMotion {
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

    /// p-xylene at T4 lysozyme.
    fn xylene() -> Self {
        let ((_, receptor), (_, ligand)) = SCENES[0];
        Self::new(receptor, ligand)
    }

    /// Best times of brute force, overlap check and motion over all poses.
    fn race(&self, rounds: usize) -> [Duration; 3] {
        let home = Pose::IDENTITY;
        let competitors: [&dyn Fn(&Pose, &RigidMotion) -> usize; 3] = [
            &|pose, _| self.brute_force(pose),
            &|pose, _| overlapping_atoms(&self.ligand, pose, &self.receptor, &home).len(),
            &|pose, motion| {
                DockingPair::new(&self.ligand, *pose, &self.receptor, home)
                    .sweep(motion)
                    .expect("the poses are free")
                    .pairs
                    .len()
            },
        ];
        self.best_of(rounds, competitors)
    }

    /// The best round of each competitor over all poses.
    fn best_of<const N: usize, T>(
        &self,
        rounds: usize,
        mut competitors: [&dyn Fn(&Pose, &RigidMotion) -> T; N],
    ) -> [Duration; N] {
        let samples = interleave(
            Rounds::exactly(rounds),
            &mut competitors,
            |_, competitor| {
                for (pose, motion) in &self.poses {
                    black_box(competitor(pose, motion));
                }
            },
        );
        std::array::from_fn(|at| samples[at].best())
    }

    /// Tests every pair of atoms.
    fn brute_force(&self, pose: &Pose) -> usize {
        let (one, other) = (self.ligand.template(), self.receptor.template());
        let mut pairs = 0;
        for (position, radius) in one.positions().iter().zip(one.radii()) {
            let center = pose.transform_point(*position);
            for (place, other_radius) in other.positions().iter().zip(other.radii()) {
                let reach = radius + other_radius;
                pairs += usize::from(center.distance_squared(*place) <= reach * reach);
            }
        }
        pairs
    }
}

fn molecule(file: &str) -> DockingMolecule {
    DockingMolecule::new(Arc::new(bundled(file)))
}
