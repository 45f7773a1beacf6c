//! Pictures of an app without a window or a display: an adapter is enough, if only one in
//! software.
//!
//! ```no_run
//! use std::sync::Arc;
//! use bevy::prelude::*;
//! use bevy_rapier_molecules::prelude::*;
//! use bevy_rapier_molecules::render::offscreen::{
//!     OffscreenPlugin, adapter, offscreen_plugins,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Bevy's renderer needs an adapter: an error says why there is none.
//! println!("drawn by {}", adapter()?);
//! let lipid = Arc::new(load("assets/molecules/popc.pdb", &LoadOptions::default())?);
//! // With the feature `bevy_winit`, also `.disable::<bevy::winit::WinitPlugin>()`.
//! let exit = App::new()
//!     .add_plugins((offscreen_plugins(), MoleculeRenderPlugin))
//!     .add_plugins(OffscreenPlugin::new("picture.png").with_size(1280, 720).with_frames(60))
//!     .insert_resource(MoleculeStyle { headlight: 0.8, ..default() })
//!     .add_systems(Startup, move |mut commands: Commands| {
//!         let from = Transform::from_xyz(0.0, 0.0, 6.0);
//!         commands.spawn((Camera3d::default(), from));
//!         commands.spawn(InstancedMolecules {
//!             templates: vec![Arc::clone(&lipid)],
//!             molecules: vec![MoleculeInstance::new(0, Pose::IDENTITY)],
//!             ..default()
//!         });
//!     })
//!     .run();
//! assert!(exit.is_success());
//! # Ok(())
//! # }
//! ```
//!
//! The app ends with the picture, or with an error that [`Offscreen::error`] and the log
//! tell. The last frame waits until all shaders are there, half a minute at most.

use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use bevy::app::{PluginGroupBuilder, ScheduleRunnerPlugin};
use bevy::camera::{CameraUpdateSystems, RenderTarget};
use bevy::prelude::*;
use bevy::render::render_resource::{PipelineCache, TextureFormat, TextureUsages};
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured};
use bevy::render::{Render, RenderApp, RenderPlugin, RenderSystems};
use bevy::window::ExitCondition;
use thiserror::Error;

use crate::backend::DeviceError;
use crate::gpu::{AdapterSummary, GpuDevice, GpuOptions};

/// Longest time that the last frame waits for shaders: a picture without them is better
/// than none.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// Time between two looks whether they are there.
const SHORT_WAIT: Duration = Duration::from_millis(5);

/// Most pixels along a side: what every adapter can do.
const MOST_PIXELS: u32 = 8192;

/// Frames to wait for a picture that was asked for. It comes a few frames later.
const PATIENCE: u32 = 1000;

/// Why there is no picture.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum OffscreenError {
    /// The renderer did not deliver, or what it delivered is no picture.
    #[error("the renderer gave no picture: {0}")]
    NoPicture(String),
    /// The file cannot be written.
    #[error("{file} cannot be written: {reason}")]
    NotWritten {
        /// The file.
        file: PathBuf,
        /// What is wrong, in a sentence.
        reason: String,
    },
}

/// The adapter that a picture would be made with. Bevy's renderer needs one: ask before
/// adding it.
///
/// # Errors
/// [`DeviceError`] if there is none, or it does not work.
pub fn adapter() -> Result<AdapterSummary, DeviceError> {
    let device = GpuDevice::headless(&GpuOptions::default())?;
    Ok(device.summary().clone())
}

/// Bevy's default plugins without a window, and with pipelines that are ready when they
/// are first used, so that nothing is missing from a picture.
///
/// With Bevy's feature `bevy_winit`, disable `WinitPlugin`, too: it needs a display.
#[must_use]
pub fn offscreen_plugins() -> PluginGroupBuilder {
    DefaultPlugins
        .set(WindowPlugin {
            primary_window: None,
            exit_condition: ExitCondition::DontExit,
            ..default()
        })
        .set(RenderPlugin {
            synchronous_pipeline_compilation: true,
            ..default()
        })
}

/// Renders every camera that has no other target to a picture, saves that as a PNG file
/// after some frames, and ends the app: with an error if there is no picture.
#[derive(Clone, Debug)]
pub struct OffscreenPlugin {
    file: PathBuf,
    size: UVec2,
    frames: u32,
}

impl OffscreenPlugin {
    /// Saves the picture to a PNG file: of the first frame, 1280 × 720 pixels.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self {
            file: file.into(),
            size: UVec2::new(1280, 720),
            frames: 1,
        }
    }

    /// Width and height, pixels, from 1 to 8192; others are brought there. Default:
    /// 1280 × 720.
    #[must_use]
    pub fn with_size(mut self, width: u32, height: u32) -> Self {
        self.size = UVec2::new(width, height).clamp(UVec2::ONE, UVec2::splat(MOST_PIXELS));
        self
    }

    /// Saves the picture after so many frames; at least one. Default: 1.
    #[must_use]
    pub fn with_frames(mut self, frames: u32) -> Self {
        self.frames = frames.max(1);
        self
    }
}

