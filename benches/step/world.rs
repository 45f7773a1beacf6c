//! A headless app with a physics world, and measurements of its steps.

use std::time::Duration;

use bevy::prelude::*;
use bevy::time::TimeUpdateStrategy;
use bevy_rapier_molecules::dynamics::ContactSolverConfig;
use bevy_rapier_molecules::plugin::{MoleculeTimes, MoleculeWorld};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use rand::{Rng, RngExt};

use crate::common::interleave::{Samples, ms};
use crate::common::{Cell, Column};

/// Length of a step, s.
pub const STEP: f32 = 1.0 / 60.0;

/// How the molecules of a world are simulated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Crowd,
    CrowdOnly,
    Solver,
    Compound,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Crowd => "crowd",
            Self::CrowdOnly => "crowd, no colliders",
            Self::Solver => "solver",
            Self::Compound => "Rapier compounds",
        }
    }
}

/// Parameters of a world.
#[derive(Clone, Copy)]
pub struct Settings {
    /// nm/s².
    pub gravity: Vec3,
    /// Substeps per step.
    pub substeps: usize,
    /// Iterations of the contact solver of this crate.
    pub iterations: u32,
}

impl Default for Settings {
    /// One substep without gravity.
    fn default() -> Self {
        Self {
            gravity: Vec3::ZERO,
            substeps: 1,
            iterations: ContactSolverConfig::default().iterations,
        }
    }
}

impl Settings {
    /// An empty app.
    pub fn app(&self, kind: Kind) -> App {
        let mut app = App::new();
        app.add_plugins((
            MinimalPlugins,
            TransformPlugin,
            AssetPlugin::default(),
            RapierPhysicsPlugin::<NoUserData>::default().with_custom_initialization(
                RapierContextInitialization::InitializeDefaultRapierContext {
                    integration_parameters: default(),
                    rapier_configuration: RapierConfiguration {
                        gravity: self.gravity,
                        ..RapierConfiguration::new(1.0)
                    },
                },
            ),
        ))
        .insert_resource(TimestepMode::Fixed {
            dt: STEP,
            substeps: self.substeps,
        })
        .insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_secs_f32(
            STEP,
        )));
        if kind != Kind::Compound {
            let model = match kind {
                Kind::Solver => ContactModel::Solver,
                _ => ContactModel::Crowd,
            };
            let plugins = MoleculePlugins::default()
                .with_contacts(model)
                .with_backend(Backend::Cpu)
                .with_contact_config(ContactSolverConfig {
                    iterations: self.iterations,
                    ..default()
                });
            app.add_plugins(plugins);
        }
        app.finish();
        app.cleanup();
        app
    }
}

/// What a molecule is in a world.
#[derive(Clone)]
pub enum Body {
    Molecule(Handle<MoleculeTemplate>),
    Compound(Collider, MassProperties),
}

impl Body {
    /// Adds a template to an app.
    pub fn new(app: &mut App, template: &MoleculeTemplate) -> Self {
        let world = app.world_mut();
        if let Some(mut assets) = world.get_resource_mut::<Assets<MoleculeTemplate>>() {
            return Self::Molecule(assets.add(template.clone()));
        }
        let balls = template.positions().iter().zip(template.radii());
        let balls =
            balls.map(|(center, radius)| (*center, Quat::IDENTITY, Collider::ball(*radius)));
        let mass = MassProperties {
            local_center_of_mass: Vec3::ZERO,
            mass: template.mass(),
            principal_inertia_local_frame: template.principal_axes(),
            principal_inertia: template.principal_inertia(),
        };
        Self::Compound(Collider::compound(balls.collect()), mass)
    }

    pub fn spawn(&self, app: &mut App, kind: Kind, bundle: impl Bundle) -> Entity {
        let mut entity = app.world_mut().spawn(bundle);
        match self {
            Self::Molecule(template) => {
                entity.insert(Molecule(template.clone()));
                if kind == Kind::CrowdOnly {
                    entity.insert(CrowdOnly);
                }
            }
            Self::Compound(collider, mass) => {
                entity.insert((
                    RigidBody::Dynamic,
                    collider.clone(),
                    ColliderMassProperties::Density(0.0),
                    AdditionalMassProperties::MassProperties(*mass),
                ));
            }
        }
        entity.id()
    }
}

pub fn transform(pose: &Pose) -> Transform {
    Transform::from_translation(pose.position).with_rotation(pose.rotation)
}

/// Uniform in a cube around the origin with edges of twice `half_edge`.
pub fn random_vector(random: &mut impl Rng, half_edge: f32) -> Vec3 {
    Vec3::from_array(std::array::from_fn(|_| {
        random.random_range(-half_edge..half_edge)
    }))
}

