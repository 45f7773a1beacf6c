//! The molecules of the recipe: compartments, their regions, and a row for each kind of molecule.

use std::time::{Duration, Instant};

use bevy::prelude::{Color, ColorToPacked, Srgba};
use bevy_egui::egui::{
    Align, Button, Checkbox, CollapsingHeader, Label, Layout, RichText, Slider, SliderClamping, Ui,
};
use bevy_rapier_molecules::cell_editor::{
    CellEditorCommand, CellEditorMode, CellEditorTool, CompartmentNode,
};
use bevy_rapier_molecules::recipe::Edit;
use bevy_rapier_molecules::recipe::live::EntryState;

use super::{HINT, Panels};

/// A moved slider changes the scene when it stays where it is for this long, or is released.
const PAUSE: Duration = Duration::from_millis(150);

/// Width of the names, points.
const NAME_WIDTH: f32 = 84.0;

/// Width of a color, points.
const SWATCH_WIDTH: f32 = 22.0;

/// Height of a row, points.
const ROW_HEIGHT: f32 = 18.0;

/// Width of a slider without its value, points.
const SLIDER_WIDTH: f32 = 62.0;

/// Upper end of a slider over the number of the recipe.
const END_FACTOR: u32 = 2;

/// Least upper end of a slider.
const MIN_END: u32 = 20;

/// What a new user should know.
const HELP: [&str; 6] = [
    "Move a slider: molecules are added or removed, and the others make room.",
    "Drag a molecule in the scene. Beside molecules, or with the right button, the view turns; the wheel zooms.",
    "paint: click in the scene to add molecules there.",
    "Click selects, Shift+click adds. F freezes, Delete removes.",
    "Cut open (C) shows the inside. Nothing is removed.",
    "Edit the recipe in a text editor: the scene follows.",
];

pub fn show(ui: &mut Ui, panels: &mut Panels) {
    if panels.editor.packing().is_none() {
        let text = match panels.editor.loading() {
            Some(_) => "reading the recipe …",
            None => "no recipe is open",
        };
        ui.weak(text);
        return;
    }
    ui.spacing_mut().slider_width = SLIDER_WIDTH;
    for compartment in panels.editor.tree() {
        show_compartment(ui, panels, &compartment);
    }
    show_help(ui);
}

fn show_help(ui: &mut Ui) {
    CollapsingHeader::new(RichText::new("How to").strong())
        .default_open(true)
        .show(ui, |ui| {
            for line in HELP {
                ui.label(RichText::new(line).color(HINT));
            }
        });
}

fn show_compartment(ui: &mut Ui, panels: &mut Panels, compartment: &CompartmentNode) {
    let entries = || compartment.regions.iter().flat_map(|it| &it.entries);
    let looks = &panels.editor.looks;
    let was_visible = entries().any(|entry| looks.get(*entry).is_some_and(|look| look.visible));
    let mut is_visible = was_visible;
    let title = RichText::new(&compartment.name).strong().size(15.0);
    ui.horizontal(|ui| {
        ui.add(Checkbox::without_text(&mut is_visible))
            .on_hover_text("show or hide the whole compartment; hidden molecules are packed, too");
        ui.label(title);
    });
    if is_visible != was_visible {
        let name = &compartment.name;
        panels.editor.set_compartment_visible(name, is_visible);
    }
    for region in &compartment.regions {
        let id = (&compartment.name, &region.name);
        CollapsingHeader::new(region.name.replace('_', " "))
            .id_salt(id)
            .default_open(true)
            .show(ui, |ui| {
                for entry in &region.entries {
                    show_entry(ui, panels, *entry);
                }
            });
    }
    ui.add_space(4.0);
}

