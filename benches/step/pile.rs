//! The proteins of the example `playground`, with its box, blocks, balls, ramp and rope.

use bevy::prelude::*;
use bevy_rapier_molecules::molecule::MoleculeTemplate;
use bevy_rapier_molecules::pose::Pose;
use bevy_rapier3d::prelude::*;

use crate::Options;
use crate::common::interleave::ratio;
use crate::common::molecules::bundled;
use crate::common::{Cell, Column, Done, Run};
use crate::plan::Plan;
use crate::world::{
    Body, Kind, Settings, Step, median, take_turns, time_cells, time_columns, transform,
};

/// The kinds of proteins (and a piece of DNA), which alternate.
pub const FILES: [&str; 5] = [
    "1gzx.pdb",
    "1ubq.cif",
    "2por.pdb",
    "t4_lysozyme_l99a.pdb",
    "4c64_dna.pdb",
];

/// The settings of the playground.
const SETTINGS: Settings = Settings {
    gravity: Vec3::new(0.0, -9.81, 0.0),
    substeps: 4,
    iterations: 32,
};

/// Density of blocks and balls, Da/nm³.
const DENSITY: f32 = 800.0;

/// Half the width of a block and radius of a ball, nm.
const PROP_RADIUS_NM: f32 = 1.1;

/// Drag of the surrounding water.
const WATER: Damping = Damping {
    linear_damping: 0.3,
    angular_damping: 1.0,
};

/// Half the thickness of floor and walls, nm.
const WALL_NM: f32 = 2.0;

/// Proteins of each part, and in a quick run.
const SETTLED: [usize; 2] = [200, 10];
const FALLING: [usize; 2] = [1000, 20];
const COMPARED: [usize; 2] = [500, 10];

/// Untimed steps in which a pile settles.
const SETTLING_STEPS: [usize; 2] = [300, 100];

/// Timed steps of a settled pile.
const SETTLED_STEPS: [usize; 2] = [60, 1];

/// Timed steps of a fall.
const FALLING_STEPS: [usize; 2] = [100, 3];

/// Falls of each world.
const FALLS: [usize; 2] = [5, 1];

/// Untimed steps next to compounds, in which each world finds its own contacts.
const ADAPTING_STEPS: [usize; 2] = [10, 2];

/// Timed steps next to compounds.
const COMPARED_STEPS: [usize; 2] = [20, 1];

/// Untimed steps at the start of a world, in which bodies are created.
const WARM_UP: usize = 2;

/// The contact models.
const MODELS: [Kind; 2] = [Kind::Crowd, Kind::Solver];

/// Proteins above the floor of a box.
struct Pile {
    templates: Vec<MoleculeTemplate>,
    plan: Plan,
}

/// A world with a pile. The loose bodies are in the order of the plan: props, then proteins.
struct PileApp {
    app: App,
    loose: Vec<Entity>,
}

impl Pile {
    fn new(proteins: usize) -> Self {
        let templates = FILES.map(bundled).to_vec();
        let radii: Vec<f32> = templates
            .iter()
            .map(MoleculeTemplate::bounding_radius)
            .collect();
        let plan = Plan::new(&radii, proteins, 1);
        Self { templates, plan }
    }

    fn title(&self) -> String {
        let proteins = self.plan.proteins.iter();
        let atoms = proteins.map(|protein| self.templates[protein.kind].atom_count());
        format!(
            "{} proteins, {} atoms",
            self.plan.proteins.len(),
            atoms.sum::<usize>()
        )
    }

    /// The initial poses of the loose bodies.
    fn poses(&self) -> Vec<Pose> {
        let proteins = self.plan.proteins.iter().map(|protein| protein.pose);
        self.plan.props.iter().copied().chain(proteins).collect()
    }

    /// A world with the loose bodies at `poses`.
    fn app(&self, kind: Kind, poses: &[Pose]) -> PileApp {
        let mut app = SETTINGS.app(kind);
        self.spawn_box(&mut app);
        let (props, proteins) = poses.split_at(self.plan.props.len());
        let mut loose = spawn_props(&mut app, props);
        let templates = self.templates.iter();
        let bodies: Vec<Body> = templates
            .map(|template| Body::new(&mut app, template))
            .collect();
        for (protein, pose) in self.plan.proteins.iter().zip(proteins) {
            let bundle = (transform(pose), Velocity::default(), WATER);
            let entity = bodies[protein.kind].spawn(&mut app, kind, bundle);
            loose.push(entity);
            if let Some(rope) = protein.rope {
                let world = app.world_mut();
                let hook = (RigidBody::Fixed, Transform::from_translation(rope.anchor));
                let hook = world.spawn(hook).id();
                let joint = RopeJointBuilder::new(rope.length).local_anchor2(rope.end);
                let joint = ImpulseJoint::new(hook, joint);
                world.entity_mut(entity).insert(joint);
            }
        }
        PileApp { app, loose }
    }

    fn spawn_box(&self, app: &mut App) {
        let world = app.world_mut();
        let (inner, half_height) = (self.plan.half_width, self.plan.wall_height / 2.0);
        let outer = inner + 2.0 * WALL_NM;
        world.spawn((
            RigidBody::Fixed,
            Collider::cuboid(outer, WALL_NM, outer),
            Transform::from_xyz(0.0, -WALL_NM, 0.0),
        ));
        for side in [Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z] {
            let half = side.abs() * WALL_NM + (Vec3::ONE - side.abs()) * outer;
            world.spawn((
                RigidBody::Fixed,
                Collider::cuboid(half.x, half_height, half.z),
                Transform::from_translation(side * (inner + WALL_NM) + Vec3::Y * half_height),
            ));
        }
        let (corners, triangles) = self.plan.ramp();
        let ramp = Collider::trimesh(corners, triangles).expect("the ramp has triangles");
        world.spawn((RigidBody::Fixed, ramp, Transform::default()));
    }
}

