//! One full step of a physics world, as a Bevy app runs it: this crate in both contact
//! models against the same lipids as Rapier `Compound`s of balls.
//!
//! The worlds take turns, each time from the same start; of each step the best turn counts,
//! and of these steps the median. Arguments are numbers of lipids; default: 746, which are
//! 99,964 atoms. `overhead` measures what the plugin adds to Rapier's own step for 29,850
//! lipids without colliders.
#![allow(clippy::print_stdout, reason = "the table is the purpose")]

use std::ops::ControlFlow;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier_molecules::plugin::{MoleculeTimes, MoleculeWorld};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Length of a step, s.
const STEP: f32 = 1.0 / 60.0;

/// Fastest lipid at the start along each axis, nm/s.
const SPEED: f32 = 0.5;

/// Steps before the clock runs: bodies and contacts come into being.
const WARM_UP: usize = 3;

/// Steps that are timed in each turn.
const STEPS: usize = 5;

/// Area of a leaflet at its heads for each lipid, nm²: as dense as rigid lipids can be
/// packed without overlaps.
const AREA_PER_LIPID_NM2: f32 = 1.23;

/// Radius of atoms that touch when they are closer than 0.34 nm, as in the benches of the
/// search, nm.
const RADIUS_NM: f32 = 0.17;

/// Lipids of the worlds that are compared.
const LIPIDS: u32 = 746;

/// Lipids of the world whose overhead is measured.
const MANY_LIPIDS: u32 = 29_850;

/// What a world is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Crowd,
    CrowdOnly,
    Solver,
    Compound,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Crowd => "crowd",
            Self::CrowdOnly => "crowd, no colliders",
            Self::Solver => "solver",
            Self::Compound => "Rapier compounds",
        }
    }
}

/// Lipids at rest in a vesicle.
struct Scene {
    lipid: Arc<MoleculeTemplate>,
    poses: Vec<Pose>,
}

impl Scene {
    /// A vesicle of `lipids` POPC, relaxed until nothing overlaps if that is wanted, with
    /// radii by element or one `radius` (nm) for all atoms.
    fn vesicle(lipids: u32, relaxed: bool, radius: Option<f32>) -> Self {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/popc.pdb");
        let lipid = load(path, &LoadOptions::default()).expect("the bundled lipid can be read");
        let lipid = match radius {
            Some(radius) => lipid
                .with_uniform_radius(radius)
                .expect("the radius is positive"),
            None => lipid,
        };
        let lipid = Arc::new(lipid);
        let config = VesicleConfig {
            size: VesicleSize::Density {
                lipids,
                area_per_lipid: AREA_PER_LIPID_NM2,
            },
            ..VesicleConfig::default()
        };
        let vesicle = vesicle(lipid.clone(), &config).expect("the vesicle is possible");
        let mut relaxer = Relaxer::new(vesicle.crowd, RelaxConfig::default())
            .expect("the vesicle can be searched");
        if relaxed {
            relaxer
                .run(|_| ControlFlow::Continue(()))
                .expect("the vesicle can be searched");
        }
        let crowd = relaxer.into_crowd();
        let poses = crowd.members().iter().map(|member| member.pose).collect();
        Self { lipid, poses }
    }

    /// An app with these lipids, after its first steps.
    fn app(&self, kind: Kind) -> App {
        let mut app = App::new();
        app.add_plugins((
            MinimalPlugins,
            TransformPlugin,
            AssetPlugin::default(),
            RapierPhysicsPlugin::<NoUserData>::default().with_custom_initialization(
                RapierContextInitialization::InitializeDefaultRapierContext {
                    integration_parameters: default(),
                    rapier_configuration: RapierConfiguration {
                        gravity: Vec3::ZERO,
                        ..RapierConfiguration::new(1.0)
                    },
                },
            ),
        ))
        .insert_resource(TimestepMode::Fixed {
            dt: STEP,
            substeps: 1,
        })
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(
            STEP,
        )));
        if kind != Kind::Compound {
            let model = match kind {
                Kind::Solver => ContactModel::Solver,
                _ => ContactModel::Crowd,
            };
            app.add_plugins(MoleculePlugins::default().with_contacts(model));
        }
        app.finish();
        app.cleanup();
        self.populate(&mut app, kind);
        for _ in 0..WARM_UP {
            app.update();
        }
        app
    }

    fn populate(&self, app: &mut App, kind: Kind) {
        let template = app
            .world_mut()
            .get_resource_mut::<Assets<MoleculeTemplate>>()
            .map(|mut assets| assets.add((*self.lipid).clone()));
        let balls = self.lipid.positions().iter().zip(self.lipid.radii());
        let balls =
            balls.map(|(centre, radius)| (*centre, Quat::IDENTITY, Collider::ball(*radius)));
        let compound = Collider::compound(balls.collect());
        let mass = MassProperties {
            local_center_of_mass: Vec3::ZERO,
            mass: self.lipid.mass(),
            principal_inertia_local_frame: self.lipid.principal_axes(),
            principal_inertia: self.lipid.principal_inertia(),
        };
        let mut random = Pcg64Mcg::seed_from_u64(1);
        for pose in &self.poses {
            let transform = Transform::from_translation(pose.position).with_rotation(pose.rotation);
            let velocity = std::array::from_fn(|_| random.random_range(-SPEED..SPEED));
            let velocity = Velocity::linear(Vec3::from_array(velocity));
            let mut entity = app.world_mut().spawn((transform, velocity));
            match &template {
                Some(template) => {
                    entity.insert(Molecule(template.clone()));
                    if kind == Kind::CrowdOnly {
                        entity.insert(CrowdOnly);
                    }
                }
                None => {
                    entity.insert((
                        RigidBody::Dynamic,
                        compound.clone(),
                        ColliderMassProperties::Density(0.0),
                        AdditionalMassProperties::MassProperties(mass),
                    ));
                }
            }
        }
    }
}

