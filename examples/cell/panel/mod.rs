//! The panels: molecules on the left, tools above the scene, status below.

mod entries;
mod files;
mod status;
mod toolbar;

use std::time::Instant;

use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy_egui::egui::{self, Color32, LayerId, Panel, ScrollArea, Ui, UiBuilder};
use bevy_egui::{EguiContexts, EguiPrimaryContextPass};
use bevy_rapier_molecules::cell_editor::{CellEditor, CellEditorCommand, CellEditorInput};

use super::common::view_area::ViewArea;

/// Width of the left panel, points.
const LEFT_WIDTH: f32 = 352.0;

/// Min width and height of the view of the molecules, points. Panels that would leave less are
/// hidden.
const MIN_VIEW: [f32; 2] = [360.0, 240.0];

const GOOD: Color32 = Color32::from_rgb(120, 200, 120);
const BUSY: Color32 = Color32::from_rgb(245, 190, 80);
const BAD: Color32 = Color32::from_rgb(250, 110, 95);
const ACTIVE: Color32 = Color32::from_rgb(120, 180, 250);
const HINT: Color32 = Color32::from_gray(165);

/// Shows the panels.
pub struct PanelPlugin;

impl Plugin for PanelPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(EguiPrimaryContextPass, show);
    }
}

/// What the panels remember.
#[derive(Resource)]
pub struct PanelState {
    is_shown: bool,
    files: files::FileNames,
    keys: KeyFocus,
    /// Numbers of sliders that are being moved, by entry, and when they last changed.
    moving: HashMap<usize, (u32, Instant)>,
    /// Upper ends of the sliders, by entry. They stay the same while a recipe is open.
    ends: HashMap<String, u32>,
}

impl PanelState {
    pub fn new(is_shown: bool) -> Self {
        Self {
            is_shown,
            files: files::FileNames::default(),
            keys: KeyFocus::default(),
            moving: HashMap::default(),
            ends: HashMap::default(),
        }
    }
}

/// What panels change.
struct Panels<'a, 'w> {
    editor: &'a mut CellEditor,
    state: &'a mut PanelState,
    commands: &'a mut MessageWriter<'w, CellEditorCommand>,
    /// Direction of the camera.
    forward: Dir3,
}

fn show(
    mut contexts: EguiContexts,
    mut editor: ResMut<CellEditor>,
    mut state: ResMut<PanelState>,
    mut area: ResMut<ViewArea>,
    mut input: ResMut<CellEditorInput>,
    mut commands: MessageWriter<CellEditorCommand>,
) -> Result {
    let ctx = contexts.ctx_mut()?;
    if !state.is_shown {
        return Ok(());
    }
    input.keys_taken = state.keys.update(ctx);
    let mut panels = Panels {
        editor: &mut editor,
        state: &mut state,
        commands: &mut commands,
        forward: input.forward,
    };
    let whole_window = UiBuilder::new()
        .layer_id(LayerId::background())
        .max_rect(ctx.viewport_rect());
    let mut ui = Ui::new(ctx.clone(), "editor".into(), whole_window);
    let size = ctx.viewport_rect().size();
    let [min_width, min_height] = MIN_VIEW;
    if size.x >= LEFT_WIDTH + min_width && size.y >= min_height {
        Panel::left("molecules")
            .resizable(false)
            .exact_size(LEFT_WIDTH)
            .show_inside(&mut ui, |ui| panels.show_left(ui));
        Panel::top("tools").show_inside(&mut ui, |ui| toolbar::show(ui, &mut panels));
        Panel::bottom("status").show_inside(&mut ui, |ui| status::show(ui, panels.editor));
    }
    area.update(ctx, ui.available_rect_before_wrap());
    Ok(())
}

/// Keeps the keys for the editor: widgets get no focus, with which Space and Tab would press
/// buttons, and text fields get it only by the mouse.
#[derive(Default)]
struct KeyFocus {
    /// Whether a text field has the keys.
    in_text: bool,
    /// Whether the mouse was used in the last frame.
    mouse_used: bool,
}

impl KeyFocus {
    /// Returns whether a text field has the keys.
    fn update(&mut self, ctx: &egui::Context) -> bool {
        let is_allowed = self.in_text || self.mouse_used;
        self.in_text = ctx.text_edit_focused() && is_allowed;
        self.mouse_used =
            ctx.input(|input| input.pointer.any_pressed() || input.pointer.any_released());
        if !self.in_text {
            ctx.memory_mut(|memory| {
                if let Some(focused) = memory.focused() {
                    memory.surrender_focus(focused);
                }
            });
        }
        self.in_text
    }
}

impl Panels<'_, '_> {
    fn show_left(&mut self, ui: &mut Ui) {
        Panel::bottom("files")
            .show_separator_line(true)
            .show_inside(ui, |ui| files::show_output(ui, self));
        files::show_recipe(ui, self);
        ui.separator();
        ScrollArea::vertical()
            .auto_shrink(false)
            .show(ui, |ui| entries::show(ui, self));
    }

    fn send(&mut self, command: CellEditorCommand) {
        self.commands.write(command);
    }
}
