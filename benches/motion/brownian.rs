//! What a Brownian step of a crowd costs: spheres in fine-grained steps, and proteins whose
//! contacts are confirmed by their atoms.

use std::error::Error;
use std::sync::Arc;
use std::time::Instant;

use bevy_rapier_molecules::docking::{DockingMolecule, is_free};
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
use bevy_rapier_molecules::motion::brownian::{
    BrownianConfig, BrownianCrowd, BrownianMolecule, BrownianMolecules, BrownianParticle,
    FineSteps, Medium, Meeting, MoleculesReport, Outcome, hydrodynamic_radius, protein_volume,
};
use bevy_rapier_molecules::motion::swept::Wall;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::search::PairSearch;
use glam::{DVec3, Quat, Vec3};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

use crate::Arguments;

/// Part of space that is filled.
const FILLED: f64 = 0.25;

/// Radius of the spheres, nm.
const RADIUS_NM: f64 = 2.0;

/// Spreads of a step along each axis, nm.
const STEPS_NM: [f64; 3] = [0.05, 0.1, 0.2];

/// Spread of the steps that bring spheres from a lattice into disorder, nm.
const MIXING_NM: f64 = 0.4;

/// Times that a protein is turned to be free of its neighbours.
const TURNS: u32 = 200;

/// Steps that are timed.
const STEPS: u32 = 10;

pub fn run(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let count = if arguments.quick { 216 } else { 10_000 };
    let threads = rayon::current_num_threads();
    println!(
        "\n**Brownian spheres**: {count} of {RADIUS_NM} nm fill {FILLED} of a box; {threads} threads.\n"
    );
    println!(
        "| spread of a step, nm | simulated ns a step | queued, ms a step | collisions a step | subdivided, ms a step |"
    );
    println!("|--:|--:|--:|--:|--:|");
    for spread in STEPS_NM {
        let steps = if arguments.quick { 1 } else { STEPS };
        let (queued, collisions, dt) = spheres(count, spread, steps, FineSteps::Queued)?;
        // Everyone is looked at for each collision.
        let few = count.min(1000);
        let (subdivided, ..) = spheres(few, spread, 1, FineSteps::Subdivided)?;
        println!(
            "| {spread} | {:.3} | {queued:.2} | {collisions:.0} | {subdivided:.0} ({few} spheres) |",
            dt * 1.0e9
        );
    }
    molecules(arguments, count)
}

/// Milliseconds of a step, collisions of a step, and its length in s.
fn spheres(
    count: u32,
    spread: f64,
    steps: u32,
    fine_steps: FineSteps,
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
        fine_steps,
        walls: Wall::room(DVec3::ZERO, DVec3::splat(side)).to_vec(),
        ..BrownianConfig::default()
    };
    let mut crowd = BrownianCrowd::new(&vec![particle; count as usize], &places, config)?;
    let mut bounce = |_: &Meeting| Outcome::Bounce;
    // From the lattice into disorder.
    let dt = 0.5 * spread * spread / particle.diffusion;
    let long = 0.5 * MIXING_NM * MIXING_NM / particle.diffusion;
    for _ in 0..2 * steps {
        crowd.step(long, &mut bounce)?;
    }
    let mut collisions = 0;
    let begin = Instant::now();
    for _ in 0..steps {
        collisions += crowd.step(dt, &mut bounce)?.collisions;
    }
    let time = begin.elapsed().as_secs_f64() * 1.0e3 / f64::from(steps);
    Ok((time, collisions as f64 / f64::from(steps), dt))
}

