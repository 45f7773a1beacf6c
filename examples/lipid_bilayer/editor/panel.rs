//! The panels: parameters on the left, computation, style and export on the right, plots below.

use bevy::prelude::*;
use bevy_egui::egui::{
    self, Color32, LayerId, Panel, RichText, ScrollArea, TextEdit, Ui, UiBuilder,
};
use bevy_egui::{EguiContexts, EguiPrimaryContextPass};
use bevy_rapier_molecules::relax::CountedSpheres;

use super::super::common::view_area::ViewArea;
use super::super::preset::BUNDLED;
use super::save_view::save_view;
use super::{Editor, Notice, parameters, plots};

/// Width of the left panel, points.
const LEFT_WIDTH: f32 = 310.0;

/// Width of the right panel, points.
const RIGHT_WIDTH: f32 = 250.0;

/// Min width and height of the view of the molecules, points. Panels that would leave less are
/// hidden.
const MIN_VIEW: [f32; 2] = [160.0, 120.0];

/// Approximate height of the plot panel, points.
const PLOTS_HEIGHT: f32 = 150.0;

/// Width of a slider without its value and name, points.
const SLIDER_WIDTH: f32 = 104.0;

const SUCCESS_COLOR: Color32 = Color32::from_rgb(120, 200, 120);
const ERROR_COLOR: Color32 = Color32::from_rgb(250, 110, 95);

/// Shows the panels.
pub struct PanelPlugin;

impl Plugin for PanelPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(EguiPrimaryContextPass, show);
    }
}

fn show(
    mut contexts: EguiContexts,
    mut commands: Commands,
    mut editor: ResMut<Editor>,
    mut area: ResMut<ViewArea>,
) -> Result {
    let ctx = contexts.ctx_mut()?;
    if !editor.show_panels {
        return Ok(());
    }
    let editor = &mut *editor;
    let whole_window = UiBuilder::new()
        .layer_id(LayerId::background())
        .max_rect(ctx.viewport_rect());
    let mut ui = Ui::new(ctx.clone(), "editor".into(), whole_window);
    let size = ctx.viewport_rect().size();
    let [min_width, min_height] = MIN_VIEW;
    if size.x >= LEFT_WIDTH + min_width && size.y >= min_height {
        Panel::left("parameters")
            .resizable(false)
            .exact_size(LEFT_WIDTH)
            .show_inside(&mut ui, |ui| {
                ui.spacing_mut().slider_width = SLIDER_WIDTH;
                show_status(ui, editor);
                ui.separator();
                ScrollArea::vertical().show(ui, |ui| show_parameters(ui, editor));
            });
    }
    if size.x >= LEFT_WIDTH + RIGHT_WIDTH + min_width && size.y >= min_height {
        Panel::right("output")
            .resizable(false)
            .exact_size(RIGHT_WIDTH)
            .show_inside(&mut ui, |ui| {
                ui.spacing_mut().slider_width = SLIDER_WIDTH;
                ScrollArea::vertical().show(ui, |ui| {
                    show_output(ui, editor, &mut commands, &area);
                });
            });
    }
    if size.x >= LEFT_WIDTH + min_width && size.y >= PLOTS_HEIGHT + min_height {
        Panel::bottom("plots").show_inside(&mut ui, |ui| {
            plots::plots(ui, &editor.history);
        });
    }
    let free = ui.available_rect_before_wrap();
    area.update(ctx, free);
    editor.send_changes();
    Ok(())
}

