//! [`Drag`]: a molecule that follows the pointer.

use glam::Vec3;

use super::history::{Change, Changed};
use super::{EditError, LivePacking, MoleculeId};
use crate::pose::Pose;
use crate::recipe::RecipeError;
use crate::recipe::error::RecipeProblem;
use crate::relax::{CrowdEdit, RelaxStatus};

/// Largest distance by which a dragged molecule moves in one step, nm. The others, which move 0.1 nm
/// at most, have time to give way.
const MAX_STEP_NM: f32 = 0.2;

/// Stretch of its joints beyond which a dragged molecule waits for its neighbors, nm.
const MAX_STRETCH_NM: f32 = 0.2;

/// A molecule that follows the pointer.
pub(super) struct Drag {
    pub id: MoleculeId,
    /// The point that was grabbed, in the body frame, nm.
    grabbed: Vec3,
    /// Where the point moves to, nm.
    target: Vec3,
    /// Pose before the drag.
    before: Pose,
    /// Whether the molecule is frozen; it is held otherwise.
    pub was_frozen: bool,
}

impl Drag {
    /// The pose after one step from `pose`; none if the grabbed point has reached its target.
    fn next(&self, pose: &Pose) -> Option<Pose> {
        let way = self.target - pose.transform_point(self.grabbed);
        let moved = pose.position + way.clamp_length_max(MAX_STEP_NM);
        // Also if the way is too short to change a coordinate.
        let has_moved = way.length() > REACHED_NM && moved != pose.position;
        has_moved.then_some(Pose::new(moved, pose.rotation))
    }
}

/// Distance from the pointer at which a molecule has reached it, nm.
const REACHED_NM: f32 = 1.0e-4;

impl LivePacking {
    pub(super) fn grab(&mut self, id: MoleculeId, point: Vec3) -> Result<(), RecipeError> {
        self.check_point(point)?;
        let index = self.known_index(id)?;
        self.end_drag()?;
        let member = self.crowd().members()[index];
        let drag = Drag {
            id,
            grabbed: member.pose.inverse_transform_point(point),
            target: point,
            before: member.pose,
            was_frozen: member.fixed,
        };
        self.hold(id, drag.was_frozen, true)?;
        self.drag = Some(drag);
        Ok(())
    }

    pub(super) fn set_target(&mut self, point: Vec3) -> Result<(), RecipeError> {
        self.check_point(point)?;
        if let Some(drag) = &mut self.drag {
            drag.target = point;
        }
        Ok(())
    }

    pub(super) fn release(&mut self) -> Result<(), RecipeError> {
        let Some(drag) = self.drag.take() else {
            return Ok(());
        };
        if let Some(pose) = self.pose_of(drag.id)
            && pose != drag.before
        {
            let moved = Changed {
                of: drag.id,
                before: drag.before,
                after: pose,
            };
            self.history.push(Change {
                poses: vec![moved],
                ..Change::default()
            });
        }
        self.hold(drag.id, drag.was_frozen, false)
    }

    /// Fixes or frees the dragged molecule, unless it is frozen.
    fn hold(&mut self, id: MoleculeId, was_frozen: bool, held: bool) -> Result<(), RecipeError> {
        let index = self.known_index(id)? as u32;
        if was_frozen {
            return Ok(());
        }
        let fixed = vec![(index, held)];
        self.edit_crowd(&CrowdEdit {
            fixed,
            ..CrowdEdit::default()
        })?;
        Ok(())
    }

    /// The index and next pose of the dragged molecule; none if there is none, or if it has reached
    /// the pointer.
    pub(super) fn next_dragged(&self) -> Option<(u32, Pose)> {
        let drag = self.drag.as_ref()?;
        let index = self.index_of(drag.id)?;
        let pose = drag.next(&self.crowd().members()[index].pose)?;
        Some((index as u32, pose))
    }

    /// The next pose of the dragged molecule, unless it has to wait for those that are joined to it.
    pub(super) fn next_pulled(&self) -> Option<(u32, Pose)> {
        let next = self.next_dragged();
        next.filter(|(index, _)| self.stretch_of(*index) <= MAX_STRETCH_NM)
    }

    /// One iteration in which the dragged molecule moves.
    pub(super) fn step_dragging(
        &mut self,
        dragged: (u32, Pose),
    ) -> Result<RelaxStatus, RecipeError> {
        let source = &self.recipe.source;
        let stepped = self.relaxer.step_with_fixed(&[dragged]);
        stepped.map_err(|error| RecipeProblem::Relax(error).at(source, ""))
    }

    fn check_point(&self, point: Vec3) -> Result<(), RecipeError> {
        if point.is_finite() {
            return Ok(());
        }
        Err(self.error(EditError::BadPoint { point }))
    }
}
