//! Contacts found and solved on the device, against the CPU reference.

use std::sync::Arc;

use bevy_rapier_molecules::dynamics::{
    BodyType, CombineRule, ContactMaterial, ContactSide, ContactSurface, CrowdContacts,
    ExternalBody, ExternalContact, InteractionGroups, MemberIndex, MovingBody,
};
use bevy_rapier_molecules::gpu::{GpuContactSolver, GpuDevice, GpuGroupSearch};
use bevy_rapier_molecules::search::AutoGrid;
use glam::Vec3;

use super::crowd_reference::{Comparison, SUBSTEP, heap, lipids};
use crate::common::gpu_device::{device, unless_required};
use crate::common::small_world::{Molecule, SmallWorld, ball, real, sheet, sled};

#[test]
fn the_first_impulses_match_the_cpu() {
    let Some(device) = device() else { return };
    for world in [lipids(60, 6, 3.2), heap(40), interpenetrating(30)] {
        let mut both = Comparison::new(world, &device);
        both.step();
        both.assert_close(1.0);
        assert!(both.impulses().iter().any(|[_, gpu]| !gpu.is_zero()));
    }
}

/// Different molecules that overlap deeply.
fn interpenetrating(count: usize) -> SmallWorld {
    let kinds = [ball(), real("p_xylene.pdb"), sled()];
    let molecules = (0..count).map(|k| {
        let position = Vec3::new((k % 3) as f32, (k / 3 % 3) as f32, (k / 9) as f32);
        Molecule::new(&kinds[k % kinds.len()], position * 0.11)
    });
    SmallWorld::new(molecules.collect(), ContactMaterial::default())
}

#[test]
fn twenty_five_warm_started_substeps_match_the_cpu() {
    let Some(device) = device() else { return };
    for world in [lipids(60, 6, 3.2), heap(60)] {
        let mut both = Comparison::new(world, &device);
        for _ in 0..25 {
            both.step();
            both.assert_close(5.0);
        }
        assert_eq!(both.device.search_name(), "gpu-contacts");
    }
}

#[test]
fn twenty_runs_are_identical_bit_for_bit() {
    let Some(device) = device() else { return };
    let run = || {
        let mut world = lipids(40, 4, 2.6);
        let solver = GpuContactSolver::new(Arc::clone(&device)).unwrap();
        world.contacts.set_device_solver(Box::new(solver), false);
        for _ in 0..6 {
            world.step(SUBSTEP);
        }
        assert!(
            world.contacts.touches().is_empty(),
            "touches are not reported"
        );
        let molecules = world.molecules.iter();
        molecules
            .map(|molecule| (molecule.momentum, molecule.spin, molecule.position))
            .collect::<Vec<_>>()
    };
    let first = run();
    assert!(first.iter().any(|(momentum, ..)| momentum.length() > 0.0));
    for _ in 1..20 {
        assert!(run() == first);
    }
}

/// One submission and one wait; 32 bytes per molecule, 16 per touching pair if touches are reported,
/// and a few counters.
#[test]
fn a_substep_waits_once_and_reads_little() {
    let options = bevy_rapier_molecules::gpu::GpuOptions::default();
    let device = unless_required(GpuDevice::headless(&options));
    let Some(device) = device.map(Arc::new) else {
        return;
    };
    for report_touches in [false, true] {
        let mut world = lipids(60, 6, 3.2);
        let solver = GpuContactSolver::new(Arc::clone(&device)).unwrap();
        world
            .contacts
            .set_device_solver(Box::new(solver), report_touches);
        // Two sets of buffers take turns, and the first substep has no contacts before it.
        for _ in 0..4 {
            world.step(SUBSTEP);
        }
        let before = device.work();
        world.step(SUBSTEP);
        let work = device.work() - before;
        let touching = 16 * world.contacts.touches().len();
        assert_eq!(touching > 0, report_touches);
        // A quarter more touches than in the previous substep are read back.
        let reserve = if report_touches {
            touching / 2 + 16 * 64
        } else {
            0
        };
        let limit = 66 * 32 + touching + reserve + 64;
        assert!(work.bytes_read <= limit as u64, "{work:?}");
        assert_eq!((work.waits, work.submissions, work.bind_groups), (1, 1, 0));
    }
}

