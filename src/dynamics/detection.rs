//! Contact detection: candidate pairs, and which molecules touch.

use glam::Vec3;
use rayon::prelude::*;

use super::group_search::{GroupSearch, PairGrouper, PairGroups};
use super::members::Members;
use super::{MemberIndex, OwnerIndex};
use crate::backend::{DeviceError, Offload};
use crate::pool::in_pool;
use crate::search::{SearchError, SearchTimes};
use crate::spheres::SphereSet;

/// Minimum number of spheres that one task copies.
const SPHERES_PER_TASK: usize = 16 * 1024;

/// Two molecules that touch or are within the prediction distance: `a` < `b`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub struct CrowdTouch<I = MemberIndex> {
    /// The smaller index.
    pub a: I,
    /// The larger index.
    pub b: I,
    /// Number of pairs of spheres that overlap; zero if the molecules are only close.
    pub overlaps: u32,
    /// Deepest overlap, nm; negative is a gap.
    pub penetration: f32,
}

impl CrowdTouch {
    fn new(members: &Members, [a, b]: [OwnerIndex; 2], overlaps: u32, penetration: f32) -> Self {
        Self {
            a: members.member(a),
            b: members.member(b),
            overlaps,
            penetration,
        }
    }
}

/// A sphere in contiguous memory: pairs look up spheres in random order.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(16))]
pub(super) struct Sphere {
    /// Center in the world, nm.
    pub center: Vec3,
    /// Radius, nm.
    pub radius: f32,
}

/// The search, and what it found in this substep.
#[derive(Default)]
pub(super) struct Detection {
    /// A search that `cpu` replaces within the same call when its device fails.
    search: Offload<Box<dyn GroupSearch>>,
    cpu: PairGrouper,
    /// The spheres as they were searched.
    spheres: Vec<Sphere>,
    /// The candidate pairs by molecules; empty if they are on a device.
    found: PairGroups,
    /// Members that touch, sorted.
    touches: Vec<CrowdTouch>,
    /// Those of the previous substep.
    previous_touches: Vec<CrowdTouch>,
}

impl Detection {
    /// Searches with `search` from now on.
    pub fn start_search(&mut self, search: Box<dyn GroupSearch>) {
        self.search.start(search);
    }

    /// Searches on the CPU from now on.
    pub fn stop_search(&mut self) {
        self.search.stop();
    }

    /// Takes the error after which the CPU replaced the search, if there was one.
    pub fn take_search_error(&mut self) -> Option<DeviceError> {
        self.search.take_error()
    }

    /// The search in use.
    pub fn search(&self) -> &dyn GroupSearch {
        self.search.as_ref().map_or(&self.cpu, |search| &**search)
    }

    /// The spheres as they were searched.
    pub fn spheres(&self) -> &[Sphere] {
        &self.spheres
    }

    /// The candidate pairs by molecules; empty if they are on a device.
    pub fn found(&self) -> &PairGroups {
        &self.found
    }

    /// Members that touch, sorted.
    pub fn touches(&self) -> &[CrowdTouch] {
        &self.touches
    }

    /// Members that touched in the previous substep, sorted.
    pub fn previous_touches(&self) -> &[CrowdTouch] {
        &self.previous_touches
    }

    /// Owners that touched in the previous substep.
    pub fn previous_owners(&self, members: &Members) -> Vec<[OwnerIndex; 2]> {
        let owners = |touch: &CrowdTouch| Some([members.owner(touch.a)?, members.owner(touch.b)?]);
        self.previous_touches.iter().filter_map(owners).collect()
    }

    /// Starts a substep: the current touches become the previous ones.
    pub fn begin(&mut self) {
        std::mem::swap(&mut self.touches, &mut self.previous_touches);
        self.touches.clear();
    }

    /// Removes all results: owners and spheres have other indices now.
    pub fn clear(&mut self) {
        self.found.clear();
        self.touches.clear();
        self.previous_touches.clear();
    }

    /// Finds the pairs closer than their radii plus `margin`, nm, on the CPU or a device that
    /// only searches.
    ///
    /// # Errors
    /// Those of the search, except [`SearchError::Device`].
    pub fn find(&mut self, members: &Members, margin: f32) -> Result<SearchTimes, SearchError> {
        let spheres = members.spheres();
        let times = in_pool(|| {
            copy(spheres, &mut self.spheres);
            if let Some(search) = self.search.as_mut() {
                match search.find_groups(spheres, margin, &mut self.found) {
                    Err(SearchError::Device(error)) => self.search.fail(error),
                    result => return result,
                };
            }
            self.cpu.find_groups(spheres, margin, &mut self.found)
        })?;
        self.touches.clear();
        let groups = self.found.groups.iter();
        let touching = groups.filter(|group| members.may_touch(group.a, group.b));
        self.touches.extend(touching.map(|group| {
            let owners = [group.a, group.b];
            CrowdTouch::new(members, owners, group.overlaps, group.penetration)
        }));
        Ok(times)
    }

    /// Takes over what a device solver found; the pairs stay on the device.
    pub fn set_found_on_device(
        &mut self,
        candidates: usize,
        touches: &[CrowdTouch<OwnerIndex>],
        members: &Members,
    ) {
        self.found.clear();
        self.found.candidates = candidates;
        self.touches.clear();
        self.touches.extend(touches.iter().map(|touch| {
            let owners = [touch.a, touch.b];
            CrowdTouch::new(members, owners, touch.overlaps, touch.penetration)
        }));
    }

    /// Takes over which owners touch from a device that did not report it.
    pub fn restore_touches(&mut self, touching: &[[OwnerIndex; 2]], members: &Members) {
        self.touches = unmeasured_touches(touching, members);
    }

    /// As [`restore_touches`](Self::restore_touches), for those of the previous substep.
    pub fn restore_previous_touches(&mut self, touching: &[[OwnerIndex; 2]], members: &Members) {
        self.previous_touches = unmeasured_touches(touching, members);
    }
}

/// Touches with unknown overlap.
fn unmeasured_touches(touching: &[[OwnerIndex; 2]], members: &Members) -> Vec<CrowdTouch> {
    let touch = |owners: &[OwnerIndex; 2]| CrowdTouch::new(members, *owners, 0, f32::NEG_INFINITY);
    touching.iter().map(touch).collect()
}

fn copy(spheres: &SphereSet, target: &mut Vec<Sphere>) {
    target.resize(spheres.len(), Sphere::default());
    target
        .par_iter_mut()
        .enumerate()
        .with_min_len(SPHERES_PER_TASK)
        .for_each(|(index, sphere)| {
            *sphere = Sphere {
                center: spheres.center(index),
                radius: spheres.radius(index),
            };
        });
}