/// The buttons to run, pause, step and reset, and the status.
fn show_status(ui: &mut Ui, editor: &mut Editor) {
    ui.add_space(4.0);
    ui.horizontal(|ui| {
        if editor.running {
            if ui.button("Pause").clicked() {
                editor.wants_to_run = false;
                editor.worker.pause();
            }
        } else if ui.button("Run").clicked() {
            editor.wants_to_run = true;
            editor.worker.run(None);
        }
        if ui.button("Step").clicked() {
            editor.wants_to_run = false;
            editor.worker.step();
        }
        if ui.button("Reset").clicked() {
            editor.restart();
        }
    });
    let Some(latest) = &editor.latest else {
        ui.label("building the molecules");
        return;
    };
    let status = &latest.sample.status;
    let (molecules, atoms) = (latest.molecules.len(), latest.atoms);
    let (outer, inner) = (latest.layout.outer, latest.layout.inner);
    ui.label(format!("{molecules} molecules, {atoms} atoms"))
        .on_hover_text(match editor.preset.filled_sphere() {
            Some(_) => "anywhere in the sphere".into(),
            None => format!("{outer} lipids outside, {inner} inside"),
        });
    ui.label(format!(
        "iteration {}: {} {}overlaps, deepest {:.4} nm",
        latest.sample.iteration,
        status.overlaps,
        match status.spheres {
            CountedSpheres::Proxies => "proxy ",
            _ => "",
        },
        status.max_penetration_nm
    ));
    match latest.ended {
        Some(reason) => {
            let color = if status.is_at_rest() {
                SUCCESS_COLOR
            } else {
                parameters::WARNING_COLOR
            };
            ui.colored_label(color, reason.to_string());
        }
        None => {
            let out = status.out_of_place;
            let state = if editor.running { "running" } else { "paused" };
            ui.label(format!("{state}; {out} molecules out of place"));
        }
    }
    show_notice(ui, editor.notice.as_ref());
}

/// Preset, scene, overlaps and response law.
fn show_parameters(ui: &mut Ui, editor: &mut Editor) {
    section(ui, "Preset", |ui| show_presets(ui, editor));
    let (preset, latest) = (&mut editor.preset, editor.latest.as_ref());
    section(ui, "Scene (a change restarts)", |ui| {
        parameters::scene(ui, preset, latest);
    });
    section(ui, "Overlaps and placement", |ui| {
        parameters::overlaps(ui, preset);
    });
    section(ui, "Response law", |ui| parameters::law(ui, preset));
}

/// Computation, style and export.
fn show_output(ui: &mut Ui, editor: &mut Editor, commands: &mut Commands, area: &ViewArea) {
    let (preset, latest) = (&mut editor.preset, editor.latest.as_ref());
    section(ui, "Computation", |ui| {
        parameters::computation(ui, preset, latest);
    });
    section(ui, "Time per stage, ms", |ui| {
        if let Some(latest) = latest {
            plots::stages(ui, &latest.stages);
        }
    });
    section(ui, "Style", |ui| parameters::style(ui, preset));
    section(ui, "Export", |ui| {
        show_export(ui, editor, commands, area);
    });
}

fn section(ui: &mut Ui, title: &str, show: impl FnOnce(&mut Ui)) {
    egui::CollapsingHeader::new(RichText::new(title).strong())
        .default_open(true)
        .show(ui, show);
}

fn show_presets(ui: &mut Ui, editor: &mut Editor) {
    ui.horizontal_wrapped(|ui| {
        for (index, (name, ..)) in BUNDLED.iter().enumerate() {
            if ui.button(*name).clicked() {
                editor.load_bundled(index);
            }
        }
    });
    ui.horizontal(|ui| {
        let path = TextEdit::singleline(&mut editor.files.preset_path).desired_width(150.0);
        ui.add(path);
        if ui.button("Load").clicked() {
            editor.load_typed();
        }
        if ui.button("Save").clicked() {
            editor.save_typed();
        }
    });
    show_notice(ui, editor.files.preset_notice.as_ref());
}

fn show_export(ui: &mut Ui, editor: &mut Editor, commands: &mut Commands, area: &ViewArea) {
    ui.horizontal(|ui| {
        let path = TextEdit::singleline(&mut editor.files.export_path).desired_width(74.0);
        ui.add(path);
        if ui.button("PDB").clicked() {
            editor.export("pdb");
        }
        if ui.button("mmCIF").clicked() {
            editor.export("cif");
        }
        if ui.button("PNG").clicked() {
            let path = format!("{}.png", editor.files.export_path.trim());
            save_view(commands, path.into(), area.rectangle);
        }
    });
    show_notice(ui, editor.files.export_notice.as_ref());
}

fn show_notice(ui: &mut Ui, notice: Option<&Notice>) {
    match notice {
        Some(Notice::Success(text)) => {
            ui.colored_label(SUCCESS_COLOR, text);
        }
        Some(Notice::Error(text)) => {
            ui.colored_label(ERROR_COLOR, text);
        }
        // Reserves the line, so that messages do not move the widgets below.
        None => {
            ui.label("");
        }
    }
}
