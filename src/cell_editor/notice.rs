//! [`CellEditorNotice`]: what the editor has to say, and its errors.

use bevy::prelude::*;
use thiserror::Error;

use super::editor::CellEditor;
use crate::export::ExportError;
use crate::plugin::SpawnCrowdError;
use crate::recipe::RecipeError;

/// A command of the cell editor failed. Nothing has changed.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum CellEditorError {
    /// A recipe is broken, or a change is impossible.
    #[error(transparent)]
    Recipe(#[from] RecipeError),
    /// The molecules cannot be exported.
    #[error(transparent)]
    Export(#[from] ExportError),
    /// The molecules cannot be passed on to Rapier.
    #[error(transparent)]
    SpawnCrowd(#[from] SpawnCrowdError),
    /// No recipe is open.
    #[error("open a recipe first")]
    NoRecipe,
    /// The command needs [`CellEditorMode::Packing`](super::CellEditorMode::Packing).
    #[error("molecules can be changed only while packing: change the mode first")]
    NotPacking,
    /// The app has no physics.
    #[error("this app has no physics: add RapierPhysicsPlugin and MoleculePlugins")]
    NoPhysics,
}

/// How important a [`CellEditorNotice`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Reflect)]
pub enum NoticeLevel {
    /// Something was done.
    Done,
    /// Something was done in another way than expected.
    Warning,
    /// Something was not done.
    Error,
}

/// A sentence for the user, as a message. The last ones are in [`CellEditor::notices`].
#[derive(Clone, Debug, PartialEq, Eq, Message)]
pub struct CellEditorNotice {
    /// How important it is.
    pub level: NoticeLevel,
    /// The sentence.
    pub text: String,
}

/// Writes the notices of this frame as messages, and errors and warnings to the log.
pub(super) fn write_notices(
    mut editor: ResMut<CellEditor>,
    mut messages: MessageWriter<CellEditorNotice>,
) {
    if editor.outbox.is_empty() {
        return;
    }
    for notice in editor.outbox.drain(..) {
        match notice.level {
            NoticeLevel::Done => info!("{}", notice.text),
            NoticeLevel::Warning => warn!("{}", notice.text),
            NoticeLevel::Error => error!("{}", notice.text),
        }
        messages.write(notice);
    }
}
