//! What a frame costs: molecules as one crowd, against the same atoms as Bevy's own
//! instanced icosphere meshes.
//!
//! ```sh
//! cargo bench --bench draw
//! cargo bench --bench draw -- --rounds 5 --million
//! ```
//!
//! Both worlds show a vesicle of POPC at 640 × 360 pixels with one light, without
//! multisampling. A frame is everything from `App::update` until the device is done. The
//! worlds take turns, and of each the best and the median frame count.

use std::error::Error;
use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy::app::{PluginsState, TerminalCtrlCHandlerPlugin};
use bevy::camera::RenderTarget;
use bevy::log::LogPlugin;
use bevy::prelude::*;
use bevy::render::pipelined_rendering::PipelinedRenderingPlugin;
use bevy::render::render_resource::{PollType, TextureFormat};
use bevy::render::renderer::RenderDevice;
use bevy::tasks::tick_global_task_pools_on_main_thread;
use bevy::winit::WinitPlugin;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::offscreen::{adapter, offscreen_plugins};
use clap::Parser;

/// Picture, pixels.
const SIZE: UVec2 = UVec2::new(640, 360);

/// Area of each lipid at the heads, nm².
const AREA_PER_LIPID: f32 = 1.23;

/// Frames before the clock starts: pipelines and arrays are made in them.
const WARM_UP: usize = 4;

/// What a frame costs.
#[derive(Debug, Parser)]
struct Arguments {
    /// Frames of each world.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Also draws a million atoms, as a crowd only.
    #[arg(long)]
    million: bool,
    /// Subdivisions of the icospheres: 1 is 80 triangles, Bevy's default is 5 with 720.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 5])]
    subdivisions: Vec<u32>,
    /// Given by `cargo bench`.
    #[arg(long, hide = true)]
    bench: bool,
}

/// A world that draws.
struct Stage {
    name: String,
    app: App,
    times: Vec<Duration>,
}

impl Stage {
    fn new(name: impl Into<String>, distance: f32) -> Self {
        let mut app = App::new();
        app.add_plugins(
            offscreen_plugins()
                .disable::<WinitPlugin>()
                .disable::<LogPlugin>()
                .disable::<TerminalCtrlCHandlerPlugin>()
                .disable::<PipelinedRenderingPlugin>(),
        );
        app.add_plugins(MoleculeRenderPlugin);
        while app.plugins_state() == PluginsState::Adding {
            tick_global_task_pools_on_main_thread();
        }
        app.finish();
        app.cleanup();
        app.insert_resource(MoleculeLook {
            detail: DrawDetail::Atoms,
            ..default()
        });
        let target = Image::new_target_texture(SIZE.x, SIZE.y, TextureFormat::Rgba8UnormSrgb, None);
        let target = app.world_mut().resource_mut::<Assets<Image>>().add(target);
        app.world_mut().spawn((
            Camera3d::default(),
            Msaa::Off,
            RenderTarget::Image(target.into()),
            Transform::from_xyz(0.0, 0.0, distance),
        ));
        app.world_mut().spawn((
            DirectionalLight::default(),
            Transform::from_xyz(2.0, 4.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y),
        ));
        Self {
            name: name.into(),
            app,
            times: Vec::new(),
        }
    }

    fn frame(&mut self) -> Duration {
        let start = Instant::now();
        self.app.update();
        let device = self.app.world().resource::<RenderDevice>();
        black_box(device.poll(PollType::wait_indefinitely()).ok());
        start.elapsed()
    }

    fn best(&self) -> Duration {
        self.times.iter().min().copied().unwrap_or_default()
    }

    fn median(&self) -> Duration {
        let mut times = self.times.clone();
        times.sort_unstable();
        times.get(times.len() / 2).copied().unwrap_or_default()
    }
}

