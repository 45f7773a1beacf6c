//! Apps with a window.

use bevy::app::{AppExit, PluginGroupBuilder};
use bevy::prelude::*;
use bevy::window::{PresentMode, WindowPlugin};

use crate::common::AnyError;

/// An app with Bevy's default plugins and a window of 1280 × 720 pixels. `change` may set
/// some of the plugins.
pub fn app(title: &str, change: impl FnOnce(PluginGroupBuilder) -> PluginGroupBuilder) -> App {
    let plugins = DefaultPlugins.set(WindowPlugin {
        primary_window: Some(Window {
            title: title.into(),
            resolution: (1280, 720).into(),
            present_mode: PresentMode::AutoVsync,
            ..default()
        }),
        ..default()
    });
    let mut app = App::new();
    app.add_plugins(change(plugins));
    app
}

/// Runs the app until its window is closed.
pub fn finish(mut app: App) -> Result<(), AnyError> {
    match app.run() {
        AppExit::Success => Ok(()),
        AppExit::Error(_) => Err("the window had to be closed: the lines above say why".into()),
    }
}
