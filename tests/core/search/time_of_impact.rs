//! The time of impact of two rigid molecules, against all pairs of spheres in 64 bits at many
//! times. No contact deeper than the tolerance is missed, and the spheres touch at the impact.

use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::{Pose, RigidMotion};
use bevy_rapier_molecules::search::{
    IMPACT_TOLERANCE_NM, Impact, MovingMolecule, RigidSpheres, first_impact, visit_impacts,
};
use glam::{DQuat, DVec3, Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Rounding of the reference, nm.
const ROUNDING_NM: f64 = 1.0e-9;

fn atoms(file: &str) -> RigidSpheres {
    let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
    RigidSpheres::atoms(&load(path, &LoadOptions::default()).unwrap())
}

fn spheres(spheres: impl IntoIterator<Item = (Vec3, f32)>) -> RigidSpheres {
    RigidSpheres::new(spheres).unwrap()
}

/// A square sheet of carbon atoms in the plane x = 0, 0.3 nm thick.
fn sheet(along: i32) -> RigidSpheres {
    let place = |k: i32| 0.14 * (k - along / 2) as f32;
    let atoms = (0..along * along).map(|k| Vec3::new(0.0, place(k % along), place(k / along)));
    spheres(atoms.map(|center| (center, 0.15)))
}

fn random_vector(random: &mut Pcg64Mcg, size: f32) -> Vec3 {
    Vec3::from_array([(); 3].map(|()| size * (2.0 * random.random::<f32>() - 1.0)))
}

fn random_rotation(random: &mut Pcg64Mcg) -> Quat {
    Quat::from_scaled_axis(random_vector(random, 3.0)).normalize()
}

/// Centers after a fraction of the motion, nm, relative to `origin`.
fn centers(molecule: &MovingMolecule, fraction: f64, origin: DVec3) -> Vec<DVec3> {
    let center = molecule.center.as_dvec3() - origin;
    let turn = DQuat::from_scaled_axis(molecule.motion.rotation.as_dvec3() * fraction);
    let rotation = molecule.pose.rotation.as_dquat().normalize();
    let arm = molecule.pose.position.as_dvec3() - molecule.center.as_dvec3();
    let place = |local: &Vec3| {
        let start = rotation * local.as_dvec3() + arm;
        center + molecule.motion.translation.as_dvec3() * fraction + turn * start
    };
    molecule.spheres.centers().iter().map(place).collect()
}

/// All gaps after a fraction of the motion, nm, first by the sphere of `a`.
fn gaps(a: &MovingMolecule, b: &MovingMolecule, fraction: f64) -> Vec<f64> {
    let origin = b.center.as_dvec3();
    let [one, other] = [a, b].map(|molecule| centers(molecule, fraction, origin));
    let mut gaps = Vec::with_capacity(one.len() * other.len());
    for (p, r) in one.iter().zip(a.spheres.radii()) {
        for (q, s) in other.iter().zip(b.spheres.radii()) {
            gaps.push(p.distance(*q) - f64::from(*r) - f64::from(*s));
        }
    }
    gaps
}

/// Checks the first impact against `samples` times and returns it.
fn check(a: &MovingMolecule, b: &MovingMolecule, gap: f32, samples: u32) -> Option<Impact> {
    let impact = first_impact(a, b, gap);
    let target = f64::from(gap);
    let levels = gaps(a, b, 0.0);
    let levels: Vec<f64> = levels.iter().map(|start| start.min(target)).collect();
    let end = impact.map_or(1.0, |impact| impact.fraction);
    for sample in 0..=samples {
        let fraction = end * f64::from(sample) / f64::from(samples);
        for (gap, level) in gaps(a, b, fraction).iter().zip(&levels) {
            let missed = level - gap;
            assert!(
                missed <= IMPACT_TOLERANCE_NM,
                "missed {missed} nm at {fraction} of {end}"
            );
        }
    }
    if let Some(impact) = impact {
        assert!((0.0..=1.0).contains(&impact.fraction));
        let pair = impact.a as usize * b.spheres.len() + impact.b as usize;
        let found = gaps(a, b, impact.fraction)[pair];
        assert!(
            found <= levels[pair] + IMPACT_TOLERANCE_NM + ROUNDING_NM,
            "stopped {found} nm early"
        );
        assert!((f64::from(impact.gap) - found).abs() < 1.0e-6);
        let later = gaps(a, b, impact.fraction + 1.0e-7)[pair];
        assert!(later < found, "they do not approach");
        let origin = b.center.as_dvec3();
        let one = centers(a, impact.fraction, origin)[impact.a as usize];
        let other = centers(b, impact.fraction, origin)[impact.b as usize];
        let normal = (other - one).normalize();
        assert!((impact.normal.as_dvec3() - normal).length() < 1.0e-6);
        let radius = f64::from(a.spheres.radii()[impact.a as usize]);
        let point = origin + one + normal * (radius + 0.5 * found);
        let rounding = 1.0e-6 * (1.0 + point.length());
        assert!(impact.point.as_dvec3().distance(point) < rounding);
    }
    impact
}

#[test]
fn no_impact_of_real_molecules_is_missed_or_early() {
    let [protein, lipid] = ["1ubq.cif", "popc.pdb"].map(atoms);
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let (mut hits, mut misses) = (0, 0);
    for turn in 0..120 {
        let (one, other) = if turn % 8 == 0 {
            (&protein, &protein)
        } else if turn % 2 == 0 {
            (&lipid, &protein)
        } else {
            (&lipid, &lipid)
        };
        let pose = Pose::new(
            random_vector(&mut random, 5.0),
            random_rotation(&mut random),
        );
        // Towards the other, more or less.
        let aim = -pose.position + random_vector(&mut random, 2.5);
        let motion = RigidMotion {
            translation: aim * [0.1, 1.0, 3.0][turn % 3],
            rotation: random_vector(&mut random, [0.0, 0.3, 4.0][turn / 3 % 3]),
        };
        let still = RigidMotion {
            rotation: random_vector(&mut random, [0.0, 2.0][turn / 9 % 2]),
            ..RigidMotion::default()
        };
        let a = MovingMolecule::new(one, pose, motion);
        let b = MovingMolecule::new(other, Pose::IDENTITY, still);
        match check(&a, &b, 0.0, 40) {
            Some(impact) if impact.fraction > 0.0 => hits += 1,
            Some(_) => {}
            None => misses += 1,
        }
    }
    assert!(hits > 25 && misses > 25, "{hits} {misses}");
}

#[test]
fn straight_impacts_agree_with_the_closed_form() {
    let one = spheres([(Vec3::ZERO, 0.15)]);
    let other = spheres([(Vec3::ZERO, 0.2)]);
    for length in [20.0_f32, 1.0e4, 1.0e9] {
        let start = Pose::from_translation(Vec3::new(-10.0, 0.1, 0.0));
        let a = MovingMolecule::new(&one, start, RigidMotion::translation(Vec3::X * length));
        let b = MovingMolecule::new(&other, Pose::IDENTITY, RigidMotion::default());
        let impact = first_impact(&a, &b, 0.0).unwrap();
        let meeting = 10.0 - (0.35_f64 * 0.35 - 0.01).sqrt();
        let traveled = impact.fraction * f64::from(length);
        assert!((traveled - meeting).abs() < 2.0e-4, "{traveled} {meeting}");
        // The second one moves instead.
        let a = MovingMolecule::new(&one, start, RigidMotion::default());
        let motion = RigidMotion::translation(Vec3::X * -length);
        let b = MovingMolecule::new(&other, Pose::IDENTITY, motion);
        let reversed = first_impact(&a, &b, 0.0).unwrap();
        assert!((reversed.fraction - impact.fraction).abs() * f64::from(length) < 1.0e-4);
        assert!(reversed.point.x < -9.5, "{}", reversed.point);
    }
}

#[test]
fn a_fast_molecule_does_not_jump_through_a_thin_sheet() {
    let (protein, sheet) = (atoms("1ubq.cif"), sheet(40));
    for speed in [10.0_f32, 100.0, 1.0e5] {
        let start = Pose::from_translation(Vec3::X * -6.0);
        let a = MovingMolecule::new(&protein, start, RigidMotion::translation(Vec3::X * speed));
        let b = MovingMolecule::new(&sheet, Pose::IDENTITY, RigidMotion::default());
        let impact = check(&a, &b, 0.0, 3).unwrap();
        let traveled = impact.fraction * f64::from(speed);
        assert!((3.5..5.0).contains(&traveled), "{traveled}");
        assert!(impact.normal.x > 0.8, "{}", impact.normal);
    }
}

#[test]
fn a_spinning_blade_hits_what_it_sweeps_over() {
    // Ten turns in one motion; the ball is only in reach of the ends.
    let blade = spheres((-20..=20).map(|k| (Vec3::X * 0.1 * k as f32, 0.06)));
    let ball = spheres([(Vec3::ZERO, 0.1)]);
    let turn = RigidMotion::rotation(Vec3::Z * 20.0 * std::f32::consts::PI);
    let a = MovingMolecule::new(&blade, Pose::IDENTITY, turn);
    for (y, hits) in [(1.5, true), (2.1, true), (2.2, false)] {
        let pose = Pose::from_translation(Vec3::Y * y);
        let b = MovingMolecule::new(&ball, pose, RigidMotion::default());
        let impact = check(&a, &b, 0.0, 2000);
        assert_eq!(impact.is_some(), hits, "{y}");
        assert!(impact.is_none_or(|impact| impact.fraction < 0.025));
    }
    // About its end instead of its middle.
    let a = MovingMolecule {
        center: Vec3::X * -2.0,
        ..a
    };
    let pose = Pose::from_translation(Vec3::new(-2.0, 4.1, 0.0));
    let b = MovingMolecule::new(&ball, pose, RigidMotion::default());
    let impact = check(&a, &b, 0.0, 2000).unwrap();
    assert_eq!(impact.a, 40);
}

#[test]
fn random_clouds_of_any_size_agree_with_all_pairs() {
    let mut random = Pcg64Mcg::seed_from_u64(2);
    let mut hits = 0;
    for (turn, count) in [0, 1, 2, 16, 17, 100, 300]
        .repeat(12)
        .into_iter()
        .enumerate()
    {
        let mut cloud = |size: f32| {
            let mut sphere = || {
                let radius = 0.3 * random.random::<f32>().powi(3);
                (random_vector(&mut random, size), radius)
            };
            spheres((0..count).map(|_| sphere()).collect::<Vec<_>>())
        };
        let (one, other) = (cloud(2.0), cloud(0.5));
        // Far from the origin, too: poses round, the motion does not.
        let far = if turn % 3 == 0 { 1.0e4 } else { 0.0 };
        let place = |random: &mut Pcg64Mcg, size| {
            let position = random_vector(random, size) + Vec3::splat(far);
            Pose::new(position, random_rotation(random))
        };
        let (pose, other_pose) = (place(&mut random, 6.0), place(&mut random, 1.0));
        let motion = |random: &mut Pcg64Mcg, aim: Vec3| RigidMotion {
            translation: aim + random_vector(random, 1.0),
            rotation: random_vector(random, 2.0),
        };
        let aim = 1.5 * (other_pose.position - pose.position);
        let shift = random_vector(&mut random, 0.5);
        let a = MovingMolecule {
            center: pose.position + shift,
            ..MovingMolecule::new(&one, pose, motion(&mut random, aim))
        };
        let b = MovingMolecule::new(&other, other_pose, motion(&mut random, Vec3::ZERO));
        let gap = [0.0, 0.05][turn % 2];
        hits += usize::from(check(&a, &b, gap, 60).is_some());
    }
    assert!(hits > 20, "{hits}");
}

fn flying(spheres: &RigidSpheres) -> MovingMolecule<'_> {
    let motion = RigidMotion {
        translation: Vec3::X * -5.0,
        rotation: Vec3::new(0.5, 1.0, -0.2),
    };
    MovingMolecule::new(spheres, Pose::from_translation(Vec3::X * 4.0), motion)
}

