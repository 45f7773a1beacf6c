//! Molecules in Bevy's diagnostics.

use std::time::Duration;

use bevy::diagnostic::{
    Diagnostic, DiagnosticPath, Diagnostics, DiagnosticsPlugin, RegisterDiagnostic,
};
use bevy::prelude::*;

use super::molecule_world::{ContactModel, MoleculeWorld};
use crate::backend::Backend;

/// Paths of the molecule diagnostics. Each is a value per frame, over all Rapier contexts
/// and substeps.
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::{plugin::*, prelude::*};
/// # use bevy::diagnostic::{Diagnostic, DiagnosticsStore};
/// fn report(store: Res<DiagnosticsStore>) {
///     let touches = store.get(&MoleculeDiagnostics::TOUCHES).and_then(Diagnostic::value);
///     info!("{} pairs of molecules touch", touches.unwrap_or(0.0));
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct MoleculeDiagnostics;

impl MoleculeDiagnostics {
    /// Time of Brownian motion, ms.
    pub const DIFFUSE: DiagnosticPath = DiagnosticPath::const_new("molecules/diffuse");
    /// Time to read bodies and move spheres, ms.
    pub const GATHER: DiagnosticPath = DiagnosticPath::const_new("molecules/gather");
    /// Time to find the pairs, ms.
    pub const DETECT: DiagnosticPath = DiagnosticPath::const_new("molecules/detect");
    /// Time of contacts and springs, ms.
    pub const RESPOND: DiagnosticPath = DiagnosticPath::const_new("molecules/respond");
    /// Time to apply impulses, ms.
    pub const APPLY: DiagnosticPath = DiagnosticPath::const_new("molecules/apply");
    /// Time of Rapier's step, ms.
    pub const STEP: DiagnosticPath = DiagnosticPath::const_new("molecules/step");
    /// Number of molecules.
    pub const MOLECULES: DiagnosticPath = DiagnosticPath::const_new("molecules/molecules");
    /// Number of spheres in the search.
    pub const SPHERES: DiagnosticPath = DiagnosticPath::const_new("molecules/spheres");
    /// Number of candidate pairs of the last substep: spheres of different molecules within
    /// [`ContactSolverConfig::prediction_distance`](crate::dynamics::ContactSolverConfig::prediction_distance).
    /// Zero in [`ContactModel::Solver`].
    pub const CANDIDATES: DiagnosticPath = DiagnosticPath::const_new("molecules/candidates");
    /// Number of pairs of molecules with overlapping boxes in the last substep. Like the other
    /// counts of the search below, zero in [`ContactModel::Solver`] and on a GPU. See
    /// [`SearchWork`](crate::search::SearchWork).
    pub const MOLECULE_PAIRS: DiagnosticPath =
        DiagnosticPath::const_new("molecules/molecule_pairs");
    /// Number of those pairs whose clusters were compared again. Zero if nothing moves.
    pub const RENEWED_PAIRS: DiagnosticPath = DiagnosticPath::const_new("molecules/renewed_pairs");
    /// Number of pairs of clusters that the search remembers.
    pub const CLUSTER_PAIRS: DiagnosticPath = DiagnosticPath::const_new("molecules/cluster_pairs");
    /// Number of pairs of spheres compared in the last substep. Zero if nothing moves.
    pub const SPHERE_PAIRS: DiagnosticPath = DiagnosticPath::const_new("molecules/sphere_pairs");
    /// Memory of what the search remembers, bytes.
    pub const REMEMBERED: DiagnosticPath = DiagnosticPath::const_new("molecules/remembered");
    /// Number of touching pairs of molecules, after the last substep.
    pub const TOUCHES: DiagnosticPath = DiagnosticPath::const_new("molecules/touches");
    /// Deepest overlap of two molecules after the last substep, nm.
    pub const PENETRATION: DiagnosticPath = DiagnosticPath::const_new("molecules/penetration");
    /// Bytes sent to the GPU in the last drawn frame. See
    /// [`MoleculeUploads`](crate::render::MoleculeUploads).
    #[cfg(feature = "draw")]
    pub const UPLOADED: DiagnosticPath = DiagnosticPath::const_new("molecules/uploaded");
    /// 1 if any context uses a GPU, else 0. See [`MoleculeBackend`](super::MoleculeBackend).
    pub const BACKEND: DiagnosticPath = DiagnosticPath::const_new("molecules/backend");
}

