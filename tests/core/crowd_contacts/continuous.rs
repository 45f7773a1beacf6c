//! Continuous collision detection: fast members do not pass through thin ones.

use bevy_rapier_molecules::dynamics::{ContactMaterial, MemberIndex};
use glam::{DVec3, Quat, Vec3};

use crate::common::small_world::{Molecule, SmallWorld, ball, carbons_of, real, sheet};
use crate::common::thread_pool::with_threads;

/// One substep per frame.
const DT: f32 = 1.0 / 60.0;

/// Speed, nm/s: 0.83 nm per substep.
const SPEED: f32 = 50.0;

fn material(restitution: f32) -> ContactMaterial {
    ContactMaterial {
        restitution,
        ..ContactMaterial::default()
    }
}

/// What flies at the sheet: a protein, and a molecule of eight atoms.
const FILES: [&str; 2] = ["1ubq.cif", "p_xylene.pdb"];

/// A molecule that flies at a sheet from `distance` nm.
fn shot(file: &str, distance: f32, ccd: bool, fixed: bool) -> SmallWorld {
    let template = real(file);
    let start = Vec3::X * -(0.2 + distance + template.bounding_radius());
    let mut molecule = Molecule::new(&template, start).moving(Vec3::X * SPEED);
    molecule.ccd = ccd;
    let mut target = Molecule::new(&sheet(26), Vec3::ZERO);
    target.fixed = fixed;
    SmallWorld::new(vec![molecule, target], material(0.0))
}

/// How far the molecule is past the sheet, nm, along the normal of the sheet.
fn passed_by(world: &SmallWorld) -> f64 {
    let [molecule, sheet] = [0, 1].map(|k| &world.molecules[k]);
    let normal = (sheet.rotation * Vec3::X).as_dvec3();
    normal.dot(molecule.position - sheet.position)
}

#[test]
fn a_fast_molecule_does_not_pass_a_thin_sheet() {
    for (file, fixed) in [
        (FILES[0], true),
        (FILES[0], false),
        (FILES[1], true),
        (FILES[1], false),
    ] {
        for phase in 0..8 {
            let mut world = shot(file, 0.1 * phase as f32, true, fixed);
            let energy = world.kinetic_energy();
            let momentum = world.momentum();
            let angular = world.angular_momentum();
            let mut hits = 0;
            for step in 0..12 {
                world.step(DT);
                hits += world.contacts.impacts_of_fast_members().len();
                let passed = passed_by(&world);
                assert!(
                    passed < -0.2,
                    "{file}: {passed} nm, step {step}, {fixed} {phase}"
                );
                assert!(
                    world.deepest() < 0.05,
                    "{file}: {} nm deep",
                    world.deepest()
                );
                let now = world.kinetic_energy();
                assert!(now <= 1.001 * energy, "{now} of {energy}");
            }
            assert!(hits > 0);
            if !fixed {
                let scale = momentum.length();
                assert!((world.momentum() - momentum).length() < 1.0e-4 * scale);
                assert!((world.angular_momentum() - angular).length() < 1.0e-3 * scale);
                assert!(world.molecules[1].velocity().x > 0.3, "it pushes the sheet");
            }
        }
    }
}

/// Furthest way past a fixed sheet, and deepest overlap, nm.
fn without_ccd(file: &str) -> (f64, f32) {
    let (mut furthest, mut deepest) = (f64::NEG_INFINITY, 0.0_f32);
    for phase in 0..8 {
        let mut world = shot(file, 0.1 * phase as f32, false, true);
        for _ in 0..12 {
            world.step(DT);
            assert!(world.contacts.impacts_of_fast_members().is_empty());
            furthest = furthest.max(passed_by(&world));
            deepest = deepest.max(world.deepest());
        }
    }
    (furthest, deepest)
}

#[test]
fn without_ccd_a_small_molecule_passes_and_a_protein_sinks_in() {
    let (passed, _) = without_ccd("p_xylene.pdb");
    assert!(passed > 3.0, "{passed} nm");
    let (_, deepest) = without_ccd("1ubq.cif");
    assert!(deepest > 0.1, "{deepest} nm");
}

#[test]
fn even_faster_ones_do_not_pass() {
    for speed in [200.0, 1000.0] {
        let mut world = shot(FILES[0], 0.0, true, true);
        let start = world.molecules[0].position.as_vec3();
        world.molecules[0] = Molecule::new(&real(FILES[0]), start)
            .moving(Vec3::X * speed)
            .with_ccd();
        for _ in 0..5 {
            world.step(DT);
            let passed = passed_by(&world);
            assert!(passed < -0.5, "{passed} nm at {speed} nm/s");
        }
    }
}

#[test]
fn a_fast_ball_bounces_by_its_restitution() {
    for restitution in [0.0, 0.5, 1.0] {
        let target = Molecule::new(&sheet(5), Vec3::ZERO).fixed();
        let ball = Molecule::new(&ball(), Vec3::X * -1.0)
            .moving(Vec3::X * SPEED)
            .with_ccd();
        let mut world = SmallWorld::new(vec![ball, target], material(restitution));
        for _ in 0..3 {
            world.step(DT);
        }
        let velocity = world.molecules[0].velocity();
        let expected = -restitution * SPEED;
        assert!(
            (velocity.x - expected).abs() < 0.02 * SPEED,
            "{velocity} {restitution}"
        );
        assert!(world.molecules[0].position.x < -0.2);
    }
}

