//! Cost of a Brownian step: spheres with fine-grained steps, and proteins with atom-level
//! contacts.

use std::error::Error;
use std::sync::Arc;

use bevy_rapier_molecules::docking::{DockingMolecule, is_free};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::motion::CollisionOutcome;
use bevy_rapier_molecules::motion::brownian::{
    BrownianConfig, BrownianMolecule, BrownianMolecules, BrownianParticle, BrownianParticles,
    EventSearch, Medium, MoleculeStepReport, ParticleCollision, hydrodynamic_radius,
    protein_volume,
};
use bevy_rapier_molecules::motion::time_of_impact::Wall;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::search::PairSearch;
use glam::{DVec3, Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::common::interleave::{Samples, ms};
use crate::common::molecules::bundled;
use crate::common::{Cell, Column, Done, NoOptions, Run, cells};

/// Filled fraction of the box.
const FILLED: f64 = 0.25;

/// Radius of the spheres, nm.
const RADIUS_NM: f64 = 2.0;

/// Standard deviations of a step along each axis, nm.
const STEPS_NM: [f64; 3] = [0.05, 0.1, 0.2];

/// Standard deviation of the steps that mix the initial lattice, nm.
const MIXING_NM: f64 = 0.4;

/// Random rotations tried to place a protein without overlaps.
const ROTATIONS: u32 = 200;

/// Timed steps.
const STEPS: u32 = 10;

pub fn run(run: &mut Run, _: &NoOptions) -> Done {
    let count = run.pick(10_000, 216);
    let steps = run.pick(STEPS, 1);
    // Subdivided steps test all pairs for each collision.
    let few = count.min(1000);
    let title = format!(
        "**Brownian spheres**: {count} of {RADIUS_NM} nm fill {FILLED} of a box; {few} in \
         subdivided steps."
    );
    let columns = vec![
        Column::measured("step, nm", "nm").decimals(2),
        Column::measured("simulated ns per step", "ns").decimals(3),
        Column::measured("queued, ms per step", "ms").decimals(2),
        Column::number("collisions per step").decimals(0),
        Column::measured("subdivided, ms per step", "ms").decimals(0),
    ];
    let mut table = run.table(&title, columns);
    for spread in STEPS_NM {
        let (queued, collisions, dt) = spheres(count, spread, steps, EventSearch::Queue)?;
        let (subdivided, ..) = spheres(few, spread, 1, EventSearch::Rescan)?;
        table.row(cells![spread, dt * 1.0e9, queued, collisions, subdivided]);
    }
    molecules(run, count, steps)
}

/// Milliseconds and collisions per step, and the length of a step in s.
fn spheres(
    count: u32,
    spread: f64,
    steps: u32,
    event_search: EventSearch,
) -> Result<(f64, f64, f64), Box<dyn Error>> {
    let particle = BrownianParticle::in_medium(RADIUS_NM, &Medium::default());
    let volume = 4.0 / 3.0 * std::f64::consts::PI * RADIUS_NM.powi(3);
    let distance = (volume / FILLED).cbrt();
    let along = (1..).find(|k: &u32| k.pow(3) >= count).unwrap_or(1);
    let places: Vec<DVec3> = (0..count)
        .map(|k| {
            let cell = [k % along, k / along % along, k / along / along];
            DVec3::from_array(cell.map(|k| (f64::from(k) + 0.5) * distance))
        })
        .collect();
    let side = f64::from(along) * distance;
    let config = BrownianConfig {
        event_search,
        walls: Wall::box_faces(DVec3::ZERO, DVec3::splat(side)).to_vec(),
        ..BrownianConfig::default()
    };
    let mut crowd = BrownianParticles::new(&vec![particle; count as usize], &places, config)?;
    let mut bounce = |_: &ParticleCollision| CollisionOutcome::Bounce;
    // Mix the initial lattice.
    let dt = 0.5 * spread * spread / particle.diffusion;
    let long = 0.5 * MIXING_NM * MIXING_NM / particle.diffusion;
    for _ in 0..2 * steps {
        crowd.step(long, &mut bounce)?;
    }
    let mut collisions = 0;
    let mut samples = Samples::default();
    for _ in 0..steps {
        collisions += samples.time(|| crowd.step(dt, &mut bounce))?.collisions;
    }
    let time = ms(samples.sum()) / f64::from(steps);
    Ok((time, collisions as f64 / f64::from(steps), dt))
}

fn molecules(run: &mut Run, count: u32, steps: u32) -> Done {
    let device = device_search().map_or("no device (no adapter found)".into(), |(_, name)| name);
    let title = format!(
        "**Brownian proteins**: {count} of each fill {FILLED} of a box, by mass. Pairs of \
         bounding spheres are found by the CPU or by {device}; atoms are always tested by the \
         CPU. The fastest of {steps} steps."
    );
    let columns = vec![
        Column::text("protein"),
        Column::number("atoms"),
        Column::measured("step, nm", "nm").decimals(2),
        Column::measured("ms per step", "ms").decimals(1),
        Column::measured("of which pairs", "ms").decimals(1),
        Column::measured("pairs by the device, ms", "ms").decimals(1),
        Column::number("candidates"),
        Column::number("atom tests"),
        Column::number("collisions"),
        Column::number("reverted"),
        Column::number("initially overlapping"),
    ];
    let mut table = run.table(&title, columns);
    for (file, spreads) in [("1ubq.cif", &STEPS_NM[..]), ("dhfr.pdb", &STEPS_NM[1..2])] {
        let template = Arc::new(bundled(file));
        let (placed, overlapping) = place(&template, count);
        for &spread in spreads {
            let scene = Proteins {
                template: &template,
                placed: &placed,
                spread,
            };
            let mut row = vec![
                Cell::from(file),
                Cell::from(placed.len() * template.atom_count()),
                Cell::from(spread),
            ];
            row.extend(scene.measure(steps)?);
            row.push(Cell::from(overlapping));
            table.row(row);
        }
    }
    Ok(())
}

/// Diffusing proteins of one kind.
struct Proteins<'a> {
    template: &'a Arc<MoleculeTemplate>,
    placed: &'a [Pose],
    /// Standard deviation of a step along each axis, nm.
    spread: f64,
}

