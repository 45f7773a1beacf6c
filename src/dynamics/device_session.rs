//! A crowd whose contacts an engine finds and solves.
//!
//! The contacts of the last substep, with the impulses that they carry, stay on the device.
//! They come back when members change and are sent there again, which is rare, and when a
//! device fails that still answers.
//!
//! A device that is lost takes them along: see [`Past`].

use std::sync::{Arc, OnceLock};

use super::crowd_contacts::{CrowdContacts, CrowdContactsError};
use super::device_solver::{
    DeviceDetection, DeviceResponse, DeviceSolver, DeviceSubstep, SavedContacts,
};
use super::past::Past;
use super::{ContactConstraint, CrowdTouch};
use crate::backend::{DeviceCell, DeviceError};
use crate::search::{SearchError, SearchTimes};

/// An engine at work.
pub(super) struct DeviceSession {
    /// Behind a lock, so that a crowd that is only looked at can fetch contacts.
    engine: DeviceCell<dyn DeviceSolver>,
    name: &'static str,
    /// Whether the contacts of the last substep are with it.
    carries: bool,
    /// Whether it has found what is to be solved.
    detected: bool,
    /// Whether anybody wants to know who touches whom.
    tells: bool,
    /// Whether it knows the spheres of the members.
    knows_molecules: bool,
    /// Whether it knows their surfaces.
    knows_surfaces: bool,
    exempt: Vec<[u32; 2]>,
    /// Obstacles of the last substep.
    obstacles: Vec<u64>,
    past: Past,
    answer: DeviceResponse,
    /// The contacts, if somebody asked for them.
    fetched: OnceLock<Vec<ContactConstraint>>,
}

impl DeviceSession {
    fn engine(&mut self) -> &mut dyn DeviceSolver {
        self.engine.get_mut()
    }

    pub fn name(&self) -> &'static str {
        self.name
    }

    pub fn cell_around(&self, point: glam::Vec3) -> Option<crate::search::GridCell> {
        self.engine.lock().cell_around(point)
    }

    /// The members have changed.
    pub fn forget_members(&mut self) {
        self.knows_molecules = false;
        self.knows_surfaces = false;
    }

    /// What is said of the members has changed.
    pub fn forget_surfaces(&mut self) {
        self.knows_surfaces = false;
    }

    /// Whether the contacts of the last substep are with the engine.
    pub fn carries(&self) -> bool {
        self.carries
    }

    /// The contacts of the last substep; none if the device fails now, which the next
    /// substep will notice.
    pub fn contacts(&self) -> &[ContactConstraint] {
        self.fetched.get_or_init(|| {
            let carried = self.engine.lock().contacts();
            carried.map(|carried| carried.contacts).unwrap_or_default()
        })
    }

    /// Forgets the contacts of the last substep.
    pub fn forget(&mut self) {
        self.carries = false;
        self.past = Past::default();
        self.fetched.take();
        self.engine().forget();
    }
}

impl CrowdContacts {
    /// Whether [`touches`](Self::touches) says who touches whom: always, unless an engine
    /// was told not to.
    #[must_use]
    pub fn reports_touches(&self) -> bool {
        self.offload.as_ref().is_none_or(|offload| offload.tells)
    }

    /// Lets `engine` find and solve the contacts from now on; with `tells`, who touches whom
    /// comes back as well, and else [`touches`](Self::touches) stays empty. Members and
    /// contacts stay.
    ///
    /// If its device fails, the processor does it again, as with
    /// [`set_search`](Self::set_search).
    pub fn set_device_solver(&mut self, engine: Box<dyn DeviceSolver>, tells: bool) {
        self.stop_engine();
        self.take_device_error();
        self.offload.start(DeviceSession {
            name: engine.name(),
            engine: DeviceCell::new(engine),
            carries: false,
            detected: false,
            tells,
            knows_molecules: false,
            knows_surfaces: false,
            exempt: Vec::new(),
            obstacles: Vec::new(),
            past: Past::default(),
            answer: DeviceResponse::default(),
            fetched: OnceLock::new(),
        });
    }