#[test]
fn a_fast_member_with_ccd_does_not_pass_a_thin_sheet() {
    let Some(device) = device() else { return };
    for (ccd, restitution) in [(true, 0.0), (true, 1.0), (false, 0.0)] {
        // In its second substep, it jumps from one side of the sheet to the other.
        let mut ball = Molecule::new(&ball(), Vec3::X * -1.25).moving(Vec3::X * 50.0);
        ball.ccd = ccd;
        let target = Molecule::new(&sheet(5), Vec3::ZERO);
        let material = ContactMaterial {
            restitution,
            ..ContactMaterial::default()
        };
        let mut world = SmallWorld::new(vec![ball, target], material);
        let solver = GpuContactSolver::new(Arc::clone(&device)).unwrap();
        world.contacts.set_device_solver(Box::new(solver), true);
        let mut hits = 0;
        for _ in 0..4 {
            world.step(1.0 / 60.0);
            hits += world.contacts.impacts_of_fast_members().len();
        }
        let [ball, sheet] = [0, 1].map(|k| &world.molecules[k]);
        assert_eq!(ball.position.x < sheet.position.x, ccd);
        assert_eq!(hits > 0, ccd);
        assert_eq!(world.contacts.search_name(), "gpu-contacts");
        let separation = sheet.velocity().x - ball.velocity().x;
        if ccd {
            let expected = 50.0 * restitution;
            assert!((separation - expected).abs() < 2.0, "{separation} nm/s");
        }
    }
}

#[test]
fn momentum_is_conserved() {
    let Some(device) = device() else { return };
    let mut world = lipids(40, 4, 2.6);
    let solver = GpuContactSolver::new(Arc::clone(&device)).unwrap();
    world.contacts.set_device_solver(Box::new(solver), true);
    let mut max_momentum = 0.0_f64;
    for _ in 0..40 {
        world.step(SUBSTEP);
        let moving = world.molecules.iter().map(|one| one.momentum.length());
        max_momentum = max_momentum.max(moving.sum());
    }
    assert!(max_momentum > 1.0, "{max_momentum}");
    let (momentum, spin) = (world.momentum(), world.angular_momentum());
    assert!(
        momentum.length() < 1.0e-5 * max_momentum,
        "{momentum} of {max_momentum}"
    );
    assert!(
        spin.length() < 1.0e-4 * max_momentum,
        "{spin} of {max_momentum}"
    );
}

#[test]
fn zero_one_and_two_molecules_match_the_cpu() {
    let Some(device) = device() else { return };
    let positions = [Vec3::ZERO, Vec3::X * 0.15];
    for count in 0..=2 {
        let kind = sled();
        let molecules = positions[..count].iter();
        let molecules = molecules.map(|position| Molecule::new(&kind, *position));
        let world = SmallWorld::new(molecules.collect(), ContactMaterial::default());
        let mut both = Comparison::new(world, &device);
        for _ in 0..3 {
            both.step();
            both.assert_close(1.0);
        }
        assert_eq!(both.impulses().len(), count);
    }
}

#[test]
fn coincident_molecules_separate() {
    let Some(device) = device() else { return };
    let kind = real("p_xylene.pdb");
    let molecules = (0..3).map(|_| Molecule::new(&kind, Vec3::ZERO));
    let mut world = SmallWorld::new(molecules.collect(), ContactMaterial::default());
    let solver = GpuContactSolver::new(Arc::clone(&device)).unwrap();
    world.contacts.set_device_solver(Box::new(solver), true);
    for _ in 0..600 {
        world.step(SUBSTEP);
    }
    assert!(world.deepest() < 0.02, "{}", world.deepest());
}

#[test]
fn the_collision_filter_matches_the_cpu() {
    let Some(device) = device() else { return };
    let mut both = Comparison::new(heap(30), &device);
    let apart = InteractionGroups {
        memberships: 1,
        filter: 2,
    };
    let plain = ContactSurface::default();
    let mut fixed_only = plain;
    fixed_only.types.meets = BodyType::Fixed.mask();
    let surfaces = [
        ContactSurface {
            groups: apart,
            ..plain
        },
        ContactSurface {
            solver_groups: apart,
            ..plain
        },
        ContactSurface {
            sensor: true,
            ..plain
        },
        fixed_only,
    ];
    for contacts in [&mut both.world.contacts, &mut both.device] {
        for (member, surface) in (50..62).zip(surfaces.into_iter().cycle()) {
            contacts.set_surface(MemberIndex(member), surface);
        }
        ignore(contacts, &[[52, 56], [60, 49]]);
    }
    for step in 0..12 {
        if step == 6 {
            for contacts in [&mut both.world.contacts, &mut both.device] {
                ignore(contacts, &[[57, 52]]);
            }
        }
        both.step();
        both.assert_close(5.0);
        let reported = both.device.touches().iter();
        assert!(reported.filter(|touch| !touch.pushes).count() > 0);
    }
}

