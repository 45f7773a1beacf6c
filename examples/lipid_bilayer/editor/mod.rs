//! The editor: the vesicle on the screen, and every parameter in a panel.
//!
//! The simulation has a thread of its own (`worker.rs`). Each frame takes what it has
//! published, draws it, and sends changed parameters back.

mod files;
mod panel;
mod parameters;
mod plots;
mod save_view;
mod view;

use bevy::prelude::*;
use bevy::render::RenderPlugin;
use bevy::time::common_conditions::on_timer;
use bevy_rapier_molecules::render::MoleculeRenderPlugin;
use bevy_rapier_molecules::render::offscreen::Offscreen;

use super::common::orbit::OrbitInput;
use super::common::panels::PanelsPlugin;
use super::common::stage::StagePlugin;
use super::common::{AnyError, Screen, app};
use super::preset::Preset;
use super::simulation::{Sample, Simulation, Snapshot};
use super::worker::{News, Worker};
use files::Files;

/// Frames that are drawn before a picture: panels need some to find their sizes.
const FRAMES: u32 = 6;

/// Good or bad news for the panel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Notice {
    Good(String),
    Bad(String),
}

/// All that the panels show and change.
#[derive(Resource)]
pub struct Editor {
    /// The parameters as the panel shows them.
    preset: Preset,
    /// The parameters that the worker was last told.
    sent: Preset,
    worker: Worker,
    /// What the worker last published.
    latest: Option<Snapshot>,
    /// Each iteration since the start.
    history: Vec<Sample>,
    /// Whether the worker iterates.
    running: bool,
    /// Whether it is to iterate again after a change.
    wants_to_run: bool,
    /// About the scene and its parameters.
    notice: Option<Notice>,
    files: Files,
    show_panels: bool,
}

/// Runs the editor until its window is closed, or its picture is saved: after so many
/// iterations or at the end, with panels or without.
pub fn run(
    preset: Preset,
    screen: Screen,
    steps: Option<u32>,
    panel: bool,
) -> Result<(), AnyError> {
    // What is impossible is told before a window opens.
    let simulation = Simulation::new(preset.clone())?;
    let worker = Worker::new(simulation);
    let screenshot = match &screen {
        Screen::Screenshot(screenshot) => Some((screenshot, FRAMES)),
        _ => None,
    };
    let in_picture = screenshot.is_some();
    let mut app = app::new("Lipid bilayer", screenshot, |plugins| {
        plugins.set(RenderPlugin {
            synchronous_pipeline_compilation: true,
            ..default()
        })
    });
    worker.run(steps.filter(|_| in_picture));
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
        wants_to_run: !in_picture,
        notice: None,
        files: Files::default(),
        show_panels: panel || !in_picture,
    })
    .configure_sets(PostUpdate, OrbitInput.run_if(view::is_pointed_at))
    .add_systems(
        PreUpdate,
        (
            receive,
            files::reload.run_if(on_timer(files::LOOK_INTERVAL)),
        )
            .chain(),
    );
    if in_picture {
        app.world_mut().resource_mut::<Offscreen>().hold = true;
        let hold = move |mut offscreen: ResMut<Offscreen>, editor: Res<Editor>| {
            offscreen.hold = !editor.has_reached(steps);
        };
        app.add_systems(Update, hold);
    }
    app::run(app)
}

impl Editor {
    /// Whether so many iterations are done, or the simulation has ended before.
    fn has_reached(&self, steps: Option<u32>) -> bool {
        self.latest.as_ref().is_some_and(|latest| {
            let done = steps.is_some_and(|steps| latest.sample.iteration >= steps);
            done || latest.ended.is_some()
        }) || matches!(self.notice, Some(Notice::Bad(_)))
    }

    /// Tells the worker what was changed in the panel.
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

    /// Starts again from the parameters of the panel.
    fn restart(&mut self) {
        self.sent = self.preset.clone();
        self.worker.restart(self.preset.clone());
        if self.wants_to_run {
            self.worker.run(None);
        }
    }
}

/// Takes what the worker has published.
fn receive(mut editor: ResMut<Editor>) {
    let editor = &mut *editor;
    let mut outbox = editor.worker.outbox();
    let (news, snapshot) = (std::mem::take(&mut outbox.news), outbox.snapshot.take());
    for news in news {
        match news {
            News::Restarted => {
                editor.history.clear();
                editor.notice = Some(Notice::Good(
                    "started again: there are other molecules now".into(),
                ));
            }
            News::TakenOver => editor.notice = None,
            News::Refused(why) => {
                editor.notice = Some(Notice::Bad(format!("the old scene goes on: {why}")));
            }
            News::Broken(why) => editor.notice = Some(Notice::Bad(why)),
            News::Exported(text) => editor.files.export_notice = Some(Notice::Good(text)),
            News::NotExported(why) => editor.files.export_notice = Some(Notice::Bad(why)),
        }
    }
    editor.history.append(&mut outbox.samples);
    editor.running = outbox.running;
    drop(outbox);
    if snapshot.is_some() {
        editor.latest = snapshot;
    }
}
