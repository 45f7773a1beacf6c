//! Contact detection: candidate pairs, and which molecules touch.

use glam::Vec3;

use super::group_search::{GroupSearch, PairGroups};
use super::members::{Members, Relabeling};
use super::task_groups::TaskGroups;
use super::{MemberIndex, MovingBody, OwnerIndex, PairResponse};
use crate::backend::{DeviceError, Offload};
use crate::pool::in_pool;
use crate::search::{
    FoundPairs, FoundPairsSink, GridCell, MoleculeSearch, SearchError, SearchTimes, SearchWork,
};

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
    /// Whether the two push each other if they touch. If not, the touch is only reported.
    pub pushes: bool,
    /// Whether they have pushed each other in this substep, even without an overlap: contacts are
    /// solved before surfaces meet. Always false with a device solver.
    pub pushed: bool,
}

impl<I> CrowdTouch<I> {
    /// Whether the members overlap or push each other.
    #[must_use]
    pub fn is_touching(&self) -> bool {
        self.overlaps > 0 || self.pushed
    }
}

impl CrowdTouch<OwnerIndex> {
    fn by_member(self, members: &Members) -> CrowdTouch {
        CrowdTouch {
            a: members.member(self.a),
            b: members.member(self.b),
            overlaps: self.overlaps,
            penetration: self.penetration,
            pushes: self.pushes,
            pushed: self.pushed,
        }
    }
}

/// Why nothing was detected.
pub(super) enum DetectionError {
    /// Too many spheres lie around a point to search them.
    Crowded {
        /// The point, nm.
        center: Vec3,
        /// Radius of a sphere around the point that contains them, nm.
        distance: f32,
    },
    /// Another error of the search.
    Search(SearchError),
}

impl From<SearchError> for DetectionError {
    fn from(error: SearchError) -> Self {
        Self::Search(error)
    }
}

/// The search, and what it found in this substep.
#[derive(Default)]
pub(super) struct Detection {
    /// A search over all spheres that `molecules` replaces within the same call when its device
    /// fails.
    search: Offload<Box<dyn GroupSearch>>,
    molecules: MoleculeSearch,
    /// Whether the search in use has the current owners.
    has_molecules: bool,
    /// What its tasks have found.
    parts: Vec<TaskGroups>,
    /// The candidate pairs by molecules; empty if they are on a device.
    found: PairGroups,
    /// Members that touch, sorted.
    touches: Vec<CrowdTouch>,
    /// Those of the previous substep.
    previous_touches: Vec<CrowdTouch>,
    /// Members that touched one that has been removed, in any order.
    abandoned: Vec<MemberIndex>,
}

impl Detection {
    /// Searches with `search` from now on.
    pub fn start_search(&mut self, search: Box<dyn GroupSearch>) {
        self.search.start(search);
        self.has_molecules = false;
    }

    /// Searches on the CPU from now on.
    pub fn stop_search(&mut self) {
        self.has_molecules &= self.search.stop().is_none();
    }

    /// Takes the error after which the CPU replaced the search, if there was one.
    pub fn take_search_error(&mut self) -> Option<DeviceError> {
        self.search.take_error()
    }

