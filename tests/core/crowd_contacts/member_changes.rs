//! Members may be added and removed at any time. The result does not depend on how.

use std::sync::Arc;

use bevy_rapier_molecules::dynamics::{
    ContactMember, ContactSide, CrowdContacts, ExternalBody, ExternalContact, Impulse, MemberIndex,
    MovingBody,
};
use bevy_rapier_molecules::force::Body;
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::search::{RigidSpheres, UniformGrid};
use glam::{Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::small_world::{ball, real};
use crate::common::thread_pool::with_threads;

const DT: f32 = 1.0 / 240.0;

/// A molecule with its id.
#[derive(Clone)]
struct Molecule {
    member: ContactMember,
    body: MovingBody,
}

/// Makes molecules at random places in a box.
struct Maker {
    kinds: Vec<(Arc<MoleculeTemplate>, Arc<RigidSpheres>)>,
    random: Pcg64Mcg,
}

impl Maker {
    fn new() -> Self {
        let kinds = ["1ubq.cif", "popc.pdb", "p_xylene.pdb"].map(|file| {
            let template = real(file);
            let spheres = Arc::new(RigidSpheres::atoms(&template));
            (template, spheres)
        });
        Self {
            kinds: kinds.to_vec(),
            random: Pcg64Mcg::seed_from_u64(3),
        }
    }

    fn number(&mut self) -> f32 {
        2.0 * self.random.random::<f32>() - 1.0
    }

    fn vector(&mut self) -> Vec3 {
        Vec3::new(self.number(), self.number(), self.number())
    }

    fn molecule(&mut self, id: u64) -> Molecule {
        let (template, spheres) = self.kinds[id as usize % self.kinds.len()].clone();
        let pose = Pose::new(
            5.0 * self.vector(),
            Quat::from_scaled_axis(3.0 * self.vector()),
        );
        let Body {
            center,
            inverse_mass,
            inverse_inertia,
        } = Body::new(&template, &pose);
        Molecule {
            member: ContactMember {
                id,
                spheres,
                ..ContactMember::default()
            },
            body: MovingBody {
                pose,
                center,
                inverse_mass: Vec3::splat(inverse_mass),
                inverse_inertia,
                velocity: self.vector(),
                ..MovingBody::default()
            },
        }
    }
}

/// What a substep results in, as bits.
type Outcome = (Vec<(MemberIndex, [u32; 6])>, Vec<(u32, u32, u32, u32)>);

fn substep(contacts: &mut CrowdContacts, molecules: &[Molecule]) -> Outcome {
    contacts
        .gather(|member| Some(molecules[member.index()].body))
        .unwrap();
    contacts.detect().unwrap();
    contacts.respond(DT);
    let bits = |impulse: Impulse| {
        let [a, b, c] = impulse.linear.to_array();
        let [d, e, f] = impulse.angular.to_array();
        [a, b, c, d, e, f].map(f32::to_bits)
    };
    let impulses = contacts
        .impulses()
        .map(|(member, impulse)| (member, bits(impulse)));
    let touches = contacts.touches().iter();
    let touches = touches.map(|touch| {
        (
            touch.a.0,
            touch.b.0,
            touch.overlaps,
            touch.penetration.to_bits(),
        )
    });
    (impulses.collect(), touches.collect())
}

#[test]
fn members_that_are_updated_set_again_or_searched_from_scratch_give_the_same_bits() {
    let run = || {
        let mut maker = Maker::new();
        let mut molecules: Vec<_> = (0..120).map(|id| maker.molecule(3 * id)).collect();
        let mut updated = CrowdContacts::default();
        let mut set = CrowdContacts::default();
        let mut reference = CrowdContacts::default();
        reference.set_search(Box::new(UniformGrid::new()));
        let mut outcomes = Vec::new();
        for step in 0..30_u64 {
            let mut removed = Vec::new();
            let mut added = Vec::new();
            if step == 0 {
                added = molecules.clone();
            } else if step % 2 == 0 {
                molecules.retain(|molecule| {
                    let stays = maker.random.random::<f32>() > 0.08;
                    if !stays {
                        removed.push(molecule.member.id);
                    }
                    stays
                });
                // Between the others, after them, and one that is there already.
                for id in [
                    6 * step + 1,
                    6 * step + 2,
                    1000 + step,
                    molecules[9].member.id,
                ] {
                    added.push(maker.molecule(id));
                }
                added.reverse();
                molecules.retain(|one| added.iter().all(|new| new.member.id != one.member.id));
                molecules.extend(added.clone());
                molecules.sort_by_key(|molecule| molecule.member.id);
            }
            let new = added.into_iter().map(|molecule| molecule.member).collect();
            updated.update_members(&removed, new).unwrap();
            let all: Vec<_> = molecules.iter().map(|one| one.member.clone()).collect();
            set.set_members(all.clone()).unwrap();
            reference.set_members(all).unwrap();
            let outcome = substep(&mut updated, &molecules);
            assert!(outcome == substep(&mut set, &molecules), "step {step}: set");
            assert!(
                outcome == substep(&mut reference, &molecules),
                "step {step}: reference"
            );
            // Others rest, so that what was found between them is repeated.
            let moving = molecules.iter_mut().zip(updated.impulses()).zip(0..);
            for ((molecule, (_, impulse)), index) in moving {
                if index % 8 != step / 3 % 8 {
                    continue;
                }
                let body = &mut molecule.body;
                body.velocity += body.inverse_mass * impulse.linear;
                body.pose.position += body.velocity * DT;
                body.center += body.velocity * DT;
            }
            outcomes.push(outcome);
        }
        outcomes
    };
    let expected = with_threads(1, run);
    let touching = expected.iter().map(|(_, touches)| touches.len());
    assert!(touching.min() > Some(20));
    for threads in [2, 8] {
        assert!(with_threads(threads, run) == expected, "{threads} threads");
    }
}

#[test]
fn an_update_compares_only_new_members_from_scratch() {
    let mut maker = Maker::new();
    let mut molecules: Vec<_> = (0..200).map(|id| maker.molecule(id)).collect();
    let mut contacts = CrowdContacts::default();
    let members = molecules.iter().map(|one| one.member.clone());
    contacts.set_members(members.collect()).unwrap();
    substep(&mut contacts, &molecules);
    let all = contacts.search_work();
    let new = maker.molecule(777);
    contacts
        .update_members(&[50], vec![new.member.clone()])
        .unwrap();
    molecules.remove(50);
    molecules.push(new);
    substep(&mut contacts, &molecules);
    let work = contacts.search_work();
    assert!(10 * work.renewed < all.renewed, "{work:?} of {all:?}");
}

/// Three balls in a row; the first two touch.
fn row() -> (CrowdContacts, Vec<Molecule>) {
    let spheres = Arc::new(RigidSpheres::atoms(&ball()));
    let balls = [0.0, 0.1999, 5.0]
        .into_iter()
        .zip(0..)
        .map(|(x, id)| Molecule {
            member: ContactMember {
                id,
                spheres: spheres.clone(),
                ..ContactMember::default()
            },
            body: MovingBody {
                pose: Pose::from_translation(Vec3::X * x),
                center: Vec3::X * x,
                inverse_mass: Vec3::ONE,
                asleep: true,
                ..MovingBody::default()
            },
        });
    let molecules: Vec<_> = balls.collect();
    let mut contacts = CrowdContacts::default();
    let members = molecules.iter().map(|one| one.member.clone());
    contacts.set_members(members.collect()).unwrap();
    for _ in 0..2 {
        substep(&mut contacts, &molecules);
        assert!(contacts.to_wake().is_empty());
    }
    (contacts, molecules)
}

#[test]
fn a_member_whose_neighbor_is_removed_wakes() {
    let (mut contacts, mut molecules) = row();
    contacts.update_members(&[0], Vec::new()).unwrap();
    molecules.remove(0);
    substep(&mut contacts, &molecules);
    assert_eq!(contacts.to_wake(), [MemberIndex(0)]);
    substep(&mut contacts, &molecules);
    assert!(contacts.to_wake().is_empty());
}

#[test]
fn a_member_wakes_after_two_changes_in_one_substep() {
    let (mut contacts, mut molecules) = row();
    contacts.update_members(&[1], Vec::new()).unwrap();
    let mut first = molecules[2].clone();
    first.member.id = u64::MAX;
    first.body.pose.position.x = 9.0;
    contacts
        .update_members(&[], vec![first.member.clone()])
        .unwrap();
    molecules.remove(1);
    molecules.push(first);
    substep(&mut contacts, &molecules);
    assert_eq!(contacts.to_wake(), [MemberIndex(0)]);
}

#[test]
fn a_neighbor_that_leaves_while_another_member_is_added_wakes_a_member() {
    let (mut contacts, mut molecules) = row();
    molecules[0].body.pose.position.x = -3.0;
    let mut new = molecules[2].clone();
    new.member.id = 9;
    new.body.pose.position.x = 9.0;
    contacts
        .update_members(&[], vec![new.member.clone()])
        .unwrap();
    molecules.push(new);
    substep(&mut contacts, &molecules);
    assert!(contacts.to_wake().contains(&MemberIndex(1)));
}

#[test]
fn a_member_without_a_body_wakes_its_neighbors() {
    let (mut contacts, molecules) = row();
    contacts
        .gather(|member| Some(molecules[member.index()].body).filter(|_| member.0 != 0))
        .unwrap();
    contacts.detect().unwrap();
    contacts.respond(DT);
    assert!(contacts.to_wake().contains(&MemberIndex(1)));
}

#[test]
fn members_in_any_order_are_sorted_by_an_update() {
    let (mut contacts, molecules) = row();
    let mut members: Vec<_> = molecules.iter().map(|one| one.member.clone()).collect();
    members.reverse();
    contacts.set_members(members).unwrap();
    contacts
        .update_members(
            &[1],
            vec![ContactMember {
                id: 5,
                ..molecules[0].member.clone()
            }],
        )
        .unwrap();
    let ids: Vec<_> = contacts.members().iter().map(|member| member.id).collect();
    assert_eq!(ids, [0, 2, 5]);
}

/// Impulses on two balls, one on the other on a floor, step by step. With `changes`, other members
/// come and go, before and after them.
fn stack_on_a_floor(changes: bool) -> Vec<[u32; 3]> {
    let spheres = Arc::new(RigidSpheres::atoms(&ball()));
    let ball_at = |id, position: Vec3| Molecule {
        member: ContactMember {
            id,
            spheres: spheres.clone(),
            ..ContactMember::default()
        },
        body: MovingBody {
            pose: Pose::from_translation(position),
            center: position,
            inverse_mass: Vec3::ONE,
            acceleration: Vec3::Y * -9.81,
            ..MovingBody::default()
        },
    };
    let mut molecules = vec![
        ball_at(10, Vec3::Y * 0.1),
        ball_at(11, Vec3::Y * 0.299),
        ball_at(12, Vec3::X * 5.0),
    ];
    let floor = ExternalBody {
        id: 1,
        body: MovingBody::default(),
    };
    let mut contacts = CrowdContacts::default();
    let members = molecules.iter().map(|one| one.member.clone());
    contacts.set_members(members.collect()).unwrap();
    let mut impulses = Vec::new();
    for step in 0..12_u64 {
        if changes && step % 2 == 1 {
            let far = Vec3::new(-5.0, step as f32, 0.0);
            let new = [ball_at(step % 4, far), ball_at(20 + step, -far)];
            let mut removed = Vec::new();
            if molecules.len() > 4 {
                removed = vec![molecules.remove(0).member.id];
            }
            molecules.retain(|one| new.iter().all(|new| new.member.id != one.member.id));
            molecules.extend(new.clone());
            molecules.sort_by_key(|molecule| molecule.member.id);
            let new = new.map(|molecule| molecule.member);
            contacts.update_members(&removed, new.to_vec()).unwrap();
        }
        let place = |id| {
            molecules
                .iter()
                .position(|one| one.member.id == id)
                .unwrap() as u32
        };
        let [lower, upper] = [10, 11].map(|id| MemberIndex(place(id)));
        contacts
            .gather(|member| Some(molecules[member.index()].body))
            .unwrap();
        contacts.detect().unwrap();
        let on_floor = ExternalContact {
            a: ContactSide::External(0),
            b: ContactSide::Member(lower),
            key: 7,
            normal: Vec3::Y,
            point: Vec3::ZERO,
            gap: 0.0,
            friction: 0.5,
            restitution: 0.0,
        };
        contacts.set_external_contacts(&[floor], std::iter::once(on_floor));
        contacts.respond(DT);
        for member in [lower, upper] {
            let mut all = contacts.impulses();
            let (_, impulse) = all.find(|(other, _)| *other == member).unwrap();
            impulses.push(impulse.linear.to_array().map(f32::to_bits));
        }
    }
    impulses
}

#[test]
fn contacts_with_external_bodies_stay_warm_when_other_members_change() {
    let expected = stack_on_a_floor(false);
    assert_ne!(
        expected[0], expected[6],
        "contacts are warm after the first step"
    );
    assert!(stack_on_a_floor(true) == expected);
}
