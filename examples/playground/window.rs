//! The playground with a window.

use bevy::app::AppExit;
use bevy::diagnostic::FrameTimeDiagnosticsPlugin;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::window::{PresentMode, WindowPlugin};

use super::AnyError;
use super::arguments::Arguments;
use super::camera::{Orbit, OrbitPlugin};
use super::controls::ControlsPlugin;
use super::grab::GrabPlugin;
use super::looks::LooksPlugin;
use super::overlay::OverlayPlugin;
use super::scene::{self, ASSETS, ScenePlugin, Standing};
use super::screenshot::ScreenshotPlugin;

/// Colour of the sky.
const BACKGROUND: Color = Color::srgb(0.80, 0.84, 0.88);

/// Runs the scene until the window is closed.
pub fn run(arguments: &Arguments) -> Result<(), AnyError> {
    let mut app = App::new();
    let window = Window {
        title: "Playground of proteins".into(),
        resolution: (1280, 720).into(),
        present_mode: match arguments.screenshot {
            Some(_) => PresentMode::AutoNoVsync,
            None => PresentMode::AutoVsync,
        },
        ..default()
    };
    app.add_plugins(
        DefaultPlugins
            .set(super::task_pools(arguments))
            .set(WindowPlugin {
                primary_window: Some(window),
                ..default()
            })
            .set(AssetPlugin {
                file_path: ASSETS.into(),
                ..default()
            })
            .set(RenderPlugin {
                // A picture must not be taken before everything can be drawn.
                synchronous_pipeline_compilation: arguments.screenshot.is_some(),
                ..default()
            }),
    )
    .add_plugins((
        ScenePlugin::from(arguments),
        FrameTimeDiagnosticsPlugin::default(),
        LooksPlugin {
            tint: arguments.tint,
        },
        OrbitPlugin,
        OverlayPlugin,
        ControlsPlugin,
        GrabPlugin,
    ))
    .insert_resource(ClearColor(BACKGROUND))
    .insert_resource(GlobalAmbientLight {
        color: Color::srgb(0.85, 0.92, 1.0),
        brightness: 450.0,
        ..default()
    })
    .add_systems(
        Update,
        (
            frame_scene.run_if(resource_added::<Standing>),
            give_up.run_if(not(resource_exists::<Standing>)),
        ),
    );
    if let Some(path) = &arguments.screenshot {
        app.add_plugins(ScreenshotPlugin {
            path: path.clone(),
            steps: arguments.steps,
        });
    }
    let exit = app.run();
    match (exit, &arguments.screenshot) {
        (AppExit::Error(_), _) => Err("the window ended with an error".into()),
        (AppExit::Success, Some(path)) if !path.is_file() => {
            Err(format!("no picture was saved to '{}'", path.display()).into())
        }
        (AppExit::Success, _) => Ok(()),
    }
}

/// Lights the box and looks at it. Once: when it starts again, the view stays.
fn frame_scene(mut commands: Commands, scene: Res<Standing>, cameras: Query<(), With<Orbit>>) {
    if !cameras.is_empty() {
        return;
    }
    let distance = 2.7 * scene.half_width + 2.0 * scene.pitch;
    commands.spawn((
        Camera3d::default(),
        Msaa::Sample4,
        Orbit {
            focus: Vec3::Y * scene.pitch * 0.95,
            distance,
            yaw: 0.5,
            pitch: 0.5,
        },
    ));
    let cascades = CascadeShadowConfigBuilder {
        num_cascades: 2,
        minimum_distance: 0.3 * distance,
        first_cascade_far_bound: distance,
        maximum_distance: distance + 4.0 * scene.half_width,
        ..default()
    };
    commands.spawn((
        DirectionalLight {
            color: Color::srgb(1.0, 0.96, 0.9),
            illuminance: 9_000.0,
            shadow_maps_enabled: true,
            ..default()
        },
        cascades.build(),
        Transform::from_xyz(0.6, 1.6, 0.9).looking_at(Vec3::ZERO, Vec3::Y),
    ));
}

/// Ends the app if a file cannot be loaded.
fn give_up(world: &mut World) {
    if let Some(failure) = scene::failure(world) {
        error!("{failure}");
        world.write_message(AppExit::error());
    }
}
