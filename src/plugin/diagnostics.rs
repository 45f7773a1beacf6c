//! Figures about molecules among Bevy's diagnostics.

use std::time::Duration;

use bevy::diagnostic::{
    Diagnostic, DiagnosticPath, Diagnostics, DiagnosticsPlugin, RegisterDiagnostic,
};
use bevy::prelude::*;

use super::molecule_world::{ContactModel, MoleculeWorld};
use crate::backend::Backend;

/// Paths of the figures among Bevy's diagnostics. Each is a value per frame, over all Rapier
/// contexts and substeps.
///
/// ```
/// use bevy::diagnostic::{Diagnostic, DiagnosticPath, DiagnosticsStore};
/// # use bevy::prelude::*;
/// # use bevy_rapier3d::prelude::*;
/// # use bevy_rapier_molecules::prelude::*;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let mut app = App::new();
/// # app.add_plugins((
/// #     MinimalPlugins,
/// #     TransformPlugin,
/// #     RapierPhysicsPlugin::<NoUserData>::default(),
/// #     MoleculePlugins::default().with_backend(Backend::Cpu),
/// # ));
/// # app.insert_resource(TimestepMode::Fixed { dt: 1.0 / 60.0, substeps: 2 });
/// # app.finish();
/// # app.cleanup();
/// # let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// # let lipid = app.world_mut().resource_mut::<Assets<MoleculeTemplate>>().add(lipid);
/// // Two lipids that overlap.
/// for x in [0.0, 0.3] {
///     let at = Transform::from_xyz(x, 0.0, 0.0);
///     app.world_mut().spawn((Molecule(lipid.clone()), at));
/// }
/// for _ in 0..3 {
///     app.update();
/// }
///
/// let store = app.world().resource::<DiagnosticsStore>();
/// let value = |path: &DiagnosticPath| store.get(path).and_then(Diagnostic::value);
/// assert_eq!(value(&MoleculeDiagnostics::MOLECULES), Some(2.0));
/// assert_eq!(value(&MoleculeDiagnostics::SPHERES), Some(2.0 * 134.0));
/// assert_eq!(value(&MoleculeDiagnostics::TOUCHES), Some(1.0));
/// assert!(value(&MoleculeDiagnostics::PENETRATION).is_some_and(|depth| depth > 0.0));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug)]
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
    /// Pairs of spheres of different molecules within
    /// [`ContactSolverConfig::prediction_distance`](crate::dynamics::ContactSolverConfig::prediction_distance), in
    /// the last substep. None in [`ContactModel::Rapier`].
    pub const CANDIDATES: DiagnosticPath = DiagnosticPath::const_new("molecules/candidates");
    /// Pairs of molecules that touch, after the last substep.
    pub const TOUCHES: DiagnosticPath = DiagnosticPath::const_new("molecules/touches");
    /// Deepest overlap of two molecules, nm, after the last substep.
    pub const PENETRATION: DiagnosticPath = DiagnosticPath::const_new("molecules/penetration");
    /// Who finds and solves the contacts: 0 is the processor, 1 a GPU, at least in one context.
    /// [`MoleculeBackend`](super::MoleculeBackend) says which.
    pub const BACKEND: DiagnosticPath = DiagnosticPath::const_new("molecules/backend");
}

/// A path, the unit of its figure, and what a context adds to it.
type Sum = (DiagnosticPath, &'static str, fn(&MoleculeWorld) -> f64);

/// Figures that are summed up over all contexts.
const SUMS: [Sum; 10] = [
    (MoleculeDiagnostics::DIFFUSE, " ms", |world| {
        ms(world.times.diffuse)
    }),
    (MoleculeDiagnostics::GATHER, " ms", |world| {
        ms(world.times.gather)
    }),
    (MoleculeDiagnostics::DETECT, " ms", |world| {
        ms(world.times.detect)
    }),
    (MoleculeDiagnostics::RESPOND, " ms", |world| {
        ms(world.times.respond)
    }),
    (MoleculeDiagnostics::APPLY, " ms", |world| {
        ms(world.times.apply)
    }),
    (MoleculeDiagnostics::STEP, " ms", |world| {
        ms(world.times.step)
    }),
    (MoleculeDiagnostics::MOLECULES, "", |world| {
        world.members.len() as f64
    }),
    (MoleculeDiagnostics::SPHERES, "", |world| {
        world.contacts.spheres().len() as f64
    }),
    (MoleculeDiagnostics::CANDIDATES, "", |world| {
        world.contacts.candidate_pairs() as f64
    }),
    (MoleculeDiagnostics::TOUCHES, "", |world| {
        world.ledger.touching().len() as f64
    }),
];

fn ms(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

/// Registers and measures [`MoleculeDiagnostics`]. Part of
/// [`MoleculePlugins`](super::MoleculePlugins). Adds Bevy's `DiagnosticsPlugin` if the app
/// has none: `DefaultPlugins` have to be added before it.
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
        let touching = worlds.iter().flat_map(|world| world.ledger.touching());
        touching.fold(0.0, |most, pair| {
            f64::max(most, f64::from(pair.penetration))
        })
    });
}
