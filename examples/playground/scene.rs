//! The scene as entities, the same with and without a window.

use bevy::asset::LoadState;
use bevy::prelude::*;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::arguments::Arguments;
use super::plan::Plan;

/// Folder of the assets.
pub const ASSETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");

/// The kinds of proteins (and a piece of DNA), which take turns.
const FILES: [&str; 5] = [
    "1gzx.pdb",
    "1ubq.cif",
    "2por.pdb",
    "t4_lysozyme_l99a.pdb",
    "4c64_dna.pdb",
];

/// Length of a step, s.
pub const STEP: f32 = 1.0 / 60.0;

/// Iterations of the contact solver: a pile of 200 proteins is a dozen high, and what
/// those at the top weigh must reach the floor.
const ITERATIONS: u32 = 32;

/// Density of blocks and balls, Da/nm³: that of protein, so that masses are alike.
const DENSITY: f32 = 800.0;

/// Half the width of a block and radius of a ball, nm.
const THING_NM: f32 = 1.1;

/// What brings proteins to rest that roll, and the one on the rope: a little of the water
/// that they live in. Nothing else would.
const WATER: Damping = Damping {
    linear_damping: 0.3,
    angular_damping: 1.0,
};

/// Half the thickness of floor and walls, nm: thicker than anything moves in a substep.
const WALL_NM: f32 = 2.0;

/// Physics, and the scene as soon as its files are loaded.
pub struct ScenePlugin {
    pub proteins: usize,
    pub seed: u64,
    pub contacts: ContactModel,
    pub backend: Backend,
    pub substeps: usize,
}

impl From<&Arguments> for ScenePlugin {
    fn from(arguments: &Arguments) -> Self {
        Self {
            proteins: arguments.proteins as usize,
            seed: arguments.scene.seed.or(None),
            contacts: arguments.contacts.into(),
            backend: arguments.scene.backend.backend.unwrap_or_default(),
            substeps: arguments.substeps.into(),
        }
    }
}

/// How many proteins, and which.
#[derive(Resource)]
pub struct Kinds {
    pub templates: Vec<Handle<MoleculeTemplate>>,
    pub proteins: usize,
    pub seed: u64,
}

/// The plan of the scene that stands; there is none while files are loading.
#[derive(Resource, Deref)]
pub struct Standing(pub Plan);

/// Everything that goes away when the scene starts again.
#[derive(Component, Default)]
pub struct InScene;

/// What something other than a protein looks like, nm.
#[derive(Component, Clone)]
#[require(InScene)]
pub enum Thing {
    Block { half_extents: Vec3 },
    Ball { radius: f32 },
    Floor { half_extents: Vec3 },
    Wall,
    Ramp,
    Rope { end: Vec3, protein: Entity },
}

impl Plugin for ScenePlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins((
            RapierPhysicsPlugin::<NoUserData>::default(),
            MoleculePlugins::default()
                .with_contacts(self.contacts)
                .with_backend(self.backend)
                .with_contact_config(ContactSolverConfig {
                    iterations: ITERATIONS,
                    ..default()
                }),
        ));
        let assets = app.world().resource::<AssetServer>();
        let load = |file| assets.load(format!("molecules/{file}"));
        let kinds = Kinds {
            templates: FILES.map(load).into(),
            proteins: self.proteins,
            seed: self.seed,
        };
        app.insert_resource(kinds)
            .insert_resource(TimestepMode::Fixed {
                dt: STEP,
                substeps: self.substeps,
            })
            .add_systems(Startup, hold_time)
            // At the end of a frame, so that the next one is the first step.
            .add_systems(Last, build.run_if(not(resource_exists::<Standing>)));
    }
}

/// The first file that cannot be loaded, and why.
pub fn failure(world: &World) -> Option<String> {
    let assets = world.resource::<AssetServer>();
    let kinds = world.resource::<Kinds>();
    let mut files = FILES.iter().zip(&kinds.templates);
    files.find_map(|(file, handle)| match assets.load_state(handle) {
        LoadState::Failed(error) => Some(format!("molecules/{file}: {error}")),
        _ => None,
    })
}

