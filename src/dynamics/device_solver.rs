//! The interface of solvers that run on a device, such as a GPU.

use std::sync::Arc;

use glam::Vec3;

use super::{
    BodyIndex, BoundContact, ContactConstraint, ContactSolverConfig, ContactSurface, CrowdTouch,
    Impulse, MovingBody, OwnerIndex,
};
use crate::backend::DeviceError;
use crate::search::RigidSpheres;
use crate::search::{GridCell, SearchError};

/// Input of [`DeviceSolver::step`].
#[derive(Clone, Copy, Debug)]
pub struct DeviceSubstep<'a> {
    /// Bodies at the start of the substep: those of the owners, then external ones.
    pub bodies: &'a [MovingBody],
    /// Number of owners.
    pub owners: usize,
    /// Contacts with external bodies.
    pub external: &'a [BoundContact],
    /// The current body of each external body of the previous substep, if the external bodies
    /// have changed; none if it is gone.
    pub relabeled: Option<&'a [Option<BodyIndex>]>,
    /// Pairs of spheres closer than their radii plus this are found, nm.
    pub margin: f32,
    /// Whether touches are returned.
    pub report_touches: bool,
    /// Length of the substep, s.
    pub dt: f32,
    /// Parameters of the solver.
    pub config: &'a ContactSolverConfig,
}

/// Result of [`DeviceSolver::step`].
#[derive(Clone, Debug, Default, PartialEq)]
pub struct DeviceResponse {
    /// The impulse on each body.
    pub impulses: Vec<Impulse>,
    /// Owners to wake if they sleep, ascending.
    pub woken: Vec<OwnerIndex>,
    /// Owners that touch or are within the margin, sorted, if touches are reported.
    pub touches: Vec<CrowdTouch<OwnerIndex>>,
    /// Number of pairs of spheres within the margin.
    pub candidates: usize,
}

/// The contacts of a substep that the next one starts from.
#[derive(Clone, Debug, Default)]
pub struct SavedContacts {
    /// Active contacts between owners, sorted by bodies and spheres, then all external ones.
    pub contacts: Vec<ContactConstraint>,
    /// Owners that touch or are within the prediction distance, sorted.
    pub touching: Vec<[OwnerIndex; 2]>,
    /// Length of the substep, s; none if there was none.
    pub dt: Option<f32>,
}

/// Finds and solves the contacts of a crowd on a device.
///
/// The contacts stay on the device from substep to substep; only impulses come back. After an
/// error of [`step`](Self::step), [`save_contacts`](Self::save_contacts) still returns
/// the contacts of the previous substep, unless the device is lost. All methods return a
/// [`DeviceError`] if the device fails; the CPU then continues within the same substep.
pub trait DeviceSolver: Send + Sync {
    /// Name for reports.
    fn name(&self) -> &'static str;

    /// Sets the spheres of each owner, in its body frame.
    fn set_molecules(&mut self, molecules: &[Arc<RigidSpheres>]) -> Result<(), DeviceError>;

    /// Sets the surface of each owner, and the pairs that never touch: sorted, the smaller
    /// index first.
    fn set_surfaces(
        &mut self,
        surfaces: &[ContactSurface],
        ignored: &[[OwnerIndex; 2]],
    ) -> Result<(), DeviceError>;

    /// Finds and solves the contacts of a substep. Returns false if the CPU has to do it, because too
    /// many molecules lie in one place: the device has changed nothing then, and can be used again
    /// in the next substep.
    ///
    /// # Errors
    /// As [`PairSearch::find_pairs`](crate::search::PairSearch::find_pairs).
    fn step(
        &mut self,
        substep: &DeviceSubstep<'_>,
        response: &mut DeviceResponse,
    ) -> Result<bool, SearchError>;

    /// Continues from contacts that another solver solved.
    fn load_contacts(&mut self, contacts: &SavedContacts) -> Result<(), DeviceError>;

    /// Reads the contacts of the last substep.
    fn save_contacts(&mut self) -> Result<SavedContacts, DeviceError>;

    /// Drops the contacts of the last substep.
    fn clear_contacts(&mut self);

    /// See [`PairSearch::cell_around`](crate::search::PairSearch::cell_around).
    fn cell_around(&self, _point: Vec3) -> Option<GridCell> {
        None
    }
}
