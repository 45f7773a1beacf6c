//! Apps that draw to a window or to a screenshot.

use bevy::app::{AppExit, PluginGroupBuilder};
use bevy::log::{Level, LogPlugin};
use bevy::prelude::*;
use bevy::window::{PresentMode, WindowPlugin};
use bevy::winit::WinitPlugin;
use bevy_rapier_molecules::render::offscreen::{Offscreen, OffscreenPlugin, offscreen_plugins};

use super::{AnyError, Screenshot};

/// An app that draws to a window of 1280 × 720 pixels, or saves a screenshot after some frames.
/// `configure` may change Bevy's default plugins.
pub fn new(
    title: &str,
    screenshot: Option<(&Screenshot, u32)>,
    configure: impl FnOnce(PluginGroupBuilder) -> PluginGroupBuilder,
) -> App {
    let mut app = App::new();
    if let Some((Screenshot { file, size }, frames)) = screenshot {
        let plugins = offscreen_plugins().disable::<WinitPlugin>().set(LogPlugin {
            level: Level::WARN,
            ..default()
        });
        app.add_plugins(configure(plugins)).add_plugins(
            OffscreenPlugin::new(file)
                .with_size(size.width, size.height)
                .with_frames(frames),
        );
    } else {
        let plugins = DefaultPlugins.set(WindowPlugin {
            primary_window: Some(Window {
                title: title.into(),
                resolution: (1280, 720).into(),
                present_mode: PresentMode::AutoVsync,
                ..default()
            }),
            ..default()
        });
        app.add_plugins(configure(plugins));
    }
    app
}

/// Runs the app until its window is closed or its screenshot is saved.
pub fn run(mut app: App) -> Result<(), AnyError> {
    let offscreen = app.world().contains_resource::<Offscreen>();
    match app.run() {
        AppExit::Success => Ok(()),
        AppExit::Error(_) if offscreen => {
            Err("the screenshot was not saved; the messages above say why".into())
        }
        AppExit::Error(_) => Err("the app ended; the messages above say why".into()),
    }
}

/// Ends the app when Esc is pressed.
pub fn quit_on_escape(keys: Res<ButtonInput<KeyCode>>, mut exit: MessageWriter<AppExit>) {
    if keys.just_pressed(KeyCode::Escape) {
        exit.write(AppExit::Success);
    }
}
