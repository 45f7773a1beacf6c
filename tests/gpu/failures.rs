//! Everything that can fail on a device, made to fail: a typed error each time, no panic.

use bevy_rapier_molecules::gpu::{
    GpuDevice, GpuError, GpuOptions, GpuVec, Length, Scanner, begin_pass,
};

use crate::gpu_device::unless_required;

/// A device of one's own, to be broken.
#[track_caller]
fn own_device(options: &GpuOptions) -> Option<GpuDevice> {
    unless_required(GpuDevice::headless(options))
}

#[test]
fn without_an_adapter_there_is_no_device() {
    let error = GpuDevice::headless(&GpuOptions {
        backends: wgpu::Backends::empty(),
        ..GpuOptions::default()
    })
    .unwrap_err();
    assert!(matches!(error, GpuError::NoAdapter { .. }), "{error}");
}

#[test]
fn a_software_adapter_is_refused_where_it_is_not_wanted() {
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
            assert!(matches!(error, GpuError::NoAdapter { .. }), "{error}");
            assert!(device.summary().is_software());
        }
    }
}

#[test]
fn an_adapter_that_is_too_small_is_refused_by_name() {
    let Some(_) = own_device(&GpuOptions::default()) else {
        return;
    };
    let small = wgpu::Limits {
        max_compute_invocations_per_workgroup: 128,
        ..wgpu::Limits::default()
    };
    let error = GpuDevice::headless(&GpuOptions {
        at_most: Some(small),
        ..GpuOptions::default()
    })
    .unwrap_err();
    let expected = GpuError::MissingLimit {
        what: "threads of a workgroup",
        needed: 256,
        available: 128,
    };
    assert_eq!(error, expected);
}

#[test]
fn an_array_larger_than_a_binding_is_refused_with_what_would_fit() {
    let limits = wgpu::Limits {
        max_storage_buffer_binding_size: 4096,
        ..wgpu::Limits::default()
    };
    let Some(device) = own_device(&GpuOptions {
        at_most: Some(limits),
        ..GpuOptions::default()
    }) else {
        return;
    };
    let error = GpuVec::<u32>::new(&device, "numbers", 1025).unwrap_err();
    let expected = GpuError::BindingTooLarge {
        what: "numbers",
        bytes: 4100,
        limit: 4096,
        fits: 1024,
    };
    assert_eq!(error, expected);
    let mut fits = GpuVec::<u32>::new(&device, "numbers", 700).unwrap();
    assert_eq!(fits.capacity(), 1024);
    // An array that may not grow stays as it was.
    fits.upload(&device, &[5; 700]).unwrap();
    assert!(fits.resize(&device, 2000).is_err());
    assert_eq!(fits.read(&device).unwrap(), [5; 700]);
}

#[test]
fn an_array_beyond_the_allowed_memory_is_an_error() {
    let Some(device) = own_device(&GpuOptions {
        memory_bytes: Some(10_000),
        ..GpuOptions::default()
    }) else {
        return;
    };
    let numbers = GpuVec::<u32>::new(&device, "numbers", 1024).unwrap();
    let error = GpuVec::<u32>::new(&device, "numbers", 2048).unwrap_err();
    assert_eq!(error, GpuError::OutOfMemory);
    assert_eq!(device.memory_in_use(), 4096);
    drop(numbers);
    assert_eq!(device.memory_in_use(), 0);
    assert!(GpuVec::<u32>::new(&device, "numbers", 2048).is_ok());
}

#[test]
fn what_a_device_refuses_is_an_error_and_the_device_goes_on() {
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
    assert!(matches!(error, Err(GpuError::Refused { .. })), "{error:?}");
    let numbers = GpuVec::from_slice(&device, "numbers", &[1_u32, 2, 3]).unwrap();
    assert_eq!(numbers.read(&device).unwrap(), [1, 2, 3]);
}

/// Whatever is done with a lost device says that it is lost.
fn assert_all_fails(device: &GpuDevice, numbers: &mut GpuVec<u32>, scanner: &Scanner) {
    let assert_lost = |result: Result<(), GpuError>| {
        let error = result.expect_err("the device is lost");
        assert!(matches!(error, GpuError::DeviceLost { .. }), "{error}");
    };
    assert_lost(numbers.read(device).map(|_| ()));
    assert_lost(Scanner::new(device).map(|_| ()));
    let array = GpuVec::from_slice(device, "array", &[1; 10]);
    if let Ok(array) = array {
        // A borrowed device does not tell us before something fails.
        assert_lost(array.read(device).map(|_| ()));
        assert_lost(
            scanner
                .plan(device, &array, Length::Host(10))
                .and_then(|plan| plan.total().read(device))
                .map(|_| ()),
        );
    }
}

#[test]
fn a_device_lost_in_mid_run_is_an_error_everywhere() {
    let Some(device) = own_device(&GpuOptions::default()) else {
        return;
    };
    let scanner = Scanner::new(&device).unwrap();
    let mut numbers = GpuVec::from_slice(&device, "numbers", &[1; 5000]).unwrap();
    let plan = scanner.plan(&device, &numbers, Length::Host(5000)).unwrap();
    let mut encoder = device.encoder("test");
    scanner.record(&mut begin_pass(&mut encoder, "scan"), &plan);
    device.submit(encoder).unwrap();
    let mut encoder = device.encoder("test");
    scanner.record(&mut begin_pass(&mut encoder, "scan"), &plan);
    device.raw().destroy();
    // Whether the submission notices already is up to wgpu; reading must.
    let _ = device.submit(encoder);
    assert_all_fails(&device, &mut numbers, &scanner);
    assert!(device.wait().is_err());
}

#[test]
fn a_borrowed_device_that_is_lost_is_an_error_everywhere() {
    let Some(owner) = own_device(&GpuOptions::default()) else {
        return;
    };
    let device = GpuDevice::borrowed(owner.raw().clone(), owner.queue().clone()).unwrap();
    assert_eq!(device.summary(), owner.summary());
    let scanner = Scanner::new(&device).unwrap();
    let mut numbers = GpuVec::from_slice(&device, "numbers", &[1; 5000]).unwrap();
    owner.raw().destroy();
    assert_all_fails(&device, &mut numbers, &scanner);
}
