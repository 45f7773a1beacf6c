//! [`CombinedSolid`]: the surface of one of the [`CombinedSolids`].
//!
//! 1. Copy the parts of the solid, each once, parts before what they are parts of.
//! 2. A query computes the distance of each part in this order.
//! 3. The normal is that of the ball or box that decides, found from the whole to its parts.
//!
//! A part that is used many times is evaluated once, and no depth is too large.

use std::collections::HashMap;
use std::sync::Arc;

use glam::Vec3;
use rand::{Rng, RngExt};

use super::leaf::Leaf;
use super::{CombinedSolids, FAR_NM, MAX_PARTS, Node, SolidIndex};
use crate::compartment::{
    CompartmentError, DistanceAndNormal, Surface, checked_pose, unrotated_pose,
};
use crate::halton::spread_point;
use crate::pose::Pose;

/// Points of the bounds by which the volume is measured. The error is about a thousandth of the
/// volume of the bounds.
const VOLUME_SAMPLES: u32 = 131_072;

/// Points by which an area is measured.
const AREA_SAMPLES: u32 = 16_384;

/// Half of the thickness of the layer by which an area is measured, relative to the longest edge of
/// the bounds.
const LAYER: f32 = 0.01;

/// Points that are tried for a sample of the surface.
const MAX_ATTEMPTS: usize = 10_000;

/// Steps along normals from a point next to the surface onto it.
const PROJECTIONS: usize = 8;

/// Number of parts whose distances need no memory from the heap.
const FEW: usize = 32;

/// The surface of a solid that is combined from others.
///
/// Distances have the right sign and are never larger than the true ones. The volume is measured at
/// 131,072 points: exact to about 0.1 % of that of the box around it. Areas and samples are of
/// points near the surface, good to some percent; nothing is placed in such surfaces evenly.
#[derive(Clone, Debug)]
pub struct CombinedSolid {
    parts: Arc<[Part]>,
    /// The box that repeats in space, if it does.
    period: Option<[Vec3; 2]>,
    /// Corners of a box around it. Own frame.
    bounds: [Vec3; 2],
    volume: f32,
    /// Of the frame that was the world when it was made.
    pose: Pose,
}

/// A part, which refers only to ones before it.
#[derive(Clone, Debug)]
enum Part {
    Leaf(Leaf),
    Complement(u32),
    Intersection(Box<[u32]>),
    Union(Box<[u32]>),
    Grown(u32, f32),
}

impl CombinedSolid {
    /// The part of a solid inside of the box.
    pub(super) fn new(
        solids: &mut CombinedSolids,
        solid: SolidIndex,
    ) -> Result<Self, CompartmentError> {
        let (whole, period) = (solids.bounds, solids.is_periodic.then_some(solids.bounds));
        let mut parts = parts_of(solids, solid)?;
        let mut bounds = bounds_of(&parts, whole, period);
        let reaches_out = bounds[0].cmplt(whole[0]).any() || bounds[1].cmpgt(whole[1]).any();
        if reaches_out && period.is_none() {
            let frame = solids.frame();
            // Not merged with others by `intersection`, for which the box has no faces.
            let cut = match *solids.node(solid) {
                Node::Leaf(Leaf::Cuboid { low, high }) => Node::Leaf(Leaf::Cuboid {
                    low: low.max(whole[0]),
                    high: high.min(whole[1]),
                }),
                _ => Node::Intersection([solid, frame].into()),
            };
            let cut = solids.add(cut);
            parts = parts_of(solids, cut)?;
        }
        bounds = [bounds[0].max(whole[0]), bounds[1].min(whole[1])];
        let mut surface = Self {
            parts: parts.into(),
            period,
            bounds,
            volume: 0.0,
            pose: Pose::IDENTITY,
        };
        surface.volume = surface.measure_volume();
        if surface.volume > 0.0 {
            Ok(surface)
        } else {
            Err(CompartmentError::Empty)
        }
    }

    /// Lowest and highest corner of a box around it, in the frame that was the world when it was
    /// made, nm.
    #[must_use]
    pub fn bounds(&self) -> [Vec3; 2] {
        self.bounds
    }

