//! Figures about molecules among Bevy's diagnostics.

use bevy::diagnostic::{
    Diagnostic, DiagnosticPath, Diagnostics, DiagnosticsPlugin, RegisterDiagnostic,
};
use bevy::prelude::*;

use super::world::{ContactModel, MoleculeWorld};
use crate::backend::Backend;

/// Paths of the figures. Each is a value per frame, over all Rapier contexts.
pub struct MoleculeDiagnostics;

impl MoleculeDiagnostics {
    /// Time to read bodies and move spheres, ms.
    pub const GATHER: DiagnosticPath = DiagnosticPath::const_new("molecules/gather");
    /// Time to find the pairs, ms.
    pub const DETECT: DiagnosticPath = DiagnosticPath::const_new("molecules/detect");
    /// Time of contacts and springs, ms.
    pub const RESPOND: DiagnosticPath = DiagnosticPath::const_new("molecules/respond");
    /// Time to write impulses, ms.
    pub const APPLY: DiagnosticPath = DiagnosticPath::const_new("molecules/apply");
    /// Time to move the molecules that diffuse, ms.
    pub const DIFFUSE: DiagnosticPath = DiagnosticPath::const_new("molecules/diffuse");
    /// Time of Rapier's own step, ms.
    pub const STEP: DiagnosticPath = DiagnosticPath::const_new("molecules/step");
    /// Number of molecules.
    pub const MOLECULES: DiagnosticPath = DiagnosticPath::const_new("molecules/molecules");
    /// Number of spheres that are searched.
    pub const SPHERES: DiagnosticPath = DiagnosticPath::const_new("molecules/spheres");
    /// Pairs of spheres within the foresight.
    pub const CANDIDATES: DiagnosticPath = DiagnosticPath::const_new("molecules/candidates");
    /// Pairs of molecules that overlap.
    pub const CONTACTS: DiagnosticPath = DiagnosticPath::const_new("molecules/contacts");
    /// Deepest overlap of two molecules, nm.
    pub const PENETRATION: DiagnosticPath = DiagnosticPath::const_new("molecules/penetration");
    /// What finds the contacts: 0 is the CPU, 1 a GPU, at least in one context.
    /// [`MoleculeBackend`](super::MoleculeBackend) says which.
    pub const BACKEND: DiagnosticPath = DiagnosticPath::const_new("molecules/backend");
}

/// Registers and measures [`MoleculeDiagnostics`]. Part of
/// [`MoleculePlugins`](super::MoleculePlugins).
#[derive(Clone, Copy, Debug, Default)]
pub struct MoleculeDiagnosticsPlugin;

impl Plugin for MoleculeDiagnosticsPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<DiagnosticsPlugin>() {
            app.add_plugins(DiagnosticsPlugin);
        }
        for (path, suffix) in [
            (MoleculeDiagnostics::DIFFUSE, " ms"),
            (MoleculeDiagnostics::GATHER, " ms"),
            (MoleculeDiagnostics::DETECT, " ms"),
            (MoleculeDiagnostics::RESPOND, " ms"),
            (MoleculeDiagnostics::APPLY, " ms"),
            (MoleculeDiagnostics::STEP, " ms"),
            (MoleculeDiagnostics::MOLECULES, ""),
            (MoleculeDiagnostics::SPHERES, ""),
            (MoleculeDiagnostics::CANDIDATES, ""),
            (MoleculeDiagnostics::CONTACTS, ""),
            (MoleculeDiagnostics::PENETRATION, " nm"),
            (MoleculeDiagnostics::BACKEND, ""),
        ] {
            app.register_diagnostic(Diagnostic::new(path).with_suffix(suffix));
        }
        app.add_systems(Last, measure);
    }
}

fn measure(mut diagnostics: Diagnostics, model: Res<ContactModel>, worlds: Query<&MoleculeWorld>) {
    let sum = |value: fn(&MoleculeWorld) -> f64| worlds.iter().map(value).sum::<f64>();
    let mut add = |path: &DiagnosticPath, value: fn(&MoleculeWorld) -> f64| {
        diagnostics.add_measurement(path, || sum(value));
    };
    add(&MoleculeDiagnostics::DIFFUSE, |world| {
        world.times.diffuse.as_secs_f64() * 1e3
    });
    add(&MoleculeDiagnostics::GATHER, |world| {
        world.times.gather.as_secs_f64() * 1e3
    });
    add(&MoleculeDiagnostics::DETECT, |world| {
        world.times.detect.as_secs_f64() * 1e3
    });
    add(&MoleculeDiagnostics::RESPOND, |world| {
        world.times.respond.as_secs_f64() * 1e3
    });
    add(&MoleculeDiagnostics::APPLY, |world| {
        world.times.apply.as_secs_f64() * 1e3
    });
    add(&MoleculeDiagnostics::STEP, |world| {
        world.times.step.as_secs_f64() * 1e3
    });
    add(&MoleculeDiagnostics::MOLECULES, |world| {
        world.members.len() as f64
    });
    add(&MoleculeDiagnostics::SPHERES, |world| {
        world.contacts.spheres().len() as f64
    });
    add(&MoleculeDiagnostics::CANDIDATES, |world| {
        world.contacts.candidate_pairs() as f64
    });
    add(&MoleculeDiagnostics::CONTACTS, |world| {
        world.ledger.touching().len() as f64
    });
    let on_gpu =
        *model == ContactModel::Crowd && worlds.iter().any(|world| world.backend() == Backend::Gpu);
    diagnostics.add_measurement(&MoleculeDiagnostics::BACKEND, || {
        f64::from(u8::from(on_gpu))
    });
    diagnostics.add_measurement(&MoleculeDiagnostics::PENETRATION, || {
        let deepest = worlds.iter().flat_map(|world| world.ledger.touching());
        deepest.fold(0.0, |most, pair| f64::max(most, f64::from(pair.deepest)))
    });
}
