//! Timing of passes.

use std::time::{Duration, Instant};

use bevy_rapier_molecules::gpu::{GpuUniformGrid, GpuVec, Length, PassTimer, PrefixSum};
use bevy_rapier_molecules::search::PairSearch;
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;

use crate::common::gpu_device::device;

#[test]
fn every_pass_is_timed_if_the_adapter_has_timestamps() {
    let Some(device) = device() else { return };
    let values = GpuVec::from_slice(&device, "values", &vec![1; 1 << 20]).unwrap();
    let scanner = PrefixSum::new(&device).unwrap();
    let plan = scanner
        .plan(&device, &values, Length::Host(1 << 20))
        .unwrap();
    let mut timer = PassTimer::new(&device).unwrap();
    // A second read returns only the passes since the first.
    for labels in [&["first", "second"][..], &["third"]] {
        let start = Instant::now();
        let mut encoder = device.encoder("test");
        for &label in labels {
            scanner.record(&mut timer.begin(&mut encoder, label), &plan);
        }
        device.submit(encoder).unwrap();
        let times = timer.read(&device).unwrap();
        let elapsed = start.elapsed();
        if device.has_timestamps() {
            assert!(
                times
                    .iter()
                    .map(|pass| pass.label)
                    .eq(labels.iter().copied())
            );
            assert!(times.iter().all(|pass| pass.time > Duration::ZERO));
            assert!(times.iter().map(|pass| pass.time).sum::<Duration>() <= elapsed);
        } else {
            assert!(times.is_empty());
        }
    }
}

#[test]
fn passes_beyond_the_capacity_of_a_timer_run_untimed() {
    let Some(device) = device() else { return };
    let values = GpuVec::from_slice(&device, "values", &[1, 0, 0]).unwrap();
    let scanner = PrefixSum::new(&device).unwrap();
    let plan = scanner.plan(&device, &values, Length::Host(3)).unwrap();
    let mut timer = PassTimer::new(&device).unwrap();
    let mut encoder = device.encoder("test");
    for _ in 0..600 {
        scanner.record(&mut timer.begin(&mut encoder, "scan"), &plan);
    }
    device.submit(encoder).unwrap();
    let timed = timer.read(&device).unwrap().len();
    assert_eq!(timed, if device.has_timestamps() { 512 } else { 0 });
    // 1 0 0 → 0 1 1 → 0 0 1 → 0 0 0.
    assert_eq!(values.read(&device).unwrap(), [0, 0, 0]);
}

#[test]
fn the_stages_of_a_search_are_timed_on_request() {
    let Some(device) = device() else { return };
    let mut spheres = SphereSet::new();
    for owner in 0..1000 {
        let center = Vec3::X * 0.15 * owner as f32;
        spheres.push(center, 0.1, owner).unwrap();
    }
    let mut grid = GpuUniformGrid::new(device.clone()).unwrap();
    assert_eq!(grid.count_pairs(&spheres, 0.0), Ok(999));
    assert!(grid.stage_times().is_empty());
    grid.time_stages(true).unwrap();
    for _ in 0..2 {
        assert_eq!(grid.count_pairs(&spheres, 0.0), Ok(999));
        let labels: Vec<_> = grid.stage_times().iter().map(|pass| pass.label).collect();
        if device.has_timestamps() {
            assert_eq!(labels, ["insert", "prefix sum", "sort", "detect"]);
        } else {
            assert!(labels.is_empty());
        }
    }
    grid.time_stages(false).unwrap();
    assert_eq!(grid.count_pairs(&spheres, 0.0), Ok(999));
    assert!(grid.stage_times().is_empty());
}