/// Spawns blocks and balls.
fn spawn_props(app: &mut App, poses: &[Pose]) -> Vec<Entity> {
    let shapes = (0..poses.len()).map(|index| {
        let [x, y, z] = [1.0, 0.8, 1.2].map(|side| side * PROP_RADIUS_NM);
        match index % 2 {
            0 => Collider::cuboid(x, y, z),
            _ => Collider::ball(PROP_RADIUS_NM),
        }
    });
    let props = poses.iter().zip(shapes).map(|(pose, collider)| {
        let prop = (
            RigidBody::Dynamic,
            Velocity::default(),
            collider,
            ColliderMassProperties::Density(DENSITY),
            transform(pose),
        );
        app.world_mut().spawn(prop).id()
    });
    props.collect()
}

impl PileApp {
    fn settle(&mut self, steps: usize) {
        for _ in 0..steps {
            self.app.update();
        }
    }

    /// The poses of the loose bodies.
    fn poses(&self) -> Vec<Pose> {
        let pose = |entity: &Entity| {
            let transform = self.app.world().get::<Transform>(*entity);
            let transform = transform.copied().unwrap_or_default();
            Pose::new(transform.translation, transform.rotation)
        };
        self.loose.iter().map(pose).collect()
    }
}

fn asleep_column() -> Column {
    Column::measured("bodies asleep", "%").decimals(0)
}

/// Share of the dynamic bodies that sleep, %.
fn asleep(app: &mut App) -> f64 {
    let world = app.world_mut();
    let mut contexts = world.query::<&RapierRigidBodySet>();
    let bodies = contexts.iter(world).flat_map(|set| set.bodies.iter());
    let dynamic = bodies.filter(|(_, body)| body.is_dynamic());
    let asleep: Vec<bool> = dynamic.map(|(_, body)| body.is_sleeping()).collect();
    let sleeping = asleep.iter().filter(|asleep| **asleep).count();
    100.0 * sleeping as f64 / asleep.len().max(1) as f64
}

/// `full` or quick.
fn pick(run: &Run, [full, quick]: [usize; 2]) -> usize {
    run.pick(full, quick)
}

/// A pile after it has settled.
pub fn settled(run: &mut Run, _: &Options) -> Done {
    let pile = Pile::new(pick(run, SETTLED));
    let mut apps = MODELS.map(|kind| {
        let mut world = pile.app(kind, &pile.poses());
        world.settle(pick(run, SETTLING_STEPS));
        world.app
    });
    let steps = take_turns(&mut apps, pick(run, SETTLED_STEPS));
    let title = format!(
        "{} in a settled pile, ms per step of four substeps.",
        pile.title()
    );
    let mut columns = time_columns("contacts");
    columns.push(asleep_column());
    let mut table = run.table(&title, columns);
    for ((kind, steps), app) in MODELS.iter().zip(&steps).zip(&mut apps) {
        let mut row = time_cells(kind.name(), steps);
        row.push(Cell::from(asleep(app)));
        table.row(row);
    }
    Ok(())
}

/// The start of a fall.
pub fn falling(run: &mut Run, _: &Options) -> Done {
    let pile = Pile::new(pick(run, FALLING));
    let steps = pick(run, FALLING_STEPS);
    let mut falls = MODELS.map(|_| Vec::new());
    for _ in 0..pick(run, FALLS) {
        for (kind, falls) in MODELS.iter().zip(&mut falls) {
            let mut world = pile.app(*kind, &pile.poses());
            world.settle(WARM_UP);
            let fall: Vec<Step> = (0..steps).map(|_| Step::of(&mut world.app)).collect();
            falls.push(Step::mean(&fall));
        }
    }
    let title = format!(
        "{} falling, ms per step of four substeps: the mean of the first {steps} steps.",
        pile.title()
    );
    let mut table = run.table(&title, time_columns("contacts"));
    for (kind, falls) in MODELS.iter().zip(&falls) {
        table.row(time_cells(kind.name(), falls));
    }
    Ok(())
}

/// Molecules against compounds. All worlds start from a pile that has settled as a crowd.
pub fn compounds(run: &mut Run, _: &Options) -> Done {
    const KINDS: [Kind; 3] = [Kind::Crowd, Kind::Solver, Kind::Compound];
    let pile = Pile::new(pick(run, COMPARED));
    let mut world = pile.app(Kind::Crowd, &pile.poses());
    world.settle(pick(run, SETTLING_STEPS));
    let poses = world.poses();
    drop(world);
    let mut apps = KINDS.map(|kind| {
        let mut world = pile.app(kind, &poses);
        world.settle(pick(run, ADAPTING_STEPS));
        world.app
    });
    let steps = take_turns(&mut apps, pick(run, COMPARED_STEPS));
    let times: Vec<_> = steps
        .iter()
        .map(|steps| median(steps, |step| step.total))
        .collect();
    let title = format!("{} in a pile, ms per step of four substeps.", pile.title());
    let mut columns = time_columns("world");
    columns.extend([
        asleep_column(),
        Column::number("times faster than compounds"),
    ]);
    let mut table = run.table(&title, columns);
    for (((kind, steps), time), app) in KINDS.iter().zip(&steps).zip(&times).zip(&mut apps) {
        let mut row = time_cells(kind.name(), steps);
        row.push(Cell::from(asleep(app)));
        row.push(Cell::from(ratio(times[KINDS.len() - 1], *time)));
        table.row(row);
    }
    Ok(())
}
