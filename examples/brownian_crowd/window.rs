//! The proteins on the screen, and the plot beside them.

use std::time::{Duration, Instant};

use bevy::app::AppExit;
use bevy::prelude::*;
use bevy_egui::{EguiContexts, EguiPlugin, EguiPrimaryContextPass, egui};
use bevy_rapier_molecules::prelude::*;
use egui_plot::{AxisHints, Corner, Legend, Line, Plot, PlotPoints};

use super::common::AnyError;
use super::cytoplasm::{Cytoplasm, Sample};
use super::in_words;
use super::screen::picture::{self, Shot};
use super::screen::window;
use super::stage::orbit::Orbit;
use super::stage::{self, BACKGROUND, StagePlugin};

/// Frames until a picture: in the first one, what was just spawned is not there yet.
const FRAMES: u32 = 3;

/// Most points of a line: more than pixels.
const MOST_POINTS: usize = 400;

/// Time for steps in each frame.
const STEPS_A_FRAME: Duration = Duration::from_millis(10);

/// The proteins, for systems.
#[derive(Resource)]
struct Proteins {
    cytoplasm: Cytoplasm,
    runs: bool,
    message: Option<String>,
}

/// Runs until the window is closed, or the picture is saved.
pub fn run(cytoplasm: Cytoplasm, shot: Option<&Shot>) -> Result<(), AnyError> {
    let mut app = match shot {
        Some(shot) => picture::app(shot, FRAMES, |plugins| plugins),
        None => {
            let mut app = window::app("Crowded cytoplasm", |plugins| plugins);
            app.add_plugins(EguiPlugin::default())
                .add_systems(EguiPrimaryContextPass, panel);
            app
        }
    };
    app.add_plugins((MoleculeRenderPlugin, StagePlugin))
        .insert_resource(MoleculeStyle {
            color: ColorMode::Template,
            depth_cue: DepthCue {
                color: BACKGROUND,
                ..default()
            },
            ..default()
        })
        .insert_resource(Proteins {
            cytoplasm,
            runs: shot.is_none(),
            message: None,
        })
        .add_systems(Startup, set_up)
        .add_systems(Update, (step, keys, show).chain());
    if shot.is_some() {
        return picture::finish(app);
    }
    window::finish(app)
}

fn set_up(mut commands: Commands, proteins: Res<Proteins>) {
    commands.spawn(stage::camera(Orbit {
        focus: Vec3::ZERO,
        distance: 3.5 * proteins.cytoplasm.half,
        yaw: 0.6,
        pitch: 0.4,
    }));
    commands.spawn(InstancedMolecules {
        templates: proteins.cytoplasm.templates().to_vec(),
        ..default()
    });
}

fn step(mut proteins: ResMut<Proteins>) {
    if !proteins.runs {
        return;
    }
    let begin = Instant::now();
    while proteins.runs && begin.elapsed() < STEPS_A_FRAME {
        if let Err(error) = proteins.cytoplasm.step() {
            proteins.message = Some(error.to_string());
            proteins.runs = false;
        }
    }
}

/// Space pauses, T changes the colors, Esc quits.
fn keys(
    keys: Res<ButtonInput<KeyCode>>,
    mut proteins: ResMut<Proteins>,
    mut look: ResMut<MoleculeStyle>,
    mut exits: MessageWriter<AppExit>,
) {
    if keys.just_pressed(KeyCode::Space) {
        proteins.runs = !proteins.runs;
    }
    if keys.just_pressed(KeyCode::KeyT) {
        look.color = match look.color {
            ColorMode::Template => ColorMode::Collision,
            ColorMode::Collision => ColorMode::Element,
            _ => ColorMode::Template,
        };
    }
    if keys.just_pressed(KeyCode::Escape) {
        exits.write(AppExit::Success);
    }
}

fn show(proteins: Res<Proteins>, mut crowds: Query<&mut InstancedMolecules>) {
    if !proteins.is_changed() {
        return;
    }
    let cytoplasm = &proteins.cytoplasm;
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

fn panel(mut contexts: EguiContexts, proteins: Res<Proteins>) -> Result {
    let context = contexts.ctx_mut()?;
    let cytoplasm = &proteins.cytoplasm;
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
                let slowed = last.slowed_to();
                ui.label(format!(
                    "{:.2} ns; {slowed:.2} of free diffusion",
                    last.time_ns
                ));
            }
            if let Some(message) = &proteins.message {
                ui.colored_label(egui::Color32::RED, message);
            }
            ui.strong("Mean squared displacement, nm², over ns");
            let stride = history.len().div_ceil(MOST_POINTS).max(1);
            let points = |value: fn(&Sample) -> f64| -> PlotPoints<'_> {
                let kept = history.iter().step_by(stride);
                kept.map(|sample| [sample.time_ns, value(sample)]).collect()
            };
            Plot::new("displacement")
                .height(180.0)
                .include_x(0.0)
                .include_y(0.0)
                .custom_x_axes(vec![times()])
                .legend(Legend::default().position(Corner::LeftTop))
                .show(ui, |plot| {
                    plot.line(Line::new("in the crowd", points(|sample| sample.moved)));
                    plot.line(Line::new("alone", points(|sample| sample.alone)));
                });
            if cytoplasm.sticks() {
                ui.strong("Proteins of a cluster, as a protein sees it, over ns");
                Plot::new("clusters")
                    .height(120.0)
                    .include_x(0.0)
                    .include_y(1.0)
                    .custom_x_axes(vec![times()])
                    .show(ui, |plot| {
                        plot.line(Line::new("mean", points(|sample| sample.cluster)));
                    });
                let clusters = in_words(&cytoplasm.cluster_sizes());
                ui.label(format!("Clusters: {clusters}"));
            }
            ui.weak("Space pause   T colors   Esc quit");
        });
    Ok(())
}

/// The axis of time: its numbers are short, and may stand closer than usual.
fn times() -> AxisHints<'static> {
    AxisHints::new_x().label_spacing(egui::Rangef::new(28.0, 40.0))
}
