//! The panels: parameters on the left, the rest on the right, plots below.

use bevy::prelude::*;
use bevy_egui::egui::{
    self, Color32, LayerId, Panel, RichText, ScrollArea, TextEdit, Ui, UiBuilder,
};
use bevy_egui::{EguiContexts, EguiPrimaryContextPass};

use super::super::preset::BUNDLED;
use super::save_view::save_view;
use super::view::ViewArea;
use super::{Editor, Notice, parameters as sliders, plots};

/// Widths of the panels on the left and on the right, points.
const WIDTH: f32 = 310.0;
const RIGHT_WIDTH: f32 = 250.0;

/// Least width and height of what is left for the molecules, points. Panels that would
/// leave less are not shown, down to a window without any room at all.
const LEAST_VIEW: [f32; 2] = [160.0, 120.0];

/// Height of the panel of plots, about, points.
const PLOTS_HEIGHT: f32 = 150.0;

/// Width of a slider without its number and name, points.
const SLIDER_WIDTH: f32 = 104.0;

/// Colors of good and of bad news.
const GOOD: Color32 = Color32::from_rgb(120, 200, 120);
const BAD: Color32 = Color32::from_rgb(250, 110, 95);

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
    let whole = UiBuilder::new()
        .layer_id(LayerId::background())
        .max_rect(ctx.viewport_rect());
    let mut ui = Ui::new(ctx.clone(), "editor".into(), whole);
    let room = ctx.viewport_rect().size();
    let [least_width, least_height] = LEAST_VIEW;
    if room.x >= WIDTH + least_width && room.y >= least_height {
        Panel::left("parameters")
            .resizable(false)
            .exact_size(WIDTH)
            .show_inside(&mut ui, |ui| {
                ui.spacing_mut().slider_width = SLIDER_WIDTH;
                controls(ui, editor);
                ui.separator();
                ScrollArea::vertical().show(ui, |ui| parameters(ui, editor));
            });
    }
    if room.x >= WIDTH + RIGHT_WIDTH + least_width && room.y >= least_height {
        Panel::right("rest")
            .resizable(false)
            .exact_size(RIGHT_WIDTH)
            .show_inside(&mut ui, |ui| {
                ui.spacing_mut().slider_width = SLIDER_WIDTH;
                ScrollArea::vertical().show(ui, |ui| rest(ui, editor, &mut commands, &area));
            });
    }
    if room.x >= WIDTH + least_width && room.y >= PLOTS_HEIGHT + least_height {
        Panel::bottom("plots").show_inside(&mut ui, |ui| {
            plots::plots(ui, &editor.history);
        });
    }
    let free = ui.available_rect_before_wrap();
    let scale = ctx.pixels_per_point();
    let pixels = |value: f32| (value * scale).max(0.0).round() as u32;
    area.rectangle = Some(URect {
        min: UVec2::new(pixels(free.left()), pixels(free.top())),
        max: UVec2::new(pixels(free.right()), pixels(free.bottom())),
    });
    let pointer = ctx.pointer_latest_pos();
    area.pointed_at =
        pointer.is_some_and(|place| free.contains(place)) && !ctx.egui_is_using_pointer();
    editor.send_changes();
    Ok(())
}

/// Pause, step, run, reset, and how it stands.
fn controls(ui: &mut Ui, editor: &mut Editor) {
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
        ui.label("building");
        return;
    };
    let status = &latest.sample.status;
    let atoms = latest.molecules.len() * latest.template.atom_count();
    ui.label(format!(
        "{} molecules, {atoms} atoms",
        latest.molecules.len()
    ));
    ui.label(format!(
        "iteration {}: {} overlaps, deepest {:.4} nm",
        latest.sample.iteration, status.overlaps, status.max_penetration_nm
    ));
    match latest.ended {
        Some(reason) => {
            let color = if status.is_at_rest() {
                GOOD
            } else {
                sliders::WARNING
            };
            ui.colored_label(color, reason.to_string());
        }
        None => {
            let out = status.out_of_place;
            let state = if editor.running { "running" } else { "paused" };
            ui.label(format!("{state}; {out} molecules out of place"));
        }
    }
    tell(ui, editor.notice.as_ref());
}

/// What the simulation is told.
fn parameters(ui: &mut Ui, editor: &mut Editor) {
    section(ui, "Preset", |ui| presets(ui, editor));
    let (preset, latest) = (&mut editor.preset, editor.latest.as_ref());
    section(ui, "Scene (a change starts again)", |ui| {
        sliders::scene(ui, preset, latest);
    });
    section(ui, "Overlaps and places", |ui| {
        sliders::contacts(ui, preset);
    });
    section(ui, "Law and step sizes", |ui| sliders::law(ui, preset));
}

/// How it is done, what it looks like, and where it goes.
fn rest(ui: &mut Ui, editor: &mut Editor, commands: &mut Commands, area: &ViewArea) {
    let (preset, latest) = (&mut editor.preset, editor.latest.as_ref());
    section(ui, "Computation", |ui| {
        sliders::computation(ui, preset, latest);
    });
    section(ui, "Time of each stage, ms", |ui| {
        if let Some(latest) = latest {
            plots::stages(ui, &latest.stages);
        }
    });
    section(ui, "Look", |ui| sliders::look(ui, preset));
    section(ui, "Export", |ui| exports(ui, editor, commands, area));
}

fn section(ui: &mut Ui, title: &str, show: impl FnOnce(&mut Ui)) {
    egui::CollapsingHeader::new(RichText::new(title).strong())
        .default_open(true)
        .show(ui, show);
}

fn presets(ui: &mut Ui, editor: &mut Editor) {
    ui.horizontal_wrapped(|ui| {
        for (number, (name, ..)) in BUNDLED.iter().enumerate() {
            if ui.button(*name).clicked() {
                editor.load_bundled(number);
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
    tell(ui, editor.files.preset_notice.as_ref());
}

fn exports(ui: &mut Ui, editor: &mut Editor, commands: &mut Commands, area: &ViewArea) {
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
    tell(ui, editor.files.export_notice.as_ref());
}

fn tell(ui: &mut Ui, notice: Option<&Notice>) {
    match notice {
        Some(Notice::Good(text)) => {
            ui.colored_label(GOOD, text);
        }
        Some(Notice::Bad(text)) => {
            ui.colored_label(BAD, text);
        }
        // Nothing below moves when there is something to say.
        None => {
            ui.label("");
        }
    }
}
