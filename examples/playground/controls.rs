//! Keys: contact model, pause, colors, another protein, restart.

use bevy::prelude::*;
use bevy_rapier_molecules::plugin::PreparedMolecule;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::appearance::ColorCollisions;
use super::scene::{InScene, ProteinKinds, ScenePlan, spawn_protein};

/// Max attempts to find a free place for another protein.
const MAX_ATTEMPTS: u32 = 50;

/// Reacts to keys.
pub struct ControlsPlugin;

impl Plugin for ControlsPlugin {
    fn build(&self, app: &mut App) {
        let seed = app.world().resource::<ProteinKinds>().seed;
        app.insert_resource(NextProtein {
            random: Pcg64Mcg::seed_from_u64(!seed),
            kind: 0,
        })
        .add_systems(
            Update,
            (
                switch_contact_model.run_if(pressed(KeyCode::KeyC)),
                toggle_pause.run_if(pressed(KeyCode::Space)),
                toggle_colors.run_if(pressed(KeyCode::KeyT)),
                drop_protein.run_if(pressed(KeyCode::KeyN)),
                restart.run_if(pressed(KeyCode::KeyR)),
            ),
        );
    }
}

/// The protein that N drops next.
#[derive(Resource)]
struct NextProtein {
    random: Pcg64Mcg,
    kind: usize,
}

fn pressed(key: KeyCode) -> impl FnMut(Res<ButtonInput<KeyCode>>) -> bool + Clone {
    move |keys| keys.just_pressed(key)
}

fn switch_contact_model(mut model: ResMut<ContactModel>) {
    *model = match *model {
        ContactModel::Crowd => ContactModel::Solver,
        ContactModel::Solver => ContactModel::Crowd,
    };
}

fn toggle_pause(scene: Option<Res<ScenePlan>>, mut contexts: Query<&mut RapierConfiguration>) {
    // While files are loading, physics is off anyway.
    if scene.is_some() {
        for mut context in &mut contexts {
            context.physics_pipeline_active ^= true;
        }
    }
}

fn toggle_colors(mut color_collisions: ResMut<ColorCollisions>) {
    color_collisions.0 ^= true;
}

/// Drops another protein if there is a free place below the rim.
fn drop_protein(
    mut commands: Commands,
    scene: Option<Res<ScenePlan>>,
    kinds: Res<ProteinKinds>,
    templates: Res<Assets<MoleculeTemplate>>,
    mut next: ResMut<NextProtein>,
    molecules: Query<(&Transform, &PreparedMolecule)>,
) {
    let kind = next.kind;
    let (Some(scene), Some(template)) = (scene, templates.get(&kinds.templates[kind])) else {
        return;
    };
    let radius = template.bounding_radius();
    let is_free = |pose: &Pose| {
        molecules.iter().all(|(transform, molecule)| {
            let min_distance = radius + molecule.template().bounding_radius();
            transform.translation.distance(pose.position) > min_distance
        })
    };
    let mut poses = (0..MAX_ATTEMPTS).map(|_| scene.pose_below_rim(radius, &mut next.random));
    if let Some(pose) = poses.find(is_free) {
        spawn_protein(&mut commands, &kinds, kind, &pose);
        next.kind = (kind + 1) % kinds.templates.len();
    }
}

/// Despawns the scene, which is then built again.
fn restart(mut commands: Commands, entities: Query<Entity, With<InScene>>) {
    for entity in &entities {
        commands.entity(entity).despawn();
    }
    commands.remove_resource::<ScenePlan>();
}
