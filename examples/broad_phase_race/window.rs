//! The race in a window: a view for each search, all with the same falling spheres. All
//! searches get the same time per frame, so that the faster ones are ahead.
//!
//! Overlapping pairs are separated in one order, so the spheres of all views take the same path.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy::app::AppExit;
use bevy::camera::Viewport;
use bevy::camera::visibility::RenderLayers;
use bevy::prelude::*;
use bevy_egui::egui::{self, Color32, RichText};
use bevy_egui::{EguiContexts, EguiPrimaryContextPass};
use bevy_rapier_molecules::molecule::{Atom, Element, Residue};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::{MoleculeInstance, MoleculeRenderPlugin};
use bevy_rapier_molecules::scenes::{FallingConfig, FallingRegion, FallingSpheres};

use crate::common::panels::PanelsPlugin;
use crate::common::stage::BACKGROUND;
use crate::common::{AnyError, Screenshot, app};
use crate::runners::SphereRunner;

/// Steps of the race.
const STEPS: u32 = 60;

/// Time of each search per frame.
const FRAME_BUDGET: Duration = Duration::from_millis(4);

/// Min frames before a screenshot: spawned entities are drawn after the first.
const MIN_FRAMES: u32 = 3;

/// Offset of a label from the corner of its view, points.
const LABEL_OFFSET: f32 = 8.0;

const LABEL_COLOR: Color32 = Color32::from_rgb(242, 245, 250);

/// A search and its spheres.
struct Lane {
    runner: SphereRunner,
    falling: FallingSpheres,
    step: u32,
    last_time: Duration,
    /// Time left over from previous frames.
    credit: Duration,
    pairs: usize,
}

impl Lane {
    /// Runs steps until the time of the frame is used up.
    fn run(&mut self) -> Result<(), AnyError> {
        self.credit += FRAME_BUDGET;
        while self.step < STEPS && !self.credit.is_zero() {
            self.falling.advance();
            let begin = Instant::now();
            self.pairs = self.runner.frame(self.falling.spheres(), false)?;
            self.last_time = begin.elapsed();
            self.credit = self.credit.saturating_sub(self.last_time);
            self.falling.respond_in_order(self.runner.pairs());
            self.step += 1;
        }
        Ok(())
    }
}

#[derive(Resource)]
struct Lanes(Vec<Lane>);

impl Lanes {
    /// Columns and rows of the views.
    fn grid(&self) -> UVec2 {
        let columns = (self.0.len() as f32).sqrt().ceil().max(1.0) as u32;
        UVec2::new(columns, (self.0.len() as u32).div_ceil(columns).max(1))
    }

    /// Column and row of a view.
    fn cell(&self, lane: usize) -> UVec2 {
        let columns = self.grid().x;
        UVec2::new(lane as u32 % columns, lane as u32 / columns)
    }
}

/// The index of the lane that a camera or crowd belongs to.
#[derive(Component)]
struct LaneIndex(usize);

/// Runs the race until the window is closed, or saves a screenshot after `frames` frames.
pub fn run(spheres: u32, frames: u32, screenshot: Option<&Screenshot>) -> Result<(), AnyError> {
    let mut lanes = Vec::new();
    // A cube fits the views.
    let config = FallingConfig {
        region: FallingRegion::Cuboid {
            proportions: Vec3::ONE,
        },
        ..FallingConfig::of(spheres)
    };
    for runner in SphereRunner::for_spheres(spheres as usize) {
        lanes.push(Lane {
            runner,
            falling: FallingSpheres::new(&config)?,
            step: 0,
            last_time: Duration::ZERO,
            credit: Duration::ZERO,
            pairs: 0,
        });
    }
    let screenshot = screenshot.map(|screenshot| (screenshot, frames.max(MIN_FRAMES)));
    let mut app = app::new("Broad phase race", screenshot, |plugins| plugins);
    app.add_plugins((MoleculeRenderPlugin, PanelsPlugin))
        .insert_resource(ClearColor(BACKGROUND))
        .insert_resource(MoleculeStyle {
            headlight: 0.9,
            ..MoleculeStyle::plain(ColorMode::Molecule)
        })
        .insert_resource(Lanes(lanes))
        .add_systems(Startup, spawn_views)
        .add_systems(
            Update,
            ((race, update_spheres).chain(), app::quit_on_escape),
        )
        .add_systems(
            PostUpdate,
            update_viewports.before(bevy::camera::CameraUpdateSystems),
        )
        .add_systems(EguiPrimaryContextPass, show_labels);
    app::run(app)
}

