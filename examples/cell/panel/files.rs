//! Which recipe is open, and where it is saved and exported to.

use std::path::{Path, PathBuf};

use bevy_egui::egui::{RichText, TextEdit, Ui};
use bevy_rapier_molecules::cell_editor::NoticeLevel;
use bevy_rapier_molecules::cell_editor::{CellEditorCommand, CellEditorMode, CellEditorNotice};

use super::{BAD, BUSY, GOOD, Panels};

/// Width of a file name, points.
const NAME_WIDTH: f32 = 190.0;

/// Width of the name of exports, beside three buttons, points.
const EXPORT_WIDTH: f32 = 160.0;

/// Number of notices shown.
const NOTICES: usize = 3;

/// File names, as typed.
pub struct FileNames {
    recipe: String,
    /// The recipe whose name the others are made of.
    of: Option<PathBuf>,
    save: String,
    export: String,
}

impl Default for FileNames {
    fn default() -> Self {
        Self {
            recipe: String::new(),
            of: None,
            save: "my_cell.json".into(),
            export: "my_cell".into(),
        }
    }
}

/// Name and file of the recipe.
pub fn show_recipe(ui: &mut Ui, panels: &mut Panels) {
    ui.add_space(6.0);
    let (editor, names) = (&mut *panels.editor, &mut panels.state.files);
    if names.of.as_deref() != editor.path() {
        names.of = editor.path().map(Path::to_owned);
        names.recipe = editor
            .path()
            .map_or_else(String::new, |path| path.display().to_string());
        panels.state.ends.clear();
    }
    let name = editor
        .packing()
        .map_or("Cell", |packing| &packing.recipe().name);
    ui.heading(RichText::new(name).strong());
    let mut open = false;
    ui.horizontal(|ui| {
        let field = ui
            .add(TextEdit::singleline(&mut names.recipe).desired_width(NAME_WIDTH + 50.0))
            .on_hover_text("a recipe: .json (cellPACK) or .bent (bentopy)");
        open =
            field.lost_focus() && ui.input(|input| input.key_pressed(bevy_egui::egui::Key::Enter));
        open |= ui.button("Open").clicked();
    });
    if let Some(path) = editor.loading() {
        ui.horizontal(|ui| {
            ui.spinner();
            ui.colored_label(BUSY, format!("reading {} …", path.display()));
        });
    }
    if let Some(failure) = editor.failure() {
        ui.colored_label(BAD, failure);
        ui.weak(
            "The scene is that of before. Correct the file: it is read again when it is saved.",
        );
    }
    if open {
        let path = names.recipe.trim().into();
        panels.send(CellEditorCommand::Open(path));
    }
}

/// Saving, exports and the last notices.
pub fn show_output(ui: &mut Ui, panels: &mut Panels) {
    ui.add_space(4.0);
    let mut command = None;
    let is_packing = panels.editor.mode() == CellEditorMode::Packing;
    let has_scene = panels.editor.packing().is_some();
    let names = &mut panels.state.files;
    ui.add_enabled_ui(has_scene, |ui| {
        ui.horizontal(|ui| {
            ui.add(TextEdit::singleline(&mut names.save).desired_width(NAME_WIDTH));
            ui.add_enabled_ui(is_packing, |ui| {
                let save = ui.button("Save recipe");
                if save
                    .on_hover_text("a recipe of cellPACK with all molecules at their places")
                    .clicked()
                {
                    command = Some(CellEditorCommand::Save(names.save.trim().into()));
                }
            });
        });
        ui.horizontal(|ui| {
            ui.add(TextEdit::singleline(&mut names.export).desired_width(EXPORT_WIDTH));
            for (label, extension, text) in [
                ("mmCIF", "cif", "write all atoms to a .cif file"),
                ("PDB", "pdb", "write all atoms to a .pdb file"),
                (
                    "Mol*",
                    "zip",
                    "write a scene of Mol*'s mesoscale explorer, a .zip file",
                ),
            ] {
                if ui.button(label).on_hover_text(text).clicked() {
                    let path = format!("{}.{extension}", names.export.trim());
                    command = Some(CellEditorCommand::Export(path.into()));
                }
            }
        });
    });
    if let Some(command) = command {
        panels.send(command);
    }
    let mut notices: Vec<&CellEditorNotice> = panels.editor.notices().rev().take(NOTICES).collect();
    notices.reverse();
    for notice in notices {
        let color = match notice.level {
            NoticeLevel::Done => GOOD,
            NoticeLevel::Warning => BUSY,
            NoticeLevel::Error => BAD,
        };
        ui.label(RichText::new(&notice.text).color(color).small());
    }
    ui.add_space(2.0);
}
