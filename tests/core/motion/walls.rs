//! Spheres and all kinds of walls.

use std::sync::Arc;

use bevy_rapier_molecules::compartment::{ShapeCompartment, SphereShell};
use bevy_rapier_molecules::motion::CollisionPartner;
use bevy_rapier_molecules::motion::time_of_impact::{GrowingSphere, Wall, WallSide};
use bevy_rapier_molecules::motion::unknown_trajectories::{
    CollisionDetector, Contact, MovingSphere, Probe, SphereMotion, TimeVaryingConfig,
    TimeVaryingDetector,
};
use bevy_rapier_molecules::pose::Pose;
use glam::{DVec3, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

fn walls() -> Vec<(&'static str, Wall)> {
    let cube = ShapeCompartment::cuboid(Vec3::splat(5.0), Pose::IDENTITY).unwrap();
    let shell = SphereShell::new(Vec3::ZERO, 5.0).unwrap();
    let ball = |side| Wall::Ball {
        center: DVec3::ZERO,
        radius: 5.0,
        side,
    };
    let surface = |surface, side| Wall::Surface { surface, side };
    vec![
        (
            "plane",
            Wall::Plane {
                normal: DVec3::new(0.6, 0.0, 0.8),
                offset: -4.0,
            },
        ),
        (
            "cuboid",
            Wall::Cuboid {
                low: DVec3::splat(-1.0),
                high: DVec3::splat(1.5),
            },
        ),
        ("inside ball", ball(WallSide::Inside)),
        ("outside ball", ball(WallSide::Outside)),
        (
            "inside cube",
            surface(Arc::new(cube.clone()), WallSide::Inside),
        ),
        ("outside cube", surface(Arc::new(cube), WallSide::Outside)),
        ("inside shell", surface(Arc::new(shell), WallSide::Inside)),
    ]
}

/// No contact is later than dense samples of the path say, and hardly earlier.
#[test]
fn wall_contacts_agree_with_dense_sampling() {
    const SAMPLES: u32 = 4000;
    const MAX_TIME: f64 = 2.0;
    for (name, wall) in walls() {
        let mut random = Pcg64Mcg::seed_from_u64(5);
        let mut hits = 0;
        for _ in 0..300 {
            let mut vector = |size: f64| {
                DVec3::from_array([(); 3].map(|()| size * (2.0 * random.random::<f64>() - 1.0)))
            };
            let (center, velocity) = (vector(8.0), vector(8.0));
            let sphere = GrowingSphere {
                center,
                velocity,
                radius: 0.3,
                growth: 0.2 * random.random::<f64>(),
                acceleration: random.random::<f64>(),
            };
            let gap = |time: f64| {
                wall.signed_distance(sphere.center_at(time)).distance - sphere.radius_at(time)
            };
            if gap(0.0) <= 0.0 {
                assert_eq!(wall.first_contact(&sphere, MAX_TIME), Some(0.0), "{name}");
                continue;
            }
            let sample = (0..=SAMPLES)
                .map(|k| MAX_TIME * f64::from(k) / f64::from(SAMPLES))
                .find(|&time| gap(time) <= 0.0);
            let found = wall.first_contact(&sphere, MAX_TIME);
            if let Some(sample) = sample {
                let found = found.unwrap_or_else(|| panic!("{name}: no contact before {sample}"));
                assert!(
                    found <= sample + 1.0e-9,
                    "{name}: {found} is after {sample}"
                );
                hits += 1;
            }
            if let Some(found) = found {
                // Surfaces are in `f32`.
                let accuracy = if matches!(wall, Wall::Surface { .. }) {
                    1.0e-4
                } else {
                    1.0e-9
                };
                assert!(gap(found) < accuracy, "{name}: {} nm early", gap(found));
            }
        }
        assert!(hits > 5, "{name}: {hits} hits");
    }
}

/// One sphere that moves in straight lines and bounces.
struct Marble {
    since: f64,
    at: Probe,
    hits: u32,
}

impl SphereMotion for Marble {
    fn probe(&mut self, _: u32, time: f64) -> Probe {
        Probe {
            position: self.at.position + (time - self.since) * self.at.velocity,
            ..self.at
        }
    }

    fn collide(&mut self, contact: &Contact) {
        assert!(matches!(contact.other, CollisionPartner::Wall(0)));
        self.at = self.probe(0, contact.time);
        self.since = contact.time;
        self.at.velocity -= 2.0 * contact.speed * contact.normal;
        self.hits += 1;
    }
}

#[test]
fn sphere_stays_inside_closed_walls() {
    for (name, wall) in walls()
        .into_iter()
        .filter(|(name, _)| name.starts_with("inside"))
    {
        let mut motion = Marble {
            since: 0.0,
            at: Probe {
                position: DVec3::new(1.0, 2.0, 0.5),
                velocity: DVec3::new(7.0, -3.0, 5.0),
            },
            hits: 0,
        };
        let marble = MovingSphere {
            radius: 0.5,
            acceleration: 3.0,
        };
        let config = TimeVaryingConfig::default();
        let walls = vec![wall.clone()];
        let mut detector =
            TimeVaryingDetector::new(&[marble], walls, &config, 0.0, &mut motion).unwrap();
        for step in 1..=1000 {
            let now = 0.02 * f64::from(step);
            detector.advance(now, &mut motion).unwrap();
            let gap = wall.signed_distance(motion.probe(0, now).position).distance - marble.radius;
            assert!(gap > -1.0e-4, "{name}: {gap} at {now}");
        }
        assert!(motion.hits > 10, "{name}: {}", motion.hits);
        assert!((motion.at.velocity.length() - 83.0_f64.sqrt()).abs() < 1.0e-4);
    }
}
