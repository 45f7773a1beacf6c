//! The editor in a window, or in a screenshot.

use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy_rapier_molecules::cell_editor::{
    CellEditor, CellEditorCommand, CellEditorInput, CellEditorPlugin, CellEditorSettings,
    CellEditorSystems, FrameWork,
};
use bevy_rapier_molecules::prelude::MoleculePlugins;
use bevy_rapier_molecules::recipe::PackOptions;
use bevy_rapier_molecules::render::offscreen::Offscreen;
use bevy_rapier3d::prelude::{NoUserData, RapierPhysicsPlugin};

use super::arguments::Arguments;
use super::common::orbit::OrbitInput;
use super::common::panels::PanelsPlugin;
use super::common::stage::StagePlugin;
use super::common::view_area::{ViewArea, ViewAreaPlugin};
use super::common::{AnyError, Screen, app};
use super::panel::{PanelPlugin, PanelState};
use super::view::ViewPlugin;

/// Frames before a screenshot: panels need some to compute their sizes.
const FRAMES: u32 = 6;

/// Most iterations between two frames before a screenshot.
const STEPS_PER_FRAME: u32 = 50;

/// Iterations before a screenshot.
#[derive(Resource)]
struct ScreenshotSteps(Option<u32>);

/// Runs the editor until its window is closed or its screenshot is saved.
pub fn run(arguments: &Arguments, screen: Screen) -> Result<(), AnyError> {
    let screenshot = match &screen {
        Screen::Screenshot(screenshot) => Some((screenshot, FRAMES)),
        _ => None,
    };
    let is_screenshot = screenshot.is_some();
    // A window opens with a broken recipe, too: the user may correct it.
    if is_screenshot {
        arguments.load()?;
    } else {
        arguments.check_recipe()?;
    }
    let mut app = app::new("Cell", screenshot, |plugins| {
        plugins.set(RenderPlugin {
            synchronous_pipeline_compilation: true,
            ..default()
        })
    });
    let settings = CellEditorSettings {
        read: arguments.read_options(),
        pack: PackOptions {
            seed: arguments.scene.seed.given(),
            ..PackOptions::default()
        },
        ..default()
    };
    app.add_plugins((
        RapierPhysicsPlugin::<NoUserData>::default(),
        MoleculePlugins::default().with_backend(arguments.scene.backend.get()),
        CellEditorPlugin { settings },
        PanelsPlugin,
        ViewAreaPlugin,
        StagePlugin {
            buttons: &[MouseButton::Left, MouseButton::Right],
        },
        ViewPlugin {
            cut_open: arguments.cut_open,
        },
        PanelPlugin,
    ))
    .insert_resource(PanelState::new(arguments.panel || !is_screenshot))
    .configure_sets(PostUpdate, OrbitInput.run_if(camera_has_mouse))
    .add_systems(Update, take_pointer.before(CellEditorSystems::Input));
    let recipe = arguments.recipe.clone();
    app.add_systems(Startup, move |mut editor: MessageWriter<_>| {
        editor.write(CellEditorCommand::Open(recipe.clone()));
    });
    if is_screenshot {
        app.insert_resource(ScreenshotSteps(arguments.steps))
            .add_systems(Update, hold_screenshot.before(CellEditorSystems::Load));
        app.world_mut().resource_mut::<Offscreen>().hold = true;
    }
    app::run(app)
}

/// The mouse belongs to the panels while it is over them.
fn take_pointer(area: Res<ViewArea>, mut input: ResMut<CellEditorInput>) {
    input.pointer_taken = !area.pointed_at;
}

/// Run condition: the mouse turns the camera.
fn camera_has_mouse(area: Res<ViewArea>, input: Res<CellEditorInput>) -> bool {
    area.pointed_at && !input.in_use
}

/// Takes the screenshot after the given number of iterations, at rest, or if all went wrong.
fn hold_screenshot(
    steps: Res<ScreenshotSteps>,
    mut editor: ResMut<CellEditor>,
    mut settings: ResMut<CellEditorSettings>,
    mut offscreen: ResMut<Offscreen>,
) {
    let failed = editor.failure().is_some();
    let Some(packing) = editor.packing() else {
        offscreen.hold = !failed;
        return;
    };
    let left = steps
        .0
        .map_or(u32::MAX, |steps| steps.saturating_sub(packing.iterations()));
    let is_done = left == 0 || packing.is_at_rest() || packing.is_stalled() || failed;
    settings.work = FrameWork::Iterations(left.min(STEPS_PER_FRAME));
    editor.paused = left == 0;
    offscreen.hold = !is_done;
}
