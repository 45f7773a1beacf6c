//! Elastic collisions conserve energy and momentum.

use bevy_rapier_molecules::motion::CollisionPartner;
use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, Contact, HubbardConfig, HubbardDetector, Probe, SphereMotion,
    TimeVaryingConfig, TimeVaryingDetector,
};
use bevy_rapier_molecules::scenes::{ForcedSpheres, ForcedSpheresConfig};
use glam::DVec3;

/// Maximum relative loss of energy and momentum in 15 s.
const MAX_LOSS: f64 = 1.0e-6;

fn force_free(count: u32) -> ForcedSpheres {
    let config = ForcedSpheresConfig {
        count,
        side: 90.0,
        force: 0.0,
        ..ForcedSpheresConfig::default()
    };
    ForcedSpheres::new(&config).unwrap()
}

/// Sum of the magnitudes of all momenta.
fn momenta(motion: &mut ForcedSpheres) -> f64 {
    (0..motion.spheres().len() as u32)
        .map(|sphere| {
            motion.masses()[sphere as usize] * motion.probe(sphere, 0.0).velocity.length()
        })
        .sum()
}

/// Total kinetic energy at a time (s), Da·nm²/s², and total momentum minus the impulses of the
/// walls, Da·nm/s.
fn energy_and_momentum(motion: &mut ForcedSpheres, time: f64) -> (f64, DVec3) {
    let (mut energy, mut momentum) = (0.0, DVec3::ZERO);
    for sphere in 0..motion.spheres().len() as u32 {
        let velocity = motion.probe(sphere, time).velocity;
        let mass = motion.masses()[sphere as usize];
        energy += 0.5 * mass * velocity.length_squared();
        momentum += mass * velocity;
    }
    for contact in motion.contacts() {
        if let CollisionPartner::Wall(_) = contact.other {
            let mass = motion.masses()[contact.sphere as usize];
            momentum += contact.elastic_impulse(mass, f64::INFINITY) * contact.normal;
        }
    }
    (energy, momentum)
}

fn assert_conserved(
    mut motion: ForcedSpheres,
    detector: &mut dyn CollisionDetector,
    before: (f64, DVec3),
) {
    let scale = momenta(&mut force_free(motion.spheres().len() as u32));
    detector.advance(15.0, &mut motion).unwrap();
    let (energy, momentum) = energy_and_momentum(&mut motion, 15.0);
    assert!((energy / before.0 - 1.0).abs() < MAX_LOSS);
    assert!(momentum.distance(before.1) < MAX_LOSS * scale);
    assert!(detector.counts().contacts > 1000);
    assert!(detector.counts().wall_contacts > 500);
}

#[test]
fn time_varying_bounds_conserve_energy_and_momentum() {
    let mut motion = force_free(100);
    let before = energy_and_momentum(&mut motion, 0.0);
    let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
    let config = TimeVaryingConfig::default();
    let mut detector =
        TimeVaryingDetector::new(&spheres, walls, &config, 0.0, &mut motion).unwrap();
    assert_conserved(motion, &mut detector, before);
}

#[test]
fn space_time_bounds_conserve_energy_and_momentum() {
    let mut motion = force_free(60);
    let before = energy_and_momentum(&mut motion, 0.0);
    let (spheres, walls) = (motion.spheres().to_vec(), motion.walls());
    let config = HubbardConfig::default();
    let mut detector = HubbardDetector::new(&spheres, walls, &config, 0.0, &mut motion).unwrap();
    let scale = momenta(&mut force_free(60));
    detector.advance(15.0, &mut motion).unwrap();
    let (energy, momentum) = energy_and_momentum(&mut motion, 15.0);
    assert!((energy / before.0 - 1.0).abs() < MAX_LOSS);
    assert!(momentum.distance(before.1) < MAX_LOSS * scale);
    assert!(detector.counts().contacts > 100);
}

/// Spheres in a box under gravity.
struct Falling {
    inner: ForcedSpheres,
    /// Time of the last velocity change of each sphere, s, and its state then.
    since: Vec<(f64, Probe)>,
}

const GRAVITY: DVec3 = DVec3::new(0.0, -9.0, 0.0);

impl SphereMotion for Falling {
    fn probe(&mut self, sphere: u32, time: f64) -> Probe {
        let (since, from) = self.since[sphere as usize];
        let step = time - since;
        Probe {
            position: from.position + step * (from.velocity + 0.5 * step * GRAVITY),
            velocity: from.velocity + step * GRAVITY,
        }
    }

    fn collide(&mut self, contact: &Contact) {
        let mass = |sphere: u32| self.inner.masses()[sphere as usize];
        let (other_mass, other) = match contact.other {
            CollisionPartner::Sphere(other) => (mass(other), Some(other)),
            CollisionPartner::Wall(_) => (f64::INFINITY, None),
        };
        let one_mass = mass(contact.sphere);
        let impulse = contact.elastic_impulse(one_mass, other_mass) * contact.normal;
        let mut change = |sphere: u32, by: DVec3| {
            let mut probe = self.probe(sphere, contact.time);
            probe.velocity += by;
            self.since[sphere as usize] = (contact.time, probe);
        };
        change(contact.sphere, -impulse / one_mass);
        if let Some(other) = other {
            change(other, impulse / other_mass);
        }
    }
}

#[test]
fn bouncing_spheres_conserve_kinetic_plus_potential_energy() {
    let mut inner = force_free(100);
    let since = (0..100)
        .map(|sphere| (0.0, inner.probe(sphere, 0.0)))
        .collect();
    let (spheres, walls) = (inner.spheres().to_vec(), inner.walls());
    let mut motion = Falling { inner, since };
    let energy = |motion: &mut Falling, time: f64| -> f64 {
        let of = |sphere: u32| {
            let probe = motion.probe(sphere, time);
            let kinetic = 0.5 * probe.velocity.length_squared();
            motion.inner.masses()[sphere as usize] * (kinetic - GRAVITY.dot(probe.position))
        };
        (0..100).map(of).sum()
    };
    let before = energy(&mut motion, 0.0);
    let config = TimeVaryingConfig::default();
    let mut detector =
        TimeVaryingDetector::new(&spheres, walls, &config, 0.0, &mut motion).unwrap();
    detector.advance(15.0, &mut motion).unwrap();
    assert!((energy(&mut motion, 15.0) / before - 1.0).abs() < MAX_LOSS);
    assert!(detector.counts().contacts > 1000);
}
