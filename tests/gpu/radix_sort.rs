//! The radix sort against a stable sort on the CPU.

use bevy_rapier_molecules::gpu::{GpuDevice, GpuVec, Length, RadixSorter, begin_pass};

use crate::common::gpu_device::device;
use crate::prefix_sum::{LENGTHS, random_values};

/// Sorts the first `count` keys of `bits` bits, with their indices as values; the rest must not
/// change.
fn assert_sorted(device: &GpuDevice, all: &[u32], count: usize, bits: u32) {
    let indices: Vec<u32> = (0..all.len() as u32).collect();
    let keys = GpuVec::from_slice(device, "keys", all).unwrap();
    let values = GpuVec::from_slice(device, "values", &indices).unwrap();
    let counts = GpuVec::from_slice(device, "counts", &[count as u32]).unwrap();
    let length = if count == all.len() {
        Length::Host(count as u32)
    } else {
        Length::Device {
            counts: &counts,
            slot: 0,
            max: all.len() as u32,
        }
    };
    let sorter = RadixSorter::new(device).unwrap();
    let plan = sorter.plan(device, &keys, &values, length, bits).unwrap();
    let mut encoder = device.encoder("test");
    sorter.record(&mut begin_pass(&mut encoder, "radix sort"), &plan);
    device.submit(encoder).unwrap();
    let mut order = indices;
    order[..count].sort_by_key(|&index| all[index as usize]);
    let case = format!("{count} of {} keys of {bits} bits", all.len());
    assert!(values.read(device).unwrap() == order, "{case}");
    let sorted: Vec<u32> = order.iter().map(|&index| all[index as usize]).collect();
    assert!(keys.read(device).unwrap() == sorted, "{case}");
}

#[test]
fn pairs_are_in_stable_order_at_every_length() {
    let Some(device) = device() else { return };
    for count in LENGTHS.into_iter().filter(|&count| count <= 1_048_577) {
        let keys = random_values(count, u32::MAX);
        assert_sorted(&device, &keys, keys.len(), 32);
    }
}

#[test]
fn keys_with_few_bits_are_in_stable_order() {
    let Some(device) = device() else { return };
    for bits in [1, 3, 8, 9, 17, 24] {
        let keys = random_values(20_000, 1 << bits);
        assert_sorted(&device, &keys, keys.len(), bits);
    }
    assert_sorted(&device, &[7; 5000], 5000, 3);
}

#[test]
fn pairs_beyond_a_length_on_the_device_are_not_touched() {
    let Some(device) = device() else { return };
    let keys = random_values(5000, 100_000);
    for count in [0, 1, 256, 1024, 1025, 4999] {
        assert_sorted(&device, &keys, count, 17);
    }
}
