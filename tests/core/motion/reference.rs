//! The reference: the same motion in steps a thousand times finer than those of a display,
//! every pair looked at in each of them.

use bevy_rapier_molecules::motion::CollisionPartner;
use bevy_rapier_molecules::motion::time_of_impact::Wall;
use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, Contact, HubbardConfig, HubbardDetector, MovingSphere, Probe, SphereMotion,
    TimeVaryingConfig, TimeVaryingDetector,
};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};
use glam::DVec3;

/// Step of a display, s.
pub const FRAME: f64 = 1.0 / 60.0;

/// How much finer the reference is.
pub const FINER: usize = 1000;

/// Frames of a scene. A contact is late by the tolerance over the speed, and the next ones
/// by ten times as much each: in as many frames it does not yet show.
pub const FRAMES: usize = 36;

/// How far the times of the same contact may be apart, s. The detectors are late by the
/// tolerance over the speed, and each collision makes that larger.
const TIME_TOLERANCE: f64 = 1.0e-4;

/// A scene with a dozen of spheres that meet each other and the walls some dozen times.
pub fn scene(seed: u64) -> ForcedSpheres {
    let config = ForcedSpheresConfig {
        count: 12,
        side: 12.0,
        radii: [0.2, 1.5],
        speeds: [2.0, 20.0],
        accelerations: [10.0, 40.0],
        seed,
        ..ForcedSpheresConfig::default()
    };
    ForcedSpheres::new(&config).expect("they fit")
}

pub fn time_varying(motion: &mut ForcedSpheres) -> TimeVaryingDetector {
    let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
    let config = TimeVaryingConfig {
        tolerance: 1.0e-9,
        ..TimeVaryingConfig::default()
    };
    TimeVaryingDetector::new(&spheres, walls, &config, 0.0, motion).expect("the scene is good")
}

pub fn hubbard(motion: &mut ForcedSpheres) -> HubbardDetector {
    let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
    let config = HubbardConfig {
        tolerance: 1.0e-9,
        ..HubbardConfig::default()
    };
    HubbardDetector::new(&spheres, walls, &config, 0.0, motion).expect("the scene is good")
}

/// Whom, with whom, when.
pub type Met = (u32, CollisionPartner, f64);

/// Every contact of a scene by brute force: in each fine step, every pair; the time within
/// the step is narrowed down by halves.
pub fn reference(mut motion: ForcedSpheres) -> Vec<Met> {
    let spheres = motion.spheres().to_vec();
    let walls = motion.walls();
    let mut met = Vec::new();
    let step = FRAME / FINER as f64;
    let mut now = 0.0;
    let mut places = probes(&mut motion, now);
    for k in 1..=FRAMES * FINER {
        let end = k as f64 * step;
        // Several may happen in a step; each is handled at its own time.
        loop {
            let before = motion.clone();
            let after = probes(&mut motion, end);
            let Some((sphere, other)) = deepest(&spheres, &walls, &after) else {
                places = after;
                now = end;
                break;
            };
            // When did they touch?
            let (mut low, mut high) = (now, end);
            while high - low > 1.0e-13 * end {
                let middle = 0.5 * (low + high);
                let mut there = before.clone();
                let at = probes(&mut there, middle);
                if touches(&spheres, &walls, &at, sphere, other).is_some() {
                    high = middle;
                } else {
                    low = middle;
                }
                if middle == low && middle == high {
                    break;
                }
            }
            motion = before;
            let at = probes(&mut motion, high);
            let contact = touches(&spheres, &walls, &at, sphere, other).expect("they touch");
            motion.collide(&Contact {
                time: high,
                ..contact
            });
            met.push((sphere, other, high));
            now = high;
        }
    }
    assert_eq!(places.len(), spheres.len());
    met
}

fn probes(motion: &mut ForcedSpheres, time: f64) -> Vec<Probe> {
    let count = motion.spheres().len() as u32;
    (0..count)
        .map(|sphere| motion.probe(sphere, time))
        .collect()
}

/// The contact of a sphere with something, if they overlap and approach.
fn touches(
    spheres: &[MovingSphere],
    walls: &[Wall],
    at: &[Probe],
    sphere: u32,
    other: CollisionPartner,
) -> Option<Contact> {
    let one = &at[sphere as usize];
    let radius = spheres[sphere as usize].radius;
    let (depth, normal, motion) = match other {
        CollisionPartner::Sphere(index) => {
            let two = &at[index as usize];
            let apart = two.position - one.position;
            let reach = radius + spheres[index as usize].radius;
            let depth = reach - apart.length();
            (depth, apart.normalize(), one.velocity - two.velocity)
        }
        CollisionPartner::Wall(index) => {
            let seen = walls[index as usize].signed_distance(one.position);
            (radius - seen.distance, -seen.normal, one.velocity)
        }
    };
    let speed: f64 = motion.dot(normal);
    (depth >= 0.0 && speed > 0.0).then_some(Contact {
        time: 0.0,
        sphere,
        other,
        normal,
        speed,
        penetration: depth,
    })
}

/// Whoever has overlapped for the longest time, by depth over speed.
fn deepest(
    spheres: &[MovingSphere],
    walls: &[Wall],
    at: &[Probe],
) -> Option<(u32, CollisionPartner)> {
    let mut best: Option<(f64, u32, CollisionPartner)> = None;
    let mut offer = |sphere: u32, other: CollisionPartner| {
        if let Some(contact) = touches(spheres, walls, at, sphere, other) {
            let since = contact.penetration / contact.speed;
            if best.is_none_or(|(longest, ..)| since > longest) {
                best = Some((since, sphere, other));
            }
        }
    };
    let count = spheres.len() as u32;
    for a in 0..count {
        for b in a + 1..count {
            // Boxes first.
            let apart: DVec3 = at[a as usize].position - at[b as usize].position;
            let reach = spheres[a as usize].radius + spheres[b as usize].radius;
            if apart.length_squared() <= reach * reach {
                offer(a, CollisionPartner::Sphere(b));
            }
        }
        for wall in 0..walls.len() as u32 {
            offer(a, CollisionPartner::Wall(wall));
        }
    }
    best.map(|(_, sphere, other)| (sphere, other))
}

/// Runs a detector over a scene, and gives its contacts.
pub fn contacts(
    mut motion: ForcedSpheres,
    build: impl Fn(&mut ForcedSpheres) -> Box<dyn CollisionDetector>,
) -> Vec<Met> {
    let mut detector = build(&mut motion);
    for frame in 1..=FRAMES {
        let until = frame as f64 * FRAME;
        detector
            .advance(until, &mut motion)
            .expect("the motion keeps its promise");
    }
    let met = |contact: &Contact| (contact.sphere, contact.other, contact.time);
    motion.contacts().iter().map(met).collect()
}

/// Both lists have the same contacts at the same times.
pub fn assert_same(seed: u64, expected: &[Met], found: &[Met]) {
    // Simultaneous ones may be in any order.
    let sorted = |list: &[Met]| {
        let mut list = list.to_vec();
        list.sort_by_key(|&(sphere, other, _)| (sphere, other));
        list
    };
    let (expected, found) = (sorted(expected), sorted(found));
    for (one, two) in expected.iter().zip(&found) {
        let same = (one.0, one.1) == (two.0, two.1) && (one.2 - two.2).abs() < TIME_TOLERANCE;
        assert!(same, "scene {seed}: {one:?} is not {two:?}");
    }
    assert_eq!(expected.len(), found.len(), "scene {seed}");
}
