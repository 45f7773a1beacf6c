//! [`CellEditor`]: the state of the cell editor.

use std::collections::VecDeque;
use std::fmt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bevy::prelude::*;

use super::cut_plane::CutPlane;
use super::entry_look::{self, CompartmentNode, EntryLook};
use super::loading::Loading;
use super::notice::{CellEditorError, CellEditorNotice, NoticeLevel};
use super::physics::PhysicsScene;
use super::watched_file::WatchedFile;
use crate::recipe::{LivePacking, MoleculeId};

/// Largest number of notices that are kept.
const MAX_NOTICES: usize = 100;

/// What moves the molecules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
pub enum CellEditorMode {
    /// They make room for each other until nothing overlaps, and can be edited.
    #[default]
    Packing,
    /// They are bodies of Rapier, without gravity, and can be pulled.
    Rapier,
    /// They diffuse ([`BrownianMotion`](crate::plugin::BrownianMotion)).
    Brownian,
}

impl CellEditorMode {
    /// All modes, in menu order.
    pub const ALL: [Self; 3] = [Self::Packing, Self::Rapier, Self::Brownian];

    /// The next one in the menu; the first after the last.
    #[must_use]
    pub fn next(self) -> Self {
        match self {
            Self::Packing => Self::Rapier,
            Self::Rapier => Self::Brownian,
            Self::Brownian => Self::Packing,
        }
    }
}

impl fmt::Display for CellEditorMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Packing => "packing",
            Self::Rapier => "Rapier",
            Self::Brownian => "Brownian motion",
        })
    }
}

/// What the left mouse button does.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq, Hash)]
pub enum CellEditorTool {
    /// Selects and drags molecules.
    #[default]
    Select,
    /// Adds molecules of an entry.
    Paint {
        /// The entry, an index of [`LivePacking::entries`].
        entry: usize,
    },
    /// Moves the cut plane.
    Cut,
}

/// How much the tool [`Paint`](CellEditorTool::Paint) adds.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub struct Brush {
    /// Radius of the ball that molecules are added in, nm. Default: 3.
    pub radius: f32,
    /// Molecules per ball. Default: 1.
    pub count: u32,
}

impl Default for Brush {
    fn default() -> Self {
        Self {
            radius: 3.0,
            count: 1,
        }
    }
}

/// The state of the cell editor. Public fields may be set at any time; molecules are changed by
/// [`CellEditorCommand`](super::CellEditorCommand)s.
#[derive(Resource)]
pub struct CellEditor {
    /// What the left mouse button does. Default: select.
    pub tool: CellEditorTool,
    /// How much painting adds. Default: one molecule in 3 nm.
    pub brush: Brush,
    /// Hides a part of the scene. Default: nothing.
    pub cut: CutPlane,
    /// Whether molecules stay where they are. Default: no.
    pub paused: bool,
    /// Whether molecules have the colors of [`looks`](Self::looks), else those of
    /// [`MoleculeStyle`](crate::render::MoleculeStyle). Default: yes.
    pub color_by_entry: bool,
    /// How the molecules of each entry are drawn, by index of [`LivePacking::entries`].
    pub looks: Vec<EntryLook>,
    pub(super) packing: Option<LivePacking>,
    /// File of the packing.
    pub(super) path: Option<PathBuf>,
    pub(super) loading: Option<Loading>,
    pub(super) watched: Option<WatchedFile>,
    /// Time since the watched file was last looked at.
    pub(super) since_check: Duration,
    /// Why the last file that was read is not in the scene.
    pub(super) failure: Option<String>,
    pub(super) physics: Option<PhysicsScene>,
    pub(super) selection: Vec<MoleculeId>,
    pub(super) brush_point: Option<Vec3>,
    pub(super) outbox: Vec<CellEditorNotice>,
    /// Changes whenever molecules may have moved.
    pub(super) moves: u64,
    notices: VecDeque<CellEditorNotice>,
    /// Largest number of problems since the molecules were at rest.
    most_problems: u64,
}

impl Default for CellEditor {
    fn default() -> Self {
        Self {
            tool: CellEditorTool::default(),
            brush: Brush::default(),
            cut: CutPlane::default(),
            paused: false,
            color_by_entry: true,
            looks: Vec::new(),
            packing: None,
            path: None,
            loading: None,
            watched: None,
            since_check: Duration::ZERO,
            failure: None,
            physics: None,
            selection: Vec::new(),
            brush_point: None,
            outbox: Vec::new(),
            moves: 0,
            notices: VecDeque::new(),
            most_problems: 0,
        }
    }
}

