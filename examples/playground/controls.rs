//! The keys.

use bevy::app::AppExit;
use bevy::prelude::*;
use bevy_rapier_molecules::plugin::PreparedMolecule;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

use super::looks::Tint;
use super::scene::{InScene, Kinds, Standing, spawn_protein};

/// Places that are tried for another protein.
const TRIES: u32 = 50;

/// Listens to the keys.
pub struct ControlsPlugin;

impl Plugin for ControlsPlugin {
    fn build(&self, app: &mut App) {
        let seed = app.world().resource::<Kinds>().seed;
        app.insert_resource(Dropper {
            random: Pcg64Mcg::seed_from_u64(!seed),
            kind: 0,
        })
        .add_systems(
            Update,
            (
                switch_contacts.run_if(pressed(KeyCode::KeyC)),
                pause.run_if(pressed(KeyCode::Space)),
                switch_tint.run_if(pressed(KeyCode::KeyT)),
                drop_another.run_if(pressed(KeyCode::KeyN)),
                start_again.run_if(pressed(KeyCode::KeyR)),
                quit.run_if(pressed(KeyCode::Escape)),
            ),
        );
    }
}

/// What the key N drops next.
#[derive(Resource)]
struct Dropper {
    random: Pcg64Mcg,
    kind: usize,
}

fn pressed(key: KeyCode) -> impl FnMut(Res<ButtonInput<KeyCode>>) -> bool + Clone {
    move |keys| keys.just_pressed(key)
}

fn switch_contacts(mut model: ResMut<ContactModel>) {
    *model = match *model {
        ContactModel::Crowd => ContactModel::Rapier,
        ContactModel::Rapier => ContactModel::Crowd,
    };
}

/// Pauses or goes on, once there is a scene.
fn pause(scene: Option<Res<Standing>>, mut contexts: Query<&mut RapierConfiguration>) {
    if scene.is_some() {
        for mut context in &mut contexts {
            context.physics_pipeline_active ^= true;
        }
    }
}

fn switch_tint(mut tint: ResMut<Tint>) {
    tint.0 ^= true;
}

/// Drops another protein, unless there is no room for it yet.
fn drop_another(
    mut commands: Commands,
    scene: Option<Res<Standing>>,
    kinds: Res<Kinds>,
    templates: Res<Assets<MoleculeTemplate>>,
    mut dropper: ResMut<Dropper>,
    molecules: Query<(&Transform, &PreparedMolecule)>,
) {
    let kind = dropper.kind;
    let (Some(scene), Some(template)) = (scene, templates.get(&kinds.templates[kind])) else {
        return;
    };
    let radius = template.bounding_radius();
    let is_free = |pose: &Pose| {
        molecules.iter().all(|(transform, molecule)| {
            let reach = radius + molecule.shared().template().bounding_radius();
            transform.translation.distance(pose.position) > reach
        })
    };
    let mut poses = (0..TRIES).map(|_| scene.another(radius, &mut dropper.random));
    if let Some(pose) = poses.find(is_free) {
        spawn_protein(&mut commands, &kinds, kind, &pose);
        dropper.kind = (kind + 1) % kinds.templates.len();
    }
}

/// Takes everything away; the scene is then built anew.
fn start_again(mut commands: Commands, things: Query<Entity, With<InScene>>) {
    for thing in &things {
        commands.entity(thing).despawn();
    }
    commands.remove_resource::<Standing>();
}

fn quit(mut exit: MessageWriter<AppExit>) {
    exit.write(AppExit::Success);
}
