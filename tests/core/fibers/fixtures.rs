//! Links, and joints computed in double precision by other formulas than those of the library.

use std::sync::Arc;

use bevy_rapier_molecules::crowd::{Crowd, CrowdJoint};
use bevy_rapier_molecules::fiber::{Fiber, FiberLink, FiberPath, RandomWalk};
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use glam::{DQuat, DVec3};

/// Persistence length of DNA, nm.
pub const PERSISTENCE_NM: f32 = 50.0;

/// Twelve base pairs of DNA; atoms closer than 0.2 nm overlap.
pub fn dna() -> FiberLink {
    let dna = load("assets/molecules/4c64_dna.pdb", &LoadOptions::default()).unwrap();
    FiberLink::from_template(Arc::new(dna.with_uniform_radius(0.1).unwrap())).unwrap()
}

pub fn largest_bend(link: &FiberLink) -> f32 {
    RandomWalk::common_bend(link.rise(), PERSISTENCE_NM)
}

/// A walk of DNA that is not confined.
pub fn walk(link: &FiberLink, links: u32, seed: u64) -> RandomWalk {
    RandomWalk {
        links,
        seed,
        persistence_length: PERSISTENCE_NM,
        max_bend: largest_bend(link),
        ..RandomWalk::along(link)
    }
}

/// A fiber with limits of gap, bend and twist.
pub fn limited(link: &FiberLink, path: FiberPath) -> Fiber {
    let mut fiber = Fiber::new(link.clone(), path);
    fiber.limits.bend = largest_bend(link);
    fiber.limits.twist = 0.5;
    fiber
}

/// Gap (nm), bend and twist (radian) of a joint, from vectors instead of quaternions.
pub fn state_by_hand(crowd: &Crowd, joint: &CrowdJoint) -> [f64; 3] {
    let frame = |side: usize| {
        let pose: Pose = crowd.members()[joint.members[side] as usize].pose;
        let local = joint.frames[side];
        let turn: DQuat = pose.rotation.as_dquat().normalize();
        let inner = turn * local.rotation.as_dquat().normalize();
        let anchor = pose.position.as_dvec3() + turn * local.position.as_dvec3();
        (anchor, inner * DVec3::X, inner * DVec3::Z)
    };
    let [(first, side, axis), (second, other_side, other_axis)] = [0, 1].map(frame);
    let mut across = second - first;
    if let Some(periodic) = crowd.periodic_box() {
        let size = periodic.size().as_dvec3();
        across -= (across / size).round() * size;
    }
    let bend = axis.cross(other_axis).length().atan2(axis.dot(other_axis));
    // Bent back, the sides differ by the twist.
    let back = DQuat::from_rotation_arc(other_axis, axis) * other_side;
    let twist = axis.dot(side.cross(back)).atan2(side.dot(back));
    [across.length(), bend, twist]
}

/// Number of joints beyond their limits by more than a picometer or a milliradian.
pub fn strained(crowd: &Crowd) -> u64 {
    let joints = crowd.joints().iter().filter(|joint| {
        let [gap, bend, twist] = state_by_hand(crowd, joint);
        let limits = joint.limits;
        let slack = 1.02e-3;
        gap > f64::from(limits.gap) + slack
            || bend > f64::from(limits.bend) + slack
            || twist.abs() > f64::from(limits.twist) + slack
    });
    joints.count() as u64
}

/// The path of all members of a crowd.
pub fn path_of(link: &FiberLink, crowd: &Crowd, is_closed: bool) -> FiberPath {
    let poses = crowd.members().iter().map(|member| member.pose);
    FiberPath::of_links(link, poses, is_closed).unwrap()
}

/// The ends of the links of an open path.
pub fn links(path: &FiberPath) -> Vec<[DVec3; 2]> {
    let points = path.points().windows(2);
    points
        .map(|ends| [ends[0].as_dvec3(), ends[1].as_dvec3()])
        .collect()
}

fn distance_to_point([start, end]: [DVec3; 2], point: DVec3) -> f64 {
    let along = end - start;
    let part = along.dot(point - start) / along.length_squared();
    point.distance(start + along * part.clamp(0.0, 1.0))
}

/// The least distance of two segments: that of a point of one from the other is convex along the
/// first.
fn distance(first: [DVec3; 2], second: [DVec3; 2]) -> f64 {
    let at = |part: f64| distance_to_point(second, first[0].lerp(first[1], part));
    let (mut low, mut high) = (0.0, 1.0);
    for _ in 0..80 {
        let third = (high - low) / 3.0;
        if at(low + third) < at(high - third) {
            high -= third;
        } else {
            low += third;
        }
    }
    at(0.5 * (low + high))
}

/// The least distance of two links closer than 3 nm, by brute force. In the same fiber, the second is
/// `skip` links further or more.
pub fn least_distance(first: &[[DVec3; 2]], second: &[[DVec3; 2]], skip: Option<usize>) -> f64 {
    let mut least = f64::INFINITY;
    for (index, link) in first.iter().enumerate() {
        let from = skip.map_or(0, |skip| index + skip);
        for other in second.iter().skip(from) {
            let middles = [link, other].map(|[start, end]| 0.5 * (start + end));
            let reach = 3.0 + 0.5 * (link[0].distance(link[1]) + other[0].distance(other[1]));
            if middles[0].distance(middles[1]) < reach {
                least = least.min(distance(*link, *other));
            }
        }
    }
    least
}
