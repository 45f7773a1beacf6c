//! What a frame costs: molecules as one crowd, against the same atoms as Bevy's own
//! instanced icosphere meshes.
//!
//! Both worlds show a vesicle of POPC at 640 × 360 pixels with one light, without
//! multisampling. A frame is everything from `App::update` until the device is done. The
//! worlds take turns, and of each the best and the median frame count.

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
use clap::Args;
use common::molecules::{VESICLE_ATOMS, atoms_from, popc, vesicle_of};
use common::turns::{Laps, Rounds, in_turns, ms};
use common::{Cell, Column, Done, Part, Run};

/// Picture, pixels.
const SIZE: UVec2 = UVec2::new(640, 360);

/// Frames before the clock starts: pipelines and arrays are made in them.
const WARM_UP: usize = 4;

/// Atoms of the vesicles.
const ATOMS: [usize; 3] = [30_000, 100_000, 1_000_000];

/// Atoms from which on there are no meshes: a frame would take minutes.
const TOO_MANY_FOR_MESHES: usize = 1_000_000;

/// Atoms of a run that only shows that it works.
const FEW_ATOMS: usize = 20_000;

/// What only this bench has.
#[derive(Args)]
struct Switches {
    /// Frames of each world.
    #[arg(long, value_name = "N", default_value_t = 7)]
    rounds: usize,
    /// Atoms of the vesicles, at least 20,000, with commas [default: 30,000, 100,000 and
    /// 1,000,000]; from a million on there are no meshes.
    #[arg(long, value_name = "N", value_delimiter = ',')]
    #[arg(value_parser = atoms_from(VESICLE_ATOMS))]
    atoms: Vec<usize>,
    /// Subdivisions of the icospheres: 1 is 80 triangles, Bevy's default is 5 with 720.
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [1, 5])]
    subdivisions: Vec<u32>,
}

/// A world that draws.
struct Stage {
    app: App,
}

impl Stage {
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

    /// A frame, until the device is done.
    fn frame(&mut self) {
        self.app.update();
        let device = self.app.world().resource::<RenderDevice>();
        black_box(device.poll(PollType::wait_indefinitely()).ok());
    }
}

/// The vesicle as one crowd.
fn crowd_stage(vesicle: &Vesicle, distance: f32) -> Stage {
    let mut stage = Stage::new(distance);
    let crowd = InstancedMolecules::from_crowd(&vesicle.crowd);
    stage.app.world_mut().spawn(crowd);
    stage
}

/// The vesicle as one entity for each atom, which share a mesh and few materials.
fn mesh_stage(
    vesicle: &Vesicle,
    distance: f32,
    subdivisions: u32,
) -> Result<Stage, Box<dyn Error>> {
    let mut stage = Stage::new(distance);
    let world = stage.app.world_mut();
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
    Ok(stage)
}

/// Columns of the best and the median frame of each world.
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
    let about = "What a frame costs: molecules, and the same atoms as Bevy's instanced meshes";
    let parts = [Part::new("frame", "a vesicle in both ways", frame)];
    common::run("draw", about, &parts)
}

fn frame(run: &mut Run, switches: &Switches) -> Done {
    run.note(&format!(
        "Adapter: {}, {} × {} pixels.",
        adapter()?,
        SIZE.x,
        SIZE.y
    ));
    let sizes = match &switches.atoms[..] {
        [] => run.pick(&ATOMS[..], &[FEW_ATOMS]),
        sizes => sizes,
    };
    let rounds = Rounds::exactly(run.pick(switches.rounds.max(1), 1));
    let warm_up = run.pick(WARM_UP, 1);
    let subdivisions = match &switches.subdivisions[..] {
        [coarsest, ..] if run.quick => &[*coarsest][..],
        all => all,
    };
    let title = format!("A frame, ms, best of {}.", rounds.least);
    let lipid = Arc::new(popc());
    let mut table = run.table(&title, columns(subdivisions));
    for &size in sizes {
        let vesicle = vesicle_of(&lipid, (size / lipid.atom_count()) as u32);
        // The whole vesicle fills the height of the view.
        let distance = 2.6 * (vesicle.radius + vesicle.head_distance);
        let mut stages = vec![crowd_stage(&vesicle, distance)];
        if size < TOO_MANY_FOR_MESHES {
            for &count in subdivisions {
                stages.push(mesh_stage(&vesicle, distance, count)?);
            }
        }
        for stage in &mut stages {
            for _ in 0..warm_up {
                stage.frame();
            }
        }
        let laps = in_turns(rounds, &mut stages, |_, stage| stage.frame());
        let worlds = subdivisions.len() + 1;
        let time = |of: fn(&Laps) -> Duration, world: usize| {
            Cell::from(laps.get(world).map(|laps| ms(of(laps))))
        };
        let mut row = vec![Cell::from(vesicle.crowd.atom_count())];
        row.extend((0..worlds).map(|world| time(Laps::best, world)));
        row.extend((0..worlds).map(|world| time(Laps::median, world)));
        table.row(row);
    }
    Ok(())
}
