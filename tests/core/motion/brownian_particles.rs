//! Diffusing particles: Berg's laws, and no missed collision.

use std::sync::Arc;

use bevy_rapier_molecules::compartment::ShapeCompartment;
use bevy_rapier_molecules::motion::brownian::{
    BrownianConfig, BrownianParticle, BrownianParticles, EventSearch, Medium, ParticleCollision,
    hydrodynamic_radius,
};
use bevy_rapier_molecules::motion::time_of_impact::{Wall, WallSide};
use bevy_rapier_molecules::motion::{CollisionOutcome, CollisionPartner, MotionError};
use bevy_rapier_molecules::pose::Pose;
use glam::DVec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

use crate::common::thread_pool::with_threads;

fn bounce(_: &ParticleCollision) -> CollisionOutcome {
    CollisionOutcome::Bounce
}

/// Particles near the points of a lattice that fill a fraction of a box, and the side of the
/// box, nm.
fn lattice(count: usize, fill: f64, seed: u64) -> (Vec<BrownianParticle>, Vec<DVec3>, f64) {
    let mut random = Pcg64Mcg::seed_from_u64(seed);
    let particles: Vec<_> = (0..count)
        .map(|_| {
            BrownianParticle::in_medium(1.2 + 0.4 * random.random::<f64>(), &Medium::default())
        })
        .collect();
    let volume: f64 = particles.iter().map(|one| 4.19 * one.radius.powi(3)).sum();
    let side = (volume / fill).cbrt();
    let along = (1..).find(|k| k * k * k >= count).unwrap();
    let step = side / along as f64;
    let positions =
        (0..count).map(|k| {
            let cell = [k % along, k / along % along, k / along / along];
            let spare = 0.5 * step - particles[k].radius;
            assert!(spare > 0.0);
            DVec3::from_array(cell.map(|k| {
                (k as f64 + 0.5) * step + 0.99 * spare * (2.0 * random.random::<f64>() - 1.0)
            }))
        });
    let positions = positions.collect();
    (particles, positions, side)
}

fn crowd(count: usize, fill: f64, seed: u64, event_search: EventSearch) -> BrownianParticles {
    let (particles, positions, side) = lattice(count, fill, seed);
    let config = BrownianConfig {
        seed,
        event_search,
        tolerance: 1.0e-9,
        walls: Wall::box_faces(DVec3::ZERO, DVec3::splat(side)).to_vec(),
        ..BrownianConfig::default()
    };
    BrownianParticles::new(&particles, &positions, config).unwrap()
}

#[test]
fn free_particles_obey_the_laws_of_diffusion_within_two_percent() {
    const PARTICLES: usize = 20_000;
    let particle = BrownianParticle::in_medium(2.0, &Medium::default());
    let positions: Vec<DVec3> = (0..PARTICLES)
        .map(|k| DVec3::X * 1.0e6 * k as f64)
        .collect();
    let config = BrownianConfig::default();
    let mut crowd = BrownianParticles::new(&[particle; PARTICLES], &positions, config).unwrap();
    // About half a turn in total.
    let dt = 0.02 / particle.rotational_diffusion;
    for _ in 0..20 {
        let report = crowd.step(dt, &mut bounce).unwrap();
        assert_eq!(report.collisions, 0);
    }
    let time = crowd.time();
    let squares = crowd.positions().iter().zip(&positions);
    let mean: f64 = squares
        .map(|(now, then)| now.distance_squared(*then))
        .sum::<f64>()
        / PARTICLES as f64;
    let diffusion = mean / (6.0 * time);
    assert!(
        (diffusion / particle.diffusion - 1.0).abs() < 0.02,
        "{diffusion}"
    );
    let cosines = crowd
        .rotations()
        .iter()
        .map(|rotation| (*rotation * DVec3::Z).z);
    let mean = cosines.sum::<f64>() / PARTICLES as f64;
    let decay = -mean.ln() / (2.0 * time);
    assert!(
        (decay / particle.rotational_diffusion - 1.0).abs() < 0.02,
        "{decay}"
    );
}

#[test]
fn crowded_particles_diffuse_more_slowly_than_free_ones() {
    let mut crowd = crowd(512, 0.25, 3, EventSearch::Queue);
    let positions = crowd.positions().to_vec();
    // Steps of a tenth of a radius.
    let dt = 0.005 / Medium::default().translational(1.5);
    for _ in 0..200 {
        crowd.step(dt, &mut bounce).unwrap();
    }
    let time = crowd.time();
    // Away from the walls.
    let middle = |position: &DVec3| {
        let side = positions
            .iter()
            .fold(DVec3::ZERO, |high, position| high.max(*position))
            .x;
        position.min_element() > 0.25 * side && position.max_element() < 0.75 * side
    };
    let inner: Vec<usize> = (0..positions.len())
        .filter(|&k| middle(&positions[k]))
        .collect();
    let ratio = |k: usize| {
        let square = crowd.positions()[k].distance_squared(positions[k]);
        square / (6.0 * crowd.particles()[k].diffusion * time)
    };
    let mean = inner.iter().map(|&k| ratio(k)).sum::<f64>() / inner.len() as f64;
    assert!(inner.len() > 50 && (0.2..0.9).contains(&mean), "{mean}");
}

