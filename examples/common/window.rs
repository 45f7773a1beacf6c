//! Apps with a window.

use std::error::Error;

use bevy::app::AppExit;
use bevy::prelude::*;
use bevy::window::WindowPlugin;

/// An app with Bevy's default plugins and a window of 1280 × 720 pixels.
pub fn app(title: &str) -> App {
    let mut app = App::new();
    app.add_plugins(DefaultPlugins.set(WindowPlugin {
        primary_window: Some(Window {
            title: title.into(),
            resolution: (1280, 720).into(),
            ..default()
        }),
        ..default()
    }));
    app
}

/// Runs the app until its window is closed.
pub fn finish(mut app: App) -> Result<(), Box<dyn Error + Send + Sync>> {
    match app.run() {
        AppExit::Success => Ok(()),
        AppExit::Error(_) => Err("the window had to be closed: the lines above say why".into()),
    }
}
