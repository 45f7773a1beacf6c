//! A search whose device fails is replaced by the CPU within the same call.

use std::sync::Arc;

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::dynamics::{
    ContactMember, CrowdContacts, GroupSearch, MovingBody, PairGroups,
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
        ..MovingBody::default()
    };
    let gathered = contacts.gather(|member| Some(body(Vec3::X * 0.15 * member.0 as f32)));
    assert_eq!(gathered, Ok(false));
    contacts
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
