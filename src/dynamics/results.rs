//! What a substep of a crowd has come to.

use glam::Vec3;

use super::crowd_contacts::CrowdContacts;
use super::{ContactConstraint, CrowdTouch, Impulse};
use crate::search::GridCell;
use crate::spheres::SphereSet;

impl CrowdContacts {
    /// Members to be woken if they sleep: something hit them, or left them.
    #[must_use]
    pub fn to_wake(&self) -> &[u32] {
        &self.to_wake
    }

    /// Members that take part and the impulse that each is to receive.
    pub fn impulses(&self) -> impl Iterator<Item = (usize, Impulse)> + '_ {
        let active = self.active.iter().map(|member| *member as usize);
        active.zip(self.solver.impulses().iter().copied())
    }

    /// The impulse that each obstacle is to receive, in their order.
    pub fn external_impulses(&self) -> impl Iterator<Item = Impulse> + '_ {
        let impulses = self.solver.impulses();
        impulses.iter().skip(self.active.len()).copied()
    }

    /// Pairs of molecules that overlap or nearly do at the gathered poses, sorted.
    #[must_use]
    pub fn touches(&self) -> &[CrowdTouch] {
        &self.touches
    }

    /// The spheres where the last gather put them; their centers are older while an
    /// [engine](Self::set_device_solver) moves them on its device.
    #[must_use]
    pub fn spheres(&self) -> &SphereSet {
        &self.spheres
    }

    /// Pairs of spheres that the last detection found within the prediction_distance.
    #[must_use]
    pub fn candidate_pairs(&self) -> usize {
        self.groups.candidates()
    }

    /// The contacts of the last substep, wherever they were solved; not all of them take
    /// part. Those of an [engine](Self::set_device_solver) are fetched, which takes its time.
    #[must_use]
    pub fn contacts(&self) -> &[ContactConstraint] {
        match self.offload.as_ref().filter(|offload| offload.carries()) {
            Some(offload) => offload.contacts(),
            None => self.solver.contacts(),
        }
    }

    /// Where one of the [`contacts`](Self::contacts) is in the world, nm: between the
    /// surfaces of its spheres where the last gather put them. None if the spheres are
    /// others by now, or it is a contact with something outside the crowd.
    #[must_use]
    pub fn contact_point(&self, contact: &ContactConstraint) -> Option<Vec3> {
        let sphere = contact.spheres.a as usize;
        if sphere >= self.spheres.len() || !contact.gap.is_finite() || contact.held {
            return None;
        }
        let owner = self.spheres.owner(sphere) as usize;
        let own = &self.members[*self.active.get(owner)? as usize].spheres;
        let local = own
            .centers
            .get(sphere - self.first_sphere[owner] as usize)?;
        let center = self.bodies.get(owner)?.pose.transform_point(*local);
        let way = self.spheres.radius(sphere) + 0.5 * contact.gap;
        Some(center + contact.normal * way)
    }

    /// The cell of the search around `point`, nm; none before the first search and if
    /// the search has no cells.
    #[must_use]
    pub fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        match self.offload.as_ref() {
            Some(offload) => offload.cell_around(point),
            None => self.search.cell_around(point),
        }
    }

    /// Name of the search, or of the engine that also solves.
    #[must_use]
    pub fn search_name(&self) -> &'static str {
        match self.offload.as_ref() {
            Some(offload) => offload.name(),
            None => self.search.name(),
        }
    }

    /// Member of an owner of spheres.
    #[must_use]
    pub fn member_of(&self, owner: u32) -> Option<usize> {
        self.active
            .get(owner as usize)
            .map(|member| *member as usize)
    }
}