fn resting(spheres: &RigidSpheres) -> MovingMolecule<'_> {
    MovingMolecule::new(spheres, Pose::IDENTITY, RigidMotion::default())
}

#[test]
fn all_impacts_are_those_of_each_pair_alone() {
    let mut random = Pcg64Mcg::seed_from_u64(3);
    let mut cloud = |count: u32| -> Vec<(Vec3, f32)> {
        let sphere = |_| (random_vector(&mut random, 1.5), 0.1);
        (0..count).map(sphere).collect()
    };
    let clouds = [cloud(60), cloud(40)];
    let [one, other] = clouds.clone().map(spheres);
    let mut found = Vec::new();
    let (a, b) = (flying(&one), resting(&other));
    visit_impacts(&a, &b, 0.0, |impact| {
        found.push(impact);
        1.0
    });
    found.sort_by_key(|impact| (impact.a, impact.b));
    let mut expected = Vec::new();
    for (sphere, k) in clouds[0].iter().zip(0..) {
        for (second, l) in clouds[1].iter().zip(0..) {
            let (one, other) = (spheres([*sphere]), spheres([*second]));
            if let Some(impact) = first_impact(&flying(&one), &resting(&other), 0.0) {
                expected.push(((k, l), impact.fraction));
            }
        }
    }
    assert!(expected.len() > 20, "{}", expected.len());
    assert_eq!(found.len(), expected.len());
    for (found, (pair, fraction)) in found.iter().zip(&expected) {
        assert_eq!((found.a, found.b), *pair);
        // Each may stop anywhere within the tolerance.
        assert!((found.fraction - fraction).abs() < 1.0e-2);
    }
    let first = first_impact(&a, &b, 0.0).unwrap();
    let earliest = found.iter().map(|impact| impact.fraction);
    assert!((earliest.fold(1.0, f64::min) - first.fraction).abs() < 1.0e-3);
}

