//! Failures of a device are typed errors, never panics.

use std::sync::Arc;

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::gpu::{
    GpuBruteForce, GpuDevice, GpuOptions, GpuUniformGrid, GpuVec, Length, PrefixSum, begin_pass,
};
use bevy_rapier_molecules::search::{PairBuffer, PairSearch, SearchError, UniformGrid};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;

use crate::common::gpu_device::unless_required;

/// A device that the test may break.
#[track_caller]
fn own_device(options: &GpuOptions) -> Option<GpuDevice> {
    unless_required(GpuDevice::headless(options))
}

/// A device with lower limits.
#[track_caller]
fn limited_device(limits: wgpu::Limits) -> Option<GpuDevice> {
    own_device(&GpuOptions {
        max_limits: Some(limits),
        ..GpuOptions::default()
    })
}

#[test]
fn without_an_adapter_there_is_no_device() {
    let error = GpuDevice::headless(&GpuOptions {
        interfaces: wgpu::Backends::empty(),
        ..GpuOptions::default()
    })
    .unwrap_err();
    assert!(matches!(error, DeviceError::NoAdapter { .. }), "{error}");
}

#[test]
fn a_software_adapter_is_used_only_if_allowed() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let found = GpuDevice::headless(&GpuOptions {
        allow_software: false,
        ..GpuOptions::default()
    });
    match found {
        Ok(found) => assert!(!found.summary().is_software()),
        Err(error) => {
            assert!(matches!(error, DeviceError::NoAdapter { .. }), "{error}");
            assert!(device.summary().is_software());
        }
    }
}

#[test]
fn a_missing_limit_is_named() {
    let Some(_) = own_device(&GpuOptions::default()) else {
        return;
    };
    let small = wgpu::Limits {
        max_compute_invocations_per_workgroup: 128,
        ..wgpu::Limits::default()
    };
    let error = GpuDevice::headless(&GpuOptions {
        max_limits: Some(small),
        ..GpuOptions::default()
    })
    .unwrap_err();
    let expected = DeviceError::MissingLimit {
        limit: "threads per workgroup",
        needed: 256,
        available: 128,
    };
    assert_eq!(error, expected);
}

#[test]
fn a_buffer_larger_than_a_binding_is_an_error_that_says_what_fits() {
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: 4096,
        ..wgpu::Limits::default()
    };
    let Some(device) = limited_device(limits) else {
        return;
    };
    let error = GpuVec::<u32>::new(&device, "numbers", 1025).unwrap_err();
    let expected = DeviceError::BindingTooLarge {
        buffer: "numbers",
        bytes: 4100,
        limit: 4096,
        fits: 1024,
    };
    assert_eq!(error, expected);
    let mut fits = GpuVec::<u32>::new(&device, "numbers", 700).unwrap();
    assert_eq!(fits.capacity(), 1024);
    // A buffer that fails to grow is unchanged.
    fits.upload(&device, &[5; 700]).unwrap();
    assert!(fits.resize(&device, 2000).is_err());
    assert_eq!(fits.read(&device).unwrap(), [5; 700]);
}

#[test]
fn a_buffer_beyond_the_memory_limit_is_an_error() {
    let Some(device) = own_device(&GpuOptions {
        memory_bytes: Some(10_000),
        ..GpuOptions::default()
    }) else {
        return;
    };
    let numbers = GpuVec::<u32>::new(&device, "numbers", 1024).unwrap();
    let error = GpuVec::<u32>::new(&device, "numbers", 2048).unwrap_err();
    assert_eq!(error, DeviceError::OutOfMemory);
    assert_eq!(device.memory_in_use(), 4096);
    drop(numbers);
    assert_eq!(device.memory_in_use(), 0);
    assert!(GpuVec::<u32>::new(&device, "numbers", 2048).is_ok());
}

#[test]
fn rejected_work_is_an_error_and_the_device_stays_usable() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let error = device.guarded(|| {
        device.raw().create_buffer(&wgpu::BufferDescriptor {
            label: None,
            size: 16,
            usage: wgpu::BufferUsages::empty(),
            mapped_at_creation: false,
        })
    });
    assert!(
        matches!(error, Err(DeviceError::Rejected { .. })),
        "{error:?}"
    );
    let numbers = GpuVec::from_slice(&device, "numbers", &[1_u32, 2, 3]).unwrap();
    assert_eq!(numbers.read(&device).unwrap(), [1, 2, 3]);
}

