//! Keys and figures, in a corner of the window.

use bevy::diagnostic::{Diagnostic, DiagnosticPath, DiagnosticsStore, FrameTimeDiagnosticsPlugin};
use bevy::prelude::*;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::RapierConfiguration;

use super::looks::Tint;
use super::panels::{self, Figures};
use super::scene::Standing;

/// Shows the overlay.
pub struct OverlayPlugin;

impl Plugin for OverlayPlugin {
    fn build(&self, app: &mut App) {
        app.add_systems(Startup, spawn).add_systems(Update, update);
    }
}

const KEYS: &str = "\
C contacts   Space pause   R start again   N another protein   T colors   Esc quit\n\
left mouse: grab and throw   right mouse: turn   wheel: zoom";

fn spawn(mut commands: Commands) {
    panels::spawn(&mut commands, "loading", KEYS, 14.0);
}

fn update(
    mut texts: Query<&mut Text, With<Figures>>,
    store: Res<DiagnosticsStore>,
    model: Res<ContactModel>,
    backend: Res<MoleculeBackend>,
    tint: Res<Tint>,
    scene: Option<Res<Standing>>,
    contexts: Query<&RapierConfiguration>,
) {
    if scene.is_none() {
        return;
    }
    let smooth = |path: &DiagnosticPath| value(&store, path, Diagnostic::smoothed);
    let now = |path: &DiagnosticPath| value(&store, path, Diagnostic::value);
    let mode = match *model {
        ContactModel::Crowd => match backend.chosen() {
            Backend::Gpu => "crowd (GPU)",
            _ => "crowd",
        },
        ContactModel::Rapier => "solver (Rapier)",
    };
    let running = contexts
        .iter()
        .all(|context| context.physics_pipeline_active);
    let figures = format!(
        "contacts by {mode}{}{}\n\
         {} molecules, {} touching pairs, deepest {:.3} nm\n\
         ms: gather {:.2}  detect {:.2}  respond {:.2}  apply {:.2}  step {:.2}\n\
         {:.1} frames per second",
        if tint.0 {
            ", green free, red touching"
        } else {
            ""
        },
        if running { "" } else { ", paused" },
        now(&MoleculeDiagnostics::MOLECULES),
        now(&MoleculeDiagnostics::TOUCHES),
        now(&MoleculeDiagnostics::PENETRATION),
        smooth(&MoleculeDiagnostics::GATHER),
        smooth(&MoleculeDiagnostics::DETECT),
        smooth(&MoleculeDiagnostics::RESPOND),
        smooth(&MoleculeDiagnostics::APPLY),
        smooth(&MoleculeDiagnostics::STEP),
        smooth(&FrameTimeDiagnosticsPlugin::FPS),
    );
    panels::show(&figures, &mut texts);
}

fn value(
    store: &DiagnosticsStore,
    path: &DiagnosticPath,
    of: impl Fn(&Diagnostic) -> Option<f64>,
) -> f64 {
    store.get(path).and_then(of).unwrap_or_default()
}
