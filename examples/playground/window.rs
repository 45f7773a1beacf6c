//! The playground with a window.

use bevy::app::{AppExit, PluginGroupBuilder};
use bevy::diagnostic::FrameTimeDiagnosticsPlugin;
use bevy::light::CascadeShadowConfigBuilder;
use bevy::prelude::*;
use bevy_rapier_molecules::render::offscreen::Offscreen;

use super::arguments::Arguments;
use super::common::AnyError;
use super::controls::ControlsPlugin;
use super::grab::GrabPlugin;
use super::looks::LooksPlugin;
use super::orbit::{Orbit, OrbitPlugin};
use super::overlay::OverlayPlugin;
use super::scene::{self, ASSETS, ScenePlugin, Standing};
use super::screen::picture::{self, Shot};
use super::screen::window;

/// Color of the sky.
pub const BACKGROUND: Color = Color::srgb(0.80, 0.84, 0.88);

/// Frames that are drawn for a picture, so that textures and shadows are there.
const FRAMES: u32 = 2;

/// Runs the scene until the window is closed, or the picture is saved.
pub fn run(arguments: &Arguments, shot: Option<&Shot>) -> Result<(), AnyError> {
    let change = |plugins: PluginGroupBuilder| {
        plugins.set(super::task_pools(arguments)).set(AssetPlugin {
            file_path: ASSETS.into(),
            ..default()
        })
    };
    let mut app = match shot {
        // A picture is taken after at least one frame.
        Some(shot) => picture::app(shot, arguments.steps.max(1), change),
        None => window::app("Playground of proteins", change),
    };
    app.add_plugins((
        ScenePlugin::from(arguments),
        FrameTimeDiagnosticsPlugin::default(),
        LooksPlugin {
            tint: arguments.tint,
        },
        OrbitPlugin {
            buttons: &[MouseButton::Right],
        },
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
    if shot.is_some() {
        app.add_systems(First, wait);
        return picture::finish(app);
    }
    window::finish(app)
}

/// Frames count from the first step, and nothing is drawn before the last few.
fn wait(
    scene: Option<Res<Standing>>,
    mut offscreen: ResMut<Offscreen>,
    mut cameras: Query<&mut Camera>,
) {
    offscreen.hold = scene.is_none();
    let draw = (1..=FRAMES).contains(&offscreen.frames_left);
    for mut camera in &mut cameras {
        if camera.is_active != draw {
            camera.is_active = draw;
        }
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
        // Where there is no window, the text would not know where to be.
        IsDefaultUiCamera,
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