impl fmt::Debug for CellEditor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CellEditor")
            .field("mode", &self.mode())
            .field("tool", &self.tool)
            .field("path", &self.path)
            .field("loading", &self.loading())
            .field("failure", &self.failure)
            .field("selection", &self.selection)
            .finish_non_exhaustive()
    }
}

impl CellEditor {
    /// The molecules; none before the first recipe is open.
    #[must_use]
    pub fn packing(&self) -> Option<&LivePacking> {
        self.packing.as_ref()
    }

    /// The file of the molecules.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        self.path.as_deref()
    }

    /// The file that is being read.
    #[must_use]
    pub fn loading(&self) -> Option<&Path> {
        self.loading.as_ref().map(Loading::path)
    }

    /// Why the file that was read last is not in the scene: one sentence, with the place in the file.
    /// None once it is.
    #[must_use]
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// What moves the molecules.
    #[must_use]
    pub fn mode(&self) -> CellEditorMode {
        self.physics
            .as_ref()
            .map_or(CellEditorMode::Packing, PhysicsScene::mode)
    }

    /// The selected molecules.
    #[must_use]
    pub fn selection(&self) -> &[MoleculeId] {
        &self.selection
    }

    /// Center of the next ball to paint in, nm, while the tool paints and the pointer is over a place
    /// for it.
    #[must_use]
    pub fn brush_point(&self) -> Option<Vec3> {
        self.brush_point
    }

    /// Whether there is a change to take back.
    #[must_use]
    pub fn can_undo(&self) -> bool {
        self.physics.is_none() && self.packing().is_some_and(LivePacking::can_undo)
    }

    /// Whether there is a change to repeat.
    #[must_use]
    pub fn can_redo(&self) -> bool {
        self.physics.is_none() && self.packing().is_some_and(LivePacking::can_redo)
    }

    /// The fraction of problems that are solved since the molecules were last at rest, from 0 to 1.
    /// On a logarithmic scale: the last overlaps take as long as the first million.
    #[must_use]
    pub fn progress(&self) -> f32 {
        let most = (self.most_problems as f64).ln_1p();
        if most > 0.0 {
            (1.0 - (self.problems() as f64).ln_1p() / most) as f32
        } else {
            1.0
        }
    }

    /// The last notices, at most 100, the oldest first.
    pub fn notices(&self) -> impl DoubleEndedIterator<Item = &CellEditorNotice> {
        self.notices.iter()
    }

    /// All entries by compartment and region, for panels.
    #[must_use]
    pub fn tree(&self) -> Vec<CompartmentNode> {
        self.packing().map(entry_look::tree).unwrap_or_default()
    }

    /// Shows or hides all entries of a compartment.
    pub fn set_compartment_visible(&mut self, compartment: &str, visible: bool) {
        let Some(packing) = &self.packing else {
            return;
        };
        for (entry, look) in packing.entries().zip(&mut self.looks) {
            if entry_look::split_region(entry).0 == compartment {
                look.visible = visible;
            }
        }
    }

    /// Overlaps and molecules out of place.
    fn problems(&self) -> u64 {
        self.packing().map_or(0, |packing| {
            let status = packing.status();
            status.unresolved + status.out_of_place
        })
    }

    pub(super) fn update_progress(&mut self) {
        let problems = self.problems();
        let at_rest = self.packing().is_none_or(LivePacking::is_at_rest);
        self.most_problems = if at_rest {
            0
        } else {
            self.most_problems.max(problems)
        };
    }

    /// The molecules, if they may be changed now.
    pub(super) fn editable(&mut self) -> Result<&mut LivePacking, CellEditorError> {
        if self.physics.is_some() {
            return Err(CellEditorError::NotPacking);
        }
        self.packing.as_mut().ok_or(CellEditorError::NoRecipe)
    }

    /// Removes molecules that are gone from the selection.
    pub(super) fn prune_selection(&mut self) {
        if let Some(packing) = &self.packing {
            self.selection.retain(|id| packing.index_of(*id).is_some());
        }
    }

    pub(super) fn notify(&mut self, level: NoticeLevel, text: String) {
        let notice = CellEditorNotice { level, text };
        self.outbox.push(notice.clone());
        self.notices.push_back(notice);
        while self.notices.len() > MAX_NOTICES {
            self.notices.pop_front();
        }
    }

    pub(super) fn fail(&mut self, error: &CellEditorError) {
        self.notify(NoticeLevel::Error, error.to_string());
    }
}