    /// Lets the processor solve the contacts again, from where the engine was.
    pub(super) fn stop_engine(&mut self) {
        self.bring_back();
        if self.offload.stop().is_some() {
            self.place();
        }
    }

    /// Finds the pairs on the device; none if the processor has to.
    pub(super) fn detect_on_device(&mut self) -> Option<Result<SearchTimes, CrowdContactsError>> {
        loop {
            self.offload.as_ref()?;
            match self.try_detect() {
                Ok(found) => {
                    self.groups.clear();
                    self.groups.set_candidates(found.candidates);
                    return Some(Ok(found.times));
                }
                Err(SearchError::TooCrowded { sphere, reach, .. }) => {
                    self.place();
                    let center = self.spheres.center(sphere as usize);
                    if let Err(error) = self.set_crowd_aside(center, reach) {
                        return Some(Err(error));
                    }
                }
                Err(SearchError::Device(error)) => self.give_up(error),
                Err(error) => {
                    self.forget_contacts();
                    return Some(Err(error.into()));
                }
            }
        }
    }

    fn try_detect(&mut self) -> Result<DeviceDetection, SearchError> {
        let Some(offload) = self.offload.as_mut() else {
            return Ok(DeviceDetection::default());
        };
        offload.detected = false;
        if !offload.knows_molecules {
            let spheres = |member: &u32| Arc::clone(&self.members[*member as usize].spheres);
            let molecules: Vec<_> = self.active.iter().map(spheres).collect();
            offload.engine().set_molecules(&molecules)?;
            offload.knows_molecules = true;
        }
        let owner = |member: u32| self.active.binary_search(&member).ok();
        let mut exempt: Vec<[u32; 2]> = self
            .exempt
            .iter()
            .filter_map(|pair| Some([owner(pair[0])? as u32, owner(pair[1])? as u32]))
            .collect();
        exempt.sort_unstable();
        if !offload.knows_surfaces || exempt != offload.exempt {
            let surface = |member: &u32| {
                let member = &self.members[*member as usize];
                (member.material, member.groups)
            };
            let surfaces: Vec<_> = self.active.iter().map(surface).collect();
            offload.engine().set_surfaces(&surfaces, &exempt)?;
            offload.exempt = exempt;
            offload.knows_surfaces = true;
        }
        self.touches.clear();
        let touches = offload.tells.then_some(&mut self.touches);
        let prediction_distance = self.config.prediction_distance;
        let bodies = &self.bodies[..self.active.len()];
        let found = offload
            .engine()
            .detect(bodies, prediction_distance, touches)?;
        for touch in &mut self.touches {
            (touch.a, touch.b) = (self.active[touch.a as usize], self.active[touch.b as usize]);
        }
        offload.detected = true;
        Ok(found)
    }

    /// Solves the contacts on the device; false if the processor has to.
    pub(super) fn respond_on_device(&mut self, dt: f32) -> bool {
        if !self
            .offload
            .as_ref()
            .is_some_and(|offload| offload.detected)
        {
            return false;
        }
        match self.try_respond(dt) {
            Ok(()) => true,
            Err(error) => {
                self.give_up(error);
                // What the device had found is gone with it.
                let (search, groups) = (&mut self.search, &mut self.groups);
                let prediction_distance = self.config.prediction_distance;
                let spheres = &self.spheres;
                if crate::pool::in_pool(|| search.find(spheres, prediction_distance, groups))
                    .is_err()
                {
                    self.solver.forget();
                }
                self.touches.clear();
                self.collect_touches();
                false
            }
        }
    }

