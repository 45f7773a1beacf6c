//! The counting sort against a stable sort on the CPU.

use bevy_rapier_molecules::gpu::tables::GpuSortParams;
use bevy_rapier_molecules::gpu::{
    GpuDevice, GpuMeasure, GpuOptions, GpuVec, SortInput, SortSize, Sorter, begin_pass,
};

use crate::common::gpu_device::{device, unless_required};
use crate::scan::{LENGTHS, random_values};

/// Starts of the bins, order of the items, and measure of the bins.
fn sort(device: &GpuDevice, keys: &[u32], bins: u32) -> (Vec<u32>, Vec<u32>, GpuMeasure) {
    let size = SortSize {
        items: keys.len() as u32,
        bins,
    };
    let sorter = Sorter::new(device).unwrap();
    let measured = GpuVec::from_slice(device, "measured", &[GpuMeasure::default()]).unwrap();
    let input = SortInput {
        keys: &GpuVec::from_slice(device, "keys", keys).unwrap(),
        lengths: &GpuVec::from_slice(device, "lengths", &[size.items, bins + 1]).unwrap(),
        slots: GpuSortParams {
            item_slot: 0,
            bin_slot: 1,
        },
        most: size,
        measured: &measured,
    };
    let plan = sorter.plan(device, input).unwrap();
    let mut encoder = device.encoder("test");
    // Twice: what a sort leaves behind must not disturb the next.
    let mut pass = begin_pass(&mut encoder, "sort");
    sorter.record(&mut pass, &plan, size);
    sorter.record(&mut pass, &plan, size);
    drop(pass);
    device.submit(encoder).unwrap();
    (
        plan.starts().read(device).unwrap(),
        plan.order().read(device).unwrap(),
        measured.read(device).unwrap()[0],
    )
}

fn assert_sorted(device: &GpuDevice, keys: &[u32], bins: u32) {
    let (starts, order, measure) = sort(device, keys, bins);
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
        measure.sum(),
        counts.iter().map(|count| count * count).sum()
    );
    assert_eq!(
        u64::from(measure.most),
        counts.iter().copied().max().unwrap_or(0)
    );
}

#[test]
fn items_are_in_the_order_of_a_stable_sort_at_every_length() {
    let Some(device) = device() else { return };
    for count in LENGTHS {
        let bins = (2 * count).max(1);
        assert_sorted(&device, &random_values(count, bins), bins);
    }
}

#[test]
fn full_bins_keep_the_order_of_their_items() {
    let Some(device) = device() else { return };
    for (count, bins) in [(5000, 1), (5000, 2), (20_000, 7), (3000, 100_000)] {
        assert_sorted(&device, &random_values(count, bins), bins);
    }
}

/// Where few groups fit one dimension of a dispatch.
#[test]
fn a_folded_dispatch_reaches_every_item() {
    let limits = wgpu::Limits {
        max_compute_workgroups_per_dimension: 4096,
        ..wgpu::Limits::default()
    };
    let options = GpuOptions {
        at_most: Some(limits),
        ..GpuOptions::default()
    };
    let Some(device) = unless_required(GpuDevice::headless(&options)) else {
        return;
    };
    assert_eq!(device.limits().max_compute_workgroups_per_dimension, 4096);
    let (count, bins) = (3_000_001, 5_000_000);
    assert_sorted(&device, &random_values(count, bins), bins);
}

/// Comparing them would take 2³⁸ comparisons.
#[test]
fn bins_that_are_too_full_are_measured_and_not_compared() {
    let Some(device) = device() else { return };
    let items = 1 << 19;
    let (starts, _, measure) = sort(&device, &vec![3; items], 10);
    assert!(measure.is_crowded());
    assert_eq!(measure.most, items as u32);
    assert_eq!(starts[3..5], [0, items as u32]);
}
