//! Processes [`CellEditorCommand`]s.

use std::path::Path;

use bevy::ecs::message::MessageCursor;
use bevy::prelude::*;

use super::CellEditorSettings;
use super::command::CellEditorCommand;
use super::editor::CellEditor;
use super::notice::{CellEditorError, NoticeLevel};
use super::watched_file::WatchedFile;
use crate::export::ExportOptions;
use crate::recipe::{Edit, MoleculeId};
use crate::scene_files::write_scene;

/// Processes all commands in their order.
pub(super) fn apply_commands(
    world: &mut World,
    mut cursor: Local<MessageCursor<CellEditorCommand>>,
) {
    let Some(messages) = world.get_resource::<Messages<CellEditorCommand>>() else {
        return;
    };
    let commands: Vec<CellEditorCommand> = cursor.read(messages).cloned().collect();
    if commands.is_empty() {
        return;
    }
    world.resource_scope(|world, mut editor: Mut<CellEditor>| {
        for command in commands {
            if let Err(error) = editor.execute(world, command) {
                editor.fail(&error);
            }
        }
    });
}

impl CellEditor {
    fn execute(
        &mut self,
        world: &mut World,
        command: CellEditorCommand,
    ) -> Result<(), CellEditorError> {
        match command {
            CellEditorCommand::Open(path) => {
                let settings = world.resource::<CellEditorSettings>();
                self.open(path, settings);
            }
            CellEditorCommand::Edit(edit) => self.edit(edit)?,
            CellEditorCommand::Select(ids) => {
                self.selection = ids;
                self.prune_selection();
            }
            CellEditorCommand::RemoveSelected => {
                self.edit_selection(|_, ids| Edit::Remove(ids))?;
            }
            CellEditorCommand::FreezeSelected => {
                self.edit_selection(|frozen, ids| Edit::Freeze {
                    ids,
                    frozen: !frozen,
                })?;
            }
            CellEditorCommand::StartDrag { id, grabbed } if self.physics.is_none() => {
                self.editable()?.start_drag(id, grabbed)?;
            }
            CellEditorCommand::StartDrag { id, grabbed } => self.grab_body(world, id, grabbed),
            CellEditorCommand::DragTo(point) if self.physics.is_none() => {
                self.editable()?.drag_to(point)?;
            }
            CellEditorCommand::DragTo(point) => self.pull_body(Some(point)),
            CellEditorCommand::EndDrag if self.physics.is_none() => self.editable()?.end_drag()?,
            CellEditorCommand::EndDrag => self.pull_body(None),
            CellEditorCommand::Undo => {
                self.editable()?.undo()?;
                self.changed();
            }
            CellEditorCommand::Redo => {
                self.editable()?.redo()?;
                self.changed();
            }
            CellEditorCommand::SetMode(mode) => self.set_mode(world, mode)?,
            CellEditorCommand::Save(path) => self.save(&path)?,
            CellEditorCommand::Export(path) => self.export(world, &path)?,
        }
        Ok(())
    }

    fn edit(&mut self, edit: Edit) -> Result<(), CellEditorError> {
        self.editable()?.apply(edit)?;
        self.changed();
        Ok(())
    }

    /// Edits the selected molecules, if there are any. `edit` gets whether all of them are frozen.
    fn edit_selection(
        &mut self,
        edit: impl FnOnce(bool, Vec<MoleculeId>) -> Edit,
    ) -> Result<(), CellEditorError> {
        if self.selection.is_empty() {
            return Ok(());
        }
        let ids = self.selection.clone();
        let packing = self.editable()?;
        let frozen = ids.iter().all(|id| packing.is_frozen(*id));
        self.edit(edit(frozen, ids))
    }

    /// Molecules are new, gone or elsewhere.
    fn changed(&mut self) {
        self.moves += 1;
        self.prune_selection();
    }

    fn save(&mut self, path: &Path) -> Result<(), CellEditorError> {
        self.editable()?.save_to(path)?;
        // What is written now is not a change made elsewhere.
        if self.path.as_deref() == Some(path) {
            self.watched = Some(WatchedFile::new(path.to_owned()));
        }
        self.notify(NoticeLevel::Done, format!("saved {}", path.display()));
        Ok(())
    }

    fn export(&mut self, world: &World, path: &Path) -> Result<(), CellEditorError> {
        let packing = self.packing().ok_or(CellEditorError::NoRecipe)?;
        let crowd = packing.crowd();
        let options = ExportOptions {
            title: packing.recipe().name.clone(),
            periodic_box: crowd.periodic_box(),
            ..ExportOptions::default()
        };
        let (mut scene, order) = packing.recipe().scene(crowd, packing.molecule_entries());
        let poses = self.current_poses(world);
        for (pose, member) in scene.poses_mut().zip(order) {
            *pose = poses[member as usize];
        }
        let summary = write_scene(path, &scene, None, &options, &mut |_| {})?;
        let text = format!(
            "wrote {}: {} molecules, {} atoms",
            path.display(),
            summary.molecules,
            summary.atoms
        );
        self.notify(NoticeLevel::Done, text);
        Ok(())
    }
}
