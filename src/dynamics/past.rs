//! The last substeps of an engine, to be solved again if its device is lost.
//!
//! Contacts stay on the device, and are lost with it. So the bodies of the last substeps
//! are kept, and every [`KEPT`] substeps what contacts carry comes back, some thirty bytes
//! each: from these and the bodies of that substep the processor makes the contacts anew,
//! and then it solves the few substeps since. Nothing is lost but the time that it takes.

use std::collections::VecDeque;

use super::contact_constraint::{ContactSurface, Substep, Touch};
use super::crowd_contacts::CrowdContacts;
use super::device_solver::{CarriedImpulse, DeviceSubstep, SavedContacts};
use super::pair_grouper::Sphere;
use super::{ContactConstraint, ContactSolverConfig, ExternalContact, MovingBody};
use crate::pool::in_pool;

/// Substeps that are solved again at most: few enough to be kept and done.
const KEPT: usize = 16;

/// What is needed to solve the last substeps again.
#[derive(Default)]
pub(super) struct Past {
    base: Base,
    substeps: VecDeque<PastSubstep>,
    /// To be filled again.
    spare: Vec<PastSubstep>,
}

/// What contacts carried at the beginning.
#[derive(Default)]
enum Base {
    /// Nothing, or nobody knows.
    #[default]
    Nothing,
    /// All of the contacts, which were sent to the device then.
    Contacts(SavedContacts),
    /// What contacts carried at the end of a substep.
    Impulses(PastSubstep, Vec<CarriedImpulse>),
}

#[derive(Default)]
struct PastSubstep {
    bodies: Vec<MovingBody>,
    obstacles: Vec<u64>,
    supports: Vec<(ExternalContact, [u32; 2])>,
    dt: f32,
    config: ContactSolverConfig,
}

impl Past {
    /// Nothing yet but these contacts.
    pub fn beginning_with(contacts: SavedContacts) -> Self {
        Self {
            base: Base::Contacts(contacts),
            ..Self::default()
        }
    }

    /// Keeps a substep that was solved, with these obstacles, in which these owners were
    /// woken.
    pub fn remember(&mut self, substep: &DeviceSubstep<'_>, obstacles: &[u64], woken: &[u32]) {
        if self.substeps.len() > KEPT {
            // What contacts carried could not be fetched.
            self.base = Base::Nothing;
            self.spare.extend(self.substeps.pop_front());
        }
        let mut kept = self.spare.pop().unwrap_or_default();
        kept.bodies.clear();
        kept.bodies.extend_from_slice(substep.bodies);
        for owner in woken {
            kept.bodies[*owner as usize].asleep = false;
        }
        kept.obstacles.clear();
        kept.obstacles.extend_from_slice(obstacles);
        kept.supports.clear();
        kept.supports.extend_from_slice(substep.supports);
        (kept.dt, kept.config) = (substep.dt, *substep.config);
        self.substeps.push_back(kept);
    }

    /// Whether it is time to begin anew.
    pub fn is_long(&self) -> bool {
        self.substeps.len() >= KEPT
    }

    /// Begins with what the contacts of the last substep carry.
    pub fn begin_anew(&mut self, carried: Vec<CarriedImpulse>) {
        let Some(last) = self.substeps.pop_back() else {
            return;
        };
        if let Base::Impulses(before, _) =
            std::mem::replace(&mut self.base, Base::Impulses(last, carried))
        {
            self.spare.push(before);
        }
        self.spare.extend(self.substeps.drain(..));
    }
}

