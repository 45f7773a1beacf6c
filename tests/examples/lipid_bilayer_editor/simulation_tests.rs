//! The relaxation of a vesicle with changing parameters.

use std::time::{Duration, Instant};

use bevy_rapier_molecules::backend::Backend;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::relax::{CoarseStart, CountedSpheres, StopReason};
use bevy_rapier_molecules::scenes::VesicleStart;

use super::membrane_scene::Shape;
use super::preset::{Color, Law, Preset};
use super::simulation::{Change, Sample, Simulation, SimulationError};
use super::{scratch, small, unwritable};

/// A simulation of the small vesicle after some iterations, and its samples.
fn after(iterations: u32) -> (Simulation, Vec<Sample>) {
    let mut simulation = Simulation::new(small()).unwrap();
    let mut samples = Vec::new();
    simulation
        .run(Duration::from_secs(60), Some(iterations), &mut samples)
        .unwrap();
    (simulation, samples)
}

fn poses(simulation: &mut Simulation) -> Vec<Pose> {
    let snapshot = simulation.snapshot().unwrap();
    snapshot
        .molecules
        .iter()
        .map(|placed| placed.pose)
        .collect()
}

/// Whether poses are equal, except for rounding of the rotations.
fn are_equal(a: &[Pose], b: &[Pose]) -> bool {
    let mut pairs = a.iter().zip(b);
    a.len() == b.len()
        && pairs.all(|(a, b)| a.position == b.position && a.rotation.abs_diff_eq(b.rotation, 1e-6))
}

#[test]
fn each_iteration_is_sampled_once() {
    let (mut simulation, mut samples) = after(3);
    assert_eq!(simulation.ended(), None);
    simulation
        .run(Duration::ZERO, Some(4), &mut samples)
        .unwrap();
    let numbers: Vec<u32> = samples.iter().map(|sample| sample.iteration).collect();
    assert_eq!(numbers, [0, 1, 2, 3, 4]);
    let snapshot = simulation.snapshot().unwrap();
    assert_eq!(Some(&snapshot.sample), samples.last());
}

#[test]
fn snapshots_show_the_overlaps_of_each_molecule() {
    let (mut simulation, _) = after(2);
    let snapshot = simulation.snapshot().unwrap();
    let depths = snapshot.molecules.iter().map(|placed| placed.penetration);
    let deepest = depths.fold(0.0, f32::max);
    assert!(deepest > 0.0);
    assert!((deepest - snapshot.sample.status.max_penetration_nm).abs() < 1e-6);
    let layout = &snapshot.layout;
    let outer = layout.labels.iter().filter(|label| label.leaflet == 0);
    assert_eq!(outer.count(), 70);
    assert!(snapshot.stages.total() > Duration::ZERO);
    assert_eq!(layout.shape, Shape::Vesicle { radius: 3.2 });
    assert_eq!(snapshot.templates.len(), 1);
    assert_eq!(snapshot.atoms, 76 * 134);
    assert!((4.5..6.5).contains(&layout.reach), "{}", layout.reach);

    let mut samples = Vec::new();
    simulation
        .run(Duration::from_secs(60), None, &mut samples)
        .unwrap();
    assert_eq!(simulation.ended(), Some(StopReason::AtRest));
    let snapshot = simulation.snapshot().unwrap();
    assert!(
        snapshot
            .molecules
            .iter()
            .all(|placed| placed.penetration == 0.0)
    );
}

#[test]
fn changes_without_a_restart_keep_the_poses() {
    let changes: [fn(&mut Preset); 7] = [
        |preset| preset.projection.momentum = 0.5,
        |preset| preset.law = Law::Thesis,
        |preset| preset.clearance = 0.004,
        |preset| preset.cell_width = Some(0.9),
        |preset| preset.leeway = 0.4,
        |preset| preset.tilt_leeway = 40.0,
        |preset| preset.tolerance = Some(0.24),
    ];
    let (mut simulation, _) = after(3);
    let before = poses(&mut simulation);
    for change in changes {
        let mut preset = simulation.preset().clone();
        change(&mut preset);
        assert_eq!(simulation.change(preset.clone()).unwrap(), Change::Adjusted);
        assert_eq!(simulation.preset(), &preset);
        assert!(are_equal(&poses(&mut simulation), &before), "{preset:?}");
        assert_eq!(simulation.iterations(), 3);
    }
    let overlaps = simulation.snapshot().unwrap().sample.status.overlaps;
    let mut preset = simulation.preset().clone();
    preset.tolerance = Some(0.1);
    simulation.change(preset).unwrap();
    assert!(simulation.snapshot().unwrap().sample.status.overlaps < overlaps);
}

#[test]
fn new_molecules_restart_and_styles_do_not() {
    let (mut simulation, _) = after(3);
    let styled = Preset {
        color: Color::Element,
        cut_open: true,
        ..small()
    };
    assert_eq!(simulation.change(styled).unwrap(), Change::Nothing);
    assert_eq!(simulation.iterations(), 3);
    let more = Preset {
        outer: 71,
        ..small()
    };
    assert_eq!(simulation.change(more).unwrap(), Change::Restarted);
    assert_eq!(simulation.iterations(), 0);
    assert_eq!(poses(&mut simulation).len(), 77);
    let uniform = Preset {
        start: VesicleStart::Uniform,
        ..simulation.preset().clone()
    };
    assert_eq!(simulation.change(uniform).unwrap(), Change::Restarted);
}