/// A path, its unit, and the contribution of a context.
type Sum = (DiagnosticPath, &'static str, fn(&MoleculeWorld) -> f64);

/// Diagnostics that are summed over all contexts.
const SUMS: [Sum; 15] = {
    use MoleculeDiagnostics as D;
    [
        (D::DIFFUSE, " ms", |world| ms(world.times.diffuse)),
        (D::GATHER, " ms", |world| ms(world.times.gather)),
        (D::DETECT, " ms", |world| ms(world.times.detect)),
        (D::RESPOND, " ms", |world| ms(world.times.respond)),
        (D::APPLY, " ms", |world| ms(world.times.apply)),
        (D::STEP, " ms", |world| ms(world.times.step)),
        (D::MOLECULES, "", |world| world.members.len() as f64),
        (D::SPHERES, "", |world| world.contacts.sphere_count() as f64),
        (D::CANDIDATES, "", |world| {
            world.contacts.candidate_pairs() as f64
        }),
        (D::MOLECULE_PAIRS, "", |world| {
            world.search_work().molecule_pairs as f64
        }),
        (D::RENEWED_PAIRS, "", |world| {
            world.search_work().renewed as f64
        }),
        (D::CLUSTER_PAIRS, "", |world| {
            world.search_work().cluster_pairs as f64
        }),
        (D::SPHERE_PAIRS, "", |world| {
            world.search_work().sphere_pairs as f64
        }),
        (D::REMEMBERED, " B", |world| {
            world.search_work().bytes as f64
        }),
        (D::TOUCHES, "", |world| world.touching.pairs().len() as f64),
    ]
};

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Registers and measures [`MoleculeDiagnostics`]. Part of
/// [`MoleculePlugins`](super::MoleculePlugins). Adds Bevy's `DiagnosticsPlugin` unless the
/// app has it already, so add `DefaultPlugins` first.
#[derive(Clone, Copy, Debug, Default)]
pub struct MoleculeDiagnosticsPlugin;

impl Plugin for MoleculeDiagnosticsPlugin {
    fn build(&self, app: &mut App) {
        if !app.is_plugin_added::<DiagnosticsPlugin>() {
            app.add_plugins(DiagnosticsPlugin);
        }
        let sums = SUMS.into_iter().map(|(path, suffix, _)| (path, suffix));
        for (path, suffix) in sums.chain([
            (MoleculeDiagnostics::PENETRATION, " nm"),
            (MoleculeDiagnostics::BACKEND, ""),
        ]) {
            app.register_diagnostic(Diagnostic::new(path).with_suffix(suffix));
        }
        app.add_systems(Last, measure);
        #[cfg(feature = "draw")]
        app.register_diagnostic(Diagnostic::new(MoleculeDiagnostics::UPLOADED).with_suffix(" B"))
            .add_systems(Last, measure_uploads);
    }
}

#[cfg(feature = "draw")]
fn measure_uploads(
    mut diagnostics: Diagnostics,
    uploads: Option<Res<crate::render::MoleculeUploads>>,
) {
    if let Some(uploads) = uploads {
        diagnostics.add_measurement(&MoleculeDiagnostics::UPLOADED, || uploads.bytes() as f64);
    }
}

fn measure(mut diagnostics: Diagnostics, model: Res<ContactModel>, worlds: Query<&MoleculeWorld>) {
    for (path, _, value) in &SUMS {
        diagnostics.add_measurement(path, || worlds.iter().map(value).sum());
    }
    let on_gpu =
        *model == ContactModel::Crowd && worlds.iter().any(|world| world.backend() == Backend::Gpu);
    diagnostics.add_measurement(&MoleculeDiagnostics::BACKEND, || {
        f64::from(u8::from(on_gpu))
    });
    diagnostics.add_measurement(&MoleculeDiagnostics::PENETRATION, || {
        let pairs = worlds.iter().flat_map(|world| world.touching.pairs());
        pairs
            .map(|pair| f64::from(pair.penetration))
            .fold(0.0, f64::max)
    });
}
