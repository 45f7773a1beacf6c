//! Headless rendering of an app to a PNG file. Needs an adapter (software is enough), but no
//! window or display.
//!
//! ```no_run
//! use std::sync::Arc;
//! use bevy::prelude::*;
//! use bevy_rapier_molecules::prelude::*;
//! use bevy_rapier_molecules::render::{MoleculeInstance, MoleculeRenderPlugin};
//! use bevy_rapier_molecules::render::offscreen::{
//!     OffscreenPlugin, adapter, offscreen_plugins,
//! };
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! // Bevy's renderer needs an adapter: fail early if there is none.
//! println!("rendering on {}", adapter()?);
//! let lipid = Arc::new(load("assets/molecules/popc.pdb", &LoadOptions::default())?);
//! // With the feature `bevy_winit`, also `.disable::<bevy::winit::WinitPlugin>()`.
//! let exit = App::new()
//!     .add_plugins((offscreen_plugins(), MoleculeRenderPlugin))
//!     .add_plugins(OffscreenPlugin::new("picture.png").with_size(1280, 720).with_frames(60))
//!     .insert_resource(MoleculeStyle { headlight: 0.8, ..default() })
//!     .add_systems(Startup, move |mut commands: Commands| {
//!         commands.spawn((Camera3d::default(), Transform::from_xyz(0.0, 0.0, 6.0)));
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
//! The app exits after saving the image, or with an error, which is logged and stored in
//! [`Offscreen::error`]. The last frame waits up to 30 s until all pipelines are compiled.

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

/// Maximum time for which the last frame waits for pipelines. After that, an incomplete image is
/// better than none.
const MAX_PIPELINE_WAIT: Duration = Duration::from_secs(30);

/// Interval at which the last frame polls for pipelines.
const POLL_INTERVAL: Duration = Duration::from_millis(5);

/// Maximum pixels along a side, supported by every adapter.
const MAX_PIXELS: u32 = 8192;

/// Maximum frames between requesting and receiving a screenshot, which takes a few frames.
const MAX_SCREENSHOT_FRAMES: u32 = 1000;

/// Why no image was saved.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum OffscreenError {
    /// The renderer returned no image, or one in an unsupported format.
    #[error("the renderer returned no image: {0}")]
    NoImage(String),
    /// Writing the file failed.
    #[error("failed to write {file}: {reason}")]
    NotWritten {
        /// The file.
        file: PathBuf,
        /// The error of the image encoder.
        reason: String,
    },
}

/// The adapter that rendering would use. Check it before adding Bevy's renderer, which needs one.
///
/// # Errors
/// [`DeviceError`] if there is no working adapter.
pub fn adapter() -> Result<AdapterSummary, DeviceError> {
    let device = GpuDevice::headless(&GpuOptions::default())?;
    Ok(device.summary().clone())
}

/// Bevy's default plugins without a window, and with synchronous pipeline compilation, so that
/// images are complete.
///
/// With Bevy's feature `bevy_winit`, also disable `WinitPlugin`, which needs a display.
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

/// Renders all cameras that target a window to an image instead, saves it as a PNG file after
/// some frames, and exits the app, with an error if saving failed.
#[derive(Clone, Debug)]
pub struct OffscreenPlugin {
    file: PathBuf,
    size: UVec2,
    frames: u32,
}

impl OffscreenPlugin {
    /// Saves the first frame to a PNG file, 1280 × 720 pixels.
    #[must_use]
    pub fn new(file: impl Into<PathBuf>) -> Self {
        Self {
            file: file.into(),
            size: UVec2::new(1280, 720),
            frames: 1,
        }
    }

    /// Width and height in pixels, clamped to 1..=8192. Default: 1280 × 720.
    #[must_use]
    pub fn with_size(mut self, width: u32, height: u32) -> Self {
        self.size = UVec2::new(width, height).clamp(UVec2::ONE, UVec2::splat(MAX_PIXELS));
        self
    }

    /// Number of frames after which the image is saved; at least 1. Default: 1.
    #[must_use]
    pub fn with_frames(mut self, frames: u32) -> Self {
        self.frames = frames.max(1);
        self
    }
}