    /// Name of the search in use.
    pub fn search_name(&self) -> &'static str {
        let search = self.search.as_ref();
        search.map_or(MoleculeSearch::NAME, |search| search.name())
    }

    /// The grid cell around `point`, nm, in the last search.
    pub fn cell_around(&self, point: Vec3) -> Option<GridCell> {
        match self.search.as_ref() {
            Some(search) => search.cell_around(point),
            None => self.molecules.cell_around(point),
        }
    }

    /// Counted work of the last search by molecules.
    pub fn work(&self) -> SearchWork {
        self.molecules.work()
    }

    /// The candidate pairs by molecules; empty if they are on a device.
    pub fn found(&self) -> &PairGroups {
        &self.found
    }

    /// Members that touch, sorted.
    pub fn touches(&self) -> &[CrowdTouch] {
        &self.touches
    }

    /// Marks the touches of members that have pushed each other, sorted.
    pub fn mark_pushed(&mut self, pushed: impl Iterator<Item = [MemberIndex; 2]>) {
        let mut touches = self.touches.iter_mut().peekable();
        for pair in pushed {
            while touches.next_if(|touch| [touch.a, touch.b] < pair).is_some() {}
            if let Some(touch) = touches.next_if(|touch| [touch.a, touch.b] == pair) {
                touch.pushed = true;
            }
        }
    }

    /// Keeps the touches that `keep` returns true for, which may change them.
    pub fn retain_touches(&mut self, keep: impl FnMut(&mut CrowdTouch) -> bool) {
        self.touches.retain_mut(keep);
    }

    /// Members that touched in the previous substep, sorted.
    pub fn previous_touches(&self) -> &[CrowdTouch] {
        &self.previous_touches
    }

    /// Owners that touched in the previous substep.
    pub fn previous_owners(&self, members: &Members) -> Vec<[OwnerIndex; 2]> {
        pushing_owners(&self.previous_touches, members)
    }

    /// Owners that touch in this substep.
    pub fn current_owners(&self, members: &Members) -> Vec<[OwnerIndex; 2]> {
        pushing_owners(&self.touches, members)
    }

    /// Starts a substep: the current touches become the previous ones.
    pub fn begin(&mut self) {
        std::mem::swap(&mut self.touches, &mut self.previous_touches);
        self.touches.clear();
    }

    /// Moves what is known of members that stay to their new indices, and forgets the others.
    pub fn relabel(&mut self, members: &Members, relabeling: &Relabeling) {
        self.found.clear();
        self.abandoned.retain_mut(|member| {
            let new = relabeling.member(*member);
            *member = new.unwrap_or_default();
            new.is_some()
        });
        let abandoned = &mut self.abandoned;
        relabel_touches(&mut self.previous_touches, relabeling, |_| {});
        relabel_touches(&mut self.touches, relabeling, |member| {
            abandoned.push(member);
        });
        if self.has_molecules && self.search.as_ref().is_none() {
            let previous = relabeling.previous_owners().iter();
            let previous = previous.map(|owner| owner.map(|owner| owner.0));
            let spheres = members.included().map(|member| &member.spheres);
            let updated = self.molecules.update_molecules(spheres.zip(previous));
            self.has_molecules = updated.is_ok();
            for part in &mut self.parts {
                part.relabel(relabeling);
            }
        } else {
            self.has_molecules = false;
        }
    }

    /// Adds the members that touched one that has been removed since the last call to `to_wake`,
    /// and sorts it.
    pub fn list_abandoned(&mut self, to_wake: &mut Vec<MemberIndex>) {
        to_wake.append(&mut self.abandoned);
        to_wake.sort_unstable();
        to_wake.dedup();
    }

    /// Finds the pairs closer than their radii plus `margin`, nm, on the CPU or a device that
    /// only searches. `bodies` are those of the owners, and maybe others.
    ///
    /// # Errors
    /// Those of the search, except [`SearchError::Device`].
    pub fn find(
        &mut self,
        members: &Members,
        bodies: &[MovingBody],
        margin: f32,
    ) -> Result<SearchTimes, DetectionError> {
        if members.owners().is_empty() {
            // No work for the thread pool.
            self.found.clear();
            self.touches.clear();
            return Ok(SearchTimes::default());
        }
        let times = in_pool(|| {
            match self.find_with_search(members, bodies, margin) {
                Some(Err(SearchError::Device(error))) => {
                    self.search.fail(error);
                    self.has_molecules = false;
                }
                Some(Err(SearchError::TooCrowded { sphere, reach, .. })) => {
                    return Err(members.crowded_around(sphere, reach, bodies));
                }
                Some(result) => return Ok(result?),
                None => {}
            }
            self.find_by_molecules(members, bodies, margin)
        })?;
        self.touches.clear();
        self.touches
            .extend(self.found.groups.iter().filter_map(|group| {
                let response = members.response(group.a, group.b);
                let touch = CrowdTouch {
                    a: group.a,
                    b: group.b,
                    overlaps: group.overlaps,
                    penetration: group.penetration,
                    pushes: response == PairResponse::Push,
                    pushed: false,
                };
                (response != PairResponse::Ignore).then(|| touch.by_member(members))
            }));
        Ok(times)
    }

    /// Searches with the search that replaces `molecules`, if there is one.
    fn find_with_search(
        &mut self,
        members: &Members,
        bodies: &[MovingBody],
        margin: f32,
    ) -> Option<Result<SearchTimes, SearchError>> {
        let search = self.search.as_mut()?;
        if !self.has_molecules {
            let spheres = members.included().map(|member| member.spheres.clone());
            if let Err(error) = search.set_molecules(&spheres.collect::<Vec<_>>()) {
                return Some(Err(error));
            }
            self.has_molecules = true;
        }
        let bodies = &bodies[..members.owners().len()];
        Some(search.find_groups(bodies, margin, &mut self.found))
    }

    fn find_by_molecules(
        &mut self,
        members: &Members,
        bodies: &[MovingBody],
        margin: f32,
    ) -> Result<SearchTimes, DetectionError> {
        if !self.has_molecules {
            let spheres = members.included().map(|member| member.spheres.clone());
            self.molecules
                .set_molecules(spheres)
                .map_err(SearchError::from)?;
            self.has_molecules = true;
        }
        let pose = |owner: usize| bodies[owner].pose;
        let sink = FoundPairsSink {
            parts: &mut self.parts,
            keep_unmoved: TaskGroups::is_current,
            with_centers: false,
            clear: TaskGroups::begin,
            repeat: TaskGroups::repeat,
            receive: |groups: &mut TaskGroups, found: &FoundPairs<'_>| groups.push(found),
        };
        let times = match self.molecules.find(pose, margin, sink) {
            Err(SearchError::TooCrowded { sphere, reach, .. }) => {
                let center = bodies[sphere as usize].pose.position;
                let distance = 2.0 * reach;
                return Err(DetectionError::Crowded { center, distance });
            }
            result => result?,
        };
        self.found.clear();
        for part in &mut self.parts {
            part.end();
            self.found.append(part.groups());
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
        self.touches
            .extend(touches.iter().map(|touch| touch.by_member(members)));
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

/// Moves touches to the new indices of their members. Drops those with a member that is gone, and
/// passes the other one to `abandon`.
fn relabel_touches(
    touches: &mut Vec<CrowdTouch>,
    relabeling: &Relabeling,
    mut abandon: impl FnMut(MemberIndex),
) {
    touches.retain_mut(|touch| {
        let new = [touch.a, touch.b].map(|member| relabeling.member(member));
        if let [Some(a), Some(b)] = new {
            (touch.a, touch.b) = (a.min(b), a.max(b));
            return true;
        }
        if touch.pushes {
            new.into_iter().flatten().for_each(&mut abandon);
        }
        false
    });
    touches.sort_unstable_by_key(|touch| (touch.a, touch.b));
}

/// Owners that touch and push each other.
fn pushing_owners(touches: &[CrowdTouch], members: &Members) -> Vec<[OwnerIndex; 2]> {
    let owners = |touch: &CrowdTouch| Some([members.owner(touch.a)?, members.owner(touch.b)?]);
    let pushing = touches.iter().filter(|touch| touch.pushes);
    pushing.filter_map(owners).collect()
}

/// Touches with unknown overlap.
fn unmeasured_touches(touching: &[[OwnerIndex; 2]], members: &Members) -> Vec<CrowdTouch> {
    let touch = |&[a, b]: &[OwnerIndex; 2]| CrowdTouch {
        a: members.member(a),
        b: members.member(b),
        overlaps: 0,
        penetration: f32::NEG_INFINITY,
        pushes: true,
        pushed: false,
    };
    touching.iter().map(touch).collect()
}
