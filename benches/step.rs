//! A full step of a physics world in a Bevy app: both contact models of this crate against
//! the same lipids as Rapier `Compound`s of balls.
//!
//! Rounds are interleaved and start from the same state. The best time of each step is taken,
//! and the median over the steps is reported. `worlds` has 746 lipids (99,964 atoms);
//! `overhead` measures what the plugin adds to Rapier's step for 29,850 lipids without
//! colliders.

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
use common::interleave::{Samples, ms, ratio};
use common::molecules::{popc, vesicle_of};
use common::{Cell, Column, Done, Part, Run, cells};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;

/// Length of a step, s.
const STEP: f32 = 1.0 / 60.0;

/// Largest initial speed along each axis, nm/s.
const SPEED: f32 = 0.5;

/// Untimed steps at the start, in which bodies and contacts are created.
const WARM_UP: usize = 3;

/// Timed steps per round.
const STEPS: usize = 5;

/// Atom radius at which atoms closer than 0.34 nm overlap, as in the bench `search`, nm.
const RADIUS_NM: f32 = 0.17;

/// Lipids in the compared worlds.
const LIPIDS: u32 = 746;

/// Lipids in the world of `overhead`.
const MANY_LIPIDS: u32 = 29_850;

/// Lipids in a quick run.
const FEW_LIPIDS: u32 = 150;

/// Rounds of each world.
const ROUNDS: usize = 4;

/// Steps whose stages are timed.
const STAGED_STEPS: usize = 15;

/// States of the vesicle: name, whether it is relaxed, and the radius of all atoms if it is
/// uniform.
const STATES: [(&str, bool, Option<f32>); 3] = [
    ("0.17 nm atoms, overlapping", false, Some(RADIUS_NM)),
    ("radii by element, overlapping", false, None),
    ("relaxed, nothing overlaps", true, None),
];

/// How the molecules of a world are simulated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Crowd,
    CrowdOnly,
    Solver,
    Compound,
}

/// The worlds in order; the last one is the baseline.
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

/// The lipids of a vesicle.
struct Scene {
    lipid: Arc<MoleculeTemplate>,
    poses: Vec<Pose>,
}

impl Scene {
    /// A vesicle of `lipids` POPC, relaxed until nothing overlaps if `relaxed`, with radii by
    /// element or one `radius` (nm) for all atoms.
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
        let mut relaxer =
            Relaxer::new(vesicle.crowd, RelaxConfig::default()).expect("the vesicle is finite");
        if relaxed {
            relaxer
                .run(|_| ControlFlow::Continue(()))
                .expect("the vesicle is finite");
        }
        let crowd = relaxer.into_crowd();
        let poses = crowd.members().iter().map(|member| member.pose).collect();
        Self { lipid, poses }
    }

    fn atom_count(&self) -> usize {
        self.poses.len() * self.lipid.atom_count()
    }

    /// An app with these lipids, after the untimed steps.
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

#[derive(Args)]
struct Options {
    /// Lipids in the compared worlds, separated by commas [default: 746].
    #[arg(long, value_name = "N", value_delimiter = ',')]
    lipids: Vec<u32>,
}

fn main() -> ExitCode {
    let about = "Cost of a step of 1/60 s in a headless Bevy app";
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

fn worlds(run: &mut Run, options: &Options) -> Done {
    let default_size = [run.pick(LIPIDS, FEW_LIPIDS)];
    let sizes = match &options.lipids[..] {
        [] => &default_size[..],
        sizes => sizes,
    };
    for &lipids in sizes {
        let mut medians = Vec::new();
        let mut atoms = 0;
        for (_, relaxed, radius) in STATES {
            let scene = Scene::vesicle(lipids, relaxed, radius);
            atoms = scene.atom_count();
            medians.push(compare(&scene, run.pick(ROUNDS, 1)));
        }
        let mut columns = vec![Column::text("world")];
        columns.extend(STATES.map(|(state, ..)| Column::measured(state, "ms").decimals(2)));
        let faster = "times faster than compounds: ";
        columns.extend(STATES.map(|(state, ..)| Column::number(format!("{faster}{state}"))));
        let title = format!("{lipids} lipids, {atoms} atoms, ms per step.");
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

/// The time of a step in each world.
fn compare(scene: &Scene, rounds: usize) -> [Duration; 4] {
    let mut samples: [[Samples; STEPS]; 4] = Default::default();
    for _ in 0..rounds {
        for (kind, samples) in KINDS.iter().zip(&mut samples) {
            // Overlaps shrink step by step, so all worlds are timed over the same steps.
            let mut app = scene.app(*kind);
            for samples in samples {
                samples.time(|| app.update());
            }
        }
    }
    samples.map(|steps| {
        steps
            .iter()
            .map(Samples::best)
            .collect::<Samples>()
            .median()
    })
}

/// What the plugin adds to Rapier's step.
fn overhead(run: &mut Run, _: &Options) -> Done {
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
        ms(times.iter().map(stage).collect::<Samples>().median())
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
