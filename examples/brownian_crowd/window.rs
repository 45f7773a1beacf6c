//! The proteins and their plots in a window.

use std::time::{Duration, Instant};

use bevy::prelude::*;
use bevy_egui::{EguiContexts, EguiPrimaryContextPass, egui};
use bevy_rapier_molecules::prelude::*;
use bevy_rapier_molecules::render::{DepthCue, MoleculeInstance, MoleculeRenderPlugin};
use egui_plot::{AxisHints, Corner, Legend, Line, Plot, PlotPoints};

use super::common::orbit::Orbit;
use super::common::panels::PanelsPlugin;
use super::common::stage::{self, BACKGROUND, StagePlugin};
use super::common::{AnyError, Screenshot, app};
use super::cytoplasm::{Cytoplasm, Sample};
use super::describe_clusters;

/// Frames before a screenshot: spawned entities are drawn after the first.
const FRAMES: u32 = 3;

/// Max points per line, about one per pixel.
const MAX_POINTS: usize = 400;

/// Simulation time budget per frame.
const FRAME_BUDGET: Duration = Duration::from_millis(10);

#[derive(Resource)]
struct Simulation {
    cytoplasm: Cytoplasm,
    is_running: bool,
    error: Option<String>,
}

/// Runs until the window is closed or the screenshot is saved.
pub fn run(cytoplasm: Cytoplasm, screenshot: Option<&Screenshot>) -> Result<(), AnyError> {
    let frames = screenshot.map(|screenshot| (screenshot, FRAMES));
    let mut app = app::new("Crowded cytoplasm", frames, |plugins| plugins);
    if screenshot.is_none() {
        app.add_plugins(PanelsPlugin)
            .add_systems(EguiPrimaryContextPass, show_panel);
    }
    app.add_plugins((
        MoleculeRenderPlugin,
        StagePlugin {
            buttons: &[MouseButton::Right],
        },
    ))
    .insert_resource(MoleculeStyle {
        color: ColorMode::Template,
        depth_cue: DepthCue {
            color: BACKGROUND,
            ..default()
        },
        ..default()
    })
    .insert_resource(Simulation {
        cytoplasm,
        is_running: screenshot.is_none(),
        error: None,
    })
    .add_systems(Startup, spawn_scene)
    .add_systems(Update, app::quit_on_escape)
    .add_systems(Update, (step, handle_keys, update_molecules).chain());
    app::run(app)
}

fn spawn_scene(mut commands: Commands, simulation: Res<Simulation>) {
    commands.spawn(stage::camera(Orbit {
        focus: Vec3::ZERO,
        distance: 3.5 * simulation.cytoplasm.half_side,
        yaw: 0.6,
        pitch: 0.4,
    }));
    commands.spawn(InstancedMolecules {
        templates: simulation.cytoplasm.templates().to_vec(),
        ..default()
    });
}

fn step(mut simulation: ResMut<Simulation>) {
    if !simulation.is_running {
        return;
    }
    let begin = Instant::now();
    while simulation.is_running && begin.elapsed() < FRAME_BUDGET {
        if let Err(error) = simulation.cytoplasm.step() {
            simulation.error = Some(error.to_string());
            simulation.is_running = false;
        }
    }
}

/// Space pauses, T changes the colors.
fn handle_keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut simulation: ResMut<Simulation>,
    mut style: ResMut<MoleculeStyle>,
) {
    if keys.just_pressed(KeyCode::Space) {
        simulation.is_running = !simulation.is_running;
    }
    if keys.just_pressed(KeyCode::KeyT) {
        style.color = match style.color {
            ColorMode::Template => ColorMode::Collision,
            ColorMode::Collision => ColorMode::Element,
            _ => ColorMode::Template,
        };
    }
}

fn update_molecules(simulation: Res<Simulation>, mut crowds: Query<&mut InstancedMolecules>) {
    if !simulation.is_changed() {
        return;
    }
    let cytoplasm = &simulation.cytoplasm;
    for mut crowd in &mut crowds {
        let molecules = cytoplasm.molecules().iter().zip(cytoplasm.colliding());
        crowd.molecules = molecules
            .map(|(one, colliding)| MoleculeInstance {
                colliding,
                ..MoleculeInstance::new(one.template, one.pose)
            })
            .collect();
    }
}

fn show_panel(mut contexts: EguiContexts, simulation: Res<Simulation>) -> Result {
    let context = contexts.ctx_mut()?;
    let cytoplasm = &simulation.cytoplasm;
    let history = cytoplasm.history();
    egui::Window::new("Diffusion")
        .default_width(340.0)
        .show(context, |ui| {
            ui.label(format!(
                "{} proteins, {} atoms; {} collisions",
                cytoplasm.molecules().len(),
                cytoplasm.atom_count(),
                cytoplasm.collisions()
            ));
            if let Some(last) = history.last() {
                ui.label(format!(
                    "{:.2} ns; {:.2} of free diffusion",
                    last.time_ns,
                    last.slowed_to()
                ));
            }
            if let Some(error) = &simulation.error {
                ui.colored_label(egui::Color32::RED, error);
            }
            ui.strong("Mean squared displacement (nm²) over time (ns)");
            let stride = history.len().div_ceil(MAX_POINTS).max(1);
            let points = |value: fn(&Sample) -> f64| -> PlotPoints<'_> {
                let samples = history.iter().step_by(stride);
                samples
                    .map(|sample| [sample.time_ns, value(sample)])
                    .collect()
            };
            Plot::new("displacement")
                .height(180.0)
                .include_x(0.0)
                .include_y(0.0)
                .custom_x_axes(vec![time_axis()])
                .legend(Legend::default().position(Corner::LeftTop))
                .show(ui, |plot| {
                    plot.line(Line::new("crowd", points(|sample| sample.displacement)));
                    plot.line(Line::new("free", points(|sample| sample.free_displacement)));
                });
            if cytoplasm.can_stick() {
                ui.strong("Mean cluster size of a protein over time (ns)");
                Plot::new("clusters")
                    .height(120.0)
                    .include_x(0.0)
                    .include_y(1.0)
                    .custom_x_axes(vec![time_axis()])
                    .show(ui, |plot| {
                        plot.line(Line::new("mean", points(|sample| sample.cluster)));
                    });
                let clusters = describe_clusters(&cytoplasm.cluster_sizes());
                ui.label(format!("Clusters: {clusters}"));
            }
            ui.weak("Space pause   T colors   Esc quit");
        });
    Ok(())
}

/// Its labels are short and can be closer together than the default.
fn time_axis() -> AxisHints<'static> {
    AxisHints::new_x().label_spacing(egui::Rangef::new(28.0, 40.0))
}