    fn measure_volume(&self) -> f32 {
        let size = (self.bounds[1] - self.bounds[0]).max(Vec3::ZERO).as_dvec3();
        let whole = size.element_product();
        if matches!(*self.parts, [Part::Leaf(Leaf::Cuboid { .. })]) {
            return whole as f32;
        }
        if whole == 0.0 {
            return 0.0;
        }
        let inside = (0..VOLUME_SAMPLES)
            .filter(|index| self.local_distance(spread_point(*index, self.bounds)) <= 0.0)
            .count();
        (whole * inside as f64 / f64::from(VOLUME_SAMPLES)) as f32
    }

    /// Computes the distances of all parts and passes them to `use_distances`.
    fn with_distances<T>(&self, point: Vec3, use_distances: impl FnOnce(&[f32]) -> T) -> T {
        let mut few = [0.0; FEW];
        let mut many;
        let distances = if self.parts.len() <= FEW {
            &mut few[..self.parts.len()]
        } else {
            many = vec![0.0; self.parts.len()];
            &mut many[..]
        };
        for (index, part) in self.parts.iter().enumerate() {
            let of = |part: &u32| distances[*part as usize];
            distances[index] = match part {
                Part::Leaf(leaf) => leaf.distance_and_normal(point, self.period).distance,
                Part::Complement(part) => -of(part),
                Part::Intersection(parts) => parts.iter().map(of).fold(-FAR_NM, f32::max),
                Part::Union(parts) => parts.iter().map(of).fold(FAR_NM, f32::min),
                Part::Grown(part, by) => of(part) - by,
            };
        }
        use_distances(distances)
    }

    fn local_distance(&self, point: Vec3) -> f32 {
        self.with_distances(point, |distances| {
            distances.last().copied().unwrap_or(FAR_NM)
        })
    }

    fn local_distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        self.with_distances(point, |distances| {
            let mut at = self.parts.len().saturating_sub(1);
            let (mut normal, mut sign) = (Vec3::Y, 1.0);
            while let Some(part) = self.parts.get(at) {
                let by_distance = |a: &&u32, b: &&u32| {
                    distances[**a as usize].total_cmp(&distances[**b as usize])
                };
                let decides = match part {
                    Part::Leaf(leaf) => {
                        normal = sign * leaf.distance_and_normal(point, self.period).normal;
                        break;
                    }
                    Part::Complement(part) => {
                        sign = -sign;
                        Some(part)
                    }
                    Part::Intersection(parts) => parts.iter().max_by(by_distance),
                    Part::Union(parts) => parts.iter().min_by(by_distance),
                    Part::Grown(part, _) => Some(part),
                };
                let Some(part) = decides else { break };
                at = *part as usize;
            }
            DistanceAndNormal {
                distance: distances.last().copied().unwrap_or(FAR_NM),
                normal,
            }
        })
    }

    /// Bounds of the surface offset by `offset`, and half the thickness of the layer that counts as
    /// near it.
    fn layer(&self, offset: f32) -> ([Vec3; 2], f32) {
        let [low, high] = self.bounds;
        let half = LAYER * (high - low).max_element();
        let more = offset.max(0.0) + half;
        ([low - more, high + more], half)
    }
}

/// The parts of a solid, the solid last.
fn parts_of(solids: &CombinedSolids, solid: SolidIndex) -> Result<Vec<Part>, CompartmentError> {
    let mut needed = vec![solid];
    let mut known = std::collections::BTreeSet::from([solid]);
    while let Some(next) = needed.pop() {
        solids.node(next).for_each_part(|part| {
            if known.insert(part) {
                needed.push(part);
            }
        });
    }
    if known.len() > MAX_PARTS {
        return Err(CompartmentError::TooManyParts {
            count: known.len(),
            max: MAX_PARTS,
        });
    }
    // In ascending order, parts come first.
    let numbers: HashMap<SolidIndex, u32> = known.iter().copied().zip(0..).collect();
    let number = |part: &SolidIndex| numbers.get(part).copied().unwrap_or(0);
    let all = |parts: &[SolidIndex]| parts.iter().map(number).collect();
    let parts = known.iter().map(|solid| match solids.node(*solid) {
        Node::Nothing => Part::Union([].into()),
        Node::Everything => Part::Intersection([].into()),
        Node::Leaf(leaf) => Part::Leaf(*leaf),
        Node::Complement(part) => Part::Complement(number(part)),
        Node::Intersection(parts) => Part::Intersection(all(parts)),
        Node::Union(parts) => Part::Union(all(parts)),
        Node::Grown(part, by) => Part::Grown(number(part), *by),
    });
    Ok(parts.collect())
}