/// Friction and restitution are combined by the same rules, and the same molecules dominate.
#[test]
fn materials_and_dominance_match_the_cpu() {
    let Some(device) = device() else { return };
    let mut both = Comparison::new(heap(30), &device);
    let rules = [
        CombineRule::Average,
        CombineRule::Min,
        CombineRule::Multiply,
        CombineRule::Max,
    ];
    for contacts in [&mut both.world.contacts, &mut both.device] {
        for member in 0..contacts.members().len() {
            let surface = ContactSurface {
                material: ContactMaterial {
                    friction: 0.1 * (member % 7) as f32,
                    friction_rule: rules[member % 4],
                    restitution: 0.1 * (member % 5) as f32,
                    restitution_rule: rules[member / 4 % 4],
                    ..ContactMaterial::default()
                },
                ..ContactSurface::default()
            };
            contacts.set_surface(MemberIndex(member as u32), surface);
        }
    }
    for (molecule, k) in both.world.molecules.iter_mut().zip(0..) {
        molecule.dominance = [0, 0, 1, -1][k % 4];
    }
    for _ in 0..12 {
        both.step();
        both.assert_close(5.0);
    }
}

fn ignore(contacts: &mut CrowdContacts, pairs: &[[u32; 2]]) {
    contacts.set_ignored_pairs(|ignored| {
        ignored.extend(pairs.iter().map(|pair| pair.map(MemberIndex)));
    });
}

/// Overlapping molecules that the collision filter keeps apart stay asleep.
#[test]
fn filtered_and_ignored_molecules_stay_asleep() {
    let Some(device) = device() else { return };
    for filtered in [false, true] {
        let kind = ball();
        let positions = [Vec3::ZERO, Vec3::Y * 0.15];
        let molecules = positions.map(|position| Molecule::new(&kind, position));
        let world = SmallWorld::new(molecules.into(), ContactMaterial::default());
        let mut both = Comparison::new(world, &device);
        both.world.molecules[0].asleep = true;
        for contacts in [&mut both.world.contacts, &mut both.device] {
            if filtered {
                let groups = InteractionGroups {
                    memberships: 1,
                    filter: 0,
                };
                let surface = ContactSurface {
                    groups,
                    ..ContactSurface::default()
                };
                contacts.set_surface(MemberIndex(0), surface);
            } else {
                ignore(contacts, &[[0, 1]]);
            }
        }
        for _ in 0..3 {
            both.step();
            assert!(both.device.to_wake().is_empty());
        }
        // Without the filter the overlap wakes it.
        for contacts in [&mut both.world.contacts, &mut both.device] {
            contacts.set_surface(MemberIndex(0), ContactSurface::default());
            ignore(contacts, &[]);
        }
        both.step();
        assert!(both.device.to_wake().contains(&MemberIndex(0)));
    }
}

#[test]
fn the_same_molecules_wake_as_on_the_cpu() {
    let Some(device) = device() else { return };
    let mut world = heap(40);
    for molecule in world.molecules.iter_mut().skip(49).step_by(3) {
        molecule.asleep = true;
        molecule.momentum = glam::DVec3::ZERO;
    }
    let mut both = Comparison::new(world, &device);
    let mut woken = 0;
    for step in 0..20 {
        both.step();
        both.assert_close(5.0);
        let asleep = |member: &&MemberIndex| both.world.molecules[member.index()].asleep;
        let wakes: Vec<MemberIndex> = both
            .device
            .to_wake()
            .iter()
            .filter(asleep)
            .copied()
            .collect();
        woken += wakes.len();
        for member in wakes {
            both.world.molecules[member.index()].asleep = false;
        }
        if step == 10 {
            // Its neighbors lose it.
            both.world.molecules[55].position.y += 5.0;
        }
    }
    assert!(woken > 5, "only {woken} woke up");
}

