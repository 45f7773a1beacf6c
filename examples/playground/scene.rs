//! The entities of the scene, with or without a window.

use bevy::asset::LoadState;
use bevy::prelude::*;
use bevy_rapier_molecules::dynamics::ContactSolverConfig;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;

use super::arguments::Arguments;
use super::plan::Plan;

/// The asset folder.
pub const ASSETS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/assets");

/// The kinds of proteins (and a piece of DNA), which alternate.
const FILES: [&str; 5] = [
    "1gzx.pdb",
    "1ubq.cif",
    "2por.pdb",
    "t4_lysozyme_l99a.pdb",
    "4c64_dna.pdb",
];

/// Time step, s.
pub const STEP: f32 = 1.0 / 60.0;

/// Iterations of the contact solver. A pile of 200 proteins is a dozen high, and the weight of
/// the uppermost must propagate to the floor.
const ITERATIONS: u32 = 32;

/// Density of blocks and balls, Da/nm³: that of protein, which gives similar masses.
const DENSITY: f32 = 800.0;

/// Half the width of a block and radius of a ball, nm.
const PROP_RADIUS_NM: f32 = 1.1;

/// Drag of the surrounding water. Without it, rolling proteins and the one on the rope would
/// never come to rest.
const WATER: Damping = Damping {
    linear_damping: 0.3,
    angular_damping: 1.0,
};

/// Half the thickness of floor and walls, nm: more than any body moves in a substep.
const WALL_NM: f32 = 2.0;

/// Sets physics up and spawns the scene once its files are loaded.
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
            seed: arguments.scene.seed.get(),
            contacts: arguments.contacts.into(),
            backend: arguments.scene.backend.get(),
            substeps: arguments.substeps.into(),
        }
    }
}

/// The kinds of proteins and the number of proteins.
#[derive(Resource)]
pub struct ProteinKinds {
    pub templates: Vec<Handle<MoleculeTemplate>>,
    pub proteins: usize,
    pub seed: u64,
}

/// The plan of the current scene. Missing while files are loading.
#[derive(Resource, Deref)]
pub struct ScenePlan(pub Plan);

/// Marks entities that a restart despawns.
#[derive(Component, Default)]
pub struct InScene;

/// The shape of a body that is not a protein, nm.
#[derive(Component, Clone)]
#[require(InScene)]
pub enum Prop {
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
        let kinds = ProteinKinds {
            templates: FILES.map(load).into(),
            proteins: self.proteins,
            seed: self.seed,
        };
        app.insert_resource(kinds)
            .insert_resource(TimestepMode::Fixed {
                dt: STEP,
                substeps: self.substeps,
            })
            .add_systems(Startup, disable_physics)
            // In `Last`, so that the first step is in the next frame.
            .add_systems(Last, spawn_scene.run_if(not(resource_exists::<ScenePlan>)));
    }
}

/// The first file that failed to load, and why.
pub fn loading_error(world: &World) -> Option<String> {
    let assets = world.resource::<AssetServer>();
    let kinds = world.resource::<ProteinKinds>();
    let mut files = FILES.iter().zip(&kinds.templates);
    files.find_map(|(file, handle)| match assets.load_state(handle) {
        LoadState::Failed(error) => Some(format!("molecules/{file}: {error}")),
        _ => None,
    })
}

/// Disables physics while files are loading.
fn disable_physics(mut contexts: Query<&mut RapierConfiguration>) {
    for mut context in &mut contexts {
        context.physics_pipeline_active = false;
    }
}

/// Spawns the scene once all files are loaded, and enables physics.
fn spawn_scene(
    mut commands: Commands,
    kinds: Res<ProteinKinds>,
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
    spawn_props(&mut commands, &plan);
    spawn_proteins(&mut commands, &plan, &kinds);
    commands.insert_resource(ScenePlan(plan));
    for mut context in &mut contexts {
        context.physics_pipeline_active = true;
    }
}

fn spawn_box(commands: &mut Commands, plan: &Plan) {
    let (inner, half_height) = (plan.half_width, plan.wall_height / 2.0);
    let outer = inner + 2.0 * WALL_NM;
    let floor = Vec3::new(outer, WALL_NM, outer);
    commands.spawn((
        Prop::Floor {
            half_extents: floor,
        },
        RigidBody::Fixed,
        Collider::cuboid(floor.x, floor.y, floor.z),
        Transform::from_xyz(0.0, -WALL_NM, 0.0),
    ));
    for side in [Vec3::X, Vec3::NEG_X, Vec3::Z, Vec3::NEG_Z] {
        let half = side.abs() * WALL_NM + (Vec3::ONE - side.abs()) * outer;
        commands.spawn((
            Prop::Wall,
            RigidBody::Fixed,
            Collider::cuboid(half.x, half_height, half.z),
            Transform::from_translation(side * (inner + WALL_NM) + Vec3::Y * half_height),
        ));
    }
}

fn spawn_ramp(commands: &mut Commands, plan: &Plan) {
    let (corners, triangles) = plan.ramp();
    match Collider::trimesh(corners, triangles) {
        Ok(collider) => {
            commands.spawn((Prop::Ramp, RigidBody::Fixed, collider, Transform::default()));
        }
        Err(error) => error!("cannot build the ramp: {error}"),
    }
}

fn spawn_props(commands: &mut Commands, plan: &Plan) {
    for (index, pose) in plan.props.iter().enumerate() {
        let (prop, collider) = if index % 2 == 0 {
            let half_extents = Vec3::new(1.0, 0.8, 1.2) * PROP_RADIUS_NM;
            let [x, y, z] = half_extents.to_array();
            (Prop::Block { half_extents }, Collider::cuboid(x, y, z))
        } else {
            let radius = PROP_RADIUS_NM;
            (Prop::Ball { radius }, Collider::ball(radius))
        };
        commands.spawn((
            prop,
            RigidBody::Dynamic,
            Velocity::default(),
            collider,
            ColliderMassProperties::Density(DENSITY),
            transform(pose),
        ));
    }
}

fn spawn_proteins(commands: &mut Commands, plan: &Plan, kinds: &ProteinKinds) {
    for protein in &plan.proteins {
        let entity = spawn_protein(commands, kinds, protein.kind, &protein.pose);
        if let Some(rope) = protein.rope {
            let hook = (
                Prop::Rope {
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
pub fn spawn_protein(
    commands: &mut Commands,
    kinds: &ProteinKinds,
    kind: usize,
    pose: &Pose,
) -> Entity {
    let molecule = Molecule(kinds.templates[kind].clone());
    commands
        .spawn((molecule, InScene, transform(pose), WATER))
        .id()
}

fn transform(pose: &Pose) -> Transform {
    Transform::from_translation(pose.position).with_rotation(pose.rotation)
}