fn spawn_views(mut commands: Commands, lanes: Res<Lanes>) -> Result {
    let atom = Atom {
        position: Vec3::ZERO,
        radius: FallingSpheres::RADIUS_NM,
        element: Element::C,
        name: "C".into(),
        residue: 0,
    };
    let sphere = MoleculeTemplate::new("sphere", vec![atom], vec![Residue::default()])?;
    let sphere = Arc::new(sphere);
    for (index, lane) in lanes.0.iter().enumerate() {
        let edge = lane.falling.size().y;
        let center = Vec3::splat(0.5 * edge);
        commands.spawn((
            Camera3d::default(),
            Msaa::Off,
            Camera {
                order: index as isize,
                clear_color: match index {
                    0 => ClearColorConfig::Default,
                    _ => ClearColorConfig::None,
                },
                ..default()
            },
            // Far and low enough to show the front of the pile.
            Transform::from_translation(center + Vec3::new(0.5, 0.3, 2.4) * edge)
                .looking_at(center - 0.2 * edge * Vec3::Y, Vec3::Y),
            RenderLayers::layer(index),
            LaneIndex(index),
        ));
        commands.spawn((
            InstancedMolecules {
                templates: vec![sphere.clone()],
                ..default()
            },
            RenderLayers::layer(index),
            LaneIndex(index),
        ));
    }
    Ok(())
}

fn race(mut lanes: ResMut<Lanes>, mut exit: MessageWriter<AppExit>) {
    for lane in &mut lanes.0 {
        if let Err(error) = lane.run() {
            error!("{}: {error}", lane.runner.name);
            exit.write(AppExit::error());
        }
    }
}

fn update_spheres(lanes: Res<Lanes>, mut crowds: Query<(&mut InstancedMolecules, &LaneIndex)>) {
    for (mut crowd, &LaneIndex(index)) in &mut crowds {
        let spheres = lanes.0[index].falling.spheres();
        let centers = (0..spheres.len()).map(|sphere| spheres.center(sphere));
        let molecules =
            centers.map(|center| MoleculeInstance::new(0, Pose::from_translation(center)));
        crowd.molecules.clear();
        crowd.molecules.extend(molecules);
    }
}

/// Shows the progress of each lane in the upper left corner of its view.
fn show_labels(mut contexts: EguiContexts, lanes: Res<Lanes>) -> Result {
    let ctx = contexts.ctx_mut()?;
    let size = ctx.viewport_rect().size() / egui::Vec2::from(lanes.grid().as_vec2().to_array());
    for (index, lane) in lanes.0.iter().enumerate() {
        let corner = size * egui::Vec2::from(lanes.cell(index).as_vec2().to_array());
        let text = format!(
            "{}\nstep {} of {STEPS}\n{:.2} ms, {} pairs",
            lane.runner.name,
            lane.step,
            lane.last_time.as_secs_f64() * 1e3,
            lane.pairs
        );
        egui::Area::new(egui::Id::new(("lane", index)))
            .fixed_pos(corner.to_pos2() + egui::Vec2::splat(LABEL_OFFSET))
            .constrain(false)
            .interactable(false)
            .show(ctx, |ui| {
                let text = RichText::new(text)
                    .monospace()
                    .size(14.0)
                    .color(LABEL_COLOR);
                ui.add(egui::Label::new(text).extend());
            });
    }
    Ok(())
}

/// Gives each camera its part of the window.
fn update_viewports(lanes: Res<Lanes>, mut cameras: Query<(&mut Camera, &LaneIndex)>) {
    for (mut camera, &LaneIndex(index)) in &mut cameras {
        let Some(window_size) = camera.physical_target_size() else {
            continue;
        };
        let size = window_size / lanes.grid();
        let is_active = size.min_element() > 0;
        if camera.is_active != is_active {
            camera.is_active = is_active;
        }
        if !is_active {
            continue;
        }
        let position = lanes.cell(index) * size;
        let is_current = camera.viewport.as_ref().is_some_and(|viewport| {
            (viewport.physical_position, viewport.physical_size) == (position, size)
        });
        if !is_current {
            camera.viewport = Some(Viewport {
                physical_position: position,
                physical_size: size,
                ..default()
            });
        }
    }
}
