//! Headless apps that render to images.

use std::sync::{Arc, Mutex};

use bevy::app::{PluginsState, TerminalCtrlCHandlerPlugin};
use bevy::camera::RenderTarget;
use bevy::core_pipeline::{Core3d, Core3dSystems};
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_resource::{
    Buffer, BufferDescriptor, BufferUsages, Extent3d, MapMode, PollType, TexelCopyBufferInfo,
    TexelCopyBufferLayout, TexelCopyTextureInfo, TextureAspect, TextureUsages,
};
use bevy::render::renderer::{RenderContext, RenderDevice, ViewQuery};
use bevy::render::view::ViewDepthTexture;
use bevy::render::view::screenshot::{Screenshot, ScreenshotCaptured};
use bevy::render::{Render, RenderApp, RenderSystems};
use bevy::tasks::tick_global_task_pools_on_main_thread;
use bevy::winit::WinitPlugin;
use bevy_rapier_molecules::molecule::{Atom, Element, Residue};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::offscreen::offscreen_plugins;
use bevy_rapier_molecules::render::{MoleculeInstance, MoleculeRenderPlugin};

use crate::common::gpu_device::device;

/// Width and height of images, pixels. Rows of depths must be multiples of 256 bytes.
pub const SIZE: UVec2 = UVec2::new(128, 64);

/// Maximum frames between requesting and receiving a screenshot.
const MAX_FRAMES: usize = 50;

/// An app with a renderer and our plugin, but without a window. Logs if `RUST_LOG` is set.
pub fn render_app() -> App {
    let mut app = App::new();
    let mut plugins = offscreen_plugins()
        .disable::<WinitPlugin>()
        .disable::<TerminalCtrlCHandlerPlugin>()
        .disable::<PipelinedRenderingPlugin>();
    if std::env::var_os("RUST_LOG").is_none() {
        plugins = plugins.disable::<LogPlugin>();
    }
    app.add_plugins(plugins);
    app.add_plugins(MoleculeRenderPlugin)
        .insert_resource(ClearColor(Color::BLACK))
        .insert_resource(GlobalAmbientLight::NONE);
    app
}

/// Finishes all plugins.
pub fn finish_plugins(app: &mut App) {
    while app.plugins_state() == PluginsState::Adding {
        tick_global_task_pools_on_main_thread();
    }
    app.finish();
    app.cleanup();
}

/// An app that is ready to render; `None` without an adapter.
#[track_caller]
pub fn ready_app(style: MoleculeStyle) -> Option<App> {
    device()?;
    let mut app = render_app();
    finish_plugins(&mut app);
    app.insert_resource(style);
    Some(app)
}

/// Lit by the camera only, without effects.
pub fn headlit(color: ColorMode) -> MoleculeStyle {
    MoleculeStyle {
        headlight: 1.0,
        ..MoleculeStyle::plain(color)
    }
}

/// A camera 4 nm in front of the origin.
pub fn default_camera_transform() -> Transform {
    Transform::from_xyz(0.0, 0.0, 4.0)
}

/// Spawns a camera at a distance (nm) in front of the origin; returns its render target.
pub fn spawn_camera_at(app: &mut App, distance: f32) -> Handle<Image> {
    let image = target(app, SIZE);
    let transform = Transform::from_xyz(0.0, 0.0, distance);
    app.world_mut().spawn((camera(&image), transform));
    image
}

/// An image that cameras can render to.
pub fn target(app: &mut App, size: UVec2) -> Handle<Image> {
    let mut image = Image::new_target_texture(
        size.x,
        size.y,
        bevy::render::render_resource::TextureFormat::Rgba8UnormSrgb,
        None,
    );
    image.texture_descriptor.usage |= TextureUsages::COPY_SRC;
    app.world_mut().resource_mut::<Assets<Image>>().add(image)
}

/// A camera without tone mapping and dithering.
pub fn camera(target: &Handle<Image>) -> impl Bundle {
    (
        Camera3d {
            depth_texture_usages: (TextureUsages::RENDER_ATTACHMENT | TextureUsages::COPY_SRC)
                .into(),
            ..default()
        },
        Msaa::Off,
        bevy::core_pipeline::tonemapping::Tonemapping::None,
        bevy::core_pipeline::tonemapping::DebandDither::Disabled,
        RenderTarget::Image(target.clone().into()),
    )
}

/// An image, row by row from the top.
#[derive(Clone, Debug)]
pub struct Frame {
    pub size: UVec2,
    pub pixels: Vec<[u8; 4]>,
}

impl Frame {
    pub fn at(&self, x: u32, y: u32) -> [u8; 4] {
        self.pixels[(y * self.size.x + x) as usize]
    }
}

/// Number of pixels that are not black, up to rounding.
pub fn lit_pixels(frame: &Frame) -> usize {
    let is_lit = |pixel: &&[u8; 4]| pixel[..3].iter().any(|&part| part > 2);
    frame.pixels.iter().filter(is_lit).count()
}

