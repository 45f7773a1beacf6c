//! Cost of a frame: molecules drawn by this crate, against the same atoms as Bevy's instanced
//! icosphere meshes.
//!
//! Both show a POPC vesicle at 640 × 360 pixels with one light, without multisampling. A frame
//! lasts from `App::update` until the device is idle. Rounds are interleaved; the best and the
//! median frame are reported.

mod common;

use std::collections::HashMap;
use std::error::Error;
use std::hint::black_box;
use std::process::ExitCode;
use std::sync::Arc;
use std::time::Duration;

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
use bevy_rapier_molecules::render::{DrawDetail, MoleculeRenderPlugin};
use bevy_rapier_molecules::scenes::Vesicle;
use clap::Args;
use common::interleave::{Rounds, Samples, interleave, ms};
use common::molecules::{MIN_VESICLE_ATOMS, atoms_from, popc, vesicle_of};
use common::{Cell, Column, Done, Part, Run};

/// Image size, pixels.
const SIZE: UVec2 = UVec2::new(640, 360);

/// Untimed frames at the start, in which pipelines and buffers are created.
const WARM_UP: usize = 4;

/// Vesicle sizes, atoms.
const ATOMS: [usize; 3] = [30_000, 100_000, 1_000_000];

/// Meshes are skipped from this many atoms on: a frame would take minutes.
const MESH_LIMIT: usize = 1_000_000;

/// Vesicle size in a quick run, atoms.
const FEW_ATOMS: usize = 20_000;

#[derive(Args)]
struct Options {
    /// Frames per renderer.
    #[arg(long, value_name = "N", default_value_t = 7)]
    rounds: usize,
    /// Vesicle sizes in atoms, separated by commas, at least 20,000 [default: 30,000, 100,000
    /// and 1,000,000]. Meshes are skipped from 1,000,000 on.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = atoms_from(MIN_VESICLE_ATOMS))]
    atoms: Vec<usize>,
    /// Subdivisions of the icospheres: 1 is 80 triangles, Bevy's default is 5 with 720.
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1, 5])]
    subdivisions: Vec<u32>,
}

/// An app that renders to an image.
struct RenderApp {
    app: App,
}

impl RenderApp {
    fn new(distance: f32) -> Self {
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
        app.insert_resource(MoleculeStyle {
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
        Self { app }
    }

    /// Renders a frame and waits until the device is idle.
    fn frame(&mut self) {
        self.app.update();
        let device = self.app.world().resource::<RenderDevice>();
        black_box(device.poll(PollType::wait_indefinitely()).ok());
    }
}

/// The vesicle as one crowd.
fn crowd_app(vesicle: &Vesicle, distance: f32) -> RenderApp {
    let mut renderer = RenderApp::new(distance);
    let crowd = InstancedMolecules::from_crowd(&vesicle.crowd);
    renderer.app.world_mut().spawn(crowd);
    renderer
}

/// The vesicle as one entity per atom, with a shared mesh and one material per element.
fn mesh_app(
    vesicle: &Vesicle,
    distance: f32,
    subdivisions: u32,
) -> Result<RenderApp, Box<dyn Error>> {
    let mut renderer = RenderApp::new(distance);
    let world = renderer.app.world_mut();
    let sphere = Sphere::new(1.0).mesh().ico(subdivisions)?;
    let mesh = world.resource_mut::<Assets<Mesh>>().add(sphere);
    let mut materials = HashMap::new();
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
    Ok(renderer)
}

/// Columns of the best and the median frame of each renderer.
fn columns(subdivisions: &[u32]) -> Vec<Column> {
    let mut worlds = vec!["molecules drawn by this crate".to_owned()];
    worlds.extend(subdivisions.iter().map(|subdivisions| {
        let triangles = 20 * (subdivisions + 1).pow(2);
        format!("icospheres of {triangles} triangles")
    }));
    let best = worlds.iter().map(|world| format!("{world}, ms"));
    let median = worlds.iter().map(|world| format!("{world}, median, ms"));
    let times = best.chain(median).map(|name| Column::measured(name, "ms"));
    [Column::number("atoms")].into_iter().chain(times).collect()
}

fn main() -> ExitCode {
    let about = "Cost of a frame: molecules against the same atoms as Bevy's instanced meshes";
    let parts = [Part::new("frame", "a vesicle with both renderers", frame)];
    common::run("draw", about, &parts)
}

fn frame(run: &mut Run, options: &Options) -> Done {
    run.note(&format!(
        "Adapter: {}, {} × {} pixels.",
        adapter()?,
        SIZE.x,
        SIZE.y
    ));
    let sizes = match &options.atoms[..] {
        [] => run.pick(&ATOMS[..], &[FEW_ATOMS]),
        sizes => sizes,
    };
    let rounds = Rounds::exactly(run.pick(options.rounds.max(1), 1));
    let warm_up = run.pick(WARM_UP, 1);
    let subdivisions = match &options.subdivisions[..] {
        [coarsest, ..] if run.quick => &[*coarsest][..],
        all => all,
    };
    let title = format!("A frame, ms, best of {}.", rounds.min);
    let lipid = Arc::new(popc());
    let mut table = run.table(&title, columns(subdivisions));
    for &size in sizes {
        let vesicle = vesicle_of(&lipid, (size / lipid.atom_count()) as u32);
        // The vesicle fills the height of the view.
        let distance = 2.6 * (vesicle.radius + vesicle.head_distance);
        let mut apps = vec![crowd_app(&vesicle, distance)];
        if size < MESH_LIMIT {
            for &count in subdivisions {
                apps.push(mesh_app(&vesicle, distance, count)?);
            }
        }
        for renderer in &mut apps {
            for _ in 0..warm_up {
                renderer.frame();
            }
        }
        let samples = interleave(rounds, &mut apps, |_, renderer| renderer.frame());
        let worlds = subdivisions.len() + 1;
        let time = |of: fn(&Samples) -> Duration, world: usize| {
            Cell::from(samples.get(world).map(|samples| ms(of(samples))))
        };
        let mut row = vec![Cell::from(vesicle.crowd.atom_count())];
        row.extend((0..worlds).map(|world| time(Samples::best, world)));
        row.extend((0..worlds).map(|world| time(Samples::median, world)));
        table.row(row);
    }
    Ok(())
}
