//! The counting sort against a stable sort on the CPU.

use bevy_rapier_molecules::gpu::shader_types::GpuSortParams;
use bevy_rapier_molecules::gpu::{
    CountingSorter, GpuDevice, GpuOptions, GpuSumMax, GpuVec, SortInput, SortSize, begin_pass,
};

use crate::common::gpu_device::{device, unless_required};
use crate::prefix_sum::{LENGTHS, random_values};

/// Starts of the bins, order of the items, and occupancy of the bins.
fn sort(device: &GpuDevice, keys: &[u32], bins: u32) -> (Vec<u32>, Vec<u32>, GpuSumMax) {
    let size = SortSize {
        items: keys.len() as u32,
        bins,
    };
    let sorter = CountingSorter::new(device).unwrap();
    let occupancy = GpuVec::from_slice(device, "occupancy", &[GpuSumMax::default()]).unwrap();
    let input = SortInput {
        keys: &GpuVec::from_slice(device, "keys", keys).unwrap(),
        lengths: &GpuVec::from_slice(device, "lengths", &[size.items, bins + 1]).unwrap(),
        slots: GpuSortParams {
            item_slot: 0,
            bin_slot: 1,
        },
        max: size,
        occupancy: &occupancy,
    };
    let plan = sorter.plan(device, input).unwrap();
    let mut encoder = device.encoder("test");
    // Twice, since a sort must not depend on what the previous one left behind.
    let mut pass = begin_pass(&mut encoder, "sort");
    sorter.record(&mut pass, &plan, size);
    sorter.record(&mut pass, &plan, size);
    drop(pass);
    device.submit(encoder).unwrap();
    (
        plan.starts().read(device).unwrap(),
        plan.order().read(device).unwrap(),
        occupancy.read(device).unwrap()[0],
    )
}

fn assert_sorted(device: &GpuDevice, keys: &[u32], bins: u32) {
    let (starts, order, occupancy) = sort(device, keys, bins);
    let mut expected: Vec<u32> = (0..keys.len() as u32).collect();
    expected.sort_by_key(|&item| keys[item as usize]);
    assert!(order == expected, "{} keys in {bins} bins", keys.len());
    let mut counts = vec![0_u64; bins as usize];
    for &key in keys {
        counts[key as usize] += 1;
    }
    let mut sum = 0;
    for (bin, &count) in counts.iter().enumerate() {
        assert_eq!(u64::from(starts[bin]), sum, "start of bin {bin}");
        sum += count;
    }
    assert_eq!(u64::from(starts[bins as usize]), sum);
    assert_eq!(
        occupancy.sum(),
        counts.iter().map(|count| count * count).sum::<u64>()
    );
    assert_eq!(
        u64::from(occupancy.max),
        counts.iter().copied().max().unwrap_or(0)
    );
}

#[test]
fn items_are_in_stable_order_at_every_length() {
    let Some(device) = device() else { return };
    for count in LENGTHS {
        let bins = (2 * count).max(1);
        assert_sorted(&device, &random_values(count, bins), bins);
    }
}

#[test]
fn full_bins_are_in_stable_order() {
    let Some(device) = device() else { return };
    for (count, bins) in [(5000, 1), (5000, 2), (20_000, 7), (3000, 100_000)] {
        assert_sorted(&device, &random_values(count, bins), bins);
    }
}

#[test]
fn a_dispatch_in_two_dimensions_reaches_every_item() {
    let limits = wgpu::Limits {
        max_compute_workgroups_per_dimension: 4096,
        ..wgpu::Limits::default()
    };
    let options = GpuOptions {
        max_limits: Some(limits),
        ..GpuOptions::default()
    };
    let Some(device) = unless_required(GpuDevice::headless(&options)) else {
        return;
    };
    assert_eq!(device.limits().max_compute_workgroups_per_dimension, 4096);
    let (count, bins) = (3_000_001, 5_000_000);
    assert_sorted(&device, &random_values(count, bins), bins);
}

/// Comparing all items would take 2³⁸ comparisons.
#[test]
fn overcrowded_bins_are_reported_and_not_ranked() {
    let Some(device) = device() else { return };
    let items = 1 << 19;
    let (starts, _, occupancy) = sort(&device, &vec![3; items], 10);
    assert!(occupancy.is_overcrowded());
    assert_eq!(occupancy.max, items as u32);
    assert_eq!(starts[3..5], [0, items as u32]);
}
