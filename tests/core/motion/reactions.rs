//! Reactions of particles that meet, and the law of mass action.

use std::sync::Arc;

use bevy_rapier_molecules::docking::{DockingMolecule, overlapping_atoms};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::motion::brownian::{
    BrownianConfig, BrownianParticle, BrownianParticles, EventSearch, ParticleCollision,
};
use bevy_rapier_molecules::motion::time_of_impact::Wall;
use bevy_rapier_molecules::motion::{
    CollisionOutcome, CollisionPartner, MoleculeMotion, MotionError, Reaction, ReactionError,
    Reactions, place_products,
};
use bevy_rapier_molecules::pose::Pose;
use glam::{DVec3, Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use rayon::prelude::*;

use crate::common::carbons::{carbon, template};
use crate::common::thread_pool::with_threads;

/// nm²/s.
const DIFFUSION: f64 = 1.0e8;

fn sphere(radius: f64) -> BrownianParticle {
    BrownianParticle {
        radius,
        diffusion: DIFFUSION,
        rotational_diffusion: 0.0,
    }
}

fn react(collision: &ParticleCollision) -> CollisionOutcome {
    match collision.other {
        CollisionPartner::Sphere(_) => CollisionOutcome::React,
        CollisionPartner::Wall(_) => CollisionOutcome::Bounce,
    }
}

fn reaction(reactants: [u32; 2], products: &[u32], probability: f64) -> Reactions<u32> {
    let products = products.to_vec();
    Reactions::new([Reaction {
        reactants,
        products,
        probability,
    }])
    .unwrap()
}

/// Spheres of the first two kinds in turn, near the points of a lattice in a box with `side` nm.
fn mixture(
    kinds: &[BrownianParticle],
    counts: [usize; 2],
    side: f64,
    config: BrownianConfig,
) -> BrownianParticles {
    let mut random = Pcg64Mcg::seed_from_u64(config.seed);
    let count = counts[0] + counts[1];
    let along = (1..).find(|k| k * k * k >= count).unwrap();
    let step = side / along as f64;
    let mut kind_of: Vec<u32> = (0..count).map(|k| u32::from(k >= counts[0])).collect();
    for k in (1..count).rev() {
        kind_of.swap(k, random.random_range(0..=k));
    }
    let spare = 0.5 * step - kinds[0].radius.max(kinds[1].radius);
    assert!(spare > 0.0);
    let positions =
        (0..count).map(|k| {
            let cell = [k % along, k / along % along, k / along / along];
            DVec3::from_array(cell.map(|k| {
                (k as f64 + 0.5) * step + 0.99 * spare * (2.0 * random.random::<f64>() - 1.0)
            }))
        });
    let positions: Vec<DVec3> = positions.collect();
    let walls = Wall::box_faces(DVec3::ZERO, DVec3::splat(side)).to_vec();
    let config = BrownianConfig { walls, ..config };
    BrownianParticles::of_kinds(kinds, &kind_of, &positions, config).unwrap()
}

fn count_of(particles: &BrownianParticles, kind: u32) -> usize {
    particles.kinds().iter().filter(|one| **one == kind).count()
}

/// Number of reactions in each third of them, and the sum of [A][B] V dt over it, 1/nm³ s.
struct Kinetics {
    thirds: [(f64, f64); 3],
    /// 1 / number of A, and time (s), after each step.
    inverse: Vec<(f64, f64)>,
}

impl Kinetics {
    /// The rate constant, nm³/s, and its relative standard error: the number of reactions is
    /// Poisson-distributed.
    fn rate(&self) -> (f64, f64) {
        let [count, exposure] = self
            .thirds
            .iter()
            .fold([0.0; 2], |sum, one| [sum[0] + one.0, sum[1] + one.1]);
        (count / exposure, 1.0 / count.sqrt())
    }
}

/// Radius of the reactants in the kinetics, nm.
const RADIUS: f64 = 1.0;

/// Standard deviation of a step along each axis, nm.
const SPREAD: f64 = 1.5;

/// A + B → C with equal numbers of A and B, until half of them have reacted. C is as large as A and
/// inert.
fn kinetics(count: usize, side: f64, probability: f64, seed: u64) -> Kinetics {
    let config = BrownianConfig {
        seed,
        reactions: reaction([0, 1], &[2], probability),
        ..BrownianConfig::default()
    };
    let mut particles = mixture(&[sphere(RADIUS); 3], [count; 2], side, config);
    let dt = 0.5 * SPREAD * SPREAD / DIFFUSION;
    // Centers do not come closer to walls than a radius.
    let volume = (side - 2.0 * RADIUS).powi(3);
    // Forget the lattice.
    let mut bounce = |_: &ParticleCollision| CollisionOutcome::Bounce;
    for _ in 0..20 {
        particles.step(dt, &mut bounce).unwrap();
    }
    let start = particles.time();
    let goal = count / 2;
    let mut done = 0;
    let mut thirds = [(0.0, 0.0); 3];
    let mut inverse = Vec::new();
    while done < goal {
        let [a, b] = [0, 1].map(|kind| count_of(&particles, kind) as f64);
        let report = particles.step(dt, &mut react).unwrap();
        assert_eq!(report.reactions as usize, particles.reactions().len());
        let third = &mut thirds[3 * done / goal];
        third.0 += report.reactions as f64;
        third.1 += a * b * dt / volume;
        done += report.reactions as usize;
        let left = count_of(&particles, 0);
        assert_eq!(left + done, count);
        assert_eq!(count_of(&particles, 2), done);
        inverse.push((particles.time() - start, 1.0 / left as f64));
    }
    Kinetics { thirds, inverse }
}

/// The rate of hard spheres in equilibrium, nm³/s: p π σ² ⟨v⟩ g, with the mean relative speed of a
/// step and the contact value g of Carnahan and Starling. Walls hide 1.5 σ / side of all contacts, and
/// reactions deplete the neighborhood: 1 / k = 1 / k₀ + 1 / (8 π σ D) (Collins and Kimball,
/// 1949).
fn expected_rate(count: usize, side: f64, probability: f64) -> f64 {
    use std::f64::consts::PI;
    let dt = 0.5 * SPREAD * SPREAD / DIFFUSION;
    let contact_distance = 2.0 * RADIUS;
    let speed = (8.0 / PI).sqrt() * (2.0 * SPREAD * SPREAD).sqrt() / dt;
    // Three quarters of the spheres on average over the run.
    let filled = 1.5 * count as f64 * 4.0 / 3.0 * PI * (RADIUS / side).powi(3);
    let contact_value = (1.0 - 0.5 * filled) / (1.0 - filled).powi(3);
    let walls = 1.0 - 1.5 * contact_distance / (side - contact_distance);
    let area = PI * contact_distance * contact_distance;
    let rate = probability * area * speed * contact_value * walls;
    let diffusive = 4.0 * PI * contact_distance * 2.0 * DIFFUSION;
    rate * diffusive / (rate + diffusive)
}

/// Whether two measured values agree within four standard errors.
fn agree((one, error): (f64, f64), (other, other_error): (f64, f64)) -> bool {
    (one / other - 1.0).abs() < 4.0 * error.hypot(other_error)
}

#[test]
fn rare_reactions_in_a_well_mixed_box_obey_the_law_of_mass_action() {
    // Number of each reactant, side (nm), probability per meeting.
    let cases = [
        (500, 60.0, 0.05),
        // A quarter of the concentration.
        (500, 60.0 * 4.0_f64.cbrt(), 0.05),
        // Half and double the probability.
        (500, 60.0, 0.025),
        (500, 60.0, 0.1),
    ];
    let found: Vec<Kinetics> = cases
        .par_iter()
        .map(|&(count, side, probability)| {
            let runs = (1..=3).into_par_iter();
            let mut runs: Vec<Kinetics> = runs
                .map(|seed| kinetics(count, side, probability, seed))
                .collect();
            let mut first = runs.swap_remove(0);
            for run in &runs {
                for (sum, one) in first.thirds.iter_mut().zip(run.thirds) {
                    *sum = (sum.0 + one.0, sum.1 + one.1);
                }
            }
            first
        })
        .collect();
    for ((count, side, probability), kinetics) in cases.into_iter().zip(&found) {
        let (rate, error) = kinetics.rate();
        let per_meeting = (rate / probability, error);
        // The same in all cases: independent of the concentrations, and proportional to p.
        for (other, (_, _, probability)) in found.iter().zip(cases) {
            let (rate, error) = other.rate();
            assert!(agree(per_meeting, (rate / probability, error)));
        }
        // It does not change while the reactants are used up.
        for (count, exposure) in kinetics.thirds {
            assert!(agree((rate, error), (count / exposure, 1.0 / count.sqrt())));
        }
        let expected = expected_rate(count, side, probability);
        assert!(agree((rate, error), (expected, 0.01)), "{rate} {expected}");
        // Second order: 1/[A] grows linearly in time, from 1/N to 2/N.
        let (end, last) = kinetics.inverse[kinetics.inverse.len() - 1];
        let start = 1.0 / count as f64;
        for &(time, inverse) in &kinetics.inverse {
            let line = start + (last - start) * time / end;
            // Up to four standard deviations of one of the three runs.
            assert!((inverse / line - 1.0).abs() < 4.0 * 0.5 / (count as f64 / 2.0).sqrt());
        }
    }
}

#[test]
fn a_single_product_appears_at_the_center_of_its_reactants() {
    let kinds = [sphere(1.0), sphere(2.0), sphere(2.1)];
    let config = BrownianConfig {
        reactions: reaction([1, 0], &[2], 1.0),
        ..BrownianConfig::default()
    };
    let positions = [DVec3::ZERO, DVec3::X * 3.05, DVec3::Y * 500.0];
    let mut particles =
        BrownianParticles::of_kinds(&kinds, &[0, 1, 0], &positions, config).unwrap();
    while count_of(&particles, 2) == 0 {
        let report = particles
            .step(0.5 * 0.3 * 0.3 / DIFFUSION, &mut react)
            .unwrap();
        assert_eq!(report.blocked, 0);
    }
    assert_eq!(particles.kinds(), [2, 0]);
    assert_eq!(particles.particles()[0], kinds[2]);
    let [one] = particles.reactions() else {
        panic!("there is one reaction")
    };
    assert_eq!((one.reaction, one.reactants), (0, [1, 0]));
    // The product has moved on in the same step.
    assert!(particles.positions()[0].distance(one.position) < 3.0);
    assert!((particles.positions()[1].y - 500.0).abs() < 30.0);
    assert_eq!(particles.clusters().count(), 2);
    particles.step(1.0e-9, &mut react).unwrap();
}

#[test]
fn a_catalyst_keeps_its_place() {
    // E + S → E + P, with a larger P.
    let kinds = [sphere(1.0), sphere(1.0), sphere(1.3)];
    let config = BrownianConfig {
        reactions: reaction([0, 1], &[0, 2], 1.0),
        ..BrownianConfig::default()
    };
    let mut particles = mixture(&kinds, [50, 200], 60.0, config);
    let dt = 0.5 / DIFFUSION;
    let mut reactions = 0;
    for _ in 0..200 {
        reactions += particles.step(dt, &mut react).unwrap().reactions;
        assert_eq!(particles.kinds().len(), 250);
        assert_eq!(count_of(&particles, 0), 50);
        assert_eq!(count_of(&particles, 2), reactions as usize);
    }
    assert!(reactions > 50, "{reactions}");
    assert_no_overlaps(&particles);
}

fn assert_no_overlaps(particles: &BrownianParticles) {
    let all: Vec<_> = particles
        .positions()
        .iter()
        .zip(particles.particles())
        .collect();
    for (k, (at, one)) in all.iter().enumerate() {
        for (other_at, other) in &all[..k] {
            let reach = one.radius + other.radius;
            assert!(at.distance(**other_at) > reach - 1.0e-5);
        }
    }
}

#[test]
fn products_never_overlap_others_and_are_blocked_where_they_do_not_fit() {
    // Products of three times the volume of a reactant, in a crowd.
    let kinds = [sphere(1.0), sphere(1.0), sphere(3.0_f64.cbrt())];
    let config = BrownianConfig {
        reactions: reaction([0, 1], &[2], 0.5),
        ..BrownianConfig::default()
    };
    let mut particles = mixture(&kinds, [250, 250], 20.0, config);
    let (mut reactions, mut blocked) = (0, 0);
    for _ in 0..40 {
        let report = particles
            .step(0.5 * 0.2 * 0.2 / DIFFUSION, &mut react)
            .unwrap();
        reactions += report.reactions as usize;
        blocked += report.blocked;
        assert_no_overlaps(&particles);
        assert_eq!(particles.kinds().len(), 500 - reactions);
        let counts = [0, 1, 2].map(|kind| count_of(&particles, kind));
        assert_eq!(counts, [250 - reactions, 250 - reactions, reactions]);
    }
    assert!(reactions > 50 && blocked > 20, "{reactions} {blocked}");
}

#[test]
fn particles_of_one_kind_and_their_products_react_too() {
    // A + A → B and B + A → C, in the same step where they meet.
    let kinds = [sphere(1.0), sphere(1.2), sphere(1.3)];
    let reactions = [([0, 0], vec![1]), ([1, 0], vec![2])];
    let reactions = reactions.map(|(reactants, products)| Reaction {
        reactants,
        products,
        probability: 1.0,
    });
    let config = BrownianConfig {
        reactions: Reactions::new(reactions).unwrap(),
        ..BrownianConfig::default()
    };
    let mut particles = mixture(&kinds, [300, 0], 30.0, config);
    for _ in 0..50 {
        particles.step(0.5 * 4.0 / DIFFUSION, &mut react).unwrap();
    }
    let [a, b, c] = [0, 1, 2].map(|kind| count_of(&particles, kind));
    assert_eq!(a + 2 * b + 3 * c, 300);
    assert!(b + c > 80 && c > 20, "{a} {b} {c}");
    assert_no_overlaps(&particles);
}

#[test]
fn particles_that_stick_do_not_react() {
    let config = BrownianConfig {
        reactions: reaction([0, 1], &[0], 1.0),
        ..BrownianConfig::default()
    };
    let mut particles = mixture(&[sphere(1.0); 2], [60, 60], 14.0, config);
    let mut stick = |collision: &ParticleCollision| match react(collision) {
        CollisionOutcome::React => CollisionOutcome::Stick,
        outcome => outcome,
    };
    for _ in 0..20 {
        particles
            .step(0.5 * 0.3 * 0.3 / DIFFUSION, &mut stick)
            .unwrap();
    }
    let singles = particles.clusters().filter(|one| one.len() == 1).count();
    let stuck = 120 - singles;
    assert!(stuck > 20, "{stuck}");
    for _ in 0..20 {
        particles
            .step(0.5 * 0.3 * 0.3 / DIFFUSION, &mut react)
            .unwrap();
    }
    let members: usize = particles.clusters().map(<[u32]>::len).sum();
    assert_eq!(members, particles.kinds().len());
    let in_clusters = particles.clusters().filter(|one| one.len() > 1);
    assert_eq!(in_clusters.map(<[u32]>::len).sum::<usize>(), stuck);
    assert_no_overlaps(&particles);
}

#[test]
fn reactions_are_the_same_on_any_number_of_threads_and_in_both_event_searches() {
    let run = |threads: usize, event_search: EventSearch| {
        with_threads(threads, || {
            let config = BrownianConfig {
                event_search,
                reactions: reaction([0, 1], &[2], 0.3),
                ..BrownianConfig::default()
            };
            let kinds = [sphere(1.0), sphere(1.0), sphere(1.2)];
            let mut particles = mixture(&kinds, [60, 60], 18.0, config);
            let mut reactions = Vec::new();
            for _ in 0..8 {
                particles
                    .step(0.5 * 0.5 * 0.5 / DIFFUSION, &mut react)
                    .unwrap();
                let found = particles.reactions().iter();
                reactions.extend(found.map(|one| one.reactants));
            }
            let positions = particles.positions().iter();
            let positions: Vec<_> = positions
                .map(|at| at.to_array().map(f64::to_bits))
                .collect();
            (reactions, positions)
        })
    };
    let first = run(1, EventSearch::Queue);
    assert!(first.0.len() > 5, "{:?}", first.0);
    assert_eq!(first, run(2, EventSearch::Queue));
    assert_eq!(first.0, run(1, EventSearch::Rescan).0);
}

#[test]
fn invalid_reactions_are_errors() {
    let check = |products: &[u32], probability: f64| {
        Reactions::new([Reaction {
            reactants: [0, 1],
            products: products.to_vec(),
            probability,
        }])
    };
    for probability in [-0.1, 1.1, f64::NAN] {
        let error = check(&[2], probability).unwrap_err();
        assert!(matches!(
            error,
            ReactionError::BadProbability { reaction: 0, .. }
        ));
    }
    for count in [0, 3] {
        let error = check(&vec![2; count], 0.5).unwrap_err();
        assert_eq!(error, ReactionError::BadProductCount { reaction: 0, count });
    }
    let twice = [[0, 1], [1, 0]].map(|reactants| Reaction {
        reactants,
        products: vec![2],
        probability: 0.6,
    });
    let error = Reactions::new(twice).unwrap_err();
    assert!(matches!(
        error,
        ReactionError::ProbabilitySum { reaction: 1, .. }
    ));
    let build = |kind_of: &[u32]| {
        let config = BrownianConfig {
            reactions: check(&[2], 0.5).unwrap(),
            ..BrownianConfig::default()
        };
        BrownianParticles::of_kinds(&[sphere(1.0); 2], kind_of, &[DVec3::ZERO], config).unwrap_err()
    };
    let error = ReactionError::NoSuchKind {
        reaction: 0,
        kind: 2,
        count: 2,
    };
    assert_eq!(build(&[0]), MotionError::Reaction(error));
    let config = BrownianConfig::default();
    let error = BrownianParticles::of_kinds(&[sphere(1.0)], &[3], &[DVec3::ZERO], config);
    assert!(matches!(
        error.unwrap_err(),
        MotionError::NoSuchKind {
            particle: 0,
            kind: 3,
            count: 1
        }
    ));
}

/// Momentum and angular momentum about the origin.
fn momenta(molecules: &[(&MoleculeTemplate, MoleculeMotion)]) -> [DVec3; 2] {
    let mut sums = [DVec3::ZERO; 2];
    for (template, motion) in molecules {
        let mass = f64::from(template.mass());
        let momentum = mass * motion.velocity.as_dvec3();
        let axes = (motion.pose.rotation * template.principal_axes()).as_dquat();
        let inertia = template.principal_inertia().as_dvec3();
        let spin = axes * (inertia * (axes.inverse() * motion.angular_velocity.as_dvec3()));
        sums[0] += momentum;
        sums[1] += motion.pose.position.as_dvec3().cross(momentum) + spin;
    }
    sums
}

fn row(count: usize) -> Arc<MoleculeTemplate> {
    template(
        (0..count)
            .map(|k| carbon(Vec3::X * 0.12 * k as f32, 0.1))
            .collect(),
    )
}

#[test]
fn products_of_molecules_conserve_momentum_and_do_not_overlap() {
    let mut random = Pcg64Mcg::seed_from_u64(5);
    let (a, b, sum) = (row(3), row(5), row(8));
    for _ in 0..100 {
        let mut vector = || Vec3::from_array([(); 3].map(|()| random.random::<f32>() - 0.5));
        let mut motion = |position: Vec3| MoleculeMotion {
            pose: Pose::new(position, Quat::from_scaled_axis(3.0 * vector())),
            velocity: 5.0 * vector(),
            angular_velocity: 4.0 * vector(),
        };
        let reactants = [
            (&*a, motion(Vec3::ZERO)),
            (&*b, motion(Vec3::new(0.3, 0.4, 0.2))),
        ];
        let before = momenta(&reactants);
        let [product] = place_products(reactants, &[&sum])[..] else {
            panic!("one product")
        };
        assert_eq!(product.pose.rotation, reactants[0].1.pose.rotation);
        let center = Vec3::new(0.3, 0.4, 0.2) * 5.0 / 8.0;
        assert!(product.pose.position.distance(center) < 1.0e-5);
        for (now, then) in momenta(&[(&*sum, product)]).iter().zip(before) {
            assert!(
                now.distance(then) < 1.0e-3 * (1.0 + then.length()),
                "{now} {then}"
            );
        }
        // Longer products move apart, but their center and their velocities stay.
        let placed = place_products(reactants, &[&b, &sum]);
        let products = [(&*b, placed[0]), (&*sum, placed[1])];
        let shapes = [&b, &sum].map(|one| DockingMolecule::new(one.clone()));
        let [one, other] = [placed[0].pose, placed[1].pose];
        assert!(overlapping_atoms(&shapes[0], &one, &shapes[1], &other).is_empty());
        for ((template, now), (_, then)) in products.iter().zip(reactants) {
            assert_eq!(now.velocity, then.velocity);
            assert_eq!(now.pose.rotation, then.pose.rotation);
            assert!(
                now.pose.position.distance(then.pose.position) < 1.5 * template.bounding_radius()
            );
        }
        let moved = [0, 1].map(|k| placed[k].pose.position - reactants[k].1.pose.position);
        assert!((5.0 * moved[0] + 8.0 * moved[1]).length() < 1.0e-4);
    }
}
