//! The app with a window, or for a picture.

use std::sync::Arc;

use bevy::app::AppExit;
use bevy::prelude::*;
use bevy_rapier_molecules::docking::{Role, SessionInput};

use super::anaglyph::AnaglyphPlugin;
use super::arguments::Arguments;
use super::common::orbit::OrbitPlugin;
use super::common::{AnyError, Screenshot, app};
use super::controls::ControlsPlugin;
use super::cues::CuesPlugin;
use super::dock::Dock;
use super::overlay::OverlayPlugin;
use super::physics_push::{PushPlugin, PushState, PushSystems};
use super::view::ViewPlugin;
use super::view_settings::ViewSettings;

/// Number of frames before the picture, until everything is spawned.
const FRAMES: u32 = 4;

/// Number of replayed inputs per frame.
const INPUTS_PER_FRAME: usize = 1;

/// The session as a resource.
#[derive(Resource)]
pub struct Docked(pub Dock);

/// Runs until the window is closed or the picture is saved.
pub fn run(
    arguments: &Arguments,
    mut dock: Dock,
    screenshot: Option<&Screenshot>,
) -> Result<(), AnyError> {
    let frames = screenshot.map(|screenshot| (screenshot, FRAMES));
    let mut app = app::new("Docking", frames, |plugins| plugins);
    // A picture needs no physics.
    dock.has_physics = screenshot.is_none();
    app.add_plugins((
        PushPlugin {
            backend: arguments.scene.backend.get(),
        },
        OrbitPlugin {
            buttons: &[MouseButton::Right],
        },
        ViewPlugin,
        AnaglyphPlugin,
        OverlayPlugin,
        ControlsPlugin,
        CuesPlugin,
    ))
    .insert_resource(ViewSettings {
        // Flashing marks would be random in a picture.
        flash: screenshot.is_none(),
        ..ViewSettings::from(arguments)
    })
    .insert_resource(Docked(dock))
    .add_systems(Update, play)
    .add_systems(PostUpdate, request_bodies.before(PushSystems::Apply))
    .add_systems(PostUpdate, read_poses.after(PushSystems::Read))
    .add_systems(Last, finish_log);
    #[cfg(feature = "gamepad")]
    app.add_plugins(super::gamepad::GamepadPlugin);
    app::run(app)
}

/// Replays a log.
fn play(mut docked: ResMut<Docked>) {
    if docked.0.to_play.is_empty() {
        return;
    }
    let left = docked.0.play(INPUTS_PER_FRAME);
    if !left && docked.0.ended_the_same() == Some(false) {
        docked.0.message = Some("the replay ended at other poses than the recording".into());
    }
}

/// Requests rigid bodies while the molecules push each other.
fn request_bodies(docked: Res<Docked>, mut push: ResMut<PushState>) {
    let dock = &docked.0;
    let molecule = |role: Role| {
        let template = Arc::clone(dock.session.molecule(role).template());
        (template, dock.session.pose(role))
    };
    let roles = dock.session.roles().filter(|_| dock.pushes_bodies());
    push.requested = roles.map(molecule).collect();
}

/// Copies the poses of the bodies to the session.
fn read_poses(push: Res<PushState>, mut docked: ResMut<Docked>) {
    if !push.reached.is_empty() && push.reached != docked.0.poses() {
        docked
            .0
            .input(&SessionInput::BodyPoses(push.reached.clone()));
    }
}

/// Finishes the log when the app exits.
fn finish_log(mut exits: MessageReader<AppExit>, mut docked: ResMut<Docked>) {
    if exits.read().next().is_some()
        && let Err(error) = docked.0.finish()
    {
        error!("cannot write the log: {error}");
    }
}