/// Two balls of radius 0.1 nm, the first at `x`, moving along x.
fn balls_at(x: f32, motion: f32, gap: f32) -> Option<f64> {
    let ball = spheres([(Vec3::ZERO, 0.1)]);
    let pose = Pose::from_translation(Vec3::X * x);
    let a = MovingMolecule::new(&ball, pose, RigidMotion::translation(Vec3::X * motion));
    let b = MovingMolecule::new(&ball, Pose::IDENTITY, RigidMotion::default());
    check(&a, &b, gap, 50).map(|impact| impact.fraction)
}

#[test]
fn molecules_that_overlap_at_the_start_may_only_separate() {
    // Overlapping, touching, and within the tolerance.
    for x in [0.02, 0.1, 0.2, 0.200_05] {
        assert_eq!(balls_at(x, -1.0, 0.0), Some(0.0), "approaching at {x}");
        assert_eq!(balls_at(x, 1.0, 0.0), None, "separating at {x}");
        assert_eq!(balls_at(x, 0.0, 0.0), None, "resting at {x}");
    }
    // Concentric ones can only separate.
    assert_eq!(balls_at(0.0, 1.0, 0.0), None);
    // Within a target gap.
    assert_eq!(balls_at(0.25, -1.0, 0.1), Some(0.0));
    assert_eq!(balls_at(0.25, 1.0, 0.1), None);
    let approached = balls_at(0.5, -1.0, 0.1).unwrap();
    assert!((approached - 0.2).abs() < 1.0e-3, "{approached}");
}

