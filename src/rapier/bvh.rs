//! Rapier's broad phase as a box search, for comparison.
//!
//! This is what plain Rapier does: one collider per box, one body per owner, and
//! [`BroadPhaseBvh`], the tree that Rapier keeps from step to step. Only colliders that
//! moved are updated. With the feature `parallel`, it is Rapier's parallel build.
//!
//! Rapier enlarges its boxes so that small movements change nothing, and reports only pairs
//! that start or stop overlapping. The current pairs are kept here, and pairs of which only
//! the enlarged boxes overlap are left out of the result.

use std::fmt;
use std::time::Instant;

use glam::Vec3;
use rapier3d::prelude::{
    BroadPhaseBvh, BroadPhasePairEvent, ColliderBuilder, ColliderHandle, ColliderSet,
    CollisionPipeline, IntegrationParameters, IslandManager, NarrowPhase, RigidBodyBuilder,
    RigidBodySet,
};

use crate::search::boxes::{BoxSearch, BoxSet};
use crate::search::{Pair, PairBuffer, SearchError, SearchTimes};

/// Rapier's broad phase as a [`BoxSearch`].
///
/// In its [`SearchTimes`], `walk` is Rapier's update and `build` the update of the
/// colliders. Neither includes listing the pairs, which Rapier does not do.
#[derive(Default)]
pub struct RapierBvh {
    parameters: IntegrationParameters,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    broad_phase: BroadPhaseBvh,
    /// The boxes of the previous search.
    boxes: BoxSet,
    handles: Vec<ColliderHandle>,
    modified: Vec<ColliderHandle>,
    events: Vec<BroadPhasePairEvent>,
    /// For each box, its partners with larger indices.
    partners: Vec<Vec<u32>>,
}

impl RapierBvh {
    /// An empty world.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether Rapier was built with its feature `parallel`.
    #[must_use]
    pub const fn is_parallel() -> bool {
        cfg!(feature = "parallel")
    }

    /// Builds a new world with one collider per box.
    fn rebuild(&mut self, boxes: &BoxSet) {
        *self = Self::default();
        let (bodies, colliders) = (&mut self.bodies, &mut self.colliders);
        let mut owners = std::collections::BTreeMap::new();
        for index in 0..boxes.len() {
            let body = *owners
                .entry(boxes.owner(index))
                .or_insert_with(|| bodies.insert(RigidBodyBuilder::dynamic()));
            // Disabled until Rapier has processed them as new.
            let collider = ColliderBuilder::cuboid(0.0, 0.0, 0.0)
                .density(0.0)
                .enabled(false);
            let handle = colliders.insert_with_parent(collider, body, bodies);
            self.handles.push(handle);
        }
        // Only Rapier can clear the change flags. Colliders that keep them would count as
        // new in every step.
        CollisionPipeline::new().step(
            0.0,
            &mut IslandManager::new(),
            &mut BroadPhaseBvh::new(),
            &mut NarrowPhase::new(),
            bodies,
            colliders,
            &(),
            &(),
        );
        for (_, collider) in colliders.iter_mut() {
            collider.set_enabled(true);
        }
        self.partners = vec![Vec::new(); boxes.len()];
    }

    /// Updates the colliders of boxes that have changed, or of all boxes.
    fn update_colliders(&mut self, boxes: &BoxSet, all: bool) {
        self.modified.clear();
        for (index, handle) in self.handles.iter().enumerate() {
            let (low, high) = (boxes.low(index), boxes.high(index));
            let unchanged = |old: &BoxSet| old.low(index) == low && old.high(index) == high;
            if !all && unchanged(&self.boxes) {
                continue;
            }
            let (center, half) = center_and_half(low, high);
            if let Some(collider) = self.colliders.get_mut(*handle) {
                collider.set_translation(center);
                if let Some(cuboid) = collider.shape_mut().as_cuboid_mut() {
                    cuboid.half_extents = half;
                }
                self.modified.push(*handle);
            }
        }
        self.boxes.clone_from(boxes);
    }

    /// Updates the current pairs.
    fn apply_events(&mut self) {
        for event in &self.events {
            let (BroadPhasePairEvent::AddPair(pair) | BroadPhasePairEvent::DeletePair(pair)) =
                event;
            let index = |handle: ColliderHandle| handle.into_raw_parts().0;
            let Pair { a, b } = Pair::new(index(pair.collider1), index(pair.collider2));
            let partners = &mut self.partners[a as usize];
            match event {
                BroadPhasePairEvent::AddPair(_) => partners.push(b),
                BroadPhasePairEvent::DeletePair(_) => partners.retain(|partner| *partner != b),
            }
        }
    }
}

impl fmt::Debug for RapierBvh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RapierBvh")
            .field("boxes", &self.boxes.len())
            .finish_non_exhaustive()
    }
}

/// Center and half extents (nm) that contain a box despite rounding.
fn center_and_half(low: Vec3, high: Vec3) -> (Vec3, Vec3) {
    let (low, high) = (low.as_dvec3(), high.as_dvec3());
    let center = (0.5 * (low + high)).as_vec3();
    let half = (high - center.as_dvec3()).max(center.as_dvec3() - low);
    (center, half.as_vec3().map(f32::next_up))
}

impl BoxSearch for RapierBvh {
    fn name(&self) -> &'static str {
        if Self::is_parallel() {
            "rapier-bvh-parallel"
        } else {
            "rapier-bvh"
        }
    }

    fn find_box_pairs(
        &mut self,
        boxes: &BoxSet,
        pairs: &mut PairBuffer,
    ) -> Result<SearchTimes, SearchError> {
        pairs.clear();
        boxes.extent()?;
        let start = Instant::now();
        let is_new = self.handles.len() != boxes.len() || self.boxes.owner != boxes.owner;
        if is_new {
            self.rebuild(boxes);
        }
        self.update_colliders(boxes, is_new);
        let updated = Instant::now();
        self.events.clear();
        self.broad_phase.update(
            &self.parameters,
            &self.colliders,
            &self.bodies,
            &self.modified,
            &[],
            &mut self.events,
        );
        let times = SearchTimes {
            build: updated - start,
            walk: updated.elapsed(),
        };
        self.apply_events();
        let list = &mut pairs.start(1)[0];
        for (a, partners) in self.partners.iter_mut().enumerate() {
            // The result must not depend on the order of the events.
            partners.sort_unstable();
            let overlapping = partners.iter().filter(|b| boxes.overlap(a, **b as usize));
            list.extend(overlapping.map(|&b| Pair { a: a as u32, b }));
        }
        Ok(times)
    }
}