#[test]
fn an_error_outside_of_any_scope_is_reported_by_the_next_call_only() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let stray = device.raw().create_buffer(&wgpu::BufferDescriptor {
        label: None,
        size: 16,
        usage: wgpu::BufferUsages::empty(),
        mapped_at_creation: false,
    });
    let error = device.guarded(|| ()).unwrap_err();
    assert!(matches!(error, DeviceError::Rejected { .. }), "{error}");
    drop(stray);
    assert_eq!(device.guarded(|| 5), Ok(5));
}

/// Asserts that every operation returns [`DeviceError::Lost`].
fn assert_all_fails(device: &GpuDevice, numbers: &mut GpuVec<u32>, scanner: &PrefixSum) {
    let assert_lost = |result: Result<(), DeviceError>| {
        let error = result.expect_err("the device is lost");
        assert!(matches!(error, DeviceError::Lost { .. }), "{error}");
    };
    assert_lost(numbers.read(device).map(|_| ()));
    assert_lost(PrefixSum::new(device).map(|_| ()));
    let array = GpuVec::from_slice(device, "array", &[1; 10]);
    if let Ok(array) = array {
        // The loss of a borrowed device is noticed only when an operation fails.
        assert_lost(array.read(device).map(|_| ()));
        assert_lost(
            scanner
                .plan(device, &array, Length::Host(10))
                .and_then(|plan| plan.total().read(device))
                .map(|_| ()),
        );
    }
}

/// The grid and its sorter have several entry points per source.
#[test]
fn each_shader_source_is_compiled_once() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let device = Arc::new(device);
    assert_eq!(device.shader_module_count(), 0);
    let _scanner = PrefixSum::new(&device).unwrap();
    assert_eq!(device.shader_module_count(), 1, "two entry points");
    let _searches = searches(&device);
    let count = device.shader_module_count();
    let _more = searches(&device);
    assert_eq!(device.shader_module_count(), count);
}

#[test]
fn every_operation_on_a_lost_device_is_an_error() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let scanner = PrefixSum::new(&device).unwrap();
    let mut numbers = GpuVec::from_slice(&device, "numbers", &[1; 5000]).unwrap();
    let plan = scanner.plan(&device, &numbers, Length::Host(5000)).unwrap();
    let mut encoder = device.encoder("test");
    scanner.record(&mut begin_pass(&mut encoder, "scan"), &plan);
    device.submit(encoder).unwrap();
    let mut encoder = device.encoder("test");
    scanner.record(&mut begin_pass(&mut encoder, "scan"), &plan);
    device.raw().destroy();
    // wgpu may or may not report the loss here; reading must.
    let _ = device.submit(encoder);
    assert_all_fails(&device, &mut numbers, &scanner);
    assert!(device.wait().is_err());
}

#[test]
fn every_operation_on_a_lost_borrowed_device_is_an_error() {
    let Some(owner) = own_device(&GpuOptions::default()) else {
        return;
    };
    let device = GpuDevice::borrowed(owner.raw().clone(), owner.queue().clone()).unwrap();
    assert_eq!(device.summary(), owner.summary());
    let scanner = PrefixSum::new(&device).unwrap();
    let mut numbers = GpuVec::from_slice(&device, "numbers", &[1; 5000]).unwrap();
    owner.raw().destroy();
    assert_all_fails(&device, &mut numbers, &scanner);
}

/// A row of spheres of different owners, each overlapping the next.
fn row(count: u32) -> SphereSet {
    let mut spheres = SphereSet::new();
    for owner in 0..count {
        let center = Vec3::X * 0.15 * owner as f32;
        spheres.push(center, 0.1, owner).unwrap();
    }
    spheres
}

/// The searches under test.
fn searches(device: &Arc<GpuDevice>) -> [Box<dyn PairSearch>; 2] {
    [
        Box::new(GpuUniformGrid::new(Arc::clone(device)).unwrap()),
        Box::new(GpuBruteForce::new(Arc::clone(device)).unwrap()),
    ]
}

