//! Several molecules that move at once.

use super::history::{Change, Changed};
use super::{EditReport, LivePacking, MoleculeId};
use crate::pose::Pose;
use crate::recipe::RecipeError;

impl LivePacking {
    /// Moves molecules to poses, nm, at once, as one step of the history: for instance to where a
    /// physics engine has moved them.
    ///
    /// # Errors
    /// [`RecipeError`] if a molecule does not exist or a pose is invalid; nothing has changed then.
    pub fn move_all(&mut self, poses: &[(MoleculeId, Pose)]) -> Result<EditReport, RecipeError> {
        self.end_drag()?;
        let mut change = Change::default();
        for &(id, after) in poses {
            let before = self.crowd().members()[self.known_index(id)?].pose;
            if before != after {
                let of = id;
                change.poses.push(Changed { of, before, after });
            }
        }
        if change.is_empty() {
            return Ok(EditReport::default());
        }
        self.make(&mut change)?;
        let report = EditReport {
            changed: change.poses.iter().map(|changed| changed.of).collect(),
            ..EditReport::default()
        };
        self.history.push(change);
        Ok(report)
    }
}
