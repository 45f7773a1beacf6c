//! Keys to commands.

use bevy::prelude::*;

use super::CellEditorSettings;
use super::command::CellEditorCommand;
use super::editor::{CellEditor, CellEditorTool};
use super::pointer::CellEditorInput;

/// How far a key moves the cut plane, nm.
const CUT_STEP: f32 = 0.5;

const CONTROL: [KeyCode; 4] = [
    KeyCode::ControlLeft,
    KeyCode::ControlRight,
    KeyCode::SuperLeft,
    KeyCode::SuperRight,
];

const SHIFT: [KeyCode; 2] = [KeyCode::ShiftLeft, KeyCode::ShiftRight];

/// The keys of the [module page](super).
pub(super) fn use_keys(
    settings: Res<CellEditorSettings>,
    keys: Option<Res<ButtonInput<KeyCode>>>,
    input: Res<CellEditorInput>,
    mut editor: ResMut<CellEditor>,
    mut commands: MessageWriter<CellEditorCommand>,
) {
    let Some(keys) = keys.filter(|_| settings.keys && !input.keys_taken) else {
        return;
    };
    let control = is_held(&keys, &CONTROL);
    let shift = is_held(&keys, &SHIFT);
    for key in keys.get_just_pressed() {
        match key {
            KeyCode::KeyZ if control && shift => {
                commands.write(CellEditorCommand::Redo);
            }
            KeyCode::KeyZ if control => {
                commands.write(CellEditorCommand::Undo);
            }
            KeyCode::KeyY if control => {
                commands.write(CellEditorCommand::Redo);
            }
            _ if control => {}
            KeyCode::Delete | KeyCode::Backspace => {
                commands.write(CellEditorCommand::RemoveSelected);
            }
            KeyCode::KeyF => {
                commands.write(CellEditorCommand::FreezeSelected);
            }
            KeyCode::Tab => {
                commands.write(CellEditorCommand::SetMode(editor.mode().next()));
            }
            KeyCode::Space => editor.paused = !editor.paused,
            KeyCode::KeyC => editor.toggle_cut(input.forward),
            KeyCode::PageUp => editor.cut.offset += CUT_STEP,
            KeyCode::PageDown => editor.cut.offset -= CUT_STEP,
            KeyCode::KeyV => editor.tool = CellEditorTool::Select,
            KeyCode::KeyP => editor.paint_selected(),
            _ => {}
        }
    }
}

/// Whether one of the keys is held, or was held at some time of this frame: in a slow frame, a short
/// press begins and ends.
fn is_held(keys: &ButtonInput<KeyCode>, any: &[KeyCode]) -> bool {
    let any = || any.iter().copied();
    keys.any_pressed(any()) || keys.any_just_pressed(any()) || keys.any_just_released(any())
}

impl CellEditor {
    /// Cuts the scene open through its middle, or shows all of it. `forward` is the direction of the
    /// camera: the side in front of the plane is hidden.
    pub fn toggle_cut(&mut self, forward: Dir3) {
        self.cut.enabled = !self.cut.enabled;
        if self.cut.enabled {
            self.cut.normal = -forward;
            self.cut.offset = self.middle().dot(*self.cut.normal);
        }
    }

    /// Middle of the box of the recipe, nm.
    #[must_use]
    pub fn middle(&self) -> Vec3 {
        let bounds = self.packing().map(|packing| packing.recipe().bounds);
        bounds.map_or(Vec3::ZERO, |[low, high]| low.midpoint(high))
    }

    /// Paints more of the selected molecule.
    fn paint_selected(&mut self) {
        let Some(packing) = &self.packing else {
            return;
        };
        let selected = self.selection.first();
        if let Some(entry) = selected.and_then(|id| packing.entry_of(*id)) {
            self.tool = CellEditorTool::Paint { entry };
        }
    }
}