#[test]
fn invalid_changes_are_rejected_and_change_nothing() {
    let (mut simulation, _) = after(3);
    let before = poses(&mut simulation);
    let invalid: [fn(&mut Preset); 6] = [
        |preset| preset.radius = f32::NAN,
        |preset| preset.radius = 0.5,
        |preset| (preset.outer, preset.inner) = (0, 0),
        |preset| preset.outer = 20_000,
        |preset| preset.outer = u32::MAX,
        |preset| preset.molecule = super::molecule_kind::MoleculeKind::File("nowhere.pdb".into()),
    ];
    for change in invalid {
        let mut preset = small();
        change(&mut preset);
        let error = simulation.change(preset.clone()).unwrap_err();
        assert!(!error.to_string().is_empty());
        assert_eq!(simulation.preset(), &small());
        assert_eq!(poses(&mut simulation), before, "{preset:?}");
    }
    let hopeless = Preset {
        outer: 20_000,
        ..small()
    };
    let error = Simulation::new(hopeless).map(|_| ()).unwrap_err();
    assert!(matches!(error, SimulationError::Hopeless(_)), "{error}");
}

#[test]
fn an_overfull_leaflet_has_a_warning() {
    let crowded = Preset {
        outer: 300,
        ..small()
    };
    let snapshot = Simulation::new(crowded).unwrap().snapshot().unwrap();
    let [warning] = snapshot.warnings[..] else {
        panic!("{:?}", snapshot.warnings);
    };
    assert!(warning.offset_nm > 0.0 && warning.fitting < 300);
    let spacious = Simulation::new(small()).unwrap().snapshot().unwrap();
    assert!(spacious.warnings.is_empty());
}

#[test]
fn changing_the_backend_keeps_the_poses_and_reports_a_fallback() {
    let (mut simulation, _) = after(2);
    let before = poses(&mut simulation);
    let preset = Preset {
        backend: Backend::Gpu,
        ..small()
    };
    assert_eq!(simulation.change(preset).unwrap(), Change::Adjusted);
    assert!(are_equal(&poses(&mut simulation), &before));
    let snapshot = simulation.snapshot().unwrap();
    let on_device = snapshot.backend == Backend::Gpu;
    assert_eq!(snapshot.adapter.is_some(), on_device);
    assert_eq!(snapshot.fell_back.is_some(), !on_device);
    // The law can change on any backend.
    let preset = Preset {
        law: Law::Thesis,
        ..simulation.preset().clone()
    };
    assert_eq!(simulation.change(preset).unwrap(), Change::Adjusted);
    assert_eq!(simulation.snapshot().unwrap().backend, snapshot.backend);
}

#[test]
fn exports_return_a_message_or_an_error() {
    let (simulation, _) = after(1);
    for ending in ["pdb", "cif"] {
        let path = scratch(&format!("vesicle.{ending}"));
        let message = simulation.export(&path).unwrap();
        assert!(message.contains("76 molecules"), "{message}");
        assert!(path.is_file());
        for path in unwritable(&format!("vesicle.{ending}")) {
            let error = simulation.export(&path).unwrap_err().to_string();
            assert!(error.contains(&*path.to_string_lossy()), "{error}");
        }
    }
    assert!(simulation.export(&scratch("vesicle.xyz")).is_err());
}

#[test]
fn a_changed_leeway_does_not_restart_the_coarse_start() {
    let coarse = |leeway| Preset {
        coarse_start: true,
        outer: 110,
        leeway,
        ..small()
    };
    let mut simulation = Simulation::new(coarse(0.2)).unwrap();
    let minute = Duration::from_secs(60);
    let mut samples = Vec::new();
    simulation.run(minute, Some(5), &mut samples).unwrap();
    assert!(simulation.is_coarse());
    assert_eq!(simulation.change(coarse(0.15)).unwrap(), Change::Adjusted);
    assert!(simulation.is_coarse());
    // The change does not prolong it, either.
    let end = CoarseStart::PLACED.iterations + 1;
    simulation.run(minute, Some(end), &mut samples).unwrap();
    assert!(!simulation.is_coarse());
    assert_eq!(simulation.change(coarse(0.1)).unwrap(), Change::Adjusted);
    assert!(!simulation.is_coarse());
    assert_eq!(simulation.iterations(), end);
    // Samples say whether they count proxies or atoms.
    let spheres = |sample: &Sample| sample.status.spheres;
    let mut first = samples[..5].iter().map(spheres);
    assert!(first.all(|spheres| spheres == CountedSpheres::Proxies));
    assert_eq!(samples.last().map(spheres), Some(CountedSpheres::Atoms));
}

#[test]
fn the_time_of_all_runs_is_limited() {
    // The small vesicle may be at rest within the limit.
    let large = Preset {
        tolerance: Some(0.2),
        ..Preset::one_lipid()
    };
    let mut simulation = Simulation::new(large)
        .unwrap()
        .with_max_time(Some(Duration::ZERO));
    let mut samples = Vec::new();
    simulation
        .run(Duration::from_secs(60), None, &mut samples)
        .unwrap();
    assert_eq!(simulation.ended(), Some(StopReason::MaxTime));
    assert_eq!(simulation.iterations(), 0);

    // Several short runs share the time.
    let mut simulation = simulation.with_max_time(Some(Duration::from_millis(1)));
    let begin = Instant::now();
    loop {
        simulation.run(Duration::ZERO, None, &mut samples).unwrap();
        if simulation.ended().is_some() {
            break;
        }
        assert!(begin.elapsed() < Duration::from_secs(60), "no limit");
    }
    assert_eq!(simulation.ended(), Some(StopReason::MaxTime));
    assert!(simulation.iterations() > 0);
}