fn molecules(arguments: &Arguments, count: u32) -> Result<(), Box<dyn Error>> {
    println!(
        "\n**Brownian proteins**: {count} of each fill {FILLED} of a box, by mass; bounding spheres first, atoms confirm. Pairs of bounding spheres by the processor, or by {}; the atoms are the processor's either way. The fastest of {STEPS} steps, {} threads.\n",
        device_search().map_or("nobody else: there is no adapter".into(), |(_, name)| name),
        rayon::current_num_threads()
    );
    println!(
        "| protein | atoms in all | spread of a step, nm | ms a step | of it the pairs | with pairs by the device, ms | candidates | atoms compared | collisions | went back | not free at the start |"
    );
    println!("|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|");
    for (file, spreads) in [("1ubq.cif", &STEPS_NM[..]), ("dhfr.pdb", &STEPS_NM[1..2])] {
        let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
        let template = Arc::new(load(&path, &LoadOptions::default())?);
        let (placed, never_free) = place(&template, count);
        let radius = hydrodynamic_radius(f64::from(template.mass()));
        for &spread in spreads {
            let one =
                |pose: &Pose| BrownianMolecule::in_medium(0, *pose, radius, &Medium::default());
            let list: Vec<BrownianMolecule> = placed.iter().map(one).collect();
            let dt = 0.5 * spread * spread / list[0].diffusion;
            let build =
                || BrownianMolecules::new(std::slice::from_ref(&template), &list, Vec::new(), 1);
            let mut crowd = build()?;
            let steps = if arguments.quick { 1 } else { STEPS };
            let (time, last) = run_steps(&mut crowd, dt, steps)?;
            let searching = 1.0e3 * last.searching.as_secs_f64();
            let by_device = match device_search() {
                Some((search, _)) => {
                    let mut other = build()?;
                    other.set_search(search);
                    let (time, _) = run_steps(&mut other, dt, steps)?;
                    if other.molecules() != crowd.molecules() {
                        return Err("the device has moved molecules elsewhere".into());
                    }
                    format!("{time:.1}")
                }
                None => "–".into(),
            };
            println!(
                "| {file} | {} | {spread} | {time:.1} | {searching:.1} | {by_device} | {} | {} | {} | {} | {never_free} |",
                list.len() * template.atom_count(),
                last.candidates,
                last.confirmed,
                crowd.collisions().len(),
                last.back,
            );
        }
    }
    Ok(())
}

/// Milliseconds of the fastest step, and what happened in the last one.
fn run_steps(
    crowd: &mut BrownianMolecules,
    dt: f64,
    steps: u32,
) -> Result<(f64, MoleculesReport), Box<dyn Error>> {
    let mut last = crowd.step(dt)?;
    let mut fastest = f64::INFINITY;
    for _ in 0..steps {
        let begin = Instant::now();
        let step = crowd.step(dt)?;
        fastest = fastest.min(begin.elapsed().as_secs_f64() * 1.0e3);
        let searching = last.searching.min(step.searching);
        last = step;
        last.searching = searching;
    }
    Ok((fastest, last))
}

/// A search on any adapter, even one in software, and its name.
#[cfg(feature = "gpu")]
fn device_search() -> Option<(Box<dyn PairSearch>, String)> {
    use bevy_rapier_molecules::gpu::{GpuDevice, GpuGrid, GpuOptions};

    let device = GpuDevice::headless(&GpuOptions::default()).ok()?;
    let name = device.summary().to_string();
    let grid = GpuGrid::new(Arc::new(device)).ok()?;
    Some((Box::new(grid), name))
}

/// There is none in a program without the feature.
#[cfg(not(feature = "gpu"))]
fn device_search() -> Option<(Box<dyn PairSearch>, String)> {
    None
}

/// Proteins at the places of a lattice, each turned until it is free, and how many never
/// were.
fn place(template: &Arc<MoleculeTemplate>, count: u32) -> (Vec<Pose>, u32) {
    let body = DockingMolecule::new(template.clone());
    let distance = (protein_volume(f64::from(template.mass())) / FILLED).cbrt() as f32;
    let along = (1..).find(|k: &u32| k.pow(3) >= count).unwrap_or(1);
    let mut random = Pcg64Mcg::seed_from_u64(1);
    let mut poses: Vec<Pose> = Vec::new();
    let mut never_free = 0;
    let reach = 2.0 * template.bounding_radius();
    // Neighbours that are placed already are among the last two layers.
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
        let is_free = (0..TURNS).any(|_| {
            let turn = [(); 4].map(|()| 2.0 * random.random::<f32>() - 1.0);
            pose.rotation = Quat::from_array(turn).normalize();
            near.iter().all(|other| is_free(&body, &pose, &body, other))
        });
        never_free += u32::from(!is_free);
        poses.push(pose);
    }
    (poses, never_free)
}