/// Corners of a box around the last part, which may be infinite or reach out of the whole box.
fn bounds_of(parts: &[Part], whole: [Vec3; 2], period: Option<[Vec3; 2]>) -> [Vec3; 2] {
    let everywhere = [Vec3::NEG_INFINITY, Vec3::INFINITY];
    let nowhere = [Vec3::INFINITY, Vec3::NEG_INFINITY];
    let mut all: Vec<[Vec3; 2]> = Vec::with_capacity(parts.len());
    for part in parts {
        let of = |part: &u32| all[*part as usize];
        let [mut low, mut high] = match part {
            Part::Leaf(leaf) => leaf.bounds(),
            Part::Complement(_) => everywhere,
            Part::Intersection(parts) => parts
                .iter()
                .map(of)
                .fold(everywhere, |a, b| [a[0].max(b[0]), a[1].min(b[1])]),
            Part::Union(parts) => parts
                .iter()
                .map(of)
                .fold(nowhere, |a, b| [a[0].min(b[0]), a[1].max(b[1])]),
            Part::Grown(part, by) => {
                let [low, high] = of(part);
                [low - by, high + by]
            }
        };
        if matches!(part, Part::Leaf(_)) && period.is_some() {
            // Cut at the faces of the box.
            (low, high) = (low.max(whole[0]), high.min(whole[1]));
        } else if period.is_some() {
            // What reaches out enters on the other side.
            let is_out = low.cmplt(whole[0]) | high.cmpgt(whole[1]);
            low = Vec3::select(is_out, whole[0], low);
            high = Vec3::select(is_out, whole[1], high);
        }
        all.push([low, high]);
    }
    all.last().copied().unwrap_or(nowhere)
}

impl Surface for CombinedSolid {
    fn distance_and_normal(&self, point: Vec3) -> DistanceAndNormal {
        let local = self.pose.inverse_transform_point(point);
        let DistanceAndNormal { distance, normal } = self.local_distance_and_normal(local);
        DistanceAndNormal {
            distance,
            normal: self.pose.rotation * normal,
        }
    }

    fn signed_distance(&self, point: Vec3) -> f32 {
        self.local_distance(self.pose.inverse_transform_point(point))
    }

    /// The center of the box around it, which may be outside.
    fn center(&self) -> Vec3 {
        let [low, high] = self.bounds;
        self.pose.transform_point(0.5 * (low + high))
    }

    /// Measured at 16,384 points: by the part of them that are near the offset surface.
    fn area_at(&self, offset: f32) -> f32 {
        let (bounds, half) = self.layer(offset);
        let is_near = |index: &u32| {
            (self.local_distance(spread_point(*index, bounds)) - offset).abs() <= half
        };
        let near = (0..AREA_SAMPLES).filter(is_near).count() as f32;
        let volume = (bounds[1] - bounds[0]).element_product();
        volume * near / (AREA_SAMPLES as f32 * 2.0 * half)
    }

    /// A random point near the offset surface, moved onto it. Almost uniform, except next to edges.
    fn sample(&self, offset: f32, random: &mut dyn Rng) -> Vec3 {
        let (bounds, half) = self.layer(offset);
        let mut point = 0.5 * (bounds[0] + bounds[1]);
        for _ in 0..MAX_ATTEMPTS {
            let parts = Vec3::from_array(std::array::from_fn(|_| random.random()));
            point = bounds[0] + (bounds[1] - bounds[0]) * parts;
            if (self.local_distance(point) - offset).abs() <= half {
                break;
            }
        }
        for _ in 0..PROJECTIONS {
            let DistanceAndNormal { distance, normal } = self.local_distance_and_normal(point);
            point += normal * (offset - distance);
        }
        self.pose.transform_point(point)
    }

    fn volume(&self) -> Option<f32> {
        Some(self.volume)
    }

    fn pose(&self) -> Option<Pose> {
        Some(self.pose)
    }

    /// All parts move together. The frame of a new solid is that of the world.
    ///
    /// # Errors
    /// [`CompartmentError::BadPose`] as for all surfaces; [`CompartmentError::Rotated`] if the pose
    /// has a rotation and the solid is in a periodic box.
    fn with_pose(&self, pose: &Pose) -> Result<Arc<dyn Surface>, CompartmentError> {
        let pose = if self.period.is_some() {
            unrotated_pose(pose)?
        } else {
            checked_pose(pose)?
        };
        Ok(Arc::new(Self {
            pose,
            ..self.clone()
        }))
    }
}