/// What becomes of the picture. In apps with an [`OffscreenPlugin`].
#[derive(Clone, Debug, Resource)]
pub struct Offscreen {
    /// The picture that cameras render to.
    pub target: Handle<Image>,
    /// Frames until it is saved.
    pub frames_left: u32,
    /// While true, frames do not count: the scene is not ready yet. Default: false.
    pub hold: bool,
    /// The file.
    pub file: PathBuf,
    /// Why there is no picture, if something went wrong.
    pub error: Option<OffscreenError>,
    /// Frames since the picture was asked for.
    waited: u32,
    /// When the last frame began to wait for shaders.
    waits_since: Option<Instant>,
}

/// Whether the renderer still waits for shaders: they are loaded beside it, however long
/// that takes, and what needs them is not drawn before. Shared with the renderer.
#[derive(Clone, Debug, Default, Resource)]
struct ShadersMissing(Arc<AtomicBool>);

fn look_for_shaders(cache: Res<PipelineCache>, missing: Res<ShadersMissing>) {
    let waits = cache.waiting_pipelines().next().is_some();
    missing.0.store(waits, Ordering::Relaxed);
}

impl Plugin for OffscreenPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<ScheduleRunnerPlugin>() {
            app.add_plugins(ScheduleRunnerPlugin::run_loop(Duration::ZERO));
        }
        let mut images = app.world_mut().get_resource_or_init::<Assets<Image>>();
        let offscreen = Offscreen {
            target: images.add(target_image(self.size)),
            frames_left: self.frames,
            hold: false,
            file: self.file.clone(),
            error: None,
            waited: 0,
            waits_since: None,
        };
        app.insert_resource(offscreen)
            .init_resource::<ShadersMissing>()
            .add_systems(PostUpdate, aim_cameras.before(CameraUpdateSystems))
            .add_systems(Last, count_frames);
    }

    /// The renderer may have been added after this.
    fn finish(&self, app: &mut App) {
        let missing = app.world().resource::<ShadersMissing>().clone();
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            render_app
                .insert_resource(missing)
                .add_systems(Render, look_for_shaders.in_set(RenderSystems::Cleanup));
        }
    }
}

fn target_image(size: UVec2) -> Image {
    let format = TextureFormat::Rgba8UnormSrgb;
    let mut image = Image::new_target_texture(size.x, size.y, format, None);
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    image
}

/// Cameras that would render to a window render to the picture.
fn aim_cameras(
    offscreen: Res<Offscreen>,
    mut targets: Query<&mut RenderTarget, (With<Camera>, Changed<RenderTarget>)>,
) {
    for mut target in &mut targets {
        if matches!(*target, RenderTarget::Window(_)) {
            *target = RenderTarget::Image(offscreen.target.clone().into());
        }
    }
}

fn count_frames(
    mut commands: Commands,
    mut offscreen: ResMut<Offscreen>,
    missing: Res<ShadersMissing>,
    mut exit: MessageWriter<AppExit>,
) {
    if offscreen.frames_left == 0 {
        offscreen.waited += 1;
        if offscreen.waited == PATIENCE {
            let error = OffscreenError::NoPicture(format!("{PATIENCE} frames have passed"));
            error!("{error}");
            offscreen.error = Some(error);
            exit.write(AppExit::error());
        }
        return;
    }
    if offscreen.hold {
        return;
    }
    if offscreen.frames_left == 1 && missing.0.load(Ordering::Relaxed) {
        let since = *offscreen.waits_since.get_or_insert_with(Instant::now);
        if since.elapsed() < LONGEST_WAIT {
            // Who loads them needs the processor more than we do.
            std::thread::sleep(SHORT_WAIT);
            return;
        }
    }
    offscreen.frames_left -= 1;
    if offscreen.frames_left == 0 {
        let screenshot = Screenshot::image(offscreen.target.clone());
        commands.spawn(screenshot).observe(save);
    }
}

fn save(
    captured: On<ScreenshotCaptured>,
    mut offscreen: ResMut<Offscreen>,
    mut exit: MessageWriter<AppExit>,
) {
    let file = offscreen.file.clone();
    match write_png(&captured.image, file) {
        Ok(()) => {
            info!("saved {}", offscreen.file.display());
            exit.write(AppExit::Success);
        }
        Err(error) => {
            error!("{error}");
            offscreen.error = Some(error);
            exit.write(AppExit::error());
        }
    }
}

/// Saves a picture without its transparency.
fn write_png(image: &Image, file: PathBuf) -> Result<(), OffscreenError> {
    let picture = image.clone().try_into_dynamic();
    let picture = picture.map_err(|error| OffscreenError::NoPicture(error.to_string()))?;
    let written = picture.to_rgb8().save(&file);
    written.map_err(|error| OffscreenError::NotWritten {
        reason: error.to_string(),
        file,
    })
}