/// Particle, partner and time (s) of a collision.
type CollisionEntry = (u32, CollisionPartner, f64);

/// A step in a thousand substeps, with all pairs tested in each.
fn reference(
    crowd: &BrownianParticles,
    walls: &[Wall],
    dt: f64,
) -> (Vec<CollisionEntry>, Vec<DVec3>) {
    const FINER: usize = 1000;
    let mut displacements = crowd.displacements(dt);
    let mut positions = crowd.positions().to_vec();
    let particles = crowd.particles();
    let mut found = Vec::new();
    let gap = |positions: &[DVec3], a: usize, other: CollisionPartner| match other {
        CollisionPartner::Sphere(b) => {
            let reach = particles[a].radius + particles[b as usize].radius;
            positions[a].distance(positions[b as usize]) - reach
        }
        CollisionPartner::Wall(wall) => {
            walls[wall as usize].signed_distance(positions[a]).distance - particles[a].radius
        }
    };
    let normal = |positions: &[DVec3], a: usize, other: CollisionPartner| match other {
        CollisionPartner::Sphere(b) => (positions[b as usize] - positions[a]).normalize(),
        CollisionPartner::Wall(wall) => -walls[wall as usize].signed_distance(positions[a]).normal,
    };
    let mut now = 0.0;
    for part in 1..=FINER {
        let end = part as f64 / FINER as f64;
        loop {
            let at = |time: f64, displacements: &[DVec3], positions: &[DVec3]| -> Vec<DVec3> {
                let pairs = positions.iter().zip(displacements);
                pairs
                    .map(|(position, displacement)| *position + (time - now) * *displacement)
                    .collect()
            };
            let after = at(end, &displacements, &positions);
            // The pair that has overlapped for the longest time.
            let mut first: Option<(f64, usize, CollisionPartner)> = None;
            let mut offer = |a: usize, other: CollisionPartner| {
                let depth = -gap(&after, a, other);
                if depth < 0.0 {
                    return;
                }
                let other_displacement = match other {
                    CollisionPartner::Sphere(b) => displacements[b as usize],
                    CollisionPartner::Wall(_) => DVec3::ZERO,
                };
                let closing = (displacements[a] - other_displacement).dot(normal(&after, a, other));
                if closing > 0.0 && first.is_none_or(|(since, ..)| depth / closing > since) {
                    first = Some((depth / closing, a, other));
                }
            };
            for a in 0..positions.len() {
                for b in a + 1..positions.len() {
                    offer(a, CollisionPartner::Sphere(b as u32));
                }
                for wall in 0..walls.len() as u32 {
                    offer(a, CollisionPartner::Wall(wall));
                }
            }
            let Some((_, a, other)) = first else {
                positions = after;
                now = end;
                break;
            };
            let (mut low, mut high) = (now, end);
            for _ in 0..60 {
                let middle = 0.5 * (low + high);
                if gap(&at(middle, &displacements, &positions), a, other) <= 0.0 {
                    high = middle;
                } else {
                    low = middle;
                }
            }
            positions = at(high, &displacements, &positions);
            now = high;
            let normal = normal(&positions, a, other);
            match other {
                CollisionPartner::Sphere(b) => {
                    let b = b as usize;
                    let closing = (displacements[a] - displacements[b]).dot(normal);
                    let [one, two] = [a, b].map(|k| particles[k].diffusion);
                    let push = 2.0 * closing / (one + two) * normal;
                    displacements[a] -= one * push;
                    displacements[b] += two * push;
                }
                CollisionPartner::Wall(_) => {
                    let closing = displacements[a].dot(normal);
                    displacements[a] -= 2.0 * closing * normal;
                }
            }
            found.push((a as u32, other, high * dt));
        }
    }
    (found, positions)
}

