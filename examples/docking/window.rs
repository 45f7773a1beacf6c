//! Docking with a window, or into a picture.

use std::sync::Arc;

use bevy::app::AppExit;
use bevy::prelude::*;
use bevy_rapier_molecules::docking::Role;

use super::anaglyph::AnaglyphPlugin;
use super::arguments::Arguments;
use super::common::orbit::OrbitPlugin;
use super::common::{AnyError, Screenshot, app};
use super::controls::ControlsPlugin;
use super::cues::CuesPlugin;
use super::dock::Dock;
use super::overlay::OverlayPlugin;
use super::physics_push::{PushPlugin, PushSystems, Pushed};
use super::view::ViewPlugin;
use super::view_settings::Switches;

/// Frames until a picture: in the first one, what was just spawned is not there yet.
const FRAMES: u32 = 4;

/// Inputs of a log that are played in a frame.
const INPUTS_PER_FRAME: usize = 1;

/// The session, for systems.
#[derive(Resource)]
pub struct Docked(pub Dock);

/// Runs until the window is closed, or the picture is saved.
pub fn run(
    arguments: &Arguments,
    mut dock: Dock,
    screenshot: Option<&Screenshot>,
) -> Result<(), AnyError> {
    let frames = screenshot.map(|screenshot| (screenshot, FRAMES));
    let mut app = app::new("Docking", frames, |plugins| plugins);
    // In a picture nothing moves any more.
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
    .insert_resource(Switches {
        // A picture would show them or not by chance.
        flash: screenshot.is_none(),
        ..Switches::from(arguments)
    })
    .insert_resource(Docked(dock))
    .add_systems(Update, play)
    .add_systems(PostUpdate, give_bodies.before(PushSystems::Make))
    .add_systems(PostUpdate, take_bodies.after(PushSystems::Read))
    .add_systems(Last, finish_log);
    #[cfg(feature = "gamepad")]
    app.add_plugins(super::gamepad::GamepadPlugin);
    app::run(app)
}

/// Plays a log, a little in each frame.
fn play(mut docked: ResMut<Docked>) {
    if docked.0.to_play.is_empty() {
        return;
    }
    let left = docked.0.play(INPUTS_PER_FRAME);
    if !left && docked.0.ended_the_same() == Some(false) {
        docked.0.message = Some("the log did not end where it was recorded".into());
    }
}

/// Both molecules become bodies while they push each other.
fn give_bodies(docked: Res<Docked>, mut pushed: ResMut<Pushed>) {
    let dock = &docked.0;
    pushed.wanted = dock.pushes_bodies().then(|| {
        [Role::Receptor, Role::Ligand].map(|part| {
            let template = Arc::clone(dock.session.molecule(part).template());
            (template, dock.session.pose(part))
        })
    });
}

/// The session follows the bodies.
fn take_bodies(pushed: Res<Pushed>, mut docked: ResMut<Docked>) {
    if let Some(reached) = pushed.reached
        && reached != docked.0.poses()
    {
        docked.0.carry(reached);
    }
}

/// A log that is recorded has its last line when the app ends.
fn finish_log(mut exits: MessageReader<AppExit>, mut docked: ResMut<Docked>) {
    if exits.read().next().is_some()
        && let Err(error) = docked.0.finish()
    {
        error!("the log cannot be written: {error}");
    }
}
