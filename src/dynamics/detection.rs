//! Contact detection: candidate pairs, and which molecules touch.

use glam::Vec3;
use rayon::prelude::*;

use super::fallback_search::FallbackSearch;
use super::group_search::{GroupSearch, PairGroups};
use super::members::Members;
use super::{MemberIndex, OwnerIndex};
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
    /// Two members that touch or are close, with unknown overlap.
    pub(super) fn unmeasured([a, b]: [OwnerIndex; 2], members: &Members) -> Self {
        Self {
            a: members.member(a),
            b: members.member(b),
            overlaps: 0,
            penetration: f32::NEG_INFINITY,
        }
    }
}

impl CrowdTouch<OwnerIndex> {
    fn between_members(self, members: &Members) -> CrowdTouch {
        CrowdTouch {
            a: members.member(self.a),
            b: members.member(self.b),
            overlaps: self.overlaps,
            penetration: self.penetration,
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
pub(super) struct Detection {
    search: FallbackSearch,
    spheres: Vec<Sphere>,
    found: PairGroups,
    touches: Vec<CrowdTouch>,
    /// Those of the previous substep.
    previous_touches: Vec<CrowdTouch>,
}

impl Detection {
    pub fn new(search: Box<dyn GroupSearch>) -> Self {
        Self {
            search: FallbackSearch::new(search),
            spheres: Vec::new(),
            found: PairGroups::default(),
            touches: Vec::new(),
            previous_touches: Vec::new(),
        }
    }

    pub fn search(&self) -> &FallbackSearch {
        &self.search
    }

    pub fn search_mut(&mut self) -> &mut FallbackSearch {
        &mut self.search
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
            self.search.find_groups(spheres, margin, &mut self.found)
        })?;
        self.touches.clear();
        for group in &self.found.groups {
            if members.may_touch(group.a, group.b) {
                let touch = CrowdTouch {
                    a: group.a,
                    b: group.b,
                    overlaps: group.overlaps,
                    penetration: group.penetration,
                };
                self.touches.push(touch.between_members(members));
            }
        }
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
        let touches = touches.iter();
        self.touches
            .extend(touches.map(|touch| touch.between_members(members)));
    }

    /// The candidate pairs by molecules; empty if they are on a device.
    pub fn found(&self) -> &PairGroups {
        &self.found
    }

    /// The spheres as they were searched.
    pub fn spheres(&self) -> &[Sphere] {
        &self.spheres
    }

    /// Members that touch, sorted.
    pub fn touches(&self) -> &[CrowdTouch] {
        &self.touches
    }

    /// Members that touched in the previous substep, sorted.
    pub fn previous_touches(&self) -> &[CrowdTouch] {
        &self.previous_touches
    }

    pub fn touches_mut(&mut self) -> &mut Vec<CrowdTouch> {
        &mut self.touches
    }

    pub fn previous_touches_mut(&mut self) -> &mut Vec<CrowdTouch> {
        &mut self.previous_touches
    }
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