#[derive(Clone, Default, Resource)]
struct CapturedFrame(Arc<Mutex<Option<Frame>>>);

/// Renders the next frame and reads it back.
pub fn screenshot(app: &mut App, target: &Handle<Image>) -> Frame {
    // The first frame creates resources that the second one draws.
    app.update();
    let captured_frame = CapturedFrame::default();
    let sink = captured_frame.clone();
    let screenshot = Screenshot::image(target.clone());
    app.world_mut()
        .spawn(screenshot)
        .observe(move |captured: On<ScreenshotCaptured>| {
            let image = &captured.image;
            let pixels = image.data.as_ref().expect("a screenshot has pixels");
            let (pixels, rest) = pixels.as_chunks();
            assert!(rest.is_empty());
            *sink.0.lock().unwrap() = Some(Frame {
                size: image.size(),
                pixels: pixels.to_vec(),
            });
        });
    for _ in 0..MAX_FRAMES {
        app.update();
        if let Some(image) = captured_frame.0.lock().unwrap().take() {
            return image;
        }
    }
    panic!("no screenshot after {MAX_FRAMES} frames");
}

/// The depth buffer of the last frame, row by row from the top.
#[derive(Clone, Default, Resource)]
pub struct Depths(Arc<Mutex<Vec<f32>>>);

impl Depths {
    pub fn take(&self) -> Vec<f32> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

#[derive(Resource)]
struct DepthBuffer(Buffer);

/// Reads back the depth buffer of a camera with an image of [`SIZE`].
pub fn record_depths(app: &mut App) -> Depths {
    let depths = Depths::default();
    app.sub_app_mut(RenderApp)
        .insert_resource(depths.clone())
        .add_systems(
            Render,
            create_buffer_once.in_set(RenderSystems::PrepareResources),
        )
        .add_systems(Core3d, copy_depths.in_set(Core3dSystems::EarlyPostProcess))
        .add_systems(Render, read_depths.in_set(RenderSystems::Cleanup));
    depths
}

fn create_buffer_once(
    mut commands: Commands,
    device: Res<RenderDevice>,
    known: Option<Res<DepthBuffer>>,
) {
    if known.is_none() {
        commands.insert_resource(DepthBuffer(device.create_buffer(&BufferDescriptor {
            label: Some("depths"),
            size: u64::from(SIZE.x * SIZE.y * 4),
            usage: BufferUsages::COPY_DST | BufferUsages::MAP_READ,
            mapped_at_creation: false,
        })));
    }
}

fn copy_depths(
    view: ViewQuery<&ViewDepthTexture>,
    buffer: Res<DepthBuffer>,
    mut ctx: RenderContext,
) {
    let depth = view.into_inner();
    ctx.command_encoder().copy_texture_to_buffer(
        TexelCopyTextureInfo {
            texture: &depth.texture,
            mip_level: 0,
            origin: default(),
            aspect: TextureAspect::DepthOnly,
        },
        TexelCopyBufferInfo {
            buffer: &buffer.0,
            layout: TexelCopyBufferLayout {
                offset: 0,
                bytes_per_row: Some(SIZE.x * 4),
                rows_per_image: None,
            },
        },
        Extent3d {
            width: SIZE.x,
            height: SIZE.y,
            depth_or_array_layers: 1,
        },
    );
}

fn read_depths(buffer: Option<Res<DepthBuffer>>, device: Res<RenderDevice>, depths: Res<Depths>) {
    let Some(buffer) = buffer else {
        return;
    };
    let slice = buffer.0.slice(..);
    slice.map_async(MapMode::Read, |done| done.unwrap());
    device.poll(PollType::wait_indefinitely()).unwrap();
    {
        let bytes = slice.get_mapped_range();
        let numbers = bytes.chunks_exact(4);
        *depths.0.lock().unwrap() = numbers
            .map(|number| f32::from_le_bytes(number.try_into().unwrap()))
            .collect();
    }
    buffer.0.unmap();
}

/// A molecule of one atom.
pub fn atom(element: Element, radius: f32) -> Arc<MoleculeTemplate> {
    let atom = Atom {
        position: Vec3::ZERO,
        radius,
        element,
        name: element.symbol().into(),
        residue: 0,
    };
    let residues = vec![Residue::default()];
    Arc::new(MoleculeTemplate::new("atom", vec![atom], residues).unwrap())
}

/// Loads one of the bundled structures.
pub fn template(file: &str) -> Arc<MoleculeTemplate> {
    let path = format!("{}/assets/molecules/{file}", env!("CARGO_MANIFEST_DIR"));
    Arc::new(load(path, &LoadOptions::default()).unwrap())
}

/// One molecule at the origin.
pub fn single_molecule(template: Arc<MoleculeTemplate>) -> InstancedMolecules {
    InstancedMolecules {
        templates: vec![template],
        molecules: vec![MoleculeInstance::default()],
        ..default()
    }
}
