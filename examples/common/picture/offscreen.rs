//! Apps that draw into a picture.

use bevy::app::PluginGroupBuilder;
use bevy::log::{Level, LogPlugin};
use bevy::prelude::*;
use bevy::winit::WinitPlugin;
use bevy_rapier_molecules::render::offscreen::{OffscreenPlugin, adapter, offscreen_plugins};

use super::Shot;
use crate::common::AnyError;

/// Whether there is an adapter to draw with: Bevy's renderer does not ask, and panics.
pub fn check_adapter() -> Result<(), AnyError> {
    match adapter() {
        Ok(_) => Ok(()),
        Err(error) => Err(format!("nothing can be drawn: {error}").into()),
    }
}

/// An app without a window that saves a picture after so many frames. `change` may set
/// some of Bevy's plugins.
pub fn app(
    shot: &Shot,
    frames: u32,
    change: impl FnOnce(PluginGroupBuilder) -> PluginGroupBuilder,
) -> App {
    let (width, height) = shot.size;
    let plugins = offscreen_plugins().disable::<WinitPlugin>().set(LogPlugin {
        level: Level::WARN,
        ..default()
    });
    let mut app = App::new();
    app.add_plugins(change(plugins));
    app.add_plugins(
        OffscreenPlugin::new(&shot.file)
            .with_size(width, height)
            .with_frames(frames),
    );
    app
}

/// Runs the app until the picture is there.
pub fn finish(mut app: App) -> Result<(), AnyError> {
    match app.run() {
        AppExit::Success => Ok(()),
        AppExit::Error(_) => Err("there is no picture: the lines above say why".into()),
    }
}
