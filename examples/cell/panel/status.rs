//! The status line below the scene.

use bevy_egui::egui::{Color32, ProgressBar, RichText, Sense, Ui};
use bevy_rapier_molecules::cell_editor::{CellEditor, CellEditorMode};

use super::{ACTIVE, BAD, BUSY, GOOD};

/// Diameter of the dot, points.
const DOT_SIZE: f32 = 9.0;

/// Width of the progress bar, points.
const BAR_WIDTH: f32 = 120.0;

pub fn show(ui: &mut Ui, editor: &CellEditor) {
    ui.add_space(2.0);
    ui.horizontal(|ui| {
        let Some(packing) = editor.packing() else {
            ui.weak("open a recipe to begin");
            return;
        };
        let status = packing.status();
        let (text, color) = match editor.mode() {
            CellEditorMode::Packing if packing.is_at_rest() => {
                ("packed: no overlaps".to_owned(), GOOD)
            }
            CellEditorMode::Packing if editor.paused => ("paused".to_owned(), ACTIVE),
            CellEditorMode::Packing if packing.is_stalled() => {
                ("no progress: they may not fit".to_owned(), BAD)
            }
            CellEditorMode::Packing => ("packing".to_owned(), BUSY),
            mode => (mode.to_string(), ACTIVE),
        };
        show_dot(ui, color);
        ui.label(RichText::new(text).color(color).strong());
        if editor.mode() == CellEditorMode::Packing && !packing.is_at_rest() {
            let bar = ProgressBar::new(editor.progress()).desired_width(BAR_WIDTH);
            ui.add(bar.show_percentage());
        }
        ui.separator();
        let crowd = packing.crowd();
        ui.label(format!(
            "{} molecules, {} atoms",
            grouped(crowd.members().len()),
            grouped(crowd.atom_count())
        ));
        if editor.mode() != CellEditorMode::Packing {
            return;
        }
        ui.separator();
        ui.label(format!(
            "{} overlaps, deepest {:.3} nm",
            grouped(status.overlaps as usize),
            status.max_penetration_nm
        ));
        ui.separator();
        ui.label(format!(
            "{} out of place",
            grouped(status.out_of_place as usize)
        ));
        ui.separator();
        ui.weak(format!("iteration {}", packing.iterations()));
    });
    ui.add_space(2.0);
}

fn show_dot(ui: &mut Ui, color: Color32) {
    let (rectangle, _) = ui.allocate_exact_size([DOT_SIZE; 2].into(), Sense::hover());
    let radius = 0.5 * DOT_SIZE;
    ui.painter()
        .circle_filled(rectangle.center(), radius, color);
}

/// A number with commas between thousands.
fn grouped(number: usize) -> String {
    let digits = number.to_string();
    let mut text = String::with_capacity(digits.len() * 4 / 3);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}