/// A vesicle of about `atoms` atoms.
fn lipids(lipid: &Arc<MoleculeTemplate>, atoms: usize) -> Result<Vesicle, Box<dyn Error>> {
    let size = VesicleSize::Density {
        lipids: (atoms / lipid.atom_count()) as u32,
        area_per_lipid: AREA_PER_LIPID,
    };
    let config = VesicleConfig {
        size,
        ..VesicleConfig::default()
    };
    Ok(vesicle(lipid.clone(), &config)?)
}

/// The vesicle as one crowd.
fn crowd_stage(vesicle: &Vesicle, distance: f32) -> Stage {
    let mut stage = Stage::new("crowd", distance);
    stage.app.world_mut().spawn(DrawnCrowd::of(&vesicle.crowd));
    stage
}

/// The vesicle as one entity for each atom, which share a mesh and few materials.
fn mesh_stage(
    vesicle: &Vesicle,
    distance: f32,
    subdivisions: u32,
) -> Result<Stage, Box<dyn Error>> {
    let triangles = 20 * (subdivisions + 1).pow(2);
    let mut stage = Stage::new(format!("icospheres, {triangles} triangles"), distance);
    let world = stage.app.world_mut();
    let sphere = Sphere::new(1.0).mesh().ico(subdivisions)?;
    let mesh = world.resource_mut::<Assets<Mesh>>().add(sphere);
    let mut materials = std::collections::HashMap::new();
    for (template, pose) in vesicle.crowd.instances() {
        for atom in 0..template.atom_count() {
            let element = template.elements()[atom];
            let material = materials.entry(element).or_insert_with(|| {
                let hue = 40.0 * f32::from(element.atomic_number());
                let material = StandardMaterial::from(Color::hsl(hue % 360.0, 0.5, 0.6));
                world
                    .resource_mut::<Assets<StandardMaterial>>()
                    .add(material)
            });
            let material = MeshMaterial3d(material.clone());
            let place = pose.transform_point(template.positions()[atom]);
            let transform =
                Transform::from_translation(place).with_scale(Vec3::splat(template.radii()[atom]));
            world.spawn((Mesh3d(mesh.clone()), material, transform));
        }
    }
    Ok(stage)
}

#[expect(clippy::print_stdout, reason = "a bench prints its results")]
fn report(stages: &[Stage], atoms: usize) {
    let millis = |time: Duration| time.as_secs_f64() * 1.0e3;
    let reference = stages[0].best();
    for stage in stages {
        println!(
            "| {atoms} | {} | {:.1} | {:.1} | {:.1} | {:.1} |",
            stage.name,
            millis(stage.best()),
            millis(stage.median()),
            millis(stage.best()) * 1.0e6 / atoms as f64,
            stage.best().as_secs_f64() / reference.as_secs_f64(),
        );
    }
}

#[expect(clippy::print_stdout, reason = "a bench prints its results")]
fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    println!("adapter: {}, {} × {} pixels\n", adapter()?, SIZE.x, SIZE.y);
    println!("| atoms | world | best, ms | median, ms | ns an atom | ÷ crowd |");
    println!("|--:|---|--:|--:|--:|--:|");
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/assets/molecules/popc.pdb");
    let lipid = Arc::new(load(file, &LoadOptions::default())?);
    let sizes = [10_000, 100_000].into_iter();
    for size in sizes.chain(arguments.million.then_some(1_000_000)) {
        let vesicle = lipids(&lipid, size)?;
        let atoms = vesicle.crowd.atom_count();
        // The whole vesicle fills the height of the view.
        let distance = 2.6 * (vesicle.radius + vesicle.head_distance);
        let mut stages = vec![crowd_stage(&vesicle, distance)];
        if size < 1_000_000 {
            for &subdivisions in &arguments.subdivisions {
                stages.push(mesh_stage(&vesicle, distance, subdivisions)?);
            }
        }
        for stage in &mut stages {
            (0..WARM_UP).for_each(|_| drop(stage.frame()));
        }
        for _ in 0..arguments.rounds.max(1) {
            for stage in &mut stages {
                let time = stage.frame();
                stage.times.push(time);
            }
        }
        report(&stages, atoms);
    }
    Ok(())
}
