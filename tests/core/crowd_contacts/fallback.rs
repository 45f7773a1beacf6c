//! A search whose device fails is replaced by the CPU within the same call.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::dynamics::{
    ContactMember, ContactSide, ContactSurface, CrowdContacts, DeviceResponse, DeviceSolver,
    DeviceSubstep, ExternalBody, ExternalContact, GroupSearch, MemberIndex, MovingBody, OwnerIndex,
    PairGroups, SavedContacts,
};
use bevy_rapier_molecules::pose::Pose;

use bevy_rapier_molecules::search::{
    AutoGrid, MoleculeSearch, RigidSpheres, SearchError, SearchTimes,
};
use glam::Vec3;

use crate::common::small_world::ball;

fn lost() -> DeviceError {
    let reason = "unplugged".into();
    DeviceError::Lost { reason }
}

/// A search whose device is lost.
struct LostSearch;

impl GroupSearch for LostSearch {
    fn name(&self) -> &'static str {
        "lost"
    }

    fn set_molecules(&mut self, _: &[Arc<RigidSpheres>]) -> Result<(), SearchError> {
        Ok(())
    }

    fn find_groups(
        &mut self,
        _: &[MovingBody],
        _: f32,
        _: &mut PairGroups,
    ) -> Result<SearchTimes, SearchError> {
        Err(lost().into())
    }
}

/// Two balls that overlap.
fn two_balls() -> CrowdContacts {
    let spheres = Arc::new(RigidSpheres::atoms(&ball()));
    let members = [0, 1].map(|id| ContactMember {
        id,
        spheres: spheres.clone(),
        ..ContactMember::default()
    });
    let mut contacts = CrowdContacts::default();
    contacts.set_members(members.to_vec()).unwrap();
    let body = |position| MovingBody {
        pose: Pose::from_translation(position),
        center: position,
        inverse_mass: Vec3::splat(0.01),
        ..MovingBody::default()
    };
    let gathered = contacts.gather(|member| Some(body(Vec3::X * 0.15 * member.0 as f32)));
    assert_eq!(gathered, Ok(false));
    contacts
}

/// A device that leaves every substep to the CPU.
struct DecliningSolver {
    steps: Arc<AtomicU32>,
}

impl DeviceSolver for DecliningSolver {
    fn name(&self) -> &'static str {
        "declining"
    }

    fn set_molecules(&mut self, _: &[Arc<RigidSpheres>]) -> Result<(), DeviceError> {
        Ok(())
    }

    fn set_surfaces(
        &mut self,
        _: &[ContactSurface],
        _: &[[OwnerIndex; 2]],
    ) -> Result<(), DeviceError> {
        Ok(())
    }

    fn step(
        &mut self,
        substep: &DeviceSubstep<'_>,
        _: &mut DeviceResponse,
    ) -> Result<bool, SearchError> {
        assert_eq!(substep.owners, 2);
        self.steps.fetch_add(1, Ordering::Relaxed);
        Ok(false)
    }

    fn load_contacts(&mut self, _: &SavedContacts) -> Result<(), DeviceError> {
        Ok(())
    }

    fn save_contacts(&mut self) -> Result<SavedContacts, DeviceError> {
        Err(lost())
    }

    fn clear_contacts(&mut self) {}
}

/// The CPU solves what a device declines, in the same substep and with its own warm start. The device
/// stays in use.
#[test]
fn a_substep_that_a_device_declines_is_solved_by_the_cpu() {
    let (mut on_cpu, mut on_device) = (two_balls(), two_balls());
    let steps = Arc::new(AtomicU32::new(0));
    let solver = DecliningSolver {
        steps: Arc::clone(&steps),
    };
    on_device.set_device_solver(Box::new(solver), true);
    let floor = ExternalBody {
        id: 1,
        body: MovingBody::default(),
    };
    let on_floor = ExternalContact {
        a: ContactSide::External(0),
        b: ContactSide::Member(MemberIndex(0)),
        key: 7,
        normal: Vec3::Y,
        point: Vec3::NEG_Y * 0.1,
        gap: 0.0,
        friction: 0.5,
        restitution: 0.0,
    };
    for substep in 1..4 {
        for contacts in [&mut on_cpu, &mut on_device] {
            contacts.detect().unwrap();
            contacts.set_external_contacts(&[floor], std::iter::once(on_floor));
            contacts.respond(1.0 / 240.0);
            assert_eq!(
                (contacts.touches().len(), contacts.candidate_pairs()),
                (1, 1)
            );
        }
        assert!(on_device.impulses().eq(on_cpu.impulses()));
        assert!(on_device.external_impulses().eq(on_cpu.external_impulses()));
        assert_eq!(on_device.contacts().len(), on_cpu.contacts().len());
        assert!(on_device.uses_device());
        assert_eq!(on_device.take_device_error(), None);
        assert_eq!(steps.load(Ordering::Relaxed), substep);
    }
    assert!(on_cpu.impulses().any(|(_, impulse)| !impulse.is_zero()));
}

#[test]
fn a_failing_device_loses_no_pair_and_is_reported_once() {
    let mut contacts = two_balls();
    contacts.set_group_search(Box::new(LostSearch));
    assert_eq!(contacts.search_name(), "lost");
    for expected in [Some(lost()), None] {
        contacts.detect().unwrap();
        assert_eq!(
            (contacts.touches().len(), contacts.candidate_pairs()),
            (1, 1)
        );
        assert_eq!(contacts.take_device_error(), expected);
        assert_eq!(contacts.search_name(), MoleculeSearch::NAME);
    }
}

#[test]
fn invalid_input_is_no_device_error() {
    let mut contacts = two_balls();
    contacts.set_search(Box::new(AutoGrid::new()));
    contacts.config.prediction_distance = f32::NAN;
    let error = contacts.detect().unwrap_err();
    assert!(matches!(error, SearchError::BadMargin { .. }), "{error}");
    assert_eq!(contacts.take_device_error(), None);
}
