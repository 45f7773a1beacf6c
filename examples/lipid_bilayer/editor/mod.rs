//! The editor: the molecules, and panels for all parameters.
//!
//! The simulation runs on its own thread (`worker.rs`). Each frame takes its output, draws it,
//! and sends changed parameters back.

mod files;
mod panel;
mod parameters;
mod plots;
mod save_view;
mod view;

use std::time::Duration;

use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::time::common_conditions::on_timer;
use bevy_rapier_molecules::render::MoleculeRenderPlugin;
use bevy_rapier_molecules::render::offscreen::Offscreen;

use super::arguments::Arguments;
use super::common::orbit::OrbitInput;
use super::common::panels::PanelsPlugin;
use super::common::stage::StagePlugin;
use super::common::view_area::is_pointed_at;
use super::common::{AnyError, Screen, app};
use super::preset::Preset;
use super::simulation::{Sample, Simulation, Snapshot};
use super::worker::{Worker, WorkerMessage};
use files::Files;

/// Frames before a screenshot: panels need some to compute their sizes.
const FRAMES: u32 = 6;

/// A message in a panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    Success(String),
    Error(String),
}

/// The state of the panels.
#[derive(Resource)]
pub struct Editor {
    /// The parameters in the panels.
    preset: Preset,
    /// The parameters last sent to the worker.
    sent: Preset,
    worker: Worker,
    /// The latest snapshot of the worker.
    latest: Option<Snapshot>,
    /// A sample per iteration since the start.
    history: Vec<Sample>,
    /// Whether the worker iterates.
    running: bool,
    /// Whether the worker continues after a change.
    wants_to_run: bool,
    /// A message about the simulation.
    notice: Option<Notice>,
    files: Files,
    show_panels: bool,
}

/// Runs the editor until its window is closed, or its screenshot is saved: after `--steps`
/// iterations, or when the relaxation ends.
pub fn run(
    preset: Preset,
    max_time: Option<Duration>,
    screen: Screen,
    arguments: &Arguments,
) -> Result<(), AnyError> {
    // Invalid parameters are reported before a window opens.
    let simulation = Simulation::new(preset.clone())?.with_max_time(max_time);
    let worker = Worker::new(simulation);
    let screenshot = match &screen {
        Screen::Screenshot(screenshot) => Some((screenshot, FRAMES)),
        _ => None,
    };
    let is_screenshot = screenshot.is_some();
    let mut app = app::new("Lipid bilayer", screenshot, |plugins| {
        plugins.set(RenderPlugin {
            synchronous_pipeline_compilation: true,
            ..default()
        })
    });
    let steps = arguments.steps;
    worker.run(steps.filter(|_| is_screenshot));
    app.add_plugins((
        PanelsPlugin,
        MoleculeRenderPlugin,
        StagePlugin {
            buttons: &[MouseButton::Left, MouseButton::Right],
        },
        view::ViewPlugin,
        panel::PanelPlugin,
    ))
    .insert_resource(Editor {
        sent: preset.clone(),
        preset,
        worker,
        latest: None,
        history: Vec::new(),
        running: true,
        wants_to_run: !is_screenshot,
        notice: None,
        files: Files::default(),
        show_panels: arguments.panel || !is_screenshot,
    })
    .configure_sets(PostUpdate, OrbitInput.run_if(is_pointed_at))
    .add_systems(
        PreUpdate,
        (
            receive,
            files::reload.run_if(on_timer(files::POLL_INTERVAL)),
        )
            .chain(),
    );
    if is_screenshot {
        app.world_mut().resource_mut::<Offscreen>().hold = true;
        let hold = move |mut offscreen: ResMut<Offscreen>, editor: Res<Editor>| {
            offscreen.hold = !editor.has_reached(steps);
        };
        app.add_systems(Update, hold);
    }
    app::run(app)
}

impl Editor {
    /// Whether the latest snapshot has `steps` iterations, or the simulation has ended.
    fn has_reached(&self, steps: Option<u32>) -> bool {
        self.latest.as_ref().is_some_and(|latest| {
            let done = steps.is_some_and(|steps| latest.sample.iteration >= steps);
            done || latest.ended.is_some()
        }) || matches!(self.notice, Some(Notice::Error(_)))
    }

    /// Sends changed parameters to the worker.
    fn send_changes(&mut self) {
        if self.preset == self.sent {
            return;
        }
        self.sent = self.preset.clone();
        self.worker.change(self.preset.clone());
        if self.wants_to_run {
            self.worker.run(None);
        }
    }

    /// Restarts with the parameters of the panels.
    fn restart(&mut self) {
        self.sent = self.preset.clone();
        self.worker.restart(self.preset.clone());
        if self.wants_to_run {
            self.worker.run(None);
        }
    }
}

/// Takes the output of the worker.
fn receive(mut editor: ResMut<Editor>) {
    let editor = &mut *editor;
    let mut outbox = editor.worker.outbox();
    let (messages, snapshot) = (std::mem::take(&mut outbox.messages), outbox.snapshot.take());
    for message in messages {
        match message {
            WorkerMessage::Restarted => {
                editor.history.clear();
                editor.notice = Some(Notice::Success("restarted with new molecules".into()));
            }
            WorkerMessage::PresetApplied => editor.notice = None,
            WorkerMessage::PresetRejected(why) => {
                editor.notice = Some(Notice::Error(format!("kept the previous scene: {why}")));
            }
            WorkerMessage::Failed(why) => editor.notice = Some(Notice::Error(why)),
            WorkerMessage::Exported(text) => {
                editor.files.export_notice = Some(Notice::Success(text));
            }
            WorkerMessage::ExportFailed(why) => {
                editor.files.export_notice = Some(Notice::Error(why));
            }
        }
    }
    editor.history.append(&mut outbox.samples);
    editor.running = outbox.running;
    drop(outbox);
    if snapshot.is_some() {
        editor.latest = snapshot;
    }
}
