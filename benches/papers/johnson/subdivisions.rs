//! Section 4.1: collisions that only subdivided steps find, and the refinements that the paper
//! proposes.

use std::collections::HashSet;
use std::error::Error;

use bevy_rapier_molecules::motion::CollisionOutcome;
use bevy_rapier_molecules::motion::brownian::{
    BrownianConfig, BrownianParticle, BrownianParticles, EventSearch,
};
use bevy_rapier_molecules::motion::time_of_impact::Wall;
use bevy_rapier_molecules::search::swept::SweptAlgorithm;
use glam::DVec3;

use super::scene::{MIN_SECONDS, RADIUS_NM, STEP_NM, Scene, race, ratio, time};
use crate::common::{Cell, Column, Done, Run, cells};

/// Filled fractions.
const FILLED: [f64; 4] = [0.001, 0.01, 0.1, 0.3];

/// Standard deviations of a step along each axis, nm.
const STEPS_NM: [f64; 4] = [0.025, 0.05, 0.1, 0.2];

pub fn run(run: &mut Run) -> Done {
    missed(run)?;
    refinements(run)
}

/// Figure 4: collisions that follow from others in the same step.
fn missed(run: &mut Run) -> Done {
    let (count, steps) = run.pick((500, 20), (50, 2));
    let title = format!(
        "**Figure 4**: collisions of {count} particles in {steps} steps, on straight paths (whole \
         steps) and with responses (subdivided steps). Whole steps miss collisions that follow \
         from others, and report some that an earlier one prevents."
    );
    let columns = vec![
        Column::text("filled fraction"),
        Column::number("step, nm").decimals(3),
        Column::number("whole"),
        Column::number("subdivided"),
        Column::number("missed"),
        Column::number("prevented"),
        Column::number("missed, %").decimals(1),
    ];
    let mut rows = Vec::new();
    for filled in FILLED {
        for step in STEPS_NM {
            let scene = Scene {
                step,
                ..Scene::new(count, filled)
            };
            rows.push((filled, step, compare(&scene, steps)?));
        }
    }
    let mut table = run.table(&title, columns);
    for (filled, step, [whole, subdivided, missed, extra]) in rows {
        let share = 100.0 * missed as f64 / subdivided.max(1) as f64;
        table.row(cells![
            format!("{filled}"),
            step,
            whole,
            subdivided,
            missed,
            extra,
            share
        ]);
    }
    Ok(())
}

/// Collisions in whole and in subdivided steps, and those only in subdivided and only in whole
/// ones.
fn compare(scene: &Scene, steps: u32) -> Result<[u64; 4], Box<dyn Error>> {
    let mut walker = scene.walker(SweptAlgorithm::B)?;
    let mut sums = [0; 4];
    for _ in 0..steps {
        walker.draw();
        let mut straight = Vec::new();
        let mut whole = walker.swept.clone();
        whole.step(&walker.displacements, &mut straight)?;
        let straight: HashSet<_> = straight.iter().map(|one| one.pair).collect();
        let mut found = Vec::new();
        walker
            .swept
            .subdivided_step(&walker.displacements, &mut |impact| {
                found.push(impact.collision.pair);
                impact.bounce()
            })?;
        let pairs: HashSet<_> = found.iter().copied().collect();
        let missed = found.len() - pairs.intersection(&straight).count();
        let counts = [
            straight.len(),
            found.len(),
            missed,
            straight.difference(&pairs).count(),
        ];
        for (sum, count) in sums.iter_mut().zip(counts) {
            *sum += count as u64;
        }
    }
    Ok(sums)
}

/// The refinements of section 4.1 that the paper did not implement: an event queue, and a bound
/// by distance before the time of contact is computed.
fn refinements(run: &mut Run) -> Done {
    let count = run.pick(1000, 50);
    let title = format!(
        "**Refinements of subdivided steps**: ms per step, {count} particles in a box with walls. \
         `B` and `C` search again after each collision. The others are those of \
         `motion::brownian`, which searches neighbors once per step."
    );
    let columns = vec![
        Column::text("filled fraction"),
        Column::number("collisions per step").decimals(1),
        Column::measured("B", "ms"),
        Column::measured("C", "ms"),
        Column::measured("bound by distance", "ms"),
        Column::number("pairs skipped, %").decimals(1),
        Column::measured("event queue", "ms"),
        Column::number("bound ÷ queue").decimals(1),
    ];
    let mut rows: Vec<[Cell; 8]> = Vec::new();
    let least = run.pick(2.0 * MIN_SECONDS, 0.0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build()?;
    for filled in [1.0e-5, 1.0e-3, 0.01, 0.1] {
        let scene = Scene::new(count, filled);
        let [b, c] = [SweptAlgorithm::B, SweptAlgorithm::C].map(|one| scene.walker(one));
        let mut walkers = [b?, c?];
        race(run, &mut walkers)?;
        let timed = |search| {
            pool.install(|| brownian(&scene, search, least).map_err(|error| error.to_string()))
        };
        let (bound, skipped) = timed(EventSearch::Rescan)?;
        let (queue, _) = timed(EventSearch::Queue)?;
        rows.push(cells![
            format!("{filled}"),
            walkers[0].collisions(),
            walkers[0].ms(),
            walkers[1].ms(),
            bound,
            100.0 * skipped,
            queue,
            ratio(bound, queue),
        ]);
    }
    let mut table = run.table(&title, columns);
    rows.into_iter().for_each(|row| table.row(row));
    Ok(())
}

/// Milliseconds of a step of `motion::brownian`, and the fraction of the pairs that were skipped.
fn brownian(
    scene: &Scene,
    event_search: EventSearch,
    least: f64,
) -> Result<(f64, f64), Box<dyn Error>> {
    let spheres = scene.spheres()?;
    let particle = BrownianParticle {
        radius: RADIUS_NM,
        diffusion: 1.0,
        rotational_diffusion: 0.0,
    };
    let places: Vec<DVec3> = (0..spheres.len())
        .map(|index| spheres.center(index).as_dvec3())
        .collect();
    let dt = STEP_NM * STEP_NM / (2.0 * particle.diffusion);
    let config = BrownianConfig {
        event_search,
        walls: Wall::box_faces(DVec3::ZERO, DVec3::splat(scene.edge())).to_vec(),
        ..BrownianConfig::default()
    };
    let all = vec![particle; places.len()];
    let mut particles = BrownianParticles::new(&all, &places, config)?;
    let mut sums = [0; 2];
    let mut step = || {
        let report = particles.step(dt, &mut |_| CollisionOutcome::Bounce)?;
        sums[0] += report.skipped;
        sums[1] += report.checks;
        Ok(())
    };
    // The first step allocates.
    step()?;
    let (seconds, steps) = time(least, &mut step)?;
    let skipped = sums[0] as f64 / (sums[0] + sums[1]).max(1) as f64;
    Ok((1.0e3 * seconds / steps as f64, skipped))
}
