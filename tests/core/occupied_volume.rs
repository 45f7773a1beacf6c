//! Volumes of unions of spheres against closed forms and random points.

use std::f64::consts::PI;
use std::path::Path;

use bevy_rapier_molecules::molecule::{BodySpheres, LoadOptions, load, occupied_volume};
use glam::{DVec3, Quat, Vec3};
use rand::{Rng, RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Documented relative error of a few spheres.
const FEW: f64 = 5.0e-3;

/// Documented relative error of molecules.
const MOLECULE: f64 = 1.0e-3;

fn volume(spheres: &[(Vec3, f32)]) -> f64 {
    let (centers, radii): (Vec<Vec3>, Vec<f32>) = spheres.iter().copied().unzip();
    let (centers, radii) = (&centers[..], &radii[..]);
    f64::from(occupied_volume(BodySpheres { centers, radii }))
}

fn ball(radius: f32) -> f64 {
    4.0 / 3.0 * PI * f64::from(radius).powi(3)
}

/// The common volume of two overlapping balls at a distance.
fn lens(a: f32, b: f32, distance: f32) -> f64 {
    let [a, b, d] = [a, b, distance].map(f64::from);
    if d <= (a - b).abs() {
        return 4.0 / 3.0 * PI * a.min(b).powi(3);
    }
    let rest = d * d + 2.0 * d * (a + b) - 3.0 * (a - b).powi(2);
    PI * (a + b - d).powi(2) * rest / (12.0 * d)
}

fn assert_close(found: f64, expected: f64, error: f64, what: &str) {
    let relative = (found / expected - 1.0).abs();
    assert!(
        relative <= error,
        "{what}: {found} nm³, expected {expected}"
    );
}

fn random_point(random: &mut impl Rng, reach: f32) -> Vec3 {
    Vec3::from_array([0; 3].map(|_| random.random_range(-reach..reach)))
}

#[test]
fn no_spheres_have_no_volume() {
    assert_eq!(volume(&[]), 0.0);
}

#[test]
fn one_sphere_has_its_own_volume() {
    for radius in [1.0e-6, 0.11, 0.17, 3.0, 1.0e5] {
        for center in [Vec3::ZERO, Vec3::new(0.1, -7.3, 1.0e3)] {
            let center = center * radius;
            assert_close(
                volume(&[(center, radius)]),
                ball(radius),
                1.0e-6,
                "one sphere",
            );
        }
    }
}

#[test]
fn spheres_that_do_not_overlap_are_exact() {
    let spheres: Vec<(Vec3, f32)> = (0..1000)
        .map(|k| {
            (
                Vec3::new((k % 10) as f32, (k / 10 % 10) as f32, (k / 100) as f32),
                0.3,
            )
        })
        .collect();
    assert_close(volume(&spheres), 1000.0 * ball(0.3), 1.0e-6, "a lattice");
    let apart = [(Vec3::splat(-1.0e5), 0.001), (Vec3::splat(1.0e5), 0.5)];
    assert_close(volume(&apart), ball(0.5), 1.0e-6, "far apart");
}

#[test]
fn coincident_and_enclosed_spheres_count_once() {
    let spheres = [(Vec3::X, 0.5); 100];
    assert_close(volume(&spheres), ball(0.5), 1.0e-6, "coincident");
    let nested = [(Vec3::X, 0.5), (Vec3::X * 1.1, 0.2)];
    assert_close(volume(&nested), ball(0.5), FEW, "nested");
}

#[test]
fn two_spheres_agree_with_the_closed_form() {
    let mut random = Pcg64Mcg::seed_from_u64(1);
    for _ in 0..300 {
        let [a, b] = [0; 2].map(|_| random.random_range(0.1_f32..0.2));
        let center = random_point(&mut random, 3.0);
        let step = random_point(&mut random, 0.2);
        let expected = if step.length() < a + b {
            ball(a) + ball(b) - lens(a, b, step.length())
        } else {
            ball(a) + ball(b)
        };
        let found = volume(&[(center, a), (center + step, b)]);
        assert_close(found, expected, FEW, "two spheres");
    }
}

#[test]
fn molecules_agree_with_random_points_and_do_not_depend_on_their_rotation() {
    const POINTS: u32 = 300_000;
    let options = LoadOptions {
        radius_scale: 1.0,
        ..LoadOptions::default()
    };
    let assets = Path::new(env!("CARGO_MANIFEST_DIR")).join("assets/molecules");
    for name in ["popc.pdb", "p_xylene.pdb", "1ubq.cif"] {
        let template = load(assets.join(name), &options).unwrap();
        let spheres: Vec<(DVec3, f64)> = template
            .positions()
            .iter()
            .zip(template.radii())
            .map(|(center, radius)| (center.as_dvec3(), f64::from(*radius)))
            .collect();
        let found = f64::from(occupied_volume((&template).into()));

        let corner = |sign: f64| {
            let corners = spheres
                .iter()
                .map(|(center, radius)| sign * center + DVec3::splat(*radius));
            sign * corners.fold(DVec3::NEG_INFINITY, DVec3::max)
        };
        let (low, high) = (corner(-1.0), corner(1.0));
        let mut random = Pcg64Mcg::seed_from_u64(2);
        let inside = (0..POINTS).filter(|_| {
            let place = DVec3::from_array([0; 3].map(|_| random.random_range(0.0..1.0)));
            let point = low + place * (high - low);
            spheres
                .iter()
                .any(|(center, radius)| center.distance_squared(point) < radius * radius)
        });
        let share = inside.count() as f64 / f64::from(POINTS);
        let expected = share * (high - low).element_product();
        // Four standard deviations of the number of points.
        let noise = 4.0 * ((1.0 - share) / (share * f64::from(POINTS))).sqrt();
        assert_close(found, expected, MOLECULE + noise, name);

        for k in 1..6 {
            let turn = Quat::from_rotation_x(k as f32) * Quat::from_rotation_y(2.0 * k as f32);
            let turned: Vec<(Vec3, f32)> = template
                .positions()
                .iter()
                .zip(template.radii())
                .map(|(center, radius)| (turn * *center + Vec3::splat(0.37), *radius))
                .collect();
            assert_close(volume(&turned), found, 2.0 * MOLECULE, name);
        }
    }
}

#[test]
fn many_spheres_are_sampled_with_bounded_work() {
    // A solid block, with spheres from a thousandth to the whole.
    let mut spheres: Vec<(Vec3, f32)> = (0..64_000)
        .map(|k| Vec3::new((k % 40) as f32, (k / 40 % 40) as f32, (k / 1600) as f32))
        .map(|place| (place * 0.1, 0.09))
        .collect();
    let block = volume(&spheres);
    assert_close(block, 3.9_f64.powi(3), 0.2, "a block and its rim");
    spheres.extend((0..1000).map(|k| (Vec3::splat(0.001 * k as f32), 1.0e-5)));
    assert_close(volume(&spheres), block, FEW, "with dust");
    spheres.push((Vec3::splat(2.0), 10.0));
    assert_close(volume(&spheres), ball(10.0), FEW, "in a large sphere");
}

#[test]
fn invalid_spheres_have_no_volume() {
    let valid = (Vec3::ZERO, 0.1);
    for radius in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        let spheres = [valid, (Vec3::X, radius)];
        assert_close(volume(&spheres), ball(0.1), 1.0e-6, "an invalid radius");
    }
    let spheres = [valid, (Vec3::NAN, 0.1)];
    assert_close(volume(&spheres), ball(0.1), 1.0e-6, "an invalid center");
    // Far beyond all molecules; only the absence of panics matters.
    let _ = volume(&[(Vec3::MAX, 0.1), (Vec3::MIN, f32::MAX)]);
    let _ = volume(&[(Vec3::MAX, 1.0e-3), (Vec3::ZERO, f32::MIN_POSITIVE)]);
}
