//! Figure 6 of Johnson and Whalley: brute force and cell lists A, B and C under Brownian motion.

use std::time::{Duration, Instant};

use bevy_rapier_molecules::search::swept::{
    CellList, CellListVersion, SweptBruteForce, SweptSearch,
};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::Vec3;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::Arguments;
use crate::common::AnyError;
use crate::plots::{Line, Plot};
use crate::runners::median;
use crate::table::{self, Tables};

/// Radius of a particle, nm.
const RADIUS_NM: f32 = 0.5;

/// Standard deviation of a Brownian step along each axis, nm.
const STEP_NM: f32 = 0.1;

/// Volume fraction of the particles in the paper.
const SPARSE: f32 = 1.0e-5;

/// Volume fractions of the comparison of slices and cubes.
const VOLUME_FRACTIONS: [f32; 7] = [1.0e-6, 1.0e-5, 1.0e-4, 1.0e-3, 1.0e-2, 0.1, 0.3];

/// Number of timed steps, after one warm-up step.
const STEPS: usize = 25;

pub fn run(arguments: &Arguments, tables: &mut Tables) -> Result<(), AnyError> {
    let counts: &[u32] = if arguments.quick {
        &[50, 100]
    } else {
        &[50, 100, 200, 500, 1000, 2000]
    };
    let mut lines: Vec<Line> = Vec::new();
    let mut rows = Vec::new();
    let all = counts.len() + VOLUME_FRACTIONS.len();
    for (step, &count) in counts.iter().enumerate() {
        tables.progress(step, all, || format!("Brownian motion: {count} particles"));
        let times = measure(count, SPARSE)?;
        if lines.is_empty() {
            lines.extend(times.iter().map(|(name, _)| Line::new(name)));
        }
        for (line, (_, time)) in lines.iter_mut().zip(&times) {
            line.points.push((f64::from(count), *time));
        }
        let mut row = vec![count.to_string()];
        row.extend(
            times
                .iter()
                .map(|(_, time)| table::format_number(Some(*time))),
        );
        rows.push(row);
    }
    let header = table::strings(&["particles", "naive", "A", "B", "C"]);
    let title = format!("**Brownian motion**, volume fraction {SPARSE}; ms per step, one thread.");
    tables.add(&title, header, rows)?;
    let plot = Plot {
        title: "Brownian motion: naive, A, B, C",
        names: ["particles", "ms per step"],
        logarithmic: true,
        lines: &lines,
    };
    let plotted = plot.write(&arguments.out.join("brownian"));
    plotted.map_err(|error| error.to_string())?;

    let done = counts.len();
    let counts: &[u32] = if arguments.quick {
        &[100]
    } else {
        &[100, 500, 2000]
    };
    let mut header = table::strings(&["volume fraction"]);
    header.extend(
        counts
            .iter()
            .map(|count| format!("C ÷ B, {count} particles")),
    );
    let mut rows = Vec::new();
    for (step, ratio) in VOLUME_FRACTIONS.into_iter().enumerate() {
        tables.progress(done + step, all, || {
            format!("slices against cubes: volume fraction {ratio}")
        });
        let mut row = vec![format!("{ratio}")];
        for &count in counts {
            let times = measure(count, ratio)?;
            let [.., (_, b), (_, c)] = times[..] else {
                return Err("the measurements of B and C are missing".into());
            };
            row.push(format!("{:.2}", c / b));
        }
        rows.push(row);
    }
    tables.add(
        "**Slices against cubes** at increasing density.",
        header,
        rows,
    )
}

/// Median time of a step of each algorithm, ms.
fn measure(count: u32, ratio: f32) -> Result<Vec<(&'static str, f64)>, AnyError> {
    let sets = random_walk(count, ratio)?;
    let mut searches: Vec<Box<dyn SweptSearch>> = vec![Box::new(SweptBruteForce::sequential())];
    for version in [CellListVersion::A, CellListVersion::B, CellListVersion::C] {
        searches.push(Box::new(CellList::new(version)));
    }
    let mut times: Vec<Vec<Duration>> = vec![Vec::new(); searches.len()];
    let mut collisions = Vec::new();
    for (step, ends) in sets.windows(2).enumerate() {
        let mut found = Vec::new();
        for (search, times) in searches.iter_mut().zip(&mut times) {
            let start = Instant::now();
            search.find_collisions(&ends[0], &ends[1], &mut collisions)?;
            if step > 0 {
                times.push(start.elapsed());
            }
            found.push(collisions.len());
        }
        if found.iter().any(|count| *count != found[0]) {
            return Err(
                format!("the searches find different numbers of collisions: {found:?}").into(),
            );
        }
    }
    let medians = searches.iter().zip(&mut times);
    Ok(medians
        .filter_map(|(search, times)| Some((search.name(), median(times)?)))
        .collect())
}

/// Particles at random positions and their Brownian steps.
fn random_walk(count: u32, ratio: f32) -> Result<Vec<SphereSet>, AnyError> {
    let mut random = Pcg64Mcg::seed_from_u64(u64::from(count));
    let volume = 4.0 / 3.0 * std::f32::consts::PI * RADIUS_NM.powi(3);
    let edge = (count as f32 * volume / ratio).cbrt();
    let mut sets = vec![SphereSet::new()];
    for owner in 0..count {
        let position: [f32; 3] = std::array::from_fn(|_| edge * random.random::<f32>());
        sets[0].push(position.into(), RADIUS_NM, owner)?;
    }
    for step in 0..=STEPS {
        let mut next = SphereSet::new();
        for index in 0..count as usize {
            let displacement =
                STEP_NM * Vec3::from_array(std::array::from_fn(|_| normal(&mut random)));
            next.push(
                sets[step].center(index) + displacement,
                RADIUS_NM,
                index as u32,
            )?;
        }
        sets.push(next);
    }
    Ok(sets)
}

/// An approximately normal number: the sum of twelve uniform ones has a variance of one.
fn normal(random: &mut Pcg64Mcg) -> f32 {
    (0..12).map(|_| random.random::<f32>()).sum::<f32>() - 6.0
}
