//! Where two rigid sets of spheres touch when one moves along a line.
//!
//! In a frame whose z axis is the direction, a sphere that is moved by t overlaps another one between
//! the two roots t = Δz ± √(r² − d²), with their difference Δz along the direction, their distance d
//! across it and the sum r of their radii. The moved set is free wherever no such interval is.

use glam::{Quat, Vec2, Vec3};

use crate::molecule::MoleculeTemplate;
use crate::pose::Pose;

/// Gap that molecules have where they touch, nm: more than the clearance of a relaxer with its
/// overshoot.
pub(super) const GAP_NM: f32 = 0.01;

/// Center and radius of a sphere.
pub(super) type Ball = (Vec3, f32);

/// A contact of two sets of spheres.
#[derive(Clone, Copy, Debug)]
pub(super) struct Touch {
    /// How far the set is moved.
    pub distance: f32,
    /// The point between the two spheres that touch.
    pub point: Vec3,
}

/// The spheres of a molecule at a pose.
pub(super) fn balls_of(template: &MoleculeTemplate, pose: &Pose) -> Vec<Ball> {
    let spheres = template.positions().iter().zip(template.radii());
    let balls = spheres.map(|(center, radius)| (pose.transform_point(*center), *radius));
    balls.collect()
}

/// The least distance, not negative, by which `moved` must be moved along a unit vector so that it
/// overlaps nothing.
pub(super) fn first_free(still: &[Ball], moved: &[Ball], direction: Vec3) -> f32 {
    let lane = Lane::new(still, moved, direction);
    let mut blocked: Vec<(f32, f32)> = Vec::new();
    for lower in &lane.still {
        for upper in &lane.moved {
            if lower.0.z - upper.0.z + lower.1 + lane.largest + GAP_NM <= 0.0 {
                break;
            }
            if let Some((start, end)) = interval(lower, upper)
                && end > 0.0
            {
                blocked.push((start, end));
            }
        }
    }
    blocked.sort_by(|a, b| a.0.total_cmp(&b.0));
    let mut free = 0.0_f32;
    for (start, end) in blocked {
        if start >= free {
            // All others begin even later.
            break;
        }
        free = free.max(end);
    }
    free
}

/// The contact of `moved` when it comes from far away against a unit vector; none if it passes.
pub(super) fn from_outside(still: &[Ball], moved: &[Ball], direction: Vec3) -> Option<Touch> {
    let lane = Lane::new(still, moved, direction);
    let mut best: Option<(f32, &Ball, &Ball)> = None;
    for lower in &lane.still {
        for upper in &lane.moved {
            let furthest = lower.0.z - upper.0.z + lower.1 + lane.largest + GAP_NM;
            let found = best.map_or(f32::NEG_INFINITY, |(end, ..)| end);
            if furthest <= found {
                break;
            }
            if let Some((_, end)) = interval(lower, upper)
                && end > found
            {
                best = Some((end, lower, upper));
            }
        }
    }
    best.map(|(distance, lower, upper)| {
        let between = upper.0 + Vec3::Z * distance - lower.0;
        let part = (lower.1 + 0.5 * GAP_NM) / reach_of(lower, upper);
        let point = lower.0 + between * part;
        Touch {
            distance,
            point: lane.to_lane.inverse() * point,
        }
    })
}

/// The normal of a surface of spheres at a point, from those that are near; none if there are none.
pub(super) fn normal_at(balls: &[Ball], point: Vec3, reach: f32) -> Option<Vec3> {
    let near = balls
        .iter()
        .map(|(center, radius)| (point - center, radius))
        .filter(|(away, radius)| away.length() <= **radius + reach);
    near.map(|(away, _)| away).sum::<Vec3>().try_normalize()
}

/// The spheres in a frame whose z axis is the direction: the still ones that are in the way, highest
/// first, and the moved ones, lowest first.
struct Lane {
    to_lane: Quat,
    still: Vec<Ball>,
    moved: Vec<Ball>,
    /// Largest radius of the moved ones.
    largest: f32,
}

impl Lane {
    fn new(still: &[Ball], moved: &[Ball], direction: Vec3) -> Self {
        let to_lane = Quat::from_rotation_arc(direction, Vec3::Z);
        let turned = |balls: &[Ball]| -> Vec<Ball> {
            let turned = balls
                .iter()
                .map(|(center, radius)| (to_lane * *center, *radius));
            turned.collect()
        };
        let (mut still, mut moved) = (turned(still), turned(moved));
        let middle = moved
            .iter()
            .map(|(center, _)| center.truncate())
            .sum::<Vec2>()
            / moved.len().max(1) as f32;
        let aside = |ball: &Ball| ball.0.truncate().distance(middle);
        let width = moved
            .iter()
            .map(|ball| aside(ball) + ball.1)
            .fold(0.0, f32::max);
        still.retain(|ball| aside(ball) < width + ball.1 + GAP_NM);
        still.sort_by(|(a, _), (b, _)| b.z.total_cmp(&a.z));
        moved.sort_by(|(a, _), (b, _)| a.z.total_cmp(&b.z));
        Self {
            to_lane,
            still,
            largest: moved.iter().map(|ball| ball.1).fold(0.0, f32::max),
            moved,
        }
    }
}

/// Distance of two centers at their contact.
fn reach_of(lower: &Ball, upper: &Ball) -> f32 {
    lower.1 + upper.1 + GAP_NM
}

/// The displacements of `upper` along z at which it overlaps `lower`.
fn interval(lower: &Ball, upper: &Ball) -> Option<(f32, f32)> {
    let reach = reach_of(lower, upper);
    let between = lower.0 - upper.0;
    let squared = reach * reach - between.truncate().length_squared();
    (squared > 0.0).then(|| {
        let half = squared.sqrt();
        (between.z - half, between.z + half)
    })
}
