//! The playground in a window or a screenshot.

use bevy::app::{AppExit, PluginGroupBuilder};
use bevy::diagnostic::FrameTimeDiagnosticsPlugin;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::prelude::*;
use bevy_rapier_molecules::render::offscreen::Offscreen;

use super::appearance::AppearancePlugin;
use super::arguments::Arguments;
use super::common::orbit::{Orbit, OrbitPlugin};
use super::common::{AnyError, Screenshot, app};
use super::controls::ControlsPlugin;
use super::grab::GrabPlugin;
use super::overlay::OverlayPlugin;
use super::scene::{self, ASSETS, ScenePlan, ScenePlugin};

/// Color of the sky.
pub const SKY: Color = Color::srgb(0.80, 0.84, 0.88);

/// Frames drawn for a screenshot; textures and shadows need more than one.
const DRAWN_FRAMES: u32 = 2;

/// Runs the scene until the window is closed or the screenshot is saved.
pub fn run(arguments: &Arguments, screenshot: Option<&Screenshot>) -> Result<(), AnyError> {
    let configure = |plugins: PluginGroupBuilder| {
        plugins.set(super::task_pools(arguments)).set(AssetPlugin {
            file_path: ASSETS.into(),
            ..default()
        })
    };
    let frames = screenshot.map(|screenshot| (screenshot, arguments.steps.max(1)));
    let mut app = app::new("Protein playground", frames, configure);
    app.add_plugins((
        ScenePlugin::from(arguments),
        FrameTimeDiagnosticsPlugin::default(),
        AppearancePlugin {
            color_collisions: arguments.tint,
        },
        OrbitPlugin {
            buttons: &[MouseButton::Right],
        },
        OverlayPlugin,
        ControlsPlugin,
        GrabPlugin,
    ))
    .insert_resource(ClearColor(SKY))
    .insert_resource(GlobalAmbientLight {
        color: Color::srgb(0.85, 0.92, 1.0),
        brightness: 450.0,
        ..default()
    })
    .add_systems(
        Update,
        (
            spawn_camera_and_sun.run_if(resource_added::<ScenePlan>),
            exit_if_loading_failed.run_if(not(resource_exists::<ScenePlan>)),
            app::quit_on_escape,
        ),
    );
    if screenshot.is_some() {
        app.add_systems(First, draw_last_frames_only);
    }
    app::run(app)
}

/// Counts frames from the first step, and draws only the last few.
fn draw_last_frames_only(
    scene: Option<Res<ScenePlan>>,
    mut offscreen: ResMut<Offscreen>,
    mut cameras: Query<&mut Camera>,
) {
    offscreen.hold = scene.is_none();
    let draw = (1..=DRAWN_FRAMES).contains(&offscreen.frames_left);
    for mut camera in &mut cameras {
        if camera.is_active != draw {
            camera.is_active = draw;
        }
    }
}

/// Spawns the camera and the light once. A restart keeps the view.
fn spawn_camera_and_sun(
    mut commands: Commands,
    scene: Res<ScenePlan>,
    cameras: Query<(), With<Orbit>>,
) {
    if !cameras.is_empty() {
        return;
    }
    let distance = 2.7 * scene.half_width + 2.0 * scene.spacing;
    commands.spawn((
        Camera3d::default(),
        Msaa::Sample4,
        Orbit {
            focus: Vec3::Y * scene.spacing * 0.95,
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

fn exit_if_loading_failed(world: &mut World) {
    if let Some(error) = scene::loading_error(world) {
        error!("{error}");
        world.write_message(AppExit::error());
    }
}