/// Visibility, color, name, number, paint and freeze.
fn show_entry(ui: &mut Ui, panels: &mut Panels, index: usize) {
    let entry = panels
        .editor
        .packing()
        .and_then(|it| it.entries().nth(index));
    let Some(entry) = entry.cloned() else {
        return;
    };
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = 5.0;
        if let Some(look) = panels.editor.looks.get_mut(index) {
            ui.add(Checkbox::without_text(&mut look.visible))
                .on_hover_text("show or hide; hidden molecules are packed, too");
            show_color(ui, &mut look.color);
        }
        ui.allocate_ui_with_layout(
            [NAME_WIDTH, ROW_HEIGHT].into(),
            Layout::left_to_right(Align::Center),
            |ui| {
                ui.set_min_width(NAME_WIDTH);
                ui.add(Label::new(&entry.name).truncate());
            },
        );
        let is_packing = panels.editor.mode() == CellEditorMode::Packing;
        // Numbers of fibers and of molecules placed by rules are edited in the file.
        ui.add_enabled_ui(is_packing && entry.can_set_count, |ui| {
            show_count(ui, panels, index, &entry);
            show_paint(ui, panels, index);
        });
        ui.add_enabled_ui(is_packing, |ui| show_freeze(ui, panels, index));
    });
}

fn show_color(ui: &mut Ui, color: &mut Color) {
    let mut bytes = Srgba::from(*color).to_u8_array_no_alpha();
    let changed = ui.scope(|ui| {
        ui.spacing_mut().interact_size.x = SWATCH_WIDTH;
        ui.color_edit_button_srgb(&mut bytes).changed()
    });
    if changed.inner {
        let [red, green, blue] = bytes;
        *color = Color::srgb_u8(red, green, blue);
    }
}

/// The number. A change is sent when the slider rests or is released, so that a long move is few
/// steps to undo.
fn show_count(ui: &mut Ui, panels: &mut Panels, index: usize, entry: &EntryState) {
    let key = format!("{} {}", entry.region, entry.name);
    let end = *panels.state.ends.entry(key).or_insert_with(|| {
        let end = entry.asked.saturating_mul(END_FACTOR);
        end.max(MIN_END)
    });
    let moving = panels.state.moving.get(&index).copied();
    let mut count = moving.map_or(entry.count, |(count, _)| count);
    let slider = Slider::new(&mut count, 0..=end.max(entry.count))
        .clamping(SliderClamping::Never)
        .drag_value_speed(1.0);
    let response = ui.add(slider).on_hover_text("number of molecules");
    let now = Instant::now();
    let rests = moving.is_some_and(|(_, since)| now - since >= PAUSE);
    if response.changed() {
        panels.state.moving.insert(index, (count, now));
    } else if moving.is_some() && (rests || !response.dragged()) {
        panels.state.moving.remove(&index);
        panels.send(CellEditorCommand::Edit(Edit::SetCount {
            entry: index,
            count,
        }));
    }
}

fn show_paint(ui: &mut Ui, panels: &mut Panels, index: usize) {
    let tool = CellEditorTool::Paint { entry: index };
    let paints = panels.editor.tool == tool;
    let button = ui
        .add(Button::new("paint").small().selected(paints))
        .on_hover_text("then click or drag in the scene to add molecules there");
    if button.clicked() {
        panels.editor.tool = if paints { CellEditorTool::Select } else { tool };
    }
}

fn show_freeze(ui: &mut Ui, panels: &mut Panels, index: usize) {
    let Some(packing) = panels.editor.packing() else {
        return;
    };
    let button = ui
        .add(Button::new("❄").small())
        .on_hover_text("freeze all of them, or free them: frozen molecules never move");
    if button.clicked() {
        let all = packing
            .molecule_ids()
            .iter()
            .zip(packing.molecule_entries());
        let own = all.filter(|(_, row)| **row as usize == index);
        let ids: Vec<_> = own.map(|(id, _)| *id).collect();
        let frozen = !ids.iter().all(|id| packing.is_frozen(*id));
        panels.send(CellEditorCommand::Edit(Edit::Freeze { ids, frozen }));
    }
}
