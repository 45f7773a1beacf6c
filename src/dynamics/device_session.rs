//! A [`DeviceSolver`] in use, and which data it has.

use std::sync::{Arc, OnceLock};

use glam::Vec3;

use super::device_solver::{DeviceResponse, DeviceSolver, DeviceSubstep, SavedContacts};
use super::external_contact::ExternalContacts;
use super::members::Members;
use super::{BodyIndex, ContactConstraint, ContactSolverConfig, MovingBody};
use crate::backend::{DeviceCell, DeviceError};
use crate::search::{GridCell, SearchError};

/// A device solver, and which data it has.
///
/// Spheres and surfaces are sent when they have changed. The contacts are sent once and stay
/// on the device; they are read back when members change or the device is replaced.
pub(super) struct DeviceSession {
    solver: DeviceCell<dyn DeviceSolver>,
    name: &'static str,
    report_touches: bool,
    /// Whether the device has the contacts of the previous substep.
    has_contacts: bool,
    /// Whether the device has the current members.
    has_molecules: bool,
    /// Whether the device has the current surfaces and ignored pairs.
    has_surfaces: bool,
    /// External bodies of the previous substep, and their current bodies.
    external_ids: Vec<u64>,
    relabeled: Vec<Option<BodyIndex>>,
    response: DeviceResponse,
    /// The contacts, once they have been read back.
    fetched: OnceLock<Vec<ContactConstraint>>,
}

impl DeviceSession {
    /// Starts to use `solver`, which returns touching members only with `report_touches`.
    pub fn new(solver: Box<dyn DeviceSolver>, report_touches: bool) -> Self {
        Self {
            name: solver.name(),
            solver: DeviceCell::new(solver),
            report_touches,
            has_contacts: false,
            has_molecules: false,
            has_surfaces: false,
            external_ids: Vec::new(),
            relabeled: Vec::new(),
            response: DeviceResponse::default(),
            fetched: OnceLock::new(),
        }
    }

    /// Name of the solver.
    pub fn name(&self) -> &'static str {
        self.name
    }

    /// Whether the device returns touching members.
    pub fn reports_touches(&self) -> bool {
        self.report_touches
    }

    /// Whether the device has the contacts of the previous substep.
    pub fn has_contacts(&self) -> bool {
        self.has_contacts
    }

    /// Sends members and surfaces again before the next detection.
    pub fn mark_members_changed(&mut self) {
        (self.has_molecules, self.has_surfaces) = (false, false);
    }

    /// Sends surfaces and ignored pairs again before the next detection.
    pub fn mark_surfaces_changed(&mut self) {
        self.has_surfaces = false;
    }

    fn solver(&mut self) -> &mut dyn DeviceSolver {
        self.solver.get_mut()
    }

    /// The grid cell around `point`, nm, in the last search.
    pub fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        self.solver.lock().cell_around(point)
    }

    /// Sends the members that have changed.
    fn send_members(&mut self, members: &Members) -> Result<(), DeviceError> {
        let owners = members.included();
        if !self.has_molecules {
            let molecules: Vec<_> = owners.clone().map(|one| Arc::clone(&one.spheres)).collect();
            self.solver().set_molecules(&molecules)?;
            self.has_molecules = true;
        }
        if !self.has_surfaces {
            let surfaces: Vec<_> = owners.map(|one| one.surface).collect();
            let ignored: Vec<_> = members.ignored_owners().collect();
            self.solver().set_surfaces(&surfaces, &ignored)?;
            self.has_surfaces = true;
        }
        Ok(())
    }

    /// Finds and solves the contacts of a substep; none if the CPU has to do it. `saved` returns the
    /// contacts of the CPU, if the device does not have those of the previous substep.
    pub fn step(
        &mut self,
        members: &Members,
        bodies: &[MovingBody],
        external: &ExternalContacts,
        dt: f32,
        config: &ContactSolverConfig,
        saved: impl FnOnce() -> SavedContacts,
    ) -> Result<Option<&DeviceResponse>, SearchError> {
        self.send_members(members)?;
        self.fetched.take();
        let ids = external.ids();
        if !self.has_contacts {
            self.solver().load_contacts(&saved())?;
            ids.clone_into(&mut self.external_ids);
        }
        let owners = bodies.len() - ids.len();
        let changed = self.external_ids != ids;
        let mut relabeled = std::mem::take(&mut self.relabeled);
        relabeled.clear();
        if changed {
            let previous = self.external_ids.iter();
            relabeled.extend(previous.map(|id| external.body_with_id(*id, owners)));
        }
        let substep = DeviceSubstep {
            bodies,
            owners,
            external: external.contacts(),
            relabeled: changed.then_some(&relabeled[..]),
            margin: config.prediction_distance,
            report_touches: self.report_touches,
            dt,
            config,
        };
        let mut response = std::mem::take(&mut self.response);
        let result = self.solver().step(&substep, &mut response);
        (self.response, self.relabeled) = (response, relabeled);
        if !result? {
            return Ok(None);
        }
        // From now on the contacts of the CPU are older.
        self.has_contacts = true;
        ids.clone_into(&mut self.external_ids);
        Ok(Some(&self.response))
    }

    /// The contacts of the last substep; empty if the device fails, which the next substep reports.
    pub fn contacts(&self) -> &[ContactConstraint] {
        self.fetched.get_or_init(|| {
            let saved = self.solver.lock().save_contacts();
            saved.map(|saved| saved.contacts).unwrap_or_default()
        })
    }

    /// Reads the contacts back, with the ids of their external bodies.
    pub fn save_contacts(&mut self) -> Result<(SavedContacts, Vec<u64>), DeviceError> {
        let saved = self.solver().save_contacts()?;
        Ok((saved, std::mem::take(&mut self.external_ids)))
    }

    /// Drops the contacts of the last substep.
    pub fn clear_contacts(&mut self) {
        self.has_contacts = false;
        self.fetched.take();
        self.solver().clear_contacts();
    }
}