#[test]
fn a_spinning_rod_does_not_pass_a_ball() {
    let atoms: Vec<Vec3> = (-20..=20).map(|k| Vec3::X * 0.1 * k as f32).collect();
    let rod = carbons_of("rod", &atoms, 0.1);
    for ccd in [true, false] {
        let mut blade = Molecule::new(&rod, Vec3::ZERO);
        // 1.6 radian in one substep; the ball is at 1 radian.
        let inertia = rod.principal_inertia().max_element();
        blade.spin = DVec3::Z * f64::from(inertia) * 96.0;
        blade.ccd = ccd;
        let place = Quat::from_rotation_z(1.0) * (Vec3::X * 1.5);
        let ball = Molecule::new(&ball(), place).fixed();
        let mut world = SmallWorld::new(vec![blade, ball], material(0.0));
        world.step(DT);
        // Height of the ball above the rod, in its frame.
        let rod = world.molecules[0].pose();
        let height = rod.inverse_transform_point(place).y;
        let touch = 0.2;
        assert_eq!(height > touch - 0.01, ccd, "{height} nm");
        assert!(height < touch + 0.1, "it stops at the ball: {height} nm");
    }
}

#[test]
fn the_velocity_gained_in_the_substep_counts() {
    let target = Molecule::new(&sheet(9), Vec3::ZERO).fixed();
    let ball = Molecule::new(&ball(), Vec3::X * -0.4).with_ccd();
    let mut world = SmallWorld::new(vec![ball, target], material(0.0));
    // 1.4 nm in the first substep.
    world.gravity = Vec3::X * 5000.0;
    for _ in 0..3 {
        world.step(DT);
        assert!(
            world.molecules[0].position.x < -0.2,
            "{}",
            world.molecules[0].position
        );
    }
}

#[test]
fn a_sleeping_sheet_that_is_hit_wakes() {
    let mut world = shot(FILES[0], 0.0, true, false);
    world.molecules[1].asleep = true;
    let mut woken = false;
    for _ in 0..6 {
        world.step(DT);
        let hit = !world.contacts.impacts_of_fast_members().is_empty();
        let to_wake = world.contacts.to_wake().to_vec();
        if hit {
            assert_eq!(to_wake, [MemberIndex(0), MemberIndex(1)]);
            let pushed = world.contacts.impulses().nth(1).unwrap().1;
            assert!(pushed.linear.x > 0.0);
            woken = true;
            break;
        }
    }
    assert!(woken);
}

#[test]
fn ignored_pairs_pass_without_an_impact() {
    let mut world = shot(FILES[0], 0.0, true, true);
    for _ in 0..20 {
        world
            .contacts
            .set_ignored_pairs(|pairs| pairs.push([MemberIndex(0), MemberIndex(1)]));
        world.step(DT);
        assert!(world.contacts.impacts_of_fast_members().is_empty());
    }
    assert!(passed_by(&world) > 5.0);
}

#[test]
fn the_impact_is_reported_with_time_and_atoms() {
    let target = Molecule::new(&sheet(5), Vec3::ZERO).fixed();
    let ball = Molecule::new(&ball(), Vec3::X * -1.5)
        .moving(Vec3::X * 60.0)
        .with_ccd();
    let mut world = SmallWorld::new(vec![ball, target], material(0.0));
    world.step(DT);
    assert!(world.contacts.impacts_of_fast_members().is_empty());
    // From 0.5 nm to 0.25 nm of the 1 nm of this substep.
    world.step(DT);
    let [met] = world.contacts.impacts_of_fast_members() else {
        panic!("no impact");
    };
    assert_eq!((met.a, met.b), (MemberIndex(0), MemberIndex(1)));
    assert_eq!((met.impact.a, met.impact.b), (0, 12));
    assert!((met.impact.fraction - 0.25).abs() < 1.0e-3, "{met:?}");
    assert!(met.impact.normal.distance(Vec3::X) < 1.0e-4);
    assert!(met.impact.point.distance(Vec3::X * -0.15) < 1.0e-3);
    // It rests there in the end.
    for _ in 0..5 {
        world.step(DT);
    }
    assert!(world.contacts.impacts_of_fast_members().is_empty());
}

/// Poses after a crowd of proteins has flown into a row of sheets.
fn crowded_flight() -> Vec<(DVec3, Quat)> {
    let (protein, target) = (real("1ubq.cif"), sheet(20));
    let mut molecules = Vec::new();
    for k in 0..12 {
        let place = Vec3::new(-4.0, 4.5 * (k % 4) as f32, 4.5 * (k / 4) as f32);
        let aim = Vec3::new(SPEED, 3.0 * (k % 5) as f32, -2.0 * (k % 3) as f32);
        molecules.push(Molecule::new(&protein, place).moving(aim).with_ccd());
        molecules.push(Molecule::new(
            &target,
            place + Vec3::X * (4.0 + 0.3 * (k % 2) as f32),
        ));
    }
    let mut world = SmallWorld::new(molecules, material(0.3));
    let energy = world.kinetic_energy();
    let mut hits = 0;
    for _ in 0..30 {
        world.step(DT);
        hits += world.contacts.impacts_of_fast_members().len();
    }
    assert!(hits >= 12, "{hits}");
    assert!(world.kinetic_energy() <= 1.01 * energy);
    let molecules = world.molecules.iter();
    molecules.map(|one| (one.position, one.rotation)).collect()
}

#[test]
fn the_result_does_not_depend_on_the_number_of_threads() {
    let expected = with_threads(1, crowded_flight);
    for threads in [2, 4] {
        assert_eq!(with_threads(threads, crowded_flight), expected);
    }
}
