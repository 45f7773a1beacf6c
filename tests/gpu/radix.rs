//! The radix sort against a stable sort on the CPU.

use bevy_rapier_molecules::gpu::{GpuDevice, GpuVec, Length, RadixSorter, begin_pass};

use crate::common::gpu_device::device;
use crate::scan::{LENGTHS, random_values};

/// Sorts keys of so many bits, with their places as values; all beyond `count` must stay.
fn assert_sorted(device: &GpuDevice, all: &[u32], count: usize, bits: u32) {
    let places: Vec<u32> = (0..all.len() as u32).collect();
    let keys = GpuVec::from_slice(device, "keys", all).unwrap();
    let values = GpuVec::from_slice(device, "values", &places).unwrap();
    let counts = GpuVec::from_slice(device, "counts", &[count as u32]).unwrap();
    let length = if count == all.len() {
        Length::Host(count as u32)
    } else {
        Length::Device {
            counts: &counts,
            slot: 0,
            at_most: all.len() as u32,
        }
    };
    let sorter = RadixSorter::new(device).unwrap();
    let plan = sorter.plan(device, &keys, &values, length, bits).unwrap();
    let mut encoder = device.encoder("test");
    sorter.record(&mut begin_pass(&mut encoder, "radix sort"), &plan);
    device.submit(encoder).unwrap();
    let mut order = places;
    order[..count].sort_by_key(|&place| all[place as usize]);
    let what = format!("{count} of {} keys of {bits} bits", all.len());
    assert!(values.read(device).unwrap() == order, "{what}");
    let sorted: Vec<u32> = order.iter().map(|&place| all[place as usize]).collect();
    assert!(keys.read(device).unwrap() == sorted, "{what}");
}

#[test]
fn pairs_are_in_the_order_of_a_stable_sort_at_every_length() {
    let Some(device) = device() else { return };
    for count in LENGTHS.into_iter().filter(|&count| count <= 1_048_577) {
        let keys = random_values(count, u32::MAX);
        assert_sorted(&device, &keys, keys.len(), 32);
    }
}

#[test]
fn keys_with_few_bits_keep_the_order_of_their_pairs() {
    let Some(device) = device() else { return };
    for bits in [1, 3, 8, 9, 17, 24] {
        let keys = random_values(20_000, 1 << bits);
        assert_sorted(&device, &keys, keys.len(), bits);
    }
    assert_sorted(&device, &[7; 5000], 5000, 3);
}

#[test]
fn a_length_that_only_the_device_knows_is_kept_to() {
    let Some(device) = device() else { return };
    let keys = random_values(5000, 100_000);
    for count in [0, 1, 256, 1024, 1025, 4999] {
        assert_sorted(&device, &keys, count, 17);
    }
}
