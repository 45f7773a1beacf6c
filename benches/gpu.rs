//! Pair searches on the available adapter, FFRNN against brute force, and the work of a substep of a
//! crowd: waits, submissions, bytes.
//!
//! Scenes are POPC vesicles at the density of the other benches, and a box of proteins. Whole
//! iterations with forces are in `cargo bench --bench papers -- thesis`.

mod common;
#[allow(dead_code, reason = "the CPU searches are not used here")]
mod peers;

use std::collections::HashMap;
use std::f32::consts::PI;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::backend::DeviceError;
use bevy_rapier_molecules::dynamics::{ContactMember, CrowdContacts, MemberIndex, MovingBody};
use bevy_rapier_molecules::force::Body;
use bevy_rapier_molecules::gpu::{
    DeviceWork, GpuBruteForce, GpuContactSolver, GpuDevice, GpuOptions, GpuUniformGrid,
};
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier_molecules::search::{PairSearch, RigidSpheres};
use clap::Args;
use common::interleave::{Samples, ms, ratio};
use common::molecules::{POPC_ATOMS, atoms_from, bundled, popc, vesicle_of};
use common::{Column, Done, Part, Run, cells};
use glam::{Quat, UVec3, Vec3};
use peers::TOLERANCE_NM;
use peers::scene::Scene;

/// Scene sizes, atoms.
const ATOMS: [usize; 7] = [
    50_000, 100_000, 200_000, 400_000, 1_000_000, 2_000_000, 4_000_000,
];

/// Scene size in a quick run, atoms.
const FEW_ATOMS: usize = 2000;

/// Default limit for brute force, atoms: fast enough on a GPU, minutes on a software
/// adapter.
const BRUTE_FORCE_MAX: usize = 200_000;

/// Searches; the best one is reported.
const ROUNDS: usize = 3;

/// Length of a substep, s.
const SUBSTEP_S: f32 = 1.0 / 240.0;

/// Substeps before the measured one.
const WARM_UP: usize = 5;

/// Distance of the proteins of `substep`, nm.
const PROTEIN_SPACING_NM: f32 = 3.4;

#[derive(Args)]
struct Options {
    /// Scene sizes in atoms, separated by commas, at least 134 (one lipid)
    /// [default: 50,000 to 4,000,000].
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = atoms_from(POPC_ATOMS))]
    atoms: Vec<usize>,
    /// Skip brute force above this many atoms: its time grows quadratically.
    #[arg(long, value_name = "N", default_value_t = BRUTE_FORCE_MAX)]
    brute_force_max: usize,
}

fn main() -> ExitCode {
    let about = "Pair searches, and substeps of crowds, on the available adapter";
    let parts = [
        Part::new("search", "FFRNN against brute force", |run, options| {
            on_device(run, options, search)
        }),
        Part::new(
            "substep",
            "waits, submissions, bind groups and bytes of a substep of a crowd",
            |run, options| on_device(run, options, substep),
        ),
    ];
    common::run("gpu", about, &parts)
}

/// Runs a part on the available adapter. A missing adapter, or a scene too large for it, is
/// noted and is not an error.
fn on_device(
    run: &mut Run,
    options: &Options,
    part: fn(&mut Run, &Options, &Arc<GpuDevice>) -> Result<(), DeviceError>,
) -> Done {
    let device = match GpuDevice::headless(&GpuOptions::default()) {
        Ok(device) => Arc::new(device),
        Err(error) => {
            run.note(&format!("Skipped: {error}"));
            return Ok(());
        }
    };
    run.note(&format!("On {}.", device.summary()));
    if let Err(error) = part(run, options, &device) {
        run.note(&format!("Ended: {error}"));
    }
    Ok(())
}