fn main() {
    let in_earnest = std::env::args().any(|arg| arg == "--bench");
    let mut sizes: Vec<u32> = std::env::args()
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let overhead_only = std::env::args().any(|arg| arg == "overhead");
    println!(
        "ms a step of 1/60 s in a headless Bevy app, {} threads.\n",
        rayon::current_num_threads()
    );
    if sizes.is_empty() && !overhead_only {
        // `cargo test --benches` only wants to see it run.
        sizes.push(if in_earnest { LIPIDS } else { 20 });
    }
    for lipids in sizes {
        let turns = if in_earnest { 4 } else { 1 };
        let overlapping = Scene::vesicle(lipids, false, Some(RADIUS_NM));
        compare(
            &overlapping,
            "atoms of 0.17 nm at random places, overlapping",
            turns,
        );
        let overlapping = Scene::vesicle(lipids, false, None);
        compare(
            &overlapping,
            "radii by element, at random places, overlapping",
            turns,
        );
        let relaxed = Scene::vesicle(lipids, true, None);
        compare(
            &relaxed,
            "radii by element, relaxed until nothing overlaps",
            turns,
        );
    }
    if in_earnest {
        overhead();
    }
}

fn compare(scene: &Scene, state: &str, turns: usize) {
    let kinds = [Kind::Crowd, Kind::CrowdOnly, Kind::Solver, Kind::Compound];
    let mut times = [[Duration::MAX; STEPS]; 4];
    for _ in 0..turns {
        for (kind, times) in kinds.iter().zip(&mut times) {
            // Overlaps are parted step by step: each world is timed in the same steps.
            let mut app = scene.app(*kind);
            for best in times {
                let begin = Instant::now();
                app.update();
                *best = begin.elapsed().min(*best);
            }
        }
    }
    let medians = times.map(|times| median(times.to_vec()));
    let slowest = medians[3];
    let atoms = scene.poses.len() * scene.lipid.atom_count();
    println!("{} lipids, {atoms} atoms, {state}:\n", scene.poses.len());
    println!("| world | ms a step | times faster than compounds |\n|---|--:|--:|");
    for (kind, time) in kinds.iter().zip(medians) {
        println!(
            "| {} | {:.2} | {:.1} |",
            kind.name(),
            ms(time),
            slowest.as_secs_f64() / time.as_secs_f64()
        );
    }
    println!();
}

/// What the plugin adds to Rapier's own step.
fn overhead() {
    let scene = Scene::vesicle(MANY_LIPIDS, true, None);
    let mut app = scene.app(Kind::CrowdOnly);
    let mut times = Vec::new();
    for _ in 0..15 {
        app.update();
        let world = app.world_mut();
        let mut worlds = world.query::<&MoleculeWorld>();
        times.extend(worlds.iter(world).map(MoleculeWorld::times));
    }
    let of = |stage: fn(&MoleculeTimes) -> Duration| ms(median(times.iter().map(stage).collect()));
    println!(
        "{MANY_LIPIDS} lipids without colliders, {} atoms:\n",
        scene.poses.len() * scene.lipid.atom_count()
    );
    println!("| stage | ms |\n|---|--:|");
    println!("| gather | {:.2} |", of(|times| times.gather));
    println!("| detect | {:.2} |", of(|times| times.detect));
    println!("| respond | {:.2} |", of(|times| times.respond));
    println!("| apply | {:.2} |", of(|times| times.apply));
    println!("| Rapier's step | {:.2} |", of(|times| times.step));
}

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}