#[test]
fn a_scene_larger_than_a_binding_is_an_error_that_says_what_fits() {
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: 64 << 10,
        ..wgpu::Limits::default()
    };
    let Some(device) = limited_device(limits) else {
        return;
    };
    let device = Arc::new(device);
    assert_eq!(
        GpuUniformGrid::new(Arc::clone(&device))
            .unwrap()
            .max_spheres(),
        4096
    );
    for mut search in searches(&device) {
        let mut pairs = PairBuffer::new();
        let error = search.find_pairs(&row(4097), 0.0, &mut pairs).unwrap_err();
        let expected = DeviceError::TooManySpheres {
            spheres: 4097,
            fit: 4096,
        };
        assert_eq!(error, SearchError::Device(expected));
        // The largest scene that fits is searched, with pairs in many windows.
        let spheres = row(4096);
        search.find_pairs(&spheres, 2.0, &mut pairs).unwrap();
        assert!(pairs.len() > 3 * 8192, "{} pairs", pairs.len());
        let mut expected = PairBuffer::new();
        UniformGrid::new()
            .find_pairs(&spheres, 2.0, &mut expected)
            .unwrap();
        assert!(pairs.to_sorted_vec() == expected.to_sorted_vec());
    }
}

/// Each size runs out of memory at another allocation.
#[test]
fn a_search_that_runs_out_of_memory_stays_usable() {
    for memory in [250_000, 350_000, 450_000, 600_000] {
        let Some(device) = own_device(&GpuOptions {
            memory_bytes: Some(memory),
            ..GpuOptions::default()
        }) else {
            return;
        };
        for mut search in searches(&Arc::new(device)) {
            let mut pairs = PairBuffer::new();
            search.find_pairs(&row(100), 0.0, &mut pairs).unwrap();
            assert_eq!(pairs.len(), 99);
            let error = search
                .find_pairs(&row(16_000), 0.6, &mut pairs)
                .expect_err("there is not enough memory");
            assert!(
                matches!(&error, SearchError::Device(error) if error.is_out_of_space()),
                "{error}"
            );
            assert!(pairs.is_empty());
            // Other spheres than before, to detect stale buffers.
            let mut apart = row(120);
            apart.set_radius(0.01).unwrap();
            let name = search.name();
            assert_eq!(search.count_pairs(&apart, 0.0), Ok(0), "{name}, {memory}");
            search.find_pairs(&row(120), 0.0, &mut pairs).unwrap();
            assert_eq!(pairs.len(), 119, "{name}, {memory}");
        }
    }
}

fn is_lost(error: &SearchError) -> bool {
    matches!(error, SearchError::Device(error) if error.is_lost())
}

#[test]
fn a_search_on_a_lost_device_is_an_error() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let device = Arc::new(device);
    let mut searches = searches(&device);
    let spheres = row(1000);
    let mut pairs = PairBuffer::new();
    for search in &mut searches {
        search.find_pairs(&spheres, 0.0, &mut pairs).unwrap();
        assert_eq!(pairs.len(), 999);
    }
    device.raw().destroy();
    for search in &mut searches {
        let error = search.find_pairs(&spheres, 0.0, &mut pairs).unwrap_err();
        assert!(is_lost(&error), "{error}");
        assert!(pairs.is_empty());
        let error = search.count_pairs(&spheres, 0.0).unwrap_err();
        assert!(is_lost(&error), "{error}");
    }
    UniformGrid::new()
        .find_pairs(&spheres, 0.0, &mut pairs)
        .unwrap();
    assert_eq!(pairs.len(), 999);
}

/// A thread compares with all other spheres in one loop, and lavapipe limits its iterations.
#[test]
fn brute_force_limits_the_number_of_spheres() {
    let Some(device) = crate::common::gpu_device::device() else {
        return;
    };
    let mut search = GpuBruteForce::new(device).unwrap();
    let error = search.count_pairs(&row(1_048_561), 0.0).unwrap_err();
    assert_eq!(
        error,
        SearchError::Device(DeviceError::TooManySpheres {
            spheres: 1_048_561,
            fit: 1_048_560,
        })
    );
    let few = row(20);
    let expected = UniformGrid::new().count_pairs(&few, 0.0);
    assert_eq!(search.count_pairs(&few, 0.0), expected);
}