/// Long steps in dense crowds, where many collisions follow from others in the same step.
#[test]
fn step_agrees_with_substeps_a_thousand_times_finer() {
    let total: usize = (0..100_u64)
        .into_par_iter()
        .map(|seed| {
            let mut crowd = crowd(27, 0.2, seed, EventSearch::Queue);
            let mut highest = DVec3::ZERO;
            for (position, particle) in crowd.positions().iter().zip(crowd.particles()) {
                highest = highest.max(*position + particle.radius);
            }
            let side = lattice(27, 0.2, seed).2;
            let walls = Wall::box_faces(DVec3::ZERO, DVec3::splat(side));
            let dt = 0.3 / Medium::default().translational(1.5);
            let (expected, positions) = reference(&crowd, &walls, dt);
            crowd.step(dt, &mut bounce).unwrap();
            let found: Vec<CollisionEntry> = crowd
                .collisions()
                .iter()
                .map(|one| (one.particle, one.other, one.time))
                .collect();
            assert_eq!(expected.len(), found.len(), "scene {seed}");
            for (one, two) in expected.iter().zip(&found) {
                let late = (one.2 - two.2).abs() / dt;
                assert!(
                    (one.0, one.1) == (two.0, two.1) && late < 1.0e-4,
                    "scene {seed}"
                );
            }
            for (one, two) in positions.iter().zip(crowd.positions()) {
                assert!(one.distance(*two) < 1.0e-3, "scene {seed}");
            }
            expected.len()
        })
        .sum();
    assert!(total > 1000, "{total}");
}

#[test]
fn queue_and_rescan_find_the_same_collisions() {
    for seed in 0..10 {
        let [mut queue, mut rescanned] =
            [EventSearch::Queue, EventSearch::Rescan].map(|search| crowd(125, 0.2, seed, search));
        let dt = 0.1 / Medium::default().translational(1.5);
        let one = queue.step(dt, &mut bounce).unwrap();
        let two = rescanned.step(dt, &mut bounce).unwrap();
        assert!(one.collisions > 10 && two.skipped > two.checks);
        let pairs = queue.collisions().iter().zip(rescanned.collisions());
        for (one, two) in pairs {
            assert_eq!((one.particle, one.other), (two.particle, two.other));
            assert!((one.time - two.time).abs() < 1.0e-6 * dt);
        }
        assert_eq!(queue.collisions().len(), rescanned.collisions().len());
    }
}

#[test]
fn particles_never_overlap() {
    let mut crowd = crowd(343, 0.25, 1, EventSearch::Queue);
    let dt = 0.05 / Medium::default().translational(1.5);
    let mut collisions = 0;
    for _ in 0..50 {
        collisions += crowd.step(dt, &mut bounce).unwrap().collisions;
    }
    let (positions, particles) = (crowd.positions(), crowd.particles());
    for a in 0..positions.len() {
        for b in a + 1..positions.len() {
            let reach = particles[a].radius + particles[b].radius;
            assert!(positions[a].distance(positions[b]) > reach - 1.0e-7);
        }
    }
    assert!(collisions > 1000);
}

#[test]
fn positions_are_bitwise_identical_on_any_number_of_threads() {
    let run = |threads: usize| {
        with_threads(threads, || {
            let mut crowd = crowd(343, 0.25, 9, EventSearch::Queue);
            let dt = 0.05 / Medium::default().translational(1.5);
            for _ in 0..10 {
                crowd.step(dt, &mut bounce).unwrap();
            }
            let positions: Vec<_> = crowd
                .positions()
                .iter()
                .map(|at| at.to_array().map(f64::to_bits))
                .collect();
            let turns: Vec<_> = crowd
                .rotations()
                .iter()
                .map(|at| at.to_array().map(f64::to_bits))
                .collect();
            (positions, turns)
        })
    };
    assert_eq!(run(1), run(2));
}

#[test]
fn sticking_particles_move_as_one_cluster() {
    let mut crowd = crowd(216, 0.2, 2, EventSearch::Queue);
    let dt = 0.1 / Medium::default().translational(1.5);
    let mut stick = |collision: &ParticleCollision| match collision.other {
        CollisionPartner::Sphere(_) => CollisionOutcome::Stick,
        CollisionPartner::Wall(_) => CollisionOutcome::Bounce,
    };
    for _ in 0..5 {
        crowd.step(dt, &mut stick).unwrap();
    }
    let members: usize = crowd.clusters().map(<[u32]>::len).sum();
    assert_eq!(members, 216);
    let largest = crowd
        .clusters()
        .max_by_key(|members| members.len())
        .unwrap()
        .to_vec();
    assert!(largest.len() > 3);
    assert_eq!(crowd.cluster(largest[1]).unwrap(), &largest[..]);
    // All members have the same displacement.
    let before = crowd.positions().to_vec();
    crowd
        .step(dt, &mut |_: &ParticleCollision| CollisionOutcome::Bounce)
        .unwrap();
    let displacement = |k: u32| crowd.positions()[k as usize] - before[k as usize];
    for &member in &largest {
        assert!(displacement(member).distance(displacement(largest[0])) < 1.0e-9);
    }
    assert_eq!(crowd.cluster(largest[0]).unwrap().len(), largest.len());
}

