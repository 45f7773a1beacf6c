//! Rapier's own broad phase on the same boxes, to compare with.
//!
//! What a user of plain Rapier gets: a collider for each box, a body for each owner, and
//! [`BroadPhaseBvh`], the tree that Rapier keeps from step to step. Only colliders that
//! moved are handed over. With the feature `parallel` it is Rapier's parallel build.
//!
//! Rapier keeps its boxes larger than they are, so that small movements change nothing,
//! and tells only what begins and ceases to overlap. The pairs of now are kept here, and
//! those whose boxes do not overlap yet are left out of the result.

use std::fmt;
use std::time::Instant;

use glam::Vec3;
use rapier3d::prelude::{
    BroadPhaseBvh, BroadPhasePairEvent, ColliderBuilder, ColliderHandle, ColliderPair, ColliderSet,
    CollisionPipeline, IntegrationParameters, IslandManager, NarrowPhase, RigidBodyBuilder,
    RigidBodySet,
};

use crate::search::boxes::{BoxSearch, BoxSet};
use crate::search::{Pair, PairBuffer, SearchError, SearchTimes};

/// Rapier's broad phase as a [`BoxSearch`].
///
/// Of its [`SearchTimes`], `walk` is Rapier's update alone, and `build` what it takes to
/// hand the boxes over; listing the pairs is in neither, since Rapier does not do it.
#[derive(Default)]
pub struct RapierBvh {
    world: World,
    /// The boxes of the last search.
    boxes: BoxSet,
    handles: Vec<ColliderHandle>,
    modified: Vec<ColliderHandle>,
    events: Vec<BroadPhasePairEvent>,
    /// For each box its partners with larger indices.
    partners: Vec<Vec<u32>>,
}

/// What Rapier needs of a world.
#[derive(Default)]
struct World {
    parameters: IntegrationParameters,
    bodies: RigidBodySet,
    colliders: ColliderSet,
    broad_phase: BroadPhaseBvh,
}

impl RapierBvh {
    /// A world without boxes yet.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Whether Rapier was built with its feature `parallel`.
    #[must_use]
    pub const fn is_parallel() -> bool {
        cfg!(feature = "parallel")
    }

    /// Pairs that Rapier would go on with: those of its larger boxes.
    #[must_use]
    pub fn candidates(&self) -> usize {
        self.partners.iter().map(Vec::len).sum()
    }

    /// A new world with a collider for each box.
    fn start_afresh(&mut self, boxes: &BoxSet) {
        self.world = World::default();
        self.handles.clear();
        let World {
            bodies, colliders, ..
        } = &mut self.world;
        let mut owners = std::collections::BTreeMap::new();
        for index in 0..boxes.len() {
            let body = *owners
                .entry(boxes.owner(index))
                .or_insert_with(|| bodies.insert(RigidBodyBuilder::dynamic()));
            // Asleep until Rapier has seen to it that they are new.
            let collider = ColliderBuilder::cuboid(0.0, 0.0, 0.0)
                .density(0.0)
                .enabled(false);
            let handle = colliders.insert_with_parent(collider, body, bodies);
            self.handles.push(handle);
        }
        // Marks of novelty are Rapier's own to remove: colliders that keep them would be
        // taken for new ones in every step.
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
        self.partners.resize_with(boxes.len(), Vec::new);
        for partners in &mut self.partners {
            partners.clear();
        }
    }

    /// Moves the colliders of boxes that have changed.
    fn hand_over(&mut self, boxes: &BoxSet, all: bool) {
        self.modified.clear();
        for (index, handle) in self.handles.iter().enumerate() {
            let (low, high) = (boxes.low(index), boxes.high(index));
            let same = |before: &BoxSet| before.low(index) == low && before.high(index) == high;
            if !all && same(&self.boxes) {
                continue;
            }
            let (center, half) = center_and_half(low, high);
            if let Some(collider) = self.world.colliders.get_mut(*handle) {
                collider.set_translation(center);
                if let Some(cuboid) = collider.shape_mut().as_cuboid_mut() {
                    cuboid.half_extents = half;
                }
                self.modified.push(*handle);
            }
        }
        self.boxes.clone_from(boxes);
    }

    /// Keeps the pairs of now.
    fn take_events(&mut self) {
        let pair_of = |pair: &ColliderPair| {
            let index = |handle: ColliderHandle| handle.into_raw_parts().0;
            Pair::new(index(pair.collider1), index(pair.collider2))
        };
        for event in &self.events {
            match event {
                BroadPhasePairEvent::AddPair(pair) => {
                    let Pair { a, b } = pair_of(pair);
                    self.partners[a as usize].push(b);
                }
                BroadPhasePairEvent::DeletePair(pair) => {
                    let Pair { a, b } = pair_of(pair);
                    self.partners[a as usize].retain(|partner| *partner != b);
                }
            }
        }
    }
}

impl fmt::Debug for RapierBvh {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RapierBvh")
            .field("boxes", &self.boxes.len())
            .field("candidates", &self.candidates())
            .finish_non_exhaustive()
    }
}

/// A center and half the sides that hold a box whatever rounding does, nm.
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
        let others = self.handles.len() != boxes.len() || self.boxes.owner != boxes.owner;
        if others {
            self.start_afresh(boxes);
        }
        self.hand_over(boxes, others);
        let handed_over = Instant::now();
        self.events.clear();
        let world = &mut self.world;
        world.broad_phase.update(
            &world.parameters,
            &world.colliders,
            &world.bodies,
            &self.modified,
            &[],
            &mut self.events,
        );
        let times = SearchTimes {
            build: handed_over - start,
            walk: handed_over.elapsed(),
        };
        self.take_events();
        let list = &mut pairs.start(1)[0];
        for (a, partners) in self.partners.iter_mut().enumerate() {
            // What came when is history, and the order must not tell it.
            partners.sort_unstable();
            let overlapping = partners.iter().filter(|b| boxes.overlap(a, **b as usize));
            list.extend(overlapping.map(|&b| Pair { a: a as u32, b }));
        }
        Ok(times)
    }
}
