//! [`CellEditorCommand`]: everything that changes molecules.

use std::path::PathBuf;

use bevy::prelude::*;

use super::editor::CellEditorMode;
use crate::recipe::{Edit, MoleculeId};

/// A command to the cell editor. Commands are processed in the order in which they are written; one
/// that fails changes nothing and writes a [`CellEditorNotice`](super::CellEditorNotice).
#[derive(Clone, Debug, PartialEq, Message)]
#[non_exhaustive]
pub enum CellEditorCommand {
    /// Opens a recipe in a task. The old scene stays until the new one is ready, and if it is
    /// broken.
    Open(PathBuf),
    /// Sets a number, paints, removes, freezes or moves molecules.
    Edit(Edit),
    /// Selects these molecules, and no others.
    Select(Vec<MoleculeId>),
    /// Removes the selected molecules.
    RemoveSelected,
    /// Freezes the selected molecules, or frees them if all of them are frozen.
    FreezeSelected,
    /// Grabs a molecule at a world point, nm.
    StartDrag {
        /// The molecule.
        id: MoleculeId,
        /// The grabbed point.
        grabbed: Vec3,
    },
    /// Moves the grabbed point to a world point, nm.
    DragTo(Vec3),
    /// Lets the dragged molecule go.
    EndDrag,
    /// Takes the last change back.
    Undo,
    /// Repeats the change that was taken back last.
    Redo,
    /// Packs, or passes the molecules on to Rapier or Brownian motion.
    SetMode(CellEditorMode),
    /// Writes a recipe with all molecules at their places.
    Save(PathBuf),
    /// Writes a file of any [`SceneFormat`](crate::scene_files::SceneFormat), such as `.cif` or
    /// `.zip`.
    Export(PathBuf),
}
