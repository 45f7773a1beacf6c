//! Section 2: collisions decide whether particles form other particle types. Rare reactions in a
//! well-mixed box obey the law of mass action.

use std::error::Error;
use std::f64::consts::PI;

use bevy_rapier_molecules::motion::brownian::{
    BrownianConfig, BrownianParticle, BrownianParticles, ParticleCollision,
};
use bevy_rapier_molecules::motion::time_of_impact::Wall;
use bevy_rapier_molecules::motion::{CollisionOutcome, CollisionPartner, Reaction, Reactions};
use glam::DVec3;
use rayon::prelude::*;

use crate::common::{Column, Done, Run, cells};

/// Radius of all particles, nm.
const RADIUS_NM: f64 = 1.0;

/// Diffusion coefficient of all particles, nm²/s.
const DIFFUSION: f64 = 1.0e8;

/// Standard deviation of a step along each axis, nm.
const STEP_NM: f64 = 1.5;

/// Side of the box, nm, and probability per meeting.
const CASES: [(f64, f64); 4] = [(60.0, 0.05), (95.24, 0.05), (60.0, 0.025), (60.0, 0.1)];

/// Steps that mix the initial lattice.
const MIXING_STEPS: u32 = 20;

pub fn run(run: &mut Run) -> Done {
    let (count, seeds) = run.pick((500, 8), (60, 1));
    let title = format!(
        "**Law of mass action**: A + B → C, {count} particles of A and of B of {RADIUS_NM} nm, until \
         half of them have reacted; {seeds} seeds. The rate constant is the number of reactions \
         over the integral of [A][B] V. Theory: collisions of hard spheres in equilibrium, with \
         walls and depletion. Errors are those of Poisson statistics."
    );
    let columns = vec![
        Column::text("side, nm"),
        Column::text("probability"),
        Column::number("reactions"),
        Column::number("rate constant, 10⁸ nm³/s").decimals(2),
        Column::number("error, %").decimals(1),
        Column::number("first half, 10⁸ nm³/s").decimals(2),
        Column::number("second half, 10⁸ nm³/s").decimals(2),
        Column::number("over theory").decimals(3),
    ];
    let mut table = run.table(&title, columns);
    for (side, probability) in CASES {
        let runs = (1..=seeds).into_par_iter();
        let runs = runs.map(|seed| {
            kinetics(count, side, probability, seed).map_err(|error| error.to_string())
        });
        let runs: Vec<Halves> = runs.collect::<Result<_, String>>()?;
        let sum = |k: usize| {
            let halves = runs.iter().map(|halves| halves[k]);
            halves.fold((0.0, 0.0), |sum, one| (sum.0 + one.0, sum.1 + one.1))
        };
        let [first, second] = [0, 1].map(sum);
        let (reactions, exposure) = (first.0 + second.0, first.1 + second.1);
        let rate = reactions / exposure;
        let of = |(reactions, exposure): (f64, f64)| reactions / exposure * 1.0e-8;
        table.row(cells![
            format!("{side:.0}"),
            format!("{probability}"),
            reactions as u64,
            rate * 1.0e-8,
            100.0 / reactions.sqrt(),
            of(first),
            of(second),
            rate / theory(count, side, probability)
        ]);
    }
    Ok(())
}

/// Reactions, and the integral of [A][B] V over time (s/nm³), until a quarter of each reactant has
/// reacted, and after that.
type Halves = [(f64, f64); 2];

fn seconds() -> f64 {
    0.5 * STEP_NM * STEP_NM / DIFFUSION
}

fn kinetics(
    count: usize,
    side: f64,
    probability: f64,
    seed: u64,
) -> Result<Halves, Box<dyn Error>> {
    let reaction = Reaction {
        reactants: [0, 1],
        products: vec![2],
        probability,
    };
    let config = BrownianConfig {
        seed,
        walls: Wall::box_faces(DVec3::ZERO, DVec3::splat(side)).to_vec(),
        reactions: Reactions::new([reaction])?,
        ..BrownianConfig::default()
    };
    let along = (1..).find(|k: &usize| k.pow(3) >= 2 * count).unwrap_or(1);
    let place = |k: usize| {
        let cell = [k % along, k / along % along, k / along / along];
        DVec3::from_array(cell.map(|k| (k as f64 + 0.5) * side / along as f64))
    };
    let positions: Vec<DVec3> = (0..2 * count).map(place).collect();
    let kind_of: Vec<u32> = (0..2 * count as u32).map(|k| k % 2).collect();
    let particle = BrownianParticle {
        radius: RADIUS_NM,
        diffusion: DIFFUSION,
        rotational_diffusion: 0.0,
    };
    let mut particles = BrownianParticles::of_kinds(&[particle; 3], &kind_of, &positions, config)?;
    for _ in 0..MIXING_STEPS {
        particles.step(seconds(), &mut |_: &ParticleCollision| {
            CollisionOutcome::Bounce
        })?;
    }
    let mut halves = [(0.0, 0.0); 2];
    let mut done = 0;
    while done < count / 2 {
        let left = (count - done) as f64;
        let report = particles.step(seconds(), &mut |collision| match collision.other {
            CollisionPartner::Sphere(_) => CollisionOutcome::React,
            CollisionPartner::Wall(_) => CollisionOutcome::Bounce,
        })?;
        let half = &mut halves[usize::from(done >= count / 4)];
        half.0 += report.reactions as f64;
        half.1 += left * left * seconds() / volume(side);
        done += report.reactions as usize;
    }
    Ok(halves)
}

/// Volume of the centers, nm³.
fn volume(side: f64) -> f64 {
    (side - 2.0 * RADIUS_NM).powi(3)
}

/// Rate constant of hard spheres in equilibrium, nm³/s: cross-section times mean relative speed of a
/// step times contact value (Carnahan and Starling). Walls hide some contacts, and reactions deplete
/// the neighborhood (Collins and Kimball, 1949).
fn theory(count: usize, side: f64, probability: f64) -> f64 {
    let contact_distance = 2.0 * RADIUS_NM;
    let speed = (8.0 / PI).sqrt() * 2.0_f64.sqrt() * STEP_NM / seconds();
    // Three quarters of the particles on average.
    let filled = 1.5 * count as f64 * 4.0 / 3.0 * PI * (RADIUS_NM / side).powi(3);
    let contact_value = (1.0 - 0.5 * filled) / (1.0 - filled).powi(3);
    let walls = 1.0 - 1.5 * contact_distance / (side - contact_distance);
    let area = PI * contact_distance.powi(2);
    let rate = probability * area * speed * contact_value * walls;
    let diffusive = 4.0 * PI * contact_distance * 2.0 * DIFFUSION;
    rate * diffusive / (rate + diffusive)
}
