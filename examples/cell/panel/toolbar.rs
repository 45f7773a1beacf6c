//! Tools, history, modes and the cut plane.

use bevy_egui::egui::{Button, ComboBox, RichText, Slider, Ui};
use bevy_rapier_molecules::cell_editor::{CellEditorCommand, CellEditorMode, CellEditorTool};

use super::{BUSY, HINT, Panels};

/// Largest radius of the brush, nm.
const MAX_BRUSH: f32 = 10.0;

/// Largest number of molecules per click.
const MAX_PAINTED: u32 = 50;

/// Width of a slider without its value, points.
const SLIDER_WIDTH: f32 = 110.0;

pub fn show(ui: &mut Ui, panels: &mut Panels) {
    ui.add_space(4.0);
    ui.spacing_mut().slider_width = SLIDER_WIDTH;
    ui.horizontal_wrapped(|ui| {
        show_tools(ui, panels);
        ui.separator();
        show_history(ui, panels);
        ui.separator();
        show_modes(ui, panels);
    });
    ui.horizontal_wrapped(|ui| {
        show_cut(ui, panels);
        ui.separator();
        show_colors(ui, panels);
    });
    ui.horizontal(|ui| show_hint(ui, panels));
    ui.add_space(2.0);
}

fn show_tools(ui: &mut Ui, panels: &mut Panels) {
    let editor = &mut panels.editor;
    let paints = matches!(editor.tool, CellEditorTool::Paint { .. });
    for (tool, name, hint) in [
        (
            CellEditorTool::Select,
            "Select & drag",
            "V: click selects, drag moves",
        ),
        (
            CellEditorTool::Cut,
            "Move cut",
            "drag up and down to move the cut plane",
        ),
    ] {
        if ui
            .selectable_label(editor.tool == tool, name)
            .on_hover_text(hint)
            .clicked()
        {
            editor.tool = tool;
        }
    }
    if ui
        .selectable_label(paints, "Paint")
        .on_hover_text("P: adds molecules where you click; choose which ones on the left")
        .clicked()
        && !paints
    {
        editor.tool = CellEditorTool::Paint { entry: 0 };
    }
}

fn show_history(ui: &mut Ui, panels: &mut Panels) {
    let editor = &panels.editor;
    let is_packing = editor.mode() == CellEditorMode::Packing;
    let selected = editor.selection().len();
    let buttons = [
        ("Undo", "Ctrl+Z", editor.can_undo(), CellEditorCommand::Undo),
        ("Redo", "Ctrl+Y", editor.can_redo(), CellEditorCommand::Redo),
        (
            "Freeze",
            "F: the selected molecules never move; again frees them",
            is_packing && selected > 0,
            CellEditorCommand::FreezeSelected,
        ),
        (
            "Remove",
            "Delete: removes the selected molecules",
            is_packing && selected > 0,
            CellEditorCommand::RemoveSelected,
        ),
    ];
    for (name, hint, enabled, command) in buttons {
        let button = ui.add_enabled(enabled, Button::new(name));
        if button.on_hover_text(hint).clicked() {
            panels.send(command);
        }
    }
}

fn show_modes(ui: &mut Ui, panels: &mut Panels) {
    let now = panels.editor.mode();
    for (mode, name, hint) in [
        (
            CellEditorMode::Packing,
            "Packing",
            "molecules make room until none overlap",
        ),
        (
            CellEditorMode::Rapier,
            "Rapier",
            "rigid bodies that collide; drag pulls them",
        ),
        (
            CellEditorMode::Brownian,
            "Brownian",
            "molecules diffuse in water",
        ),
    ] {
        let hint = format!("{hint} (Tab: next)");
        if ui
            .selectable_label(now == mode, name)
            .on_hover_text(hint)
            .clicked()
        {
            panels.send(CellEditorCommand::SetMode(mode));
        }
    }
    let label = if panels.editor.paused {
        "Resume"
    } else {
        "Pause"
    };
    if now == CellEditorMode::Packing && ui.button(label).on_hover_text("Space").clicked() {
        panels.editor.paused = !panels.editor.paused;
    }
}

fn show_cut(ui: &mut Ui, panels: &mut Panels) {
    let editor = &mut panels.editor;
    let button = ui.selectable_label(editor.cut.enabled, "Cut open");
    if button
        .on_hover_text("C: hides the side that faces you; nothing is removed")
        .clicked()
    {
        editor.toggle_cut(panels.forward);
    }
    let half_size = editor
        .packing()
        .map(|packing| 0.5 * packing.recipe().size().length());
    if let (true, Some(half_size)) = (editor.cut.enabled, half_size) {
        let middle = editor.middle().dot(*editor.cut.normal);
        let range = middle - half_size..=middle + half_size;
        ui.add(
            Slider::new(&mut editor.cut.offset, range)
                .suffix(" nm")
                .max_decimals(1),
        )
        .on_hover_text("Page Up, Page Down");
    }
}

fn show_colors(ui: &mut Ui, panels: &mut Panels) {
    let by_entry = &mut panels.editor.color_by_entry;
    let name = |by_entry| if by_entry { "recipe" } else { "elements" };
    ui.label("colors");
    ComboBox::from_id_salt("colors")
        .selected_text(name(*by_entry))
        .width(80.0)
        .show_ui(ui, |ui| {
            for value in [true, false] {
                ui.selectable_value(by_entry, value, name(value));
            }
        });
}

/// What the tool does, and the size of the brush.
fn show_hint(ui: &mut Ui, panels: &mut Panels) {
    let editor = &mut panels.editor;
    let CellEditorTool::Paint { entry } = editor.tool else {
        let hint = match (editor.tool, editor.mode(), editor.selection().len()) {
            (CellEditorTool::Cut, ..) => "drag up and down to move the cut".to_owned(),
            (_, CellEditorMode::Packing, 0) => {
                "drag a molecule to move it, drag beside to turn".to_owned()
            }
            (_, CellEditorMode::Brownian, _) => "molecules diffuse; Packing keeps them".to_owned(),
            (_, CellEditorMode::Rapier, _) => "pull molecules; Packing keeps them".to_owned(),
            (.., selected) => format!("{selected} selected"),
        };
        ui.label(RichText::new(hint).color(HINT));
        return;
    };
    let name = editor
        .packing()
        .and_then(|packing| packing.entries().nth(entry));
    let name = name.map(|entry| format!("{} of {}", entry.name, entry.region));
    ui.label(RichText::new(name.unwrap_or_default()).color(BUSY));
    let brush = &mut editor.brush;
    ui.add(Slider::new(&mut brush.count, 1..=MAX_PAINTED).text("per click"));
    let radius = Slider::new(&mut brush.radius, 0.5..=MAX_BRUSH).max_decimals(1);
    ui.add(radius.suffix(" nm").text("radius"));
}
