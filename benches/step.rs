//! One full step of a physics world, as a Bevy app runs it: this crate in both contact
//! models against the same lipids as Rapier `Compound`s of balls.
//!
//! The worlds take turns, each time from the same start; of each step the best turn counts,
//! and of these steps the median. There are 746 lipids, which are 99,964 atoms; `overhead`
//! measures what the plugin adds to Rapier's own step for 29,850 without colliders.

mod common;

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier_molecules::plugin::{MoleculeTimes, MoleculeWorld};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use clap::Args;
use common::molecules::{popc, vesicle_of};
use common::turns::{Laps, ms, ratio};
use common::{Cell, Column, Done, Part, Run, cells};
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

/// Radius of atoms that touch when they are closer than 0.34 nm, as in the benches of the
/// search, nm.
const RADIUS_NM: f32 = 0.17;

/// Lipids of the worlds that are compared.
const LIPIDS: u32 = 746;

/// Lipids of the world whose overhead is measured.
const MANY_LIPIDS: u32 = 29_850;

/// Lipids of a run that only shows that it works.
const FEW_LIPIDS: u32 = 150;

/// Turns of each world.
const TURNS: usize = 4;

/// Steps whose stages are told.
const STAGED_STEPS: usize = 15;

/// States of the vesicles: their name, whether they are relaxed, and the radius of all
/// atoms, if they have one.
const STATES: [(&str, bool, Option<f32>); 3] = [
    ("0.17 nm atoms, overlapping", false, Some(RADIUS_NM)),
    ("radii by element, overlapping", false, None),
    ("relaxed, nothing overlaps", true, None),
];

/// What a world is made of.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Crowd,
    CrowdOnly,
    Solver,
    Compound,
}

/// The worlds in their order; the last one is what the others are compared with.
const KINDS: [Kind; 4] = [Kind::Crowd, Kind::CrowdOnly, Kind::Solver, Kind::Compound];

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
        let lipid = popc();
        let lipid = match radius {
            Some(radius) => lipid
                .with_uniform_radius(radius)
                .expect("the radius is positive"),
            None => lipid,
        };
        let lipid = Arc::new(lipid);
        let vesicle = vesicle_of(&lipid, lipids);
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

    fn atom_count(&self) -> usize {
        self.poses.len() * self.lipid.atom_count()
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
                Kind::Solver => ContactModel::Rapier,
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
            balls.map(|(center, radius)| (*center, Quat::IDENTITY, Collider::ball(*radius)));
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

/// What only this bench has.
#[derive(Args)]
struct Switches {
    /// Lipids of the worlds that are compared, with commas [default: 746].
    #[arg(long, value_name = "N", value_delimiter = ',')]
    lipids: Vec<u32>,
}

fn main() -> ExitCode {
    let about = "What a step of 1/60 s costs in a headless Bevy app";
    let parts = [
        Part::new(
            "worlds",
            "both contact models against Rapier's compounds of balls",
            worlds,
        ),
        Part::new(
            "overhead",
            "the stages of a step of 29,850 lipids without colliders",
            overhead,
        ),
    ];
    common::run("step", about, &parts)
}

fn worlds(run: &mut Run, switches: &Switches) -> Done {
    let few_or_many = [run.pick(LIPIDS, FEW_LIPIDS)];
    let sizes = match &switches.lipids[..] {
        [] => &few_or_many[..],
        sizes => sizes,
    };
    for &lipids in sizes {
        let mut medians = Vec::new();
        let mut atoms = 0;
        for (_, relaxed, radius) in STATES {
            let scene = Scene::vesicle(lipids, relaxed, radius);
            atoms = scene.atom_count();
            medians.push(compare(&scene, run.pick(TURNS, 1)));
        }
        let mut columns = vec![Column::text("world")];
        columns.extend(STATES.map(|(state, ..)| Column::measured(state, "ms").decimals(2)));
        let faster = "times faster than compounds: ";
        columns.extend(STATES.map(|(state, ..)| Column::number(format!("{faster}{state}"))));
        let title = format!("{lipids} lipids, {atoms} atoms, ms a step.");
        let mut table = run.table(&title, columns);
        for (world, kind) in KINDS.iter().enumerate() {
            let mut row = vec![Cell::from(kind.name())];
            row.extend(medians.iter().map(|times| Cell::from(ms(times[world]))));
            let slowest = KINDS.len() - 1;
            let faster = medians
                .iter()
                .map(|times| ratio(times[slowest], times[world]));
            row.extend(faster.map(Cell::from));
            table.row(row);
        }
    }
    Ok(())
}

/// The time of a step of each world.
fn compare(scene: &Scene, turns: usize) -> [Duration; 4] {
    let mut laps: [[Laps; STEPS]; 4] = Default::default();
    for _ in 0..turns {
        for (kind, laps) in KINDS.iter().zip(&mut laps) {
            // Overlaps are parted step by step: each world is timed in the same steps.
            let mut app = scene.app(*kind);
            for laps in laps {
                laps.time(|| app.update());
            }
        }
    }
    laps.map(|steps| steps.iter().map(Laps::best).collect::<Laps>().median())
}

/// What the plugin adds to Rapier's own step.
fn overhead(run: &mut Run, _: &Switches) -> Done {
    let scene = Scene::vesicle(run.pick(MANY_LIPIDS, FEW_LIPIDS), true, None);
    let mut app = scene.app(Kind::CrowdOnly);
    let mut times = Vec::new();
    for _ in 0..run.pick(STAGED_STEPS, 1) {
        app.update();
        let world = app.world_mut();
        let mut worlds = world.query::<&MoleculeWorld>();
        times.extend(worlds.iter(world).map(MoleculeWorld::times));
    }
    let of = |stage: fn(&MoleculeTimes) -> Duration| -> f64 {
        ms(times.iter().map(stage).collect::<Laps>().median())
    };
    let title = format!(
        "{} lipids without colliders, {} atoms; the median of a step's stages.",
        scene.poses.len(),
        scene.atom_count()
    );
    let columns = vec![
        Column::text("stage"),
        Column::measured("ms", "ms").decimals(2),
    ];
    let mut table = run.table(&title, columns);
    table.row(cells!["gather", of(|times| times.gather)]);
    table.row(cells!["detect", of(|times| times.detect)]);
    table.row(cells!["respond", of(|times| times.respond)]);
    table.row(cells!["apply", of(|times| times.apply)]);
    table.row(cells!["Rapier's step", of(|times| times.step)]);
    Ok(())
}
