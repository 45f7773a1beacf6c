//! Contacts that another device finds and solves, such as a GPU.
//!
//! An *engine* finds the pairs of a crowd, makes contacts of them and solves these; the
//! contacts stay with it from substep to substep, and only what bodies receive comes back.
//! When it fails, the crowd goes on by itself within the same substep.

use std::sync::Arc;

use glam::Vec3;

use super::{
    ContactConstraint, ContactMaterial, ContactSolverConfig, CrowdTouch, ExternalContact, Impulse,
    InteractionGroups, MemberSpheres, MovingBody,
};
use crate::backend::DeviceError;
use crate::search::{GridCell, Pair, SearchError, SearchTimes};

/// What an engine is to solve. Bodies, here and in all that an engine sees, are numbered by
/// owners of spheres; obstacles follow.
#[derive(Clone, Copy, Debug)]
pub struct DeviceSubstep<'a> {
    /// Bodies before the substep: those of the spheres, then obstacles.
    pub bodies: &'a [MovingBody],
    /// How many of them have spheres.
    pub members: usize,
    /// Contacts with obstacles, with their two bodies.
    pub supports: &'a [(ExternalContact, [u32; 2])],
    /// The body that each obstacle of the substep before is now, if they are others than
    /// they were; none if it is gone.
    pub renamed: Option<&'a [Option<u32>]>,
    /// Length of the substep, s.
    pub dt: f32,
    /// How contacts are solved.
    pub config: &'a ContactSolverConfig,
}

/// What an engine found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct DeviceDetection {
    /// Pairs of spheres within the prediction_distance.
    pub candidates: usize,
    /// How long it took.
    pub times: SearchTimes,
}

/// What an engine answers.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceResponse {
    /// The impulse that each body receives.
    pub impulses: Vec<Impulse>,
    /// Owners that are woken if they sleep, in rising order.
    pub woken: Vec<u32>,
}

/// The contacts of a substep, for the next one.
#[derive(Clone, Debug, Default)]
pub struct SavedContacts {
    /// Those that take part, sorted by bodies and spheres, and then those with obstacles.
    pub contacts: Vec<ContactConstraint>,
    /// Owners that touch or nearly do, sorted.
    pub touching: Vec<[u32; 2]>,
    /// Length of the substep, s; none if there was none.
    pub dt: Option<f32>,
}

/// What a contact carries to the next substep. From that and from the bodies it can be made
/// anew.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CarriedImpulse {
    /// The spheres, or the two halves of the key of a support.
    pub spheres: Pair,
    /// Impulse along the normal, Da·nm/s.
    pub normal_impulse: f32,
    /// Impulse of friction, Da·nm/s.
    pub friction_impulse: Vec3,
    /// Speed at which the bodies should part after a bounce, nm/s.
    pub restitution_speed: f32,
    /// Whether it took part.
    pub is_active: bool,
    /// Whether it is a contact with something outside the crowd.
    pub held: bool,
}

/// Finds and solves the contacts of a crowd on some device.
///
/// After an error of [`respond`](Self::respond) the contacts of the substep before are still
/// there, if the device is.
pub trait DeviceSolver: Send + Sync {
    /// Name for reports.
    fn name(&self) -> &'static str;

    /// Tells the spheres of each owner, in its body frame.
    ///
    /// # Errors
    /// [`DeviceError`] if the device fails.
    fn set_molecules(&mut self, molecules: &[Arc<MemberSpheres>]) -> Result<(), DeviceError>;

    /// Tells the surface of each owner, and which two do not touch whatever their groups:
    /// sorted pairs, the smaller one first.
    ///
    /// # Errors
    /// [`DeviceError`] if the device fails.
    fn set_surfaces(
        &mut self,
        surfaces: &[(ContactMaterial, InteractionGroups)],
        exempt: &[[u32; 2]],
    ) -> Result<(), DeviceError>;

    /// Moves the spheres with the bodies of their owners, finds the pairs closer than their
    /// radii plus `margin`, nm, and appends to `touches`, if somebody wants to know, which
    /// owners touch, sorted.
    ///
    /// # Errors
    /// As [`PairSearch::find_pairs`](crate::search::PairSearch::find_pairs).
    fn detect(
        &mut self,
        bodies: &[MovingBody],
        margin: f32,
        touches: Option<&mut Vec<CrowdTouch>>,
    ) -> Result<DeviceDetection, SearchError>;

    /// Solves the contacts between what was last detected.
    ///
    /// # Errors
    /// [`DeviceError`] if the device fails.
    fn respond(
        &mut self,
        substep: &DeviceSubstep<'_>,
        answer: &mut DeviceResponse,
    ) -> Result<(), DeviceError>;

    /// Goes on from contacts that somebody else solved.
    ///
    /// # Errors
    /// [`DeviceError`] if the device fails.
    fn take_over(&mut self, contacts: &SavedContacts) -> Result<(), DeviceError>;

    /// Reads the contacts of the last substep.
    ///
    /// # Errors
    /// [`DeviceError`] if the device fails.
    fn contacts(&mut self) -> Result<SavedContacts, DeviceError>;

    /// Reads what the contacts of the last substep carry, and no more: those that take part,
    /// by their bodies, and then all with obstacles.
    ///
    /// # Errors
    /// [`DeviceError`] if the device fails.
    fn impulses(&mut self) -> Result<Vec<CarriedImpulse>, DeviceError>;

    /// Forgets the contacts of the last substep.
    fn forget(&mut self);

    /// See [`PairSearch::cell_around`](crate::search::PairSearch::cell_around).
    fn cell_around(&self, _point: Vec3) -> Option<GridCell> {
        None
    }
}