/// No time passes while files are loading.
fn hold_time(mut contexts: Query<&mut RapierConfiguration>) {
    for mut context in &mut contexts {
        context.physics_pipeline_active = false;
    }
}

/// Builds the scene when all files are loaded.
fn build(
    mut commands: Commands,
    kinds: Res<Kinds>,
    templates: Res<Assets<MoleculeTemplate>>,
    mut contexts: Query<&mut RapierConfiguration>,
) {
    let loaded = kinds.templates.iter().map(|handle| templates.get(handle));
    let Some(loaded) = loaded.collect::<Option<Vec<_>>>() else {
        return;
    };
    let radii: Vec<f32> = loaded
        .iter()
        .map(|template| template.bounding_radius())
        .collect();
    let plan = Plan::new(&radii, kinds.proteins, kinds.seed);
    spawn_box(&mut commands, &plan);
    spawn_ramp(&mut commands, &plan);
    spawn_things(&mut commands, &plan);
    spawn_proteins(&mut commands, &plan, &kinds);
    commands.insert_resource(Standing(plan));
    for mut context in &mut contexts {
        context.physics_pipeline_active = true;
    }
}

fn spawn_box(commands: &mut Commands, plan: &Plan) {
    let (inner, high) = (plan.half_width, plan.wall_height / 2.0);
    let outer = inner + 2.0 * WALL_NM;
    let floor = Vec3::new(outer, WALL_NM, outer);
    commands.spawn((
        Thing::Floor {
            half_extents: floor,
        },
        RigidBody::Fixed,
        Collider::cuboid(floor.x, floor.y, floor.z),
        Transform::from_xyz(0.0, -WALL_NM, 0.0),
    ));
    for side in [Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z] {
        let half = side.abs() * WALL_NM + (Vec3::ONE - side.abs()) * outer;
        commands.spawn((
            Thing::Wall,
            RigidBody::Fixed,
            Collider::cuboid(half.x, high, half.z),
            Transform::from_translation(side * (inner + WALL_NM) + Vec3::Y * high),
        ));
    }
}

fn spawn_ramp(commands: &mut Commands, plan: &Plan) {
    let (corners, triangles) = plan.ramp();
    match Collider::trimesh(corners, triangles) {
        Ok(collider) => {
            commands.spawn((
                Thing::Ramp,
                RigidBody::Fixed,
                collider,
                Transform::default(),
            ));
        }
        Err(error) => error!("there is no ramp: {error}"),
    }
}

fn spawn_things(commands: &mut Commands, plan: &Plan) {
    for (index, pose) in plan.things.iter().enumerate() {
        let (thing, collider) = if index % 2 == 0 {
            let half_extents = Vec3::new(1.0, 0.8, 1.2) * THING_NM;
            let [x, y, z] = half_extents.to_array();
            (Thing::Block { half_extents }, Collider::cuboid(x, y, z))
        } else {
            let radius = THING_NM;
            (Thing::Ball { radius }, Collider::ball(radius))
        };
        commands.spawn((
            thing,
            RigidBody::Dynamic,
            Velocity::default(),
            collider,
            ColliderMassProperties::Density(DENSITY),
            at(pose),
        ));
    }
}

fn spawn_proteins(commands: &mut Commands, plan: &Plan, kinds: &Kinds) {
    for protein in &plan.proteins {
        let entity = spawn_protein(commands, kinds, protein.kind, &protein.pose);
        if let Some(rope) = protein.rope {
            let hook = (
                Thing::Rope {
                    end: rope.end,
                    protein: entity,
                },
                RigidBody::Fixed,
                Transform::from_translation(rope.anchor),
            );
            let hook = commands.spawn(hook).id();
            let joint = RopeJointBuilder::new(rope.length).local_anchor2(rope.end);
            commands
                .entity(entity)
                .insert(ImpulseJoint::new(hook, joint));
        }
    }
}

/// Spawns one protein.
pub fn spawn_protein(commands: &mut Commands, kinds: &Kinds, kind: usize, pose: &Pose) -> Entity {
    let molecule = Molecule(kinds.templates[kind].clone());
    commands.spawn((molecule, InScene, at(pose), WATER)).id()
}

fn at(pose: &Pose) -> Transform {
    Transform::from_translation(pose.position).with_rotation(pose.rotation)
}