/// A crowd at rest: name, molecules and poses.
type CrowdScene = (&'static str, Vec<Arc<MoleculeTemplate>>, Vec<Pose>);

/// Lipids of a vesicle, which overlap.
fn lipids(count: u32) -> CrowdScene {
    let lipid = Arc::new(popc());
    let vesicle = vesicle_of(&lipid, count);
    let poses = vesicle.crowd.members().iter().map(|member| member.pose);
    let poses: Vec<Pose> = poses.collect();
    ("lipids", vec![lipid; poses.len()], poses)
}

/// Proteins of three kinds on a lattice so narrow that many touch.
fn proteins(count: u32) -> CrowdScene {
    let kinds =
        ["1ubq.cif", "dhfr.pdb", "t4_lysozyme_l99a.pdb"].map(|file| Arc::new(bundled(file)));
    let edge = f64::from(count).cbrt().ceil() as u32;
    let pose = |k: u32| {
        let place = UVec3::new(k % edge, k / edge % edge, k / edge / edge);
        let turn = Quat::from_rotation_y(2.0 * PI * 0.618 * k as f32);
        Pose::new(place.as_vec3() * PROTEIN_SPACING_NM, turn)
    };
    let molecules = (0..count).map(|k| Arc::clone(&kinds[k as usize % kinds.len()]));
    (
        "proteins",
        molecules.collect(),
        (0..count).map(pose).collect(),
    )
}

/// The work of a substep after a few others, in which buffers have grown.
fn substep(run: &mut Run, _: &Options, device: &Arc<GpuDevice>) -> Result<(), DeviceError> {
    let scenes = if run.quick {
        [lipids(150), proteins(30)]
    } else {
        [lipids(1492), proteins(1000)]
    };
    let title = "A substep of a crowd, whose contacts are found and solved on the device; sent and read in \
                 KiB, time in ms.";
    let columns = vec![
        Column::number("molecules"),
        Column::text("of"),
        Column::number("spheres"),
        Column::number("pairs of molecules"),
        Column::number("waits"),
        Column::number("submissions"),
        Column::number("bind groups"),
        Column::measured("sent", "KiB"),
        Column::measured("read", "KiB"),
        Column::measured("read, without touches", "KiB"),
        Column::measured("time", "ms"),
    ];
    let mut table = run.table(title, columns);
    for (name, templates, poses) in scenes {
        let mut reads = [0.0; 2];
        let mut last = (DeviceWork::default(), 0.0, 0, 0);
        for (read, report_touches) in reads.iter_mut().zip([false, true]) {
            let mut contacts = CrowdContacts::default();
            let spheres = |template: &Arc<MoleculeTemplate>| RigidSpheres::atoms(template);
            let mut kinds: HashMap<*const MoleculeTemplate, Arc<RigidSpheres>> = HashMap::new();
            let members = templates
                .iter()
                .zip(0..)
                .map(|(template, id)| ContactMember {
                    id,
                    spheres: Arc::clone(
                        kinds
                            .entry(Arc::as_ptr(template))
                            .or_insert_with(|| Arc::new(spheres(template))),
                    ),
                    ..ContactMember::default()
                });
            contacts
                .set_members(members.collect())
                .expect("few spheres");
            let solver = GpuContactSolver::new(Arc::clone(device))?;
            contacts.set_device_solver(Box::new(solver), report_touches);
            let bodies: Vec<MovingBody> = templates.iter().zip(&poses).map(body).collect();
            let mut step = || {
                let before = device.work();
                let start = Instant::now();
                let body = |member: MemberIndex| bodies.get(member.index()).copied();
                contacts.gather(body).expect("bodies are valid");
                contacts.detect().expect("bodies are valid");
                contacts.respond(SUBSTEP_S);
                (device.work() - before, ms(start.elapsed()))
            };
            for _ in 0..WARM_UP {
                step();
            }
            let (work, time) = step();
            if let Some(error) = contacts.take_device_error() {
                return Err(error);
            }
            *read = work.bytes_read as f64 / 1024.0;
            last = (
                work,
                time,
                contacts.sphere_count(),
                contacts.touches().len(),
            );
        }
        let (work, time, spheres, pairs) = last;
        table.row(cells![
            templates.len(),
            name,
            spheres,
            pairs,
            work.waits,
            work.submissions,
            work.bind_groups,
            work.bytes_written as f64 / 1024.0,
            reads[1],
            reads[0],
            time,
        ]);
    }
    Ok(())
}

/// A body at rest.
fn body((template, pose): (&Arc<MoleculeTemplate>, &Pose)) -> MovingBody {
    let Body {
        center,
        inverse_mass,
        inverse_inertia,
    } = Body::new(template, pose);
    MovingBody {
        pose: *pose,
        center,
        inverse_mass: Vec3::splat(inverse_mass),
        inverse_inertia,
        ..MovingBody::default()
    }
}

/// FFRNN against brute force.
fn search(run: &mut Run, options: &Options, device: &Arc<GpuDevice>) -> Result<(), DeviceError> {
    let sizes = match &options.atoms[..] {
        [] => run.pick(&ATOMS[..], &[FEW_ATOMS]),
        sizes => sizes,
    };
    let brute_force_max = options.brute_force_max;
    let rounds = run.pick(ROUNDS, 1);
    let title = format!(
        "Pairs of atoms of different molecules closer than {TOLERANCE_NM} nm, counted; ms, best \
         of {rounds}, brute force once and up to {brute_force_max} atoms. FFRNN includes sending the \
         atoms; detect is the walk alone."
    );
    let columns = vec![
        Column::number("atoms"),
        Column::number("pairs"),
        Column::measured("FFRNN", "ms"),
        Column::measured("detect", "ms"),
        Column::measured("brute force", "ms"),
        Column::number("brute force ÷ FFRNN"),
    ];
    let mut table = run.table(&title, columns);
    for &atoms in sizes {
        let scene = Scene::vesicle(atoms);
        let mut grid = GpuUniformGrid::new(Arc::clone(device))?;
        grid.time_stages(true)?;
        // The first search allocates the buffers.
        let mut pairs = count(&mut grid, &scene);
        let mut samples = Samples::default();
        let mut detect = None;
        for _ in 0..rounds {
            let before = samples.best();
            pairs = samples.time(|| count(&mut grid, &scene));
            if samples.best() != before {
                detect = walk_time(&grid);
            }
        }
        let brute = if scene.len() <= brute_force_max {
            Some(brute_force(device, &scene, pairs)?)
        } else {
            None
        };
        let best = samples.best();
        table.row(cells![
            scene.len(),
            pairs,
            ms(best),
            detect.map(ms),
            brute.map(ms),
            brute.map(|time| ratio(time, best)),
        ]);
    }
    Ok(())
}

/// Duration of the last neighbor walk, if the adapter supports timestamps.
fn walk_time(grid: &GpuUniformGrid) -> Option<Duration> {
    let mut stages = grid.stage_times().iter();
    let walk = stages.find(|pass| pass.label == "detect")?;
    Some(walk.time)
}

/// Time of one brute-force search, which must find the same pairs.
fn brute_force(
    device: &Arc<GpuDevice>,
    scene: &Scene,
    pairs: u64,
) -> Result<Duration, DeviceError> {
    let mut search = GpuBruteForce::new(Arc::clone(device))?;
    let mut samples = Samples::default();
    let found = samples.time(|| count(&mut search, scene));
    // Pairs exactly at the tolerance may be rounded differently.
    assert!(
        found.abs_diff(pairs) <= 2 + pairs / 100_000,
        "brute force counts {found} pairs instead of {pairs}"
    );
    Ok(samples.best())
}

fn count(search: &mut dyn PairSearch, scene: &Scene) -> u64 {
    match search.count_pairs(&scene.spheres, 0.0) {
        Ok(pairs) => pairs,
        Err(error) => panic!("{} of {} atoms: {error}", search.name(), scene.len()),
    }
}