    fn try_respond(&mut self, dt: f32) -> Result<(), DeviceError> {
        let Some(offload) = self.offload.as_mut() else {
            return Ok(());
        };
        offload.detected = false;
        offload.fetched.take();
        if !offload.carries {
            let active = &self.active;
            let owner = |member: u32| {
                active
                    .binary_search(&member)
                    .map_or(0, |owner| owner as u32)
            };
            let touches = self.touches_before.iter();
            let touching = touches.map(|touch| [owner(touch.a), owner(touch.b)]);
            let carried = self.solver.carried(touching.collect());
            offload.engine().take_over(&carried)?;
            offload.obstacles.clone_from(&self.obstacles);
            offload.past = Past::beginning_with(carried);
        }
        let members = self.active.len();
        let now = |id: &u64| self.obstacles.iter().position(|other| other == id);
        let renamed = (offload.obstacles != self.obstacles).then(|| {
            let places = offload.obstacles.iter().map(now);
            let bodies = places.map(|place| place.map(|place| (members + place) as u32));
            bodies.collect::<Vec<_>>()
        });
        let substep = DeviceSubstep {
            bodies: &self.bodies,
            members,
            supports: &self.supports,
            renamed: renamed.as_deref(),
            dt,
            config: &self.config,
        };
        let mut answer = std::mem::take(&mut offload.answer);
        let answered = offload.engine().respond(&substep, &mut answer);
        offload.answer = answer;
        // Contacts of the processor would be older from now on.
        offload.carries = offload.carries || answered.is_ok();
        answered?;
        offload.obstacles.clone_from(&self.obstacles);
        offload
            .past
            .remember(&substep, &self.obstacles, &offload.answer.woken);
        if offload.past.is_long()
            && let Ok(carried) = offload.engine().impulses()
        {
            offload.past.begin_anew(carried);
        }
        self.solver.forget();
        self.solver.set_impulses(&offload.answer.impulses);
        self.to_wake.clear();
        let woken = offload.answer.woken.iter();
        let woken = woken.filter_map(|owner| self.active.get(*owner as usize));
        self.to_wake.extend(woken);
        self.supports.clear();
        Ok(())
    }

    /// Fetches the contacts of the last substep, if the device has them.
    pub(super) fn bring_back(&mut self) {
        let Some(offload) = self.offload.as_mut().filter(|offload| offload.carries) else {
            return;
        };
        match offload.engine().contacts() {
            Ok(carried) => {
                let obstacles = std::mem::take(&mut offload.obstacles);
                let tells = offload.tells;
                offload.forget();
                self.restore(&carried, &obstacles);
                if !tells {
                    self.touches = self.touches_of(&carried);
                }
            }
            Err(error) => self.give_up(error),
        }
    }

    /// Leaves the device, which has failed, with the contacts that it had.
    fn give_up(&mut self, error: DeviceError) {
        let Some(mut offload) = self.offload.fail(error) else {
            return;
        };
        self.search.use_cpu();
        self.place();
        if !offload.carries {
            return;
        }
        match offload.engine().contacts() {
            Ok(carried) => {
                self.restore(&carried, &offload.obstacles);
                if !offload.tells {
                    self.touches_before = self.touches_of(&carried);
                }
            }
            Err(_) => self.solve_again(offload.past),
        }
    }

    /// Goes on from contacts of a substep in which these were the obstacles.
    fn restore(&mut self, carried: &SavedContacts, obstacles: &[u64]) {
        let bodies = self.active.len() + obstacles.len();
        self.solver.restore(carried, &self.config, bodies);
        self.rename_obstacles(obstacles);
    }

    /// Those that touched, as far as an engine knows that.
    fn touches_of(&self, carried: &SavedContacts) -> Vec<CrowdTouch> {
        let members = carried.touching.iter().map(|pair| {
            let [a, b] = pair.map(|owner| self.active.get(owner as usize).copied());
            Some((a?, b?))
        });
        let touch = |(a, b)| CrowdTouch {
            a,
            b,
            overlaps: 0,
            penetration: f32::NEG_INFINITY,
        };
        members.flatten().map(touch).collect()
    }
}