/// State of the image in apps with an [`OffscreenPlugin`].
#[derive(Clone, Debug, Resource, Reflect)]
#[reflect(Clone, Debug, from_reflect = false)]
pub struct Offscreen {
    /// The image that cameras render to.
    pub target: Handle<Image>,
    /// Remaining frames until it is saved.
    pub frames_left: u32,
    /// While true, frames are not counted, for scenes that are still loading. Default: false.
    pub hold: bool,
    /// The file.
    pub file: PathBuf,
    /// The error, if saving failed.
    #[reflect(ignore)]
    pub error: Option<OffscreenError>,
    /// Frames since the screenshot was requested.
    screenshot_frames: u32,
    /// When the last frame started to wait for pipelines.
    #[reflect(ignore)]
    waiting_since: Option<Instant>,
}

/// Whether pipelines are still being compiled, in which case what they draw is missing. Shared
/// with the render world.
#[derive(Clone, Debug, Default, Resource)]
struct PipelinesPending(Arc<AtomicBool>);

fn check_pipelines(cache: Res<PipelineCache>, pending: Res<PipelinesPending>) {
    let waiting = cache.waiting_pipelines().next().is_some();
    pending.0.store(waiting, Ordering::Relaxed);
}

impl Plugin for OffscreenPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<ScheduleRunnerPlugin>() {
            app.add_plugins(ScheduleRunnerPlugin::run_loop(Duration::ZERO));
        }
        let format = TextureFormat::Rgba8UnormSrgb;
        let mut image = Image::new_target_texture(self.size.x, self.size.y, format, None);
        image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
        let mut images = app.world_mut().get_resource_or_init::<Assets<Image>>();
        let offscreen = Offscreen {
            target: images.add(image),
            frames_left: self.frames,
            hold: false,
            file: self.file.clone(),
            error: None,
            screenshot_frames: 0,
            waiting_since: None,
        };
        app.register_type::<Offscreen>()
            .insert_resource(offscreen)
            .init_resource::<PipelinesPending>()
            .add_systems(PostUpdate, retarget_cameras.before(CameraUpdateSystems))
            .add_systems(Last, count_frames);
    }

    /// Runs here because the renderer may be added after this plugin.
    fn finish(&self, app: &mut App) {
        let pending = app.world().resource::<PipelinesPending>().clone();
        if let Some(render_app) = app.get_sub_app_mut(RenderApp) {
            render_app
                .insert_resource(pending)
                .add_systems(Render, check_pipelines.in_set(RenderSystems::Cleanup));
        }
    }
}

/// Redirects cameras from the window to the image.
fn retarget_cameras(
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
    pending: Res<PipelinesPending>,
    mut exit: MessageWriter<AppExit>,
) {
    if offscreen.frames_left == 0 {
        offscreen.screenshot_frames += 1;
        if offscreen.screenshot_frames == MAX_SCREENSHOT_FRAMES {
            let error =
                OffscreenError::NoImage(format!("timeout after {MAX_SCREENSHOT_FRAMES} frames"));
            error!("{error}");
            offscreen.error = Some(error);
            exit.write(AppExit::error());
        }
        return;
    }
    if offscreen.hold {
        return;
    }
    if offscreen.frames_left == 1 && pending.0.load(Ordering::Relaxed) {
        let since = *offscreen.waiting_since.get_or_insert_with(Instant::now);
        if since.elapsed() < MAX_PIPELINE_WAIT {
            // Leave the CPU to the compilation.
            std::thread::sleep(POLL_INTERVAL);
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

/// Saves an image without its alpha channel.
fn write_png(image: &Image, file: PathBuf) -> Result<(), OffscreenError> {
    let rgba = image.clone().try_into_dynamic();
    let rgba = rgba.map_err(|error| OffscreenError::NoImage(error.to_string()))?;
    let written = rgba.to_rgb8().save(&file);
    written.map_err(|error| OffscreenError::NotWritten {
        reason: error.to_string(),
        file,
    })
}