impl CrowdContacts {
    /// Solves substeps again whose contacts are lost.
    pub(super) fn solve_again(&mut self, past: Past) {
        let now = (
            std::mem::take(&mut self.bodies),
            std::mem::take(&mut self.obstacles),
            std::mem::take(&mut self.supports),
            std::mem::take(&mut self.touches),
            self.config,
        );
        self.solver.forget();
        match past.base {
            Base::Nothing => {}
            Base::Contacts(carried) => {
                // Contacts with obstacles are told anew.
                let contacts = carried.contacts.into_iter().filter(|contact| !contact.held);
                let carried = SavedContacts {
                    contacts: contacts.collect(),
                    ..carried
                };
                let config = past
                    .substeps
                    .front()
                    .map_or(self.config, |first| first.config);
                self.solver.restore(&carried, &config, self.active.len());
            }
            Base::Impulses(substep, carried) => self.make_anew(substep, &carried),
        }
        for substep in past.substeps {
            let before = std::mem::replace(&mut self.obstacles, substep.obstacles);
            (self.bodies, self.supports) = (substep.bodies, substep.supports);
            self.rename_obstacles(&before);
            self.config = substep.config;
            self.place();
            let (search, groups) = (&mut self.search, &mut self.groups);
            let (spheres, margin) = (&self.spheres, substep.config.prediction_distance);
            if in_pool(|| search.find(spheres, margin, groups)).is_ok() {
                self.solve(substep.dt);
                self.touches.clear();
                self.collect_touches();
            }
        }
        std::mem::swap(&mut self.touches_before, &mut self.touches);
        let before = std::mem::replace(&mut self.obstacles, now.1);
        (self.bodies, self.supports, self.touches, self.config) = (now.0, now.2, now.3, now.4);
        self.rename_obstacles(&before);
        self.place();
    }

    /// Makes the contacts of a substep anew from what they carry.
    fn make_anew(&mut self, substep: PastSubstep, carried: &[CarriedImpulse]) {
        (self.bodies, self.supports) = (substep.bodies, substep.supports);
        self.obstacles = substep.obstacles;
        self.config = substep.config;
        self.place();
        let (search, groups) = (&mut self.search, &mut self.groups);
        let (spheres, margin) = (&self.spheres, self.config.prediction_distance);
        if in_pool(|| search.find(spheres, margin, groups)).is_ok() {
            self.touches.clear();
            self.collect_touches();
        }
        let last = Substep::new(substep.dt, &self.config);
        let contacts = carried.iter().filter_map(|carried| {
            let contact = if carried.held {
                self.support_anew(carried, &last)?
            } else {
                self.contact_anew(carried, &last)?
            };
            Some(contact.resumed(carried))
        });
        let carried = SavedContacts {
            contacts: contacts.collect(),
            touching: Vec::new(),
            dt: Some(substep.dt),
        };
        let bodies = self.bodies.len();
        self.solver.restore(&carried, &self.config, bodies);
    }

    /// The contact between two spheres at the present poses.
    fn contact_anew(
        &self,
        carried: &CarriedImpulse,
        substep: &Substep,
    ) -> Option<ContactConstraint> {
        let pair = carried.spheres;
        let count = self.spheres.len();
        if pair.a as usize >= count || pair.b as usize >= count {
            return None;
        }
        let [first, second] = [pair.a, pair.b].map(|index| Sphere {
            center: self.spheres.center(index as usize),
            radius: self.spheres.radius(index as usize),
        });
        let molecules = [pair.a, pair.b].map(|index| self.spheres.owner(index as usize));
        let [one, other] = molecules.map(|owner| {
            let member = self.active.get(owner as usize)?;
            Some(&self.members[*member as usize].material)
        });
        let surface = ContactSurface::new(&one?.combine(other?), substep);
        let touch = Touch {
            pair,
            spheres: [&first, &second],
            molecules,
        };
        let contact = ContactConstraint::prepare(&touch, &self.bodies, &surface, substep);
        Some(contact)
    }

    /// The contact with an obstacle.
    fn support_anew(
        &self,
        carried: &CarriedImpulse,
        substep: &Substep,
    ) -> Option<ContactConstraint> {
        let key = u64::from(carried.spheres.a) << 32 | u64::from(carried.spheres.b);
        let (support, bodies) = self
            .supports
            .iter()
            .find(|(support, _)| support.key == key)?;
        Some(support.constraint(*bodies, &self.bodies, substep))
    }
}
