//! Reference contacts by brute force: all pairs in steps a thousand times finer than a frame.

use bevy_rapier_molecules::motion::CollisionPartner;
use bevy_rapier_molecules::motion::time_of_impact::Wall;
use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, Contact, HubbardConfig, HubbardDetector, HubbardSweep, MovingSphere, Probe,
    SphereMotion, TimeVaryingConfig, TimeVaryingDetector, TimeVaryingRules,
};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};
use glam::DVec3;

/// Duration of a frame, s.
pub const FRAME: f64 = 1.0 / 60.0;

/// Fine steps per frame.
pub const FINER: usize = 1000;

/// Frames of a scene. A contact is late by tolerance / speed, and each collision multiplies the
/// error by about ten. Over this many frames it stays below [`TIME_TOLERANCE`].
pub const FRAMES: usize = 36;

/// Maximum difference between the times of the same contact, s.
const TIME_TOLERANCE: f64 = 1.0e-4;

/// Twelve spheres with a few dozen contacts.
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
    ForcedSpheres::new(&config).expect("the spheres fit")
}

/// Overlap at which spheres touch, nm.
const TOLERANCE: f64 = 1.0e-9;

/// Time-varying bounds in the box of a scene.
pub fn time_varying(motion: &mut ForcedSpheres) -> TimeVaryingDetector {
    let walls = motion.walls();
    time_varying_between(walls, TimeVaryingRules::default(), motion)
}

/// Time-varying bounds between other walls.
pub fn time_varying_between(
    walls: Vec<Wall>,
    rules: TimeVaryingRules,
    motion: &mut ForcedSpheres,
) -> TimeVaryingDetector {
    let config = TimeVaryingConfig {
        tolerance: TOLERANCE,
        rules,
        ..TimeVaryingConfig::default()
    };
    let spheres = motion.spheres().to_vec();
    TimeVaryingDetector::new(&spheres, walls, &config, 0.0, motion).expect("the scene is valid")
}

/// Space-time bounds of `interval` s.
pub fn hubbard(
    walls: Vec<Wall>,
    (sweep, interval): (HubbardSweep, f64),
    motion: &mut ForcedSpheres,
) -> HubbardDetector {
    let config = HubbardConfig {
        tolerance: TOLERANCE,
        interval,
        sweep,
    };
    let spheres = motion.spheres().to_vec();
    HubbardDetector::new(&spheres, walls, &config, 0.0, motion).expect("the scene is valid")
}

/// Sphere, partner and time of a contact.
pub type ContactEntry = (u32, CollisionPartner, f64);

/// All contacts of a scene by brute force, with bisection within the fine step.
pub fn reference(mut motion: ForcedSpheres, walls: &[Wall]) -> Vec<ContactEntry> {
    let spheres = motion.spheres().to_vec();
    let mut found = Vec::new();
    let step = FRAME / FINER as f64;
    let mut now = 0.0;
    for k in 1..=FRAMES * FINER {
        let end = k as f64 * step;
        // Handle several contacts in one step in order of time.
        loop {
            let before = motion.clone();
            let after = probes(&mut motion, end);
            let Some((sphere, other)) = longest_overlap(&spheres, walls, &after) else {
                now = end;
                break;
            };
            // Bisect the time of contact.
            let (mut low, mut high) = (now, end);
            while high - low > 1.0e-13 * end {
                let middle = 0.5 * (low + high);
                let at = probes(&mut before.clone(), middle);
                if touches(&spheres, walls, &at, sphere, other).is_some() {
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
            let contact = touches(&spheres, walls, &at, sphere, other).expect("the spheres touch");
            motion.collide(&Contact {
                time: high,
                ..contact
            });
            found.push((sphere, other, high));
            now = high;
        }
    }
    found
}

fn probes(motion: &mut ForcedSpheres, time: f64) -> Vec<Probe> {
    let count = motion.spheres().len() as u32;
    (0..count)
        .map(|sphere| motion.probe(sphere, time))
        .collect()
}

/// The contact of a sphere and its partner, if they overlap and approach.
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
            let offset = two.position - one.position;
            let reach = radius + spheres[index as usize].radius;
            let depth = reach - offset.length();
            (depth, offset.normalize(), one.velocity - two.velocity)
        }
        CollisionPartner::Wall(index) => {
            let surface = walls[index as usize].signed_distance(one.position);
            (radius - surface.distance, -surface.normal, one.velocity)
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

/// The pair that has overlapped for the longest time: depth / speed.
fn longest_overlap(
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
            let offset: DVec3 = at[a as usize].position - at[b as usize].position;
            let reach = spheres[a as usize].radius + spheres[b as usize].radius;
            if offset.length_squared() <= reach * reach {
                offer(a, CollisionPartner::Sphere(b));
            }
        }
        for wall in 0..walls.len() as u32 {
            offer(a, CollisionPartner::Wall(wall));
        }
    }
    best.map(|(_, sphere, other)| (sphere, other))
}

/// The contacts that a detector finds in a scene.
pub fn contacts(
    mut motion: ForcedSpheres,
    build: impl Fn(&mut ForcedSpheres) -> Box<dyn CollisionDetector>,
) -> Vec<ContactEntry> {
    let mut detector = build(&mut motion);
    for frame in 1..=FRAMES {
        let until = frame as f64 * FRAME;
        detector
            .advance(until, &mut motion)
            .expect("the motion respects its bounds");
    }
    contact_list(&motion)
}

/// Sphere, partner and time of all contacts so far.
pub fn contact_list(motion: &ForcedSpheres) -> Vec<ContactEntry> {
    let contacts = motion.contacts().iter();
    contacts
        .map(|contact| (contact.sphere, contact.other, contact.time))
        .collect()
}

/// Asserts that both lists have the same contacts at the same times.
pub fn assert_same(seed: u64, expected: &[ContactEntry], found: &[ContactEntry]) {
    // Simultaneous contacts may be in any order.
    let sorted = |list: &[ContactEntry]| {
        let mut list = list.to_vec();
        list.sort_by_key(|&(sphere, other, _)| (sphere, other));
        list
    };
    let (expected, found) = (sorted(expected), sorted(found));
    for (one, two) in expected.iter().zip(&found) {
        let same = (one.0, one.1) == (two.0, two.1) && (one.2 - two.2).abs() < TIME_TOLERANCE;
        assert!(same, "scene {seed}: {one:?} and {two:?} differ");
    }
    assert_eq!(expected.len(), found.len(), "scene {seed}");
}