/// Positions of the molecules, nm.
pub fn positions(app: &mut App) -> Vec<Vec3> {
    let world = app.world_mut();
    let mut molecules = world.query_filtered::<&Transform, With<Molecule>>();
    let transforms = molecules.iter(world);
    transforms.map(|transform| transform.translation).collect()
}

/// A measured step.
#[derive(Clone, Copy, Default)]
pub struct Step {
    /// The whole frame.
    pub total: Duration,
    /// Zero in a world of compounds.
    pub times: MoleculeTimes,
    /// Pairs of spheres compared in the last substep.
    pub compared: u64,
    /// Pairs of spheres found in the last substep.
    pub found: u64,
    /// Memory of what the search remembers, bytes.
    pub remembered: u64,
    /// Memory of the remembered pairs of clusters among it, bytes.
    pub clusters: u64,
}

impl Step {
    /// Takes a step.
    pub fn of(app: &mut App) -> Self {
        let mut total = Samples::default();
        total.time(|| app.update());
        let mut step = Self {
            total: total.sum(),
            ..Self::default()
        };
        let world = app.world_mut();
        let mut worlds = world.query::<&MoleculeWorld>();
        for world in worlds.iter(world) {
            let work = world.search_work();
            step.times = world.times();
            step.compared = work.sphere_pairs;
            step.found = world.contacts().candidate_pairs() as u64;
            step.remembered = work.bytes;
            step.clusters = work.cluster_bytes;
        }
        step
    }

    /// The mean of the times, and the sum of the counts.
    pub fn mean(steps: &[Self]) -> Self {
        let count = steps.len().max(1) as u32;
        let mut mean = Self::default();
        for step in steps {
            mean.total += step.total / count;
            mean.times.gather += step.times.gather / count;
            mean.times.detect += step.times.detect / count;
            mean.times.respond += step.times.respond / count;
            mean.times.apply += step.times.apply / count;
            mean.times.step += step.times.step / count;
            mean.compared += step.compared;
            mean.found += step.found;
            mean.remembered = step.remembered;
            mean.clusters = step.clusters;
        }
        mean
    }

    /// Time of the contacts of molecules: all but Rapier's step and Bevy.
    fn contacts(&self) -> Duration {
        let times = &self.times;
        times.gather + times.detect + times.respond + times.apply
    }
}

/// Takes `steps` steps of each world, in turns.
pub fn take_turns(apps: &mut [App], steps: usize) -> Vec<Vec<Step>> {
    let mut taken = vec![Vec::new(); apps.len()];
    for _ in 0..steps {
        for (app, taken) in apps.iter_mut().zip(&mut taken) {
            taken.push(Step::of(app));
        }
    }
    taken
}

/// Median of a time of some steps.
pub fn median(steps: &[Step], time: impl Fn(&Step) -> Duration) -> Duration {
    steps.iter().map(time).collect::<Samples>().median()
}

/// The columns of [`time_cells`], after one with the name of the row.
pub fn time_columns(row: &str) -> Vec<Column> {
    let time = |name| Column::measured(name, "ms").decimals(2);
    let mut columns = vec![Column::text(row)];
    columns.extend(
        [
            "step, best",
            "step, median",
            "contacts, best",
            "contacts, median",
            "gather",
            "detect, best",
            "detect, median",
            "respond",
            "apply",
            "Rapier's step",
        ]
        .map(time),
    );
    columns.push(Column::number("atom pairs compared per contact found"));
    columns
}

/// The times of some steps: the best and the median. The last cell is counted work.
pub fn time_cells(name: &str, steps: &[Step]) -> Vec<Cell> {
    let best = |time: fn(&Step) -> Duration| {
        let times = steps.iter().map(time);
        Cell::from(ms(times.collect::<Samples>().best()))
    };
    let typical = |time: fn(&Step) -> Duration| Cell::from(ms(median(steps, time)));
    let mut cells = vec![
        Cell::from(name),
        best(|step| step.total),
        typical(|step| step.total),
    ];
    let is_crowd = steps.iter().any(|step| !step.times.gather.is_zero());
    let is_molecules = steps.iter().any(|step| !step.times.step.is_zero());
    if is_crowd {
        cells.extend([
            best(Step::contacts),
            typical(Step::contacts),
            typical(|step| step.times.gather),
            best(|step| step.times.detect),
            typical(|step| step.times.detect),
            typical(|step| step.times.respond),
            typical(|step| step.times.apply),
        ]);
    } else {
        cells.extend([const { Cell::Missing }; 7]);
    }
    cells.push(match is_molecules {
        true => typical(|step| step.times.step),
        false => Cell::Missing,
    });
    let [compared, found] = [
        steps.iter().map(|step| step.compared).sum::<u64>(),
        steps.iter().map(|step| step.found).sum::<u64>(),
    ];
    let per_contact = (is_crowd && found > 0).then(|| compared as f64 / found as f64);
    cells.push(per_contact.into());
    cells
}