impl Proteins<'_> {
    /// The molecules, and the length of a step in s.
    fn crowd(&self) -> Result<(BrownianMolecules, f64), Box<dyn Error>> {
        let radius = hydrodynamic_radius(f64::from(self.template.mass()));
        let one = |pose: &Pose| BrownianMolecule::in_medium(0, *pose, radius, &Medium::default());
        let list: Vec<BrownianMolecule> = self.placed.iter().map(one).collect();
        let dt = 0.5 * self.spread * self.spread / list[0].diffusion;
        let templates = std::slice::from_ref(self.template);
        Ok((BrownianMolecules::new(templates, &list, Vec::new(), 1)?, dt))
    }

    /// Time of a step and of its pair search on the CPU, time of a step with the pairs by a
    /// device, and the counts of the last step.
    fn measure(&self, steps: u32) -> Result<[Cell; 7], Box<dyn Error>> {
        let (mut crowd, dt) = self.crowd()?;
        let (time, last) = run_steps(&mut crowd, dt, steps)?;
        let by_device = match device_search() {
            Some((search, _)) => {
                let (mut other, dt) = self.crowd()?;
                other.set_search(search);
                let (time, _) = run_steps(&mut other, dt, steps)?;
                if other.molecules() != crowd.molecules() {
                    return Err("the device gave different positions".into());
                }
                Some(time)
            }
            None => None,
        };
        Ok(cells![
            time,
            ms(last.broad_phase),
            by_device,
            last.candidates,
            last.tested,
            crowd.collisions().len(),
            last.rejected,
        ])
    }
}

/// Milliseconds of the fastest step, and the report of the last one.
fn run_steps(
    crowd: &mut BrownianMolecules,
    dt: f64,
    steps: u32,
) -> Result<(f64, MoleculeStepReport), Box<dyn Error>> {
    let mut last = crowd.step(dt)?;
    let mut samples = Samples::default();
    for _ in 0..steps {
        let mut step = samples.time(|| crowd.step(dt))?;
        step.broad_phase = step.broad_phase.min(last.broad_phase);
        last = step;
    }
    Ok((ms(samples.best()), last))
}

/// A search on any adapter, including software ones, and its name.
#[cfg(feature = "gpu")]
fn device_search() -> Option<(Box<dyn PairSearch>, String)> {
    use bevy_rapier_molecules::gpu::{GpuDevice, GpuOptions, GpuUniformGrid};

    let device = GpuDevice::headless(&GpuOptions::default()).ok()?;
    let name = device.summary().to_string();
    let grid = GpuUniformGrid::new(Arc::new(device)).ok()?;
    Some((Box::new(grid), name))
}

/// Always `None` without the feature `gpu`.
#[cfg(not(feature = "gpu"))]
fn device_search() -> Option<(Box<dyn PairSearch>, String)> {
    None
}

/// Proteins on a lattice, each rotated until it overlaps no other, and the number of proteins
/// for which no rotation was found.
fn place(template: &Arc<MoleculeTemplate>, count: u32) -> (Vec<Pose>, u32) {
    let body = DockingMolecule::new(template.clone());
    let distance = (protein_volume(f64::from(template.mass())) / FILLED).cbrt() as f32;
    let along = (1..).find(|k: &u32| k.pow(3) >= count).unwrap_or(1);
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut poses: Vec<Pose> = Vec::new();
    let mut overlapping = 0;
    let reach = 2.0 * template.bounding_radius();
    // Neighbors that are already placed lie in the last two layers.
    let layers = 2 * (along * along) as usize;
    for k in 0..count {
        let cell = [k % along, k / along % along, k / along / along];
        let place = Vec3::from_array(cell.map(|k| (k as f32 + 0.5) * distance));
        let near: Vec<Pose> = poses[poses.len().saturating_sub(layers)..]
            .iter()
            .filter(|pose| pose.position.distance(place) < reach)
            .copied()
            .collect();
        let mut pose = Pose::from_translation(place);
        let is_free = (0..ROTATIONS).any(|_| {
            let turn = [(); 4].map(|()| 2.0 * random.random::<f32>() - 1.0);
            pose.rotation = Quat::from_array(turn).normalize();
            near.iter().all(|other| is_free(&body, &pose, &body, other))
        });
        overlapping += u32::from(!is_free);
        poses.push(pose);
    }
    (poses, overlapping)
}