#[test]
fn molecules_that_overlap_all_over_separate_and_hit_others() {
    // Two coincident sheets drift apart; nothing stops them.
    let sheet = sheet(12);
    let b = MovingMolecule::new(&sheet, Pose::IDENTITY, RigidMotion::default());
    let apart = RigidMotion::translation(Vec3::X * 2.0);
    let a = MovingMolecule::new(&sheet, Pose::IDENTITY, apart);
    assert_eq!(check(&a, &b, 0.0, 50), None);
    // Sideways, atoms move into others at once.
    let aside = RigidMotion::translation(Vec3::Y * 2.0);
    let a = MovingMolecule::new(&sheet, Pose::IDENTITY, aside);
    assert_eq!(first_impact(&a, &b, 0.0).unwrap().fraction, 0.0);
}

#[test]
fn touching_molecules_slide_along_each_other() {
    // A ball rolls around another one, which is at the center of its rotation.
    let ball = spheres([(Vec3::ZERO, 0.1)]);
    let pose = Pose::from_translation(Vec3::X * 0.2);
    let a = MovingMolecule {
        center: Vec3::ZERO,
        ..MovingMolecule::new(&ball, pose, RigidMotion::rotation(Vec3::Z * 3.0))
    };
    let b = MovingMolecule::new(&ball, Pose::IDENTITY, RigidMotion::default());
    assert_eq!(first_impact(&a, &b, 0.0), None);
}

#[test]
fn invalid_motions_touch_nothing() {
    let ball = spheres([(Vec3::ZERO, 0.1)]);
    let b = MovingMolecule::new(&ball, Pose::IDENTITY, RigidMotion::default());
    for bad in [f32::NAN, f32::INFINITY] {
        let pose = Pose::from_translation(Vec3::X);
        let a = MovingMolecule::new(&ball, pose, RigidMotion::translation(Vec3::X * bad));
        assert_eq!(first_impact(&a, &b, 0.0), None);
        let pose = Pose::from_translation(Vec3::X * bad);
        let a = MovingMolecule::new(&ball, pose, RigidMotion::default());
        assert_eq!(first_impact(&a, &b, 0.0), None);
        let resting = MovingMolecule::new(&ball, Pose::IDENTITY, RigidMotion::default());
        assert_eq!(first_impact(&resting, &b, bad), None);
    }
}