#[test]
fn particles_pass_through_each_other_on_request() {
    let mut crowd = crowd(125, 0.2, 4, EventSearch::Queue);
    let dt = 0.1 / Medium::default().translational(1.5);
    let displacements = crowd.displacements(dt);
    let before = crowd.positions().to_vec();
    let report = crowd
        .step(dt, &mut |_: &ParticleCollision| CollisionOutcome::Pass)
        .unwrap();
    assert!(report.collisions > 10);
    for ((now, then), displacement) in crowd.positions().iter().zip(&before).zip(&displacements) {
        assert!(now.distance(*then + *displacement) < 1.0e-9);
    }
}

#[test]
fn particles_stay_inside_closed_walls() {
    let particle = BrownianParticle::in_medium(0.5, &Medium::default());
    let positions: Vec<DVec3> = (0..27)
        .map(|k| DVec3::new(f64::from(k % 3), f64::from(k / 3 % 3), f64::from(k / 9)) * 1.5)
        .map(|position| position - 1.5)
        .collect();
    let capsule = ShapeCompartment::capsule(1.0, 4.0, Pose::IDENTITY).unwrap();
    let walls = [
        Wall::Ball {
            center: DVec3::ZERO,
            radius: 4.0,
            side: WallSide::Inside,
        },
        Wall::Surface {
            surface: Arc::new(capsule),
            side: WallSide::Inside,
        },
    ];
    for wall in walls {
        let config = BrownianConfig {
            walls: vec![wall.clone()],
            ..BrownianConfig::default()
        };
        let mut crowd = BrownianParticles::new(&[particle; 27], &positions, config).unwrap();
        let dt = 0.1 / particle.diffusion;
        let mut at_walls = 0;
        for _ in 0..100 {
            at_walls += crowd.step(dt, &mut bounce).unwrap().wall_collisions;
            for position in crowd.positions() {
                assert!(
                    wall.signed_distance(*position).distance > 0.5 - 1.0e-4,
                    "{wall:?}"
                );
            }
        }
        assert!(at_walls > 100, "{at_walls}");
    }
}

#[test]
fn invalid_input_is_an_error() {
    let good = BrownianParticle::in_medium(1.0, &Medium::default());
    let config = BrownianConfig::default;
    let bad = BrownianParticle {
        radius: -1.0,
        ..good
    };
    let error = BrownianParticles::new(&[good, bad], &[DVec3::ZERO; 2], config()).unwrap_err();
    assert!(matches!(error, MotionError::BadSphere { sphere: 1, .. }));
    let error = BrownianParticles::new(&[good], &[DVec3::NAN], config()).unwrap_err();
    assert!(matches!(error, MotionError::NotFinite { sphere: 0, .. }));
    let error = BrownianParticles::new(&[good], &[], config()).unwrap_err();
    assert_eq!(error, MotionError::CountMismatch { given: 0, count: 1 });
    let mut crowd = BrownianParticles::new(&[good], &[DVec3::ZERO], config()).unwrap();
    for dt in [0.0, -1.0, f64::NAN] {
        let error = crowd.step(dt, &mut bounce).unwrap_err();
        assert!(matches!(error, MotionError::BadParameter { .. }));
    }
    let mut none = BrownianParticles::new(&[], &[], config()).unwrap();
    none.step(1.0e-9, &mut bounce).unwrap();
}

#[test]
fn hydrodynamic_radius_matches_measured_proteins() {
    // Ubiquitin, 8.6 kDa: 1.6 to 1.7 nm; lysozyme, 14.3 kDa: 1.9 to 2.0 nm.
    assert!((1.6..1.7).contains(&hydrodynamic_radius(8_600.0)));
    assert!((1.85..2.0).contains(&hydrodynamic_radius(14_300.0)));
}

#[test]
fn hemoglobin_diffuses_as_measured() {
    // 3.1 nm: about 69 µm²/s at 293 K.
    let cool = Medium {
        temperature: 293.0,
        viscosity: 1.002e-3,
    };
    assert!((cool.translational(3.1) * 1.0e-6 - 69.0).abs() < 1.0);
    let particle = BrownianParticle::in_medium(3.1, &Medium::default());
    assert!((particle.diffusion * 1.0e-6 - 79.0).abs() < 1.0);
    // It rotates by a radian in some tens of nanoseconds.
    let time = 1.0 / (2.0 * particle.rotational_diffusion);
    assert!((1.0e-8..1.0e-7).contains(&time), "{time}");
}
