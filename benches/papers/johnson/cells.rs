//! Claims about cells: their width, their neighbors, and large or fast particles.

use std::error::Error;

use bevy_rapier_molecules::search::swept::{SweptAlgorithm, SweptSpheres};
use glam::Vec3;

use super::scene::{MAX_STEP, RADIUS_NM, STEP_NM, Scene, Walker, race, ratio};
use crate::common::{Cell, Column, Done, Run, cells};

/// Number of particles.
const COUNT: u32 = 1000;

/// Filled fractions.
const FILLED: [f64; 3] = [1.0e-5, 1.0e-3, 0.1];

/// Widths of cells, in units of the narrowest that Result 1 allows.
const WIDTHS: [f32; 7] = [1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 8.0];

/// Number of large or fast particles.
const FEW: u32 = 4;

/// Their radius or displacement, in units of that of the others.
const TIMES: f64 = 20.0;

pub fn run(run: &mut Run) -> Done {
    neighbors(run)?;
    widths(run)?;
    outliers(run)
}

/// Sections 4.2 and 4.4, figure 5: cells that are visited around a particle.
fn neighbors(run: &mut Run) -> Done {
    let count = run.pick(COUNT, 50);
    let title = format!(
        "**Figure 5**: visited cells and pairs checked per search and particle, {count} particles. \
         A particle is compared from each cell that it overlaps."
    );
    let algorithms = [SweptAlgorithm::Cells, SweptAlgorithm::B, SweptAlgorithm::C];
    let mut columns = vec![Column::text("filled fraction")];
    for what in ["cells visited", "pairs checked"] {
        let names = algorithms.map(|one| format!("{what}, {}", one.name()));
        columns.extend(names.map(|name| Column::number(name).decimals(2)));
    }
    let mut rows = Vec::new();
    for filled in FILLED {
        let scene = Scene::new(count, filled);
        let mut walkers = algorithms.map(|algorithm| scene.walker(algorithm));
        let mut row = vec![Cell::from(format!("{filled}"))];
        let mut checks = Vec::new();
        for walker in &mut walkers {
            let walker = walker.as_mut().map_err(|error| error.to_string())?;
            for _ in 0..run.pick(10, 1) {
                walker.step(&mut |_| ())?;
            }
            row.push(Cell::from(walker.per_search(walker.work.cells)));
            checks.push(Cell::from(walker.per_search(walker.work.checks)));
        }
        row.extend(checks);
        rows.push(row);
    }
    let mut table = run.table(&title, columns);
    rows.into_iter().for_each(|row| table.row(row));
    Ok(())
}

/// Section 3.2: wider cells than necessary.
fn widths(run: &mut Run) -> Done {
    let count = run.pick(COUNT, 50);
    let title = format!("**Cell width**: ms per step, {count} particles.");
    let mut columns = vec![Column::number("width ÷ narrowest").decimals(2)];
    let algorithms = [SweptAlgorithm::B, SweptAlgorithm::C];
    for filled in FILLED {
        let names = algorithms.map(|one| format!("{}, filled {filled}", one.name()));
        columns.extend(names.map(|name| Column::measured(name, "ms")));
    }
    let factors = run.pick(&WIDTHS[..], &WIDTHS[..2]);
    let mut times = vec![Vec::new(); factors.len()];
    for filled in FILLED {
        let scene = Scene::new(count, filled);
        let mut walkers = Vec::new();
        for factor in factors {
            for algorithm in algorithms {
                walkers.push(scene.walker_in_cells(algorithm, factor * scene.cell_width())?);
            }
        }
        race(run, &mut walkers)?;
        for (times, pair) in times.iter_mut().zip(walkers.chunks(algorithms.len())) {
            times.extend(pair.iter().map(|walker| Cell::from(walker.ms())));
        }
    }
    let mut table = run.table(&title, columns);
    for (factor, times) in factors.iter().zip(times) {
        let mut row = vec![Cell::from(f64::from(*factor))];
        row.extend(times);
        table.row(row);
    }
    Ok(())
}

/// Section 5: a few large or fast particles are treated apart, or cells are wide enough for all.
fn outliers(run: &mut Run) -> Done {
    let count = run.pick(2 * COUNT, 50);
    let title = format!(
        "**Large and fast particles**: ms per step of {count} particles. The radius of {FEW} \
         large ones and the steps of {FEW} fast ones are {TIMES} times those of the others. They \
         are apart (compared with all), or cells are wide enough for all."
    );
    let algorithms = [SweptAlgorithm::B, SweptAlgorithm::C];
    let mut columns = vec![Column::text("filled fraction"), Column::text("particles")];
    for algorithm in algorithms {
        let name = algorithm.name();
        columns.push(Column::measured(format!("{name}, apart"), "ms"));
        columns.push(Column::measured(format!("{name}, wide cells"), "ms"));
        columns.push(Column::number(format!("{name}, wide ÷ apart")).decimals(1));
    }
    let mut rows = Vec::new();
    for filled in [1.0e-5, 1.0e-3, 0.01] {
        for what in ["all equal", "4 large", "4 fast"] {
            let mut row = vec![Cell::from(format!("{filled}")), Cell::from(what)];
            let mut walkers = Vec::new();
            for algorithm in algorithms {
                walkers.extend(mixed(&Scene::new(count, filled), what, algorithm)?);
            }
            race(run, &mut walkers)?;
            for pair in walkers.chunks(2) {
                let [apart, wide] = [0, 1].map(|k| pair[k].ms());
                row.extend::<[Cell; 3]>(cells![apart, wide, ratio(wide, apart)]);
            }
            rows.push(row);
        }
    }
    let mut table = run.table(&title, columns);
    rows.into_iter().for_each(|row| table.row(row));
    Ok(())
}

/// Particles of which the first few are large or fast: with these apart, and in wide cells.
fn mixed(
    scene: &Scene,
    what: &str,
    algorithm: SweptAlgorithm,
) -> Result<[Walker; 2], Box<dyn Error>> {
    let mut spheres = scene.spheres()?;
    let bound = MAX_STEP * STEP_NM;
    let (mut reach, mut factors) = (RADIUS_NM + bound, Vec::new());
    if what == "4 large" {
        reach = TIMES * RADIUS_NM + bound;
        // Outside of the box, so that they do not overlap the others at the start.
        let radius = TIMES * RADIUS_NM;
        for k in 0..FEW {
            let place = [-radius, 3.0 * f64::from(k) * radius, radius];
            let center = Vec3::from_array(place.map(|x| x as f32));
            spheres.push(center, radius as f32, scene.count + k)?;
        }
    }
    if what == "4 fast" {
        reach = RADIUS_NM + TIMES * bound;
        factors = vec![TIMES; FEW as usize];
    }
    let wide = SweptSpheres::with_cell_width(&spheres, algorithm, (2.005 * reach) as f32)?;
    let apart = SweptSpheres::with_cell_width(&spheres, algorithm, scene.cell_width())?;
    Ok([apart, wide].map(|swept| {
        let mut walker = Walker::new(swept, scene);
        walker.factors.clone_from(&factors);
        walker
    }))
}
