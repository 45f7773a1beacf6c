//! LAMMPS runs our data files and scripts.

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use bevy_rapier_molecules::export::ExportOptions;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::scene_files::{
    ReadSceneOptions, Scene, SceneKind, read_scene, write_scene,
};

use super::mixed_scene::{LOW, mixed_scene};
use super::programs::{program, run, scratch};

/// Largest relative difference of the energies on one and two ranks: sums are rounded in another
/// order, and differences of positions grow.
const RELATIVE_TOLERANCE: f64 = 1.0e-6;

/// Step, temperature, pair, kinetic and total energy of each row of the log.
fn energies(log: &str) -> Vec<[f64; 5]> {
    let rows = log
        .lines()
        .skip_while(|line| !line.trim().starts_with("Step"));
    let rows = rows.skip(1).map_while(|line| {
        let values: Option<Vec<f64>> = line
            .split_ascii_whitespace()
            .map(|word| word.parse().ok())
            .collect();
        values?.try_into().ok()
    });
    rows.collect()
}

/// Runs the script `cell.in` and returns its energies.
fn simulate(folder: &Path, ranks: usize, variables: &[&str]) -> Vec<[f64; 5]> {
    let mut command = if ranks == 1 {
        Command::new("lmp")
    } else {
        let mut command = Command::new("mpirun");
        command.args(["--allow-run-as-root", "--oversubscribe", "-np"]);
        command.arg(ranks.to_string()).arg("lmp");
        command
    };
    let command = command.current_dir(folder).env("OMP_NUM_THREADS", "1");
    run(command.args(["-in", "cell.in"]).args(variables));
    let log = fs::read_to_string(folder.join("log.lammps")).unwrap();
    for problem in ["ERROR", "Lost atoms", "Bond atoms"] {
        assert!(!log.contains(problem), "{log}");
    }
    energies(&log)
}

fn write(folder: &Path, scene: &Scene) {
    let options = ExportOptions::default();
    write_scene(folder.join("cell.data"), scene, None, &options, &mut |_| {}).unwrap();
}

#[test]
fn lammps_pushes_molecules_apart_with_the_same_energies_on_two_ranks() {
    if program("lmp").is_none() || program("mpirun").is_none() {
        return;
    }
    for is_periodic in [true, false] {
        let folder = scratch(&format!("lammps_{is_periodic}"));
        let scene = mixed_scene(is_periodic);
        write(&folder, &scene);
        let one = simulate(&folder, 1, &[]);
        let relaxed = folder.join("cell.relaxed.data");
        let found = read_scene(&relaxed, &ReadSceneOptions::default()).unwrap();
        let two = simulate(&folder, 2, &[]);
        assert_eq!((one.len(), two.len()), (11, 11));
        for (a, b) in one.iter().zip(&two) {
            for (a, b) in a.iter().zip(b) {
                let scale = a.abs().max(b.abs()).max(1.0);
                let error = (a - b).abs() / scale;
                assert!(error <= RELATIVE_TOLERANCE, "{a} {b}\n{one:?}\n{two:?}");
            }
        }
        // The push acts, and ends in less energy than it could have.
        assert!(one[0][2].abs() < 1.0e-9 && one[10][2] > 0.0, "{one:?}");
        assert_eq!(found.atom_count(), scene.atom_count());
        assert_eq!(found.molecule_count(), scene.molecule_count());
        assert_eq!(found.periodic_box.is_some(), is_periodic);
        assert_eq!(found.kinds.len(), scene.kinds.len());
        for (found, written) in found.kinds.iter().zip(&scene.kinds) {
            assert_eq!(found.name, written.name);
            assert_eq!(
                found.poses.len(),
                written.poses.len(),
                "rigid bodies stay congruent"
            );
        }
    }
}

#[test]
fn scripts_run_with_points_only_and_with_bodies_only() {
    if program("lmp").is_none() {
        return;
    }
    for (name, is_point) in [("points", true), ("bodies", false)] {
        let folder = scratch(&format!("lammps_{name}"));
        let mut scene = mixed_scene(true);
        scene
            .kinds
            .retain(|kind| (kind.template.atom_count() == 1) == is_point);
        let mut odd = SceneKind::new(
            "it's \"one\" & $more # of",
            Arc::clone(&scene.kinds[0].template),
        );
        odd.poses.push(Pose::from_translation(LOW + 0.5));
        scene.kinds.push(odd);
        write(&folder, &scene);
        let variables = ["-var", "steps", "40", "-var", "temperature", "300"];
        let rows = simulate(&folder, 1, &variables);
        assert_eq!(rows.len(), 3, "{name}");
        assert!(rows[2][1] > 0.0, "{name}: {rows:?}");
    }
}
