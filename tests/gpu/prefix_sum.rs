//! The prefix sum against a loop on the CPU.

use bevy_rapier_molecules::gpu::{GpuDevice, GpuVec, Length, PrefixSum, begin_pass};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::gpu_device::device;

/// Around the sizes of workgroups, blocks and blocks of blocks.
pub const LENGTHS: [u32; 14] = [
    0, 1, 2, 255, 256, 257, 1023, 1024, 1025, 10_000, 1_000_000, 1_048_576, 1_048_577, 3_000_001,
];

pub fn random_values(count: u32, below: u32) -> Vec<u32> {
    let mut random = Pcg64Mcg::seed_from_u64(u64::from(count) + 1);
    (0..count).map(|_| random.random_range(0..below)).collect()
}

/// CPU reference: each value becomes the sum of those before it; returns the total.
fn scan_on_cpu(values: &mut [u32]) -> u32 {
    let mut sum = 0_u32;
    for value in values {
        let next = sum.wrapping_add(*value);
        *value = std::mem::replace(&mut sum, next);
    }
    sum
}

fn scan(device: &GpuDevice, values: &mut GpuVec<u32>, length: Length<'_>) -> u32 {
    let scanner = PrefixSum::new(device).unwrap();
    let plan = scanner.plan(device, values, length).unwrap();
    let mut encoder = device.encoder("test");
    scanner.record(&mut begin_pass(&mut encoder, "scan"), &plan);
    device.submit(encoder).unwrap();
    plan.total().read(device).unwrap()[0]
}

#[test]
fn prefix_sums_equal_those_of_the_cpu_at_every_length() {
    let Some(device) = device() else { return };
    for count in LENGTHS {
        let mut expected = random_values(count, 10_000);
        let mut values = GpuVec::from_slice(&device, "values", &expected).unwrap();
        let total = scan(&device, &mut values, Length::Host(count));
        assert_eq!(total, scan_on_cpu(&mut expected), "{count} values");
        assert!(values.read(&device).unwrap() == expected, "{count} values");
    }
}

#[test]
fn prefix_sums_wrap_like_those_of_the_cpu() {
    let Some(device) = device() else { return };
    let mut expected = random_values(5000, u32::MAX);
    let mut values = GpuVec::from_slice(&device, "values", &expected).unwrap();
    let total = scan(&device, &mut values, Length::Host(5000));
    assert_eq!(total, scan_on_cpu(&mut expected));
    assert!(values.read(&device).unwrap() == expected);
}

#[test]
fn values_beyond_a_length_on_the_device_are_not_touched() {
    let Some(device) = device() else { return };
    let max = 1_500_000;
    let all = random_values(max, 100);
    for count in [0, 1, 1000, 1024, 1025, 1_048_577, max] {
        let mut expected = all.clone();
        let sum = scan_on_cpu(&mut expected[..count as usize]);
        let counts = GpuVec::from_slice(&device, "counts", &[7, 9, count]).unwrap();
        let mut values = GpuVec::from_slice(&device, "values", &all).unwrap();
        let length = Length::Device {
            counts: &counts,
            slot: 2,
            max,
        };
        assert_eq!(scan(&device, &mut values, length), sum, "{count} values");
        assert!(values.read(&device).unwrap() == expected, "{count} values");
    }
}

#[test]
fn prefix_sums_recorded_in_one_pass_run_in_order() {
    let Some(device) = device() else { return };
    let mut expected = random_values(3000, 10);
    let values = GpuVec::from_slice(&device, "values", &expected).unwrap();
    let scanner = PrefixSum::new(&device).unwrap();
    let plan = scanner.plan(&device, &values, Length::Host(3000)).unwrap();
    let mut encoder = device.encoder("test");
    let mut pass = begin_pass(&mut encoder, "scans");
    for _ in 0..3 {
        scanner.record(&mut pass, &plan);
        scan_on_cpu(&mut expected);
    }
    drop(pass);
    device.submit(encoder).unwrap();
    assert!(values.read(&device).unwrap() == expected);
}
