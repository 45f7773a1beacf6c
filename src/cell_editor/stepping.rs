//! Iterations of the packing, for a limited time per frame.

use std::time::{Duration, Instant};

use bevy::prelude::*;

use super::CellEditorSettings;
use super::editor::{CellEditor, CellEditorMode};

/// Work per frame. At least one iteration is done unless the molecules are at rest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FrameWork {
    /// Iterations until this time is over.
    Time(Duration),
    /// A number of iterations, for tests and screenshots: the result does not depend on the speed
    /// of the computer.
    Iterations(u32),
}

impl Default for FrameWork {
    fn default() -> Self {
        Self::Time(Duration::from_millis(12))
    }
}

/// Runs iterations while packing; nothing if paused, at rest or without progress.
pub(super) fn step(settings: Res<CellEditorSettings>, mut editor: ResMut<CellEditor>) {
    if editor.paused || editor.mode() != CellEditorMode::Packing {
        return;
    }
    let begin = Instant::now();
    let mut iterations = 0;
    let is_over = |iterations: u32| match settings.work {
        FrameWork::Time(time) => iterations > 0 && begin.elapsed() >= time,
        FrameWork::Iterations(count) => iterations >= count.max(1),
    };
    while !is_over(iterations) {
        // A drag goes on even if the others cannot make room.
        let Some(packing) = (editor.packing.as_mut())
            .filter(|packing| !packing.is_at_rest())
            .filter(|packing| !packing.is_stalled() || packing.dragged().is_some())
        else {
            break;
        };
        if let Err(error) = packing.step() {
            editor.paused = true;
            editor.fail(&error.into());
            break;
        }
        iterations += 1;
    }
    if iterations > 0 {
        editor.moves += 1;
    }
    editor.update_progress();
}
