//! The cell editor: a recipe that is packed on the screen while it is edited.
//!
//! Add [`CellEditorPlugin`] and a `Camera3d`, and write a [`CellEditorCommand`]:
//!
//! ```no_run
//! use bevy::prelude::*;
//! use bevy_rapier_molecules::cell_editor::{CellEditorCommand, CellEditorPlugin};
//!
//! App::new()
//!     .add_plugins((DefaultPlugins, CellEditorPlugin::default()))
//!     .add_systems(Startup, |mut commands: Commands, mut editor: MessageWriter<CellEditorCommand>| {
//!         commands.spawn((Camera3d::default(), Transform::from_xyz(0.0, 0.0, 50.0)));
//!         commands.spawn((DirectionalLight::default(), Transform::from_xyz(1.0, 2.0, 3.0).looking_at(Vec3::ZERO, Vec3::Y)));
//!         editor.write(CellEditorCommand::Open("assets/recipes/vesicle.json".into()));
//!     })
//!     .run();
//! ```
//!
//! # What it does
//!
//! - Opens a recipe in a task, so that the window never waits for it, and packs it in each frame for
//!   a [limited time](FrameWork). At rest it does nothing.
//! - Changes numbers, paints, drags, removes and freezes molecules ([`LivePacking`]); all others make
//!   room. Each change can be undone.
//! - Watches the file. If a number in it changes, the scene follows; if the file is broken, the
//!   scene stays and a [`CellEditorNotice`] says what is wrong where.
//! - Passes the molecules on to Rapier or to Brownian motion, and takes them back as one
//!   change ([`CellEditorMode`]). These modes need `RapierPhysicsPlugin` and
//!   [`MoleculePlugins`](crate::plugin::MoleculePlugins).
//! - Draws all molecules as one entity ([`InstancedMolecules`](crate::render::InstancedMolecules)),
//!   in the colors of the recipe, without those that are hidden or beyond the [`CutPlane`]. What is
//!   hidden is packed all the same.
//!
//! # Commands and state
//!
//! Everything that changes molecules is a [`CellEditorCommand`], processed in the order of writing.
//! The [`CellEditor`] is the state: read it for panels, and set its public fields to change tool,
//! looks and cut. Errors never end anything: each is a [`CellEditorNotice`], also kept in
//! [`CellEditor::notices`].
//!
//! # Mouse and keys
//!
//! The ray of the mouse is in [`CellEditorInput`]; apps with panels set its flags while a panel has
//! the mouse or the keys.
//!
//! | input | what it does |
//! |---|---|
//! | left button, tool [`Select`](CellEditorTool::Select) | selects a molecule, Shift adds; drags it |
//! | left button, tool [`Paint`](CellEditorTool::Paint) | adds molecules under the pointer |
//! | left button, tool [`Cut`](CellEditorTool::Cut) | moves the cut plane, up into the scene |
//! | `Ctrl+Z`; `Ctrl+Y` or `Ctrl+Shift+Z` | undo; redo |
//! | `Delete` or `Backspace`, `F` | removes the selection; freezes or frees it |
//! | `Space` | pauses |
//! | `Tab` | next mode |
//! | `C`, `Page Up`, `Page Down` | cuts the scene open, facing the camera; moves the plane |
//! | `V`, `P` | selects; paints more of the selected molecule |
//!
//! # System sets
//!
//! [`CellEditorSystems`] run in `Update`, in this order:
//!
//! ```text
//! Load     takes what tasks have read, and watches the file
//! Input    mouse and keys to commands
//! Apply    commands to molecules
//! Step     iterations or, in the physics modes, poses of the bodies
//! Draw     molecules to the entity that draws them, and notices
//! ```

mod command;
mod commands_system;
mod cut_plane;
mod drawing;
mod editor;
mod entry_look;
mod keys;
mod loading;
mod notice;
mod physics;
mod pointer;
mod stepping;
mod surface_ray;
mod watched_file;

pub use command::CellEditorCommand;
pub use cut_plane::CutPlane;
pub use drawing::CellMolecules;
pub use editor::{Brush, CellEditor, CellEditorMode, CellEditorTool};
pub use entry_look::{CompartmentNode, EntryLook, RegionNode};
pub use notice::{CellEditorError, CellEditorNotice, NoticeLevel};
pub use pointer::CellEditorInput;
pub use stepping::FrameWork;

use std::time::Duration;

use bevy::prelude::*;

#[cfg(doc)]
use crate::recipe::LivePacking;
use crate::recipe::{PackOptions, ReadOptions};
use crate::render::MoleculeRenderPlugin;

/// Adds the cell editor. See the [module page](self).
///
/// It needs no renderer: without one, nothing is drawn and all else works.
#[derive(Clone, Debug, Default)]
pub struct CellEditorPlugin {
    /// Initial settings.
    pub settings: CellEditorSettings,
}

/// Settings of the [`CellEditor`]. May be changed at any time.
#[derive(Clone, Debug, PartialEq, Resource)]
pub struct CellEditorSettings {
    /// Work per frame. Default: 12 ms.
    pub work: FrameWork,
    /// Time between two checks whether the file has changed. Default: 0.5 s.
    pub watch_interval: Duration,
    /// Whether the keys of the [module page](self) are used. Default: yes.
    pub keys: bool,
    /// How recipes are read. Default: only files next to them.
    pub read: ReadOptions,
    /// Seed and parameters of the relaxation. Default: the seed of the recipe.
    pub pack: PackOptions,
}

impl Default for CellEditorSettings {
    fn default() -> Self {
        Self {
            work: FrameWork::default(),
            watch_interval: Duration::from_millis(500),
            keys: true,
            read: ReadOptions::default(),
            pack: PackOptions::default(),
        }
    }
}

/// The system sets of the [`CellEditor`], in their order. They run in `Update`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, SystemSet)]
pub enum CellEditorSystems {
    /// Takes recipes that tasks have read, and watches the file.
    Load,
    /// Updates [`CellEditorInput`], and turns mouse and keys into commands.
    Input,
    /// Processes all [`CellEditorCommand`]s.
    Apply,
    /// Runs iterations.
    Step,
    /// Updates the entity that draws the molecules, and writes notices.
    Draw,
}

impl Plugin for CellEditorPlugin {
    fn build(&self, app: &mut App) {
        use CellEditorSystems::{Apply, Draw, Input, Load, Step};
        app.register_type::<CellEditorInput>()
            .register_type::<CellEditorMode>()
            .register_type::<CellEditorTool>()
            .register_type::<Brush>()
            .register_type::<CutPlane>()
            .register_type::<EntryLook>()
            .register_type::<NoticeLevel>();
        app.add_plugins(MoleculeRenderPlugin)
            .insert_resource(self.settings.clone())
            .init_resource::<CellEditor>()
            .init_resource::<CellEditorInput>()
            .add_message::<CellEditorCommand>()
            .add_message::<CellEditorNotice>()
            .configure_sets(Update, (Load, Input, Apply, Step, Draw).chain())
            .add_systems(Startup, drawing::spawn_molecules)
            .add_systems(
                Update,
                (
                    (loading::take_loaded, loading::watch_file)
                        .chain()
                        .in_set(Load),
                    (pointer::read_pointer, pointer::use_pointer, keys::use_keys)
                        .chain()
                        .in_set(Input),
                    commands_system::apply_commands.in_set(Apply),
                    (stepping::step, physics::pull_dragged).chain().in_set(Step),
                    (drawing::update_molecules, notice::write_notices)
                        .chain()
                        .in_set(Draw),
                ),
            );
    }
}
