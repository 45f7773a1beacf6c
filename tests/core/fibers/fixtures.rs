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
