//! Members with an invalid body or position are excluded without effect on the others.

use std::sync::Arc;

use bevy_rapier_molecules::dynamics::{
    ContactMember, CrowdContacts, Exclusion, MemberIndex, MovingBody,
};
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::search::RigidSpheres;
use glam::{Mat3, Vec3};

use crate::common::small_world::ball;

fn members(count: usize) -> Vec<ContactMember> {
    let spheres = Arc::new(RigidSpheres::atoms(&ball()));
    let member = |id| ContactMember {
        id,
        spheres: spheres.clone(),
        ..ContactMember::default()
    };
    (0..count as u64).map(member).collect()
}

fn at(position: Vec3) -> Option<MovingBody> {
    Some(MovingBody {
        pose: Pose::from_translation(position),
        center: position,
        inverse_mass: Vec3::ONE,
        inverse_inertia: Mat3::IDENTITY,
        ..MovingBody::default()
    })
}

/// Members 0 and 1 overlap far from the others.
fn bystander(member: MemberIndex) -> Option<MovingBody> {
    at(Vec3::new(50.0 + 0.19 * member.0 as f32, 0.0, 0.0))
}

fn impulses_of_bystanders(contacts: &CrowdContacts) -> Vec<Vec3> {
    let two = contacts.impulses().filter(|(member, _)| member.0 < 2);
    two.map(|(_, impulse)| impulse.linear).collect()
}

#[test]
fn a_body_that_is_not_finite_is_excluded_until_it_is_finite() {
    let mut contacts = CrowdContacts::default();
    contacts.set_members(members(3)).unwrap();
    let invalid = |member: MemberIndex| match member.0 {
        2 => at(Vec3::NAN),
        _ => bystander(member),
    };
    assert_eq!(contacts.gather(invalid), Ok(true));
    contacts.detect().unwrap();
    contacts.respond(0.01);
    let excluded: Vec<_> = contacts.excluded().collect();
    assert_eq!(excluded, [(MemberIndex(2), Exclusion::NotFinite)]);
    let pushed = impulses_of_bystanders(&contacts);
    assert!(pushed[0].x < 0.0 && pushed[1].x > 0.0);
    assert_eq!(contacts.gather(bystander), Ok(true));
    assert_eq!(contacts.excluded().count(), 0);
    assert_eq!(contacts.gather(bystander), Ok(false));
}

#[test]
fn a_member_without_a_body_is_excluded() {
    let mut contacts = CrowdContacts::default();
    contacts.set_members(members(3)).unwrap();
    contacts
        .gather(|member| bystander(member).filter(|_| member.0 != 2))
        .unwrap();
    contacts.detect().unwrap();
    contacts.respond(0.01);
    assert_eq!(
        contacts.excluded().next(),
        Some((MemberIndex(2), Exclusion::Absent))
    );
    assert_eq!(contacts.touches().len(), 1);
}

#[test]
fn a_million_spheres_at_one_point_are_excluded() {
    let mut contacts = CrowdContacts::default();
    contacts.set_members(members(1_000_002)).unwrap();
    let heap = |member: MemberIndex| match member.0 {
        0 | 1 => bystander(member),
        _ => at(Vec3::ZERO),
    };
    contacts.gather(heap).unwrap();
    contacts.detect().unwrap();
    contacts.respond(0.01);
    assert_eq!(contacts.excluded().count(), 1_000_000);
    let crowded = contacts
        .excluded()
        .all(|(_, reason)| reason == Exclusion::Crowded);
    assert!(crowded);
    let pushed = impulses_of_bystanders(&contacts);
    assert!(pushed[0].x < 0.0 && pushed[1].x > 0.0);
}

#[test]
fn coincident_molecules_separate_no_faster_than_the_push_speed() {
    let mut contacts = CrowdContacts::default();
    contacts.set_members(members(2)).unwrap();
    contacts.gather(|_| at(Vec3::ZERO)).unwrap();
    contacts.detect().unwrap();
    contacts.respond(1.0 / 240.0);
    let pushed: Vec<_> = contacts
        .impulses()
        .map(|(_, impulse)| impulse.linear)
        .collect();
    assert_eq!(pushed[0], -pushed[1]);
    assert!(pushed[0].length() > 0.0);
    assert!(pushed[0].length() <= contacts.config.max_push_speed);
}

#[test]
fn an_empty_crowd_and_an_invalid_substep_length_do_nothing() {
    let mut contacts = CrowdContacts::default();
    for dt in [0.0, -1.0, f32::NAN, 0.01] {
        contacts.gather(|_| None).unwrap();
        contacts.detect().unwrap();
        contacts.respond(dt);
        assert_eq!(contacts.impulses().count(), 0);
    }
    contacts.set_members(members(2)).unwrap();
    contacts.gather(bystander).unwrap();
    contacts.detect().unwrap();
    contacts.respond(0.0);
    assert!(contacts.impulses().all(|(_, impulse)| impulse.is_zero()));
}

#[test]
fn interaction_groups_keep_molecules_from_touching() {
    let mut contacts = CrowdContacts::default();
    let mut two = members(2);
    two[0].surface.groups.filter = 2;
    two[1].surface.groups.memberships = 1;
    contacts.set_members(two).unwrap();
    contacts.gather(bystander).unwrap();
    contacts.detect().unwrap();
    contacts.respond(0.01);
    assert!(contacts.touches().is_empty());
    assert!(contacts.impulses().all(|(_, impulse)| impulse.is_zero()));
}

#[test]
fn contacts_keep_their_impulse_when_another_member_leaves() {
    let mut contacts = CrowdContacts::default();
    contacts.set_members(members(3)).unwrap();
    let pressed = |id: u64| {
        let place = [Vec3::X * -9.0, Vec3::ZERO, Vec3::Y * 0.199][id as usize];
        at(place).map(|body| MovingBody {
            acceleration: Vec3::Y * [0.0, 10.0, -10.0][id as usize],
            ..body
        })
    };
    let step = |contacts: &mut CrowdContacts, ids: [u64; 3]| {
        contacts
            .gather(|member| pressed(ids[member.index()]))
            .unwrap();
        contacts.detect().unwrap();
        contacts.respond(0.01);
        let last = contacts.impulses().last().unwrap();
        last.1.linear.y
    };
    for _ in 0..20 {
        step(&mut contacts, [0, 1, 2]);
    }
    let before = step(&mut contacts, [0, 1, 2]);
    contacts.set_members(members(3).split_off(1)).unwrap();
    let after = step(&mut contacts, [1, 2, 0]);
    assert!(before > 0.0);
    assert!((after - before).abs() < 1.0e-4 * before, "{before} {after}");
}