/// The floor below [`pile`] as external bodies, whose order changes from substep to substep.
pub fn floor(world: &SmallWorld, substep: usize) -> (Vec<ExternalBody>, Vec<ExternalContact>) {
    let fixed = |id| ExternalBody {
        id,
        body: MovingBody::default(),
    };
    // A movable plate between the balls and the ground.
    let plate = ExternalBody {
        id: 7,
        body: MovingBody {
            inverse_mass: Vec3::splat(1.0e-3),
            center: Vec3::Y * -0.2,
            acceleration: Vec3::Y * -9.81,
            ..MovingBody::default()
        },
    };
    let mut bodies = vec![fixed(9), plate];
    if substep % 3 == 1 {
        bodies.rotate_left(1);
        bodies.push(fixed(4));
    }
    let index = |id| bodies.iter().position(|one| one.id == id).unwrap() as u32;
    let [ground, plate] = [9, 7].map(index);
    let contact = |member: usize, external, key| {
        let position = world.molecules[member].pose().position;
        ExternalContact {
            a: ContactSide::External(external),
            b: ContactSide::Member(MemberIndex(member as u32)),
            key,
            normal: Vec3::Y,
            point: Vec3::new(position.x, -0.1, position.z),
            gap: position.y,
            friction: 0.4,
            restitution: 0.1,
        }
    };
    let mut contacts: Vec<ExternalContact> = (0..world.molecules.len())
        .filter(|member| world.molecules[*member].position.y < 0.03)
        .map(|member| {
            let external = if member % 2 == 0 { ground } else { plate };
            contact(member, external, 1 << 40 | member as u64)
        })
        .collect();
    if substep % 3 != 2 {
        for (key, side) in [(100, 0.3), (101, -0.3)] {
            contacts.push(ExternalContact {
                a: ContactSide::External(ground),
                b: ContactSide::External(plate),
                point: Vec3::new(side, -0.3, 0.0),
                gap: 0.0,
                ..contact(0, ground, key)
            });
        }
    }
    (bodies, contacts)
}

/// Balls on top of each other, on a [`floor`].
pub fn pile() -> SmallWorld {
    let kind = ball();
    let molecules = (0..24).map(|k| {
        let position = Vec3::new(
            (k % 3) as f32 * 0.19,
            (k / 6) as f32 * 0.19,
            (k / 3 % 2) as f32 * 0.19,
        );
        // Some stand alone: their external contacts are skipped.
        let offset = if k % 6 == 5 {
            Vec3::X * k as f32
        } else {
            Vec3::ZERO
        };
        Molecule::new(&kind, position + offset)
    });
    let mut world = SmallWorld::new(molecules.collect(), ContactMaterial::default());
    world.gravity = Vec3::Y * -9.81;
    world
}

#[test]
fn external_contacts_match_the_cpu() {
    let Some(device) = device() else { return };
    let mut both = Comparison::new(pile(), &device);
    for substep in 0..25 {
        let (bodies, external) = floor(&both.world, substep);
        both.step_with(&bodies, &external);
        both.assert_close(10.0);
    }
    let impulses = both.impulses();
    assert!(
        impulses[24..].iter().any(|[_, gpu]| !gpu.is_zero()),
        "the plate receives no impulse"
    );
}

#[test]
fn contacts_survive_changes_of_members_and_backends() {
    let Some(device) = device() else { return };
    let mut both = Comparison::new(heap(40), &device);
    for step in 0..24 {
        match step {
            4 => {
                // The last member leaves.
                both.world.molecules.pop();
                for contacts in [&mut both.world.contacts, &mut both.device] {
                    let mut members = contacts.members().to_vec();
                    members.pop();
                    contacts.set_members(members).unwrap();
                }
            }
            8 => both.device.set_search(Box::new(AutoGrid::new())),
            12 | 20 => {
                let solver = GpuContactSolver::new(Arc::clone(&device)).unwrap();
                both.device.set_device_solver(Box::new(solver), true);
            }
            16 => {
                let search = GpuGroupSearch::new(Arc::clone(&device)).unwrap();
                both.device.set_group_search(Box::new(search));
            }
            _ => {}
        }
        both.step();
        both.assert_close(10.0);
    }
}

#[test]
fn contacts_can_be_read_back() {
    let Some(device) = device() else { return };
    let mut both = Comparison::new(heap(30), &device);
    for _ in 0..10 {
        both.step();
    }
    let key = |contact: &bevy_rapier_molecules::dynamics::ContactConstraint| {
        (contact.a, contact.b, contact.spheres.a, contact.spheres.b)
    };
    let cpu = both.world.contacts.contacts().iter();
    let cpu: Vec<_> = cpu.filter(|contact| contact.is_active()).map(key).collect();
    let gpu: Vec<_> = both.device.contacts().iter().map(key).collect();
    assert!(cpu.len() > 20);
    assert_eq!(gpu, cpu);
    for contact in both.device.contacts() {
        assert!(both.device.contact_point(contact).is_some());
    }
}
