//! Particles that diffuse in a box, and how they are timed.

use std::collections::HashMap;
use std::error::Error;
use std::rc::Rc;

use bevy_rapier_molecules::search::Pair;
use bevy_rapier_molecules::search::swept::{Impact, SweptAlgorithm, SweptSpheres, SweptWork};
use bevy_rapier_molecules::spheres::SphereSet;
use glam::{DVec3, IVec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::{Column, Done, Run, cells, cpu_time};

/// Radius of a particle, nm.
pub const RADIUS_NM: f64 = 0.5;

/// Standard deviation of a Brownian step along each axis, nm.
pub const STEP_NM: f64 = 0.1;

/// Longest step, in standard deviations: the bound on the speed that the paper asks for.
pub const MAX_STEP: f64 = 5.0;

/// Margin of the cell width, for rounding.
const WIDTH_MARGIN: f64 = 1.002;

/// Binary logarithm of the number of random displacements.
const TABLE_BITS: u32 = 14;

/// Steps in which all algorithms are compared before they are timed.
const COMPARED: u32 = 2;

/// CPU time of an algorithm in a round, s. The system counts in ticks of 4 ms.
pub const MIN_SECONDS: f64 = 0.06;

/// Rounds in which the algorithms take turns.
const ROUNDS: u32 = 2;

/// Equal particles in a box.
#[derive(Clone, Copy)]
pub struct Scene {
    pub count: u32,
    /// Filled fraction of the box.
    pub filled: f64,
    /// Standard deviation of a step along each axis, nm.
    pub step: f64,
}

impl Scene {
    pub fn new(count: u32, filled: f64) -> Self {
        let step = STEP_NM;
        Self {
            count,
            filled,
            step,
        }
    }

    /// Edge of the box, nm.
    pub fn edge(&self) -> f64 {
        let volume = 4.0 / 3.0 * std::f64::consts::PI * RADIUS_NM.powi(3);
        (f64::from(self.count) * volume / self.filled).cbrt()
    }

    /// Width of the narrowest cells that Result 1 of the paper allows, nm.
    pub fn cell_width(&self) -> f32 {
        (2.0 * WIDTH_MARGIN * (RADIUS_NM + MAX_STEP * self.step)) as f32
    }

    /// Collisions per step to expect in a gas, for a guess of the time.
    pub fn expected_collisions(&self) -> f64 {
        let density = f64::from(self.count) / self.edge().powi(3);
        let cross_section = 4.0 * std::f64::consts::PI * RADIUS_NM.powi(2);
        // The mean relative step is 4 / √π standard deviations.
        let relative = 4.0 / std::f64::consts::PI.sqrt() * self.step;
        0.5 * f64::from(self.count) * density * cross_section * relative
    }

    /// The particles at random places, one after the other where they do not overlap.
    pub fn spheres(&self) -> Result<SphereSet, Box<dyn Error>> {
        let mut random = Pcg64Mcg::seed_from_u64(u64::from(self.count));
        let edge = self.edge();
        let diameter = 2.0 * RADIUS_NM * (1.0 + f64::from(f32::EPSILON) * edge);
        let cell = |place: DVec3| (place / diameter).floor().as_ivec3();
        let mut placed: HashMap<IVec3, Vec<DVec3>> = HashMap::new();
        let mut spheres = SphereSet::new();
        for owner in 0..self.count {
            let place = loop {
                let place = edge * DVec3::from_array(std::array::from_fn(|_| random.random()));
                let around = (0..27).map(|k| IVec3::new(k % 3, k / 3 % 3, k / 9) - IVec3::ONE);
                let mut near = around.filter_map(|step| placed.get(&(cell(place) + step)));
                let is_free = |other: &DVec3| other.distance(place) > diameter;
                if near.all(|others| others.iter().all(is_free)) {
                    break place;
                }
            };
            placed.entry(cell(place)).or_default().push(place);
            spheres.push(place.as_vec3(), RADIUS_NM as f32, owner)?;
        }
        Ok(spheres)
    }

    /// Random displacements, nm. Each has its opposite, so that their mean is zero, and they are
    /// scaled to the variance of the step.
    fn displacements(&self) -> Rc<[DVec3]> {
        let mut random = Pcg64Mcg::seed_from_u64(u64::from(self.count));
        let mut bounded = || loop {
            let axes: [f64; 3] = std::array::from_fn(|_| normal(&mut random));
            let displacement = DVec3::from_array(axes);
            if displacement.length() <= MAX_STEP {
                return displacement;
            }
        };
        let half: Vec<DVec3> = (0..1 << (TABLE_BITS - 1)).map(|_| bounded()).collect();
        let squares: f64 = half.iter().map(|one| one.length_squared()).sum();
        let scale = self.step * (3.0 * half.len() as f64 / squares).sqrt();
        let both = half.iter().flat_map(|one| [scale * *one, -scale * *one]);
        both.collect()
    }

    /// The particles with an algorithm in the narrowest cells.
    pub fn walker(&self, algorithm: SweptAlgorithm) -> Result<Walker, Box<dyn Error>> {
        self.walker_in_cells(algorithm, self.cell_width())
    }

    /// The particles with an algorithm in cells of this width, nm.
    pub fn walker_in_cells(
        &self,
        algorithm: SweptAlgorithm,
        width: f32,
    ) -> Result<Walker, Box<dyn Error>> {
        let swept = SweptSpheres::with_cell_width(&self.spheres()?, algorithm, width)?;
        Ok(Walker::new(swept, self))
    }
}

/// A normal number by the method of Box and Muller.
fn normal(random: &mut Pcg64Mcg) -> f64 {
    let [one, other] = [(); 2].map(|()| 1.0 - random.random::<f64>());
    (-2.0 * one.ln()).sqrt() * (std::f64::consts::TAU * other).cos()
}

/// A number with well mixed bits: the output function of `SplitMix64`.
fn mixed(number: u64) -> u64 {
    let number = number.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let number = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    number ^ (number >> 31)
}

/// Diffusing particles with an algorithm.
pub struct Walker {
    pub swept: SweptSpheres,
    table: Rc<[DVec3]>,
    /// Edge of the box, nm; infinite without walls.
    pub edge: f64,
    /// Number of steps so far.
    step: u64,
    /// Displacements of the next step, nm.
    pub displacements: Vec<DVec3>,
    /// Factors on the displacements of the first particles.
    pub factors: Vec<f64>,
    /// Work of all steps so far.
    pub work: SweptWork,
    /// Seconds of all timed steps, and their number.
    timed: (f64, u64),
}

impl Walker {
    pub fn new(swept: SweptSpheres, scene: &Scene) -> Self {
        Self {
            swept,
            table: scene.displacements(),
            edge: scene.edge(),
            step: 0,
            displacements: Vec::new(),
            factors: Vec::new(),
            work: SweptWork::default(),
            timed: (0.0, 0),
        }
    }

    /// Draws the displacements of the next step. Particles do not leave the box.
    pub fn draw(&mut self) {
        let centers = self.swept.centers();
        let first = self.step * centers.len() as u64;
        let draw = |(center, number): (&DVec3, u64)| {
            let place = mixed(number) >> (64 - TABLE_BITS);
            let factor = self.factors.get((number - first) as usize);
            let by = factor.unwrap_or(&1.0) * self.table[place as usize];
            let end = *center + by;
            let stays = end.cmpge(DVec3::ZERO) & end.cmple(DVec3::splat(self.edge));
            if self.edge.is_finite() {
                DVec3::select(stays, by, -by)
            } else {
                by
            }
        };
        self.displacements.clear();
        self.displacements
            .extend(centers.iter().zip(first..).map(draw));
        self.step += 1;
    }

    /// A subdivided step with elastic collisions.
    pub fn step(&mut self, respond: &mut dyn FnMut(&Impact)) -> Done {
        self.draw();
        let work = self
            .swept
            .subdivided_step(&self.displacements, &mut |impact| {
                respond(impact);
                impact.bounce()
            })?;
        self.work.subdivisions += work.subdivisions;
        self.work.cells += work.cells;
        self.work.checks += work.checks;
        self.work.updates += work.updates;
        self.work.outliers += work.outliers;
        Ok(())
    }

    /// Milliseconds per timed step.
    pub fn ms(&self) -> f64 {
        1.0e3 * self.timed.0 / self.timed.1.max(1) as f64
    }

    /// Collisions per step.
    pub fn collisions(&self) -> f64 {
        self.work.subdivisions as f64 / self.step.max(1) as f64 - 1.0
    }

    /// A count of the work per search and particle.
    pub fn per_search(&self, count: u64) -> f64 {
        count as f64 / self.work.subdivisions.max(1) as f64 / self.swept.centers().len() as f64
    }
}

/// The ratio of two times, unless one was too short to measure.
pub fn ratio(one: f64, other: f64) -> Option<f64> {
    (one > 0.0 && other > 0.0).then(|| one / other)
}

/// CPU seconds and number of steps that take at least this long, s, together.
pub fn time(least: f64, step: &mut dyn FnMut() -> Done) -> Result<(f64, u64), Box<dyn Error>> {
    let begin = cpu_time::thread_seconds();
    let (mut steps, mut took) = (0, 0.0);
    while steps == 0 || took < least {
        // Twice as many each time: reading the clock takes longer than a short step.
        for _ in 0..steps.max(1) {
            step()?;
        }
        steps += steps.max(1);
        took = cpu_time::thread_seconds() - begin;
    }
    Ok((took, steps))
}

/// Times the walkers in turns, after some steps in which all have to find the same collisions.
pub fn race(run: &Run, walkers: &mut [Walker]) -> Done {
    for step in 0..run.pick(COMPARED, 1) {
        let mut expected: Option<Vec<(Pair, f64)>> = None;
        for walker in walkers.iter_mut() {
            let mut found = Vec::new();
            walker.step(&mut |impact| {
                found.push((impact.collision.pair, impact.collision.time));
            })?;
            let expected = expected.get_or_insert_with(|| found.clone());
            if *expected != found {
                return Err(format!("the algorithms differ in step {step}").into());
            }
        }
        if let Some((first, others)) = walkers.split_first()
            && others
                .iter()
                .any(|other| other.swept.centers() != first.swept.centers())
        {
            return Err(format!("positions differ after step {step}").into());
        }
    }
    let least = run.pick(MIN_SECONDS, 0.0);
    for _ in 0..run.pick(ROUNDS, 1) {
        for walker in walkers.iter_mut() {
            let (seconds, steps) = time(least, &mut || walker.step(&mut |_| ()))?;
            walker.timed.0 += seconds;
            walker.timed.1 += steps;
        }
    }
    Ok(())
}

/// The mean squared displacement of the particles: the check of Brownian motion by Berg.
pub fn diffusion(run: &mut Run) -> Done {
    let title = "**Brownian motion**: mean squared displacement without walls, divided by that of \
                 free particles (6 D t).";
    let [alone, crowd] = run.pick(
        [Scene::new(5000, 1.0e-9), Scene::new(500, 0.01)],
        [Scene::new(50, 1.0e-9), Scene::new(50, 0.01)],
    );
    let names = [
        format!("{} particles, alone", alone.count),
        format!(
            "{} particles, filled fraction {}",
            crowd.count, crowd.filled
        ),
    ];
    let mut columns = vec![Column::number("steps")];
    columns.extend(names.map(|name| Column::number(name).decimals(3)));
    let numbers: [u32; 3] = run.pick([10, 100, 1000], [2, 4, 8]);
    let [alone, crowd] = [
        displacement(&alone, &numbers)?,
        displacement(&crowd, &numbers)?,
    ];
    let mut table = run.table(title, columns);
    for ((steps, alone), crowd) in numbers.into_iter().zip(alone).zip(crowd) {
        table.row(cells![steps, alone, crowd]);
    }
    Ok(())
}

/// The mean squared displacement after some numbers of steps, divided by that of free particles.
fn displacement(scene: &Scene, numbers: &[u32]) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut walker = scene.walker(SweptAlgorithm::C)?;
    walker.edge = f64::INFINITY;
    let start = walker.swept.centers().to_vec();
    let mut ratios = Vec::new();
    for step in 1..=numbers.iter().copied().max().unwrap_or(0) {
        walker.step(&mut |_| ())?;
        if numbers.contains(&step) {
            let pairs = walker.swept.centers().iter().zip(&start);
            let sum: f64 = pairs.map(|(one, other)| one.distance_squared(*other)).sum();
            let expected = 3.0 * STEP_NM * STEP_NM * f64::from(step);
            ratios.push(sum / f64::from(scene.count) / expected);
        }
    }
    Ok(ratios)
}
