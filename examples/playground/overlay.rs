//! Status and keys in the corners of the window.

use bevy::diagnostic::{Diagnostic, DiagnosticPath, DiagnosticsStore, FrameTimeDiagnosticsPlugin};
use bevy::prelude::*;
use bevy_rapier_molecules::plugin::MoleculeBackend;
use bevy_rapier_molecules::prelude::*;
use bevy_rapier3d::prelude::RapierConfiguration;

use super::appearance::ColorCollisions;
use super::common::panels::{TextPanels, TextPanelsPlugin};
use super::scene::ScenePlan;

const KEYS: &str = "\
C contacts   Space pause   R restart   N another protein   T colors   Esc quit\n\
left mouse: grab and throw   right mouse: turn   wheel: zoom";

/// Shows the overlay.
pub struct OverlayPlugin;

impl Plugin for OverlayPlugin {
    fn build(&self, app: &mut App) {
        app.add_plugins(TextPanelsPlugin)
            .insert_resource(TextPanels {
                status: "loading".to_owned(),
                keys: KEYS.to_owned(),
                ..default()
            })
            .add_systems(Update, update_status.run_if(resource_exists::<ScenePlan>));
    }
}

fn update_status(
    mut panels: ResMut<TextPanels>,
    store: Res<DiagnosticsStore>,
    model: Res<ContactModel>,
    backend: Res<MoleculeBackend>,
    color_collisions: Res<ColorCollisions>,
    contexts: Query<&RapierConfiguration>,
) {
    let smoothed = |path: &DiagnosticPath| value(&store, path, Diagnostic::smoothed);
    let current = |path: &DiagnosticPath| value(&store, path, Diagnostic::value);
    let contacts = match *model {
        ContactModel::Crowd => match backend.active() {
            Backend::Gpu => "crowd (GPU)",
            _ => "crowd",
        },
        ContactModel::Solver => "solver (Rapier)",
    };
    let is_running = contexts
        .iter()
        .all(|context| context.physics_pipeline_active);
    panels.status = format!(
        "contacts by {contacts}{}{}\n\
         {} molecules, {} touching pairs, deepest {:.3} nm\n\
         ms: gather {:.2}  detect {:.2}  respond {:.2}  apply {:.2}  step {:.2}\n\
         {:.1} frames per second",
        if color_collisions.0 {
            ", green free, red touching"
        } else {
            ""
        },
        if is_running { "" } else { ", paused" },
        current(&MoleculeDiagnostics::MOLECULES),
        current(&MoleculeDiagnostics::TOUCHES),
        current(&MoleculeDiagnostics::PENETRATION),
        smoothed(&MoleculeDiagnostics::GATHER),
        smoothed(&MoleculeDiagnostics::DETECT),
        smoothed(&MoleculeDiagnostics::RESPOND),
        smoothed(&MoleculeDiagnostics::APPLY),
        smoothed(&MoleculeDiagnostics::STEP),
        smoothed(&FrameTimeDiagnosticsPlugin::FPS),
    );
}

fn value(
    store: &DiagnosticsStore,
    path: &DiagnosticPath,
    read: impl Fn(&Diagnostic) -> Option<f64>,
) -> f64 {
    store.get(path).and_then(read).unwrap_or_default()
}
