//! Who finds and solves the contacts of crowds, and what happens when it fails.
//!
//! A GPU finds and solves them as the processor does, and only one impulse for each
//! molecule comes back, with a list of who touches whom. It may take over, or fail, at any
//! substep: contacts go on with what they carry. As a solver it rounds in its own way;
//! where it only searches, no bit of what follows depends on who does it.

use bevy::prelude::*;

use super::device::{DeviceSlot, Lender};
use super::molecule_world::{ContactModel, MoleculeWorld};
use crate::backend::Backend;
use crate::backend::DeviceError;
use crate::dynamics::{DeviceSolver, GroupSearch};
use crate::search::AutoGrid;

/// Spheres of a context from which on [`Backend::Auto`] takes a GPU: the processor has
/// searched fewer before a GPU has answered.
const AUTO_SPHERES: usize = 20_000;

/// Contexts that shrink are given back to the processor at this share of
/// [`AUTO_SPHERES`], so that those around the limit do not change hands in each frame.
const AUTO_KEPT: usize = AUTO_SPHERES / 2;

/// Who finds and solves the contacts in [`ContactModel::Crowd`].
///
/// Set [`wanted`](Self::wanted) at any time; in the next frame
/// [`chosen`](Self::chosen) says who it is.
///
/// ```
/// use bevy_rapier_molecules::prelude::*;
///
/// let backend = MoleculeBackend::new(Backend::Gpu);
/// assert_eq!(backend.wanted, Backend::Gpu);
/// // Nobody has looked for one yet.
/// assert_eq!(backend.chosen(), Backend::Cpu);
/// assert!(backend.adapter().is_none());
/// ```
#[derive(Debug, Default, Resource, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct MoleculeBackend {
    /// Who is to do it.
    ///
    /// Default: [`Backend::Auto`].
    pub wanted: Backend,
    /// A GPU only finds the pairs, and the processor solves the contacts: the run has the
    /// same bits as on the processor, and more comes back from the device.
    ///
    /// Default: `false`.
    pub search_only: bool,
    /// A GPU that also solves does not tell who touches whom: there are no touch events
    /// then, nobody is [`Colliding`](super::Colliding), and as little as possible comes back
    /// from the device. Contacts are as always; since nobody knows who rested on a molecule
    /// that is gone, all sleepers of its context wake.
    ///
    /// Default: `false`.
    pub skip_touches: bool,
    /// The device of the GPU, if it is one that does it.
    adapter: Option<MoleculeAdapter>,
    /// Whether to look for a device even if nothing has changed.
    again: bool,
    /// What was wanted when a device was last looked for.
    #[reflect(ignore)]
    tried: Option<(Backend, [bool; 2])>,
    /// How often a device was chosen, so that contexts notice.
    choice: u32,
    #[reflect(ignore)]
    pub(super) slot: DeviceSlot,
}

/// A graphics adapter, for logs and reports.
#[derive(Clone, Debug, Default, PartialEq, Eq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct MoleculeAdapter {
    /// Its name.
    pub name: String,
    /// Name, kind, graphics interface and driver in one line.
    pub description: String,
    /// Whether it is one in software: the processor does its work.
    pub software: bool,
}

/// A GPU could not find the contacts, and the processor does it instead: within the same
/// substep, so that nothing is lost. The log says the same in a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Message, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeBackendFailed {
    /// The Rapier context that it happened in; none if it concerns all.
    pub context: Option<Entity>,
    /// Why the GPU failed.
    pub error: DeviceError,
}

/// What a device does for a context.
#[cfg_attr(
    not(feature = "gpu"),
    expect(dead_code, reason = "there is no device that would do it")
)]
pub(super) enum DeviceWork {
    /// It finds the pairs.
    Search(Box<dyn GroupSearch>),
    /// It also solves the contacts.
    Contacts(Box<dyn DeviceSolver>),
}

/// Who searches a context.
#[derive(Debug, Default)]
pub(super) struct Searcher {
    on_gpu: bool,
    /// The [`MoleculeBackend::choice`] that it follows.
    choice: u32,
    /// When a GPU failed here.
    gave_up: Option<GaveUp>,
}

#[derive(Debug)]
struct GaveUp {
    /// Spheres at that time.
    spheres: usize,
    /// Whether fewer might have fitted.
    too_large: bool,
}

impl MoleculeBackend {
    /// A backend that is wanted, with the defaults for the rest.
    #[must_use]
    pub fn new(wanted: Backend) -> Self {
        Self {
            wanted,
            ..Self::default()
        }
    }

    /// Who finds the contacts: [`Backend::Cpu`] or [`Backend::Gpu`], never
    /// [`Backend::Auto`].
    ///
    /// Contexts for which the GPU is too small, or which are too small for it to be worth
    /// while, are the processor's nevertheless: see [`MoleculeWorld::backend`].
    #[must_use]
    pub fn chosen(&self) -> Backend {
        match self.adapter {
            Some(_) => Backend::Gpu,
            None => Backend::Cpu,
        }
    }

    /// The adapter of the GPU that finds contacts; none if the processor does.
    #[must_use]
    pub fn adapter(&self) -> Option<&MoleculeAdapter> {
        self.adapter.as_ref()
    }

    /// Looks for a device once more in the next frame, after one was lost or was too small.
    pub fn retry(&mut self) {
        self.again = true;
    }

    /// What a device is looked for with.
    fn wish(&self) -> (Backend, [bool; 2]) {
        (self.wanted, [self.search_only, self.skip_touches])
    }

    /// Whether a GPU may search a context of so many spheres that it searches already, or
    /// not.
    fn suits(&self, spheres: usize, already: bool) -> bool {
        let least = match (self.wanted, already) {
            (Backend::Auto, false) => AUTO_SPHERES,
            (Backend::Auto, true) => AUTO_KEPT,
            _ => 0,
        };
        self.adapter.is_some() && spheres >= least
    }

    /// The device is gone. Returns whether that is news.
    fn lose_device(&mut self) -> bool {
        self.slot.clear();
        self.adapter.take().is_some()
    }
}

impl Searcher {
    pub fn is_on_gpu(&self) -> bool {
        self.on_gpu
    }

    fn give_up(&mut self, spheres: usize, error: &DeviceError) {
        self.on_gpu = false;
        self.gave_up = Some(GaveUp {
            spheres,
            too_large: error.is_out_of_space(),
        });
    }

    /// Whether a failure in the past speaks against a GPU.
    fn is_barred(&self, spheres: usize) -> bool {
        let barred = |past: &GaveUp| !past.too_large || spheres >= past.spheres;
        self.gave_up.as_ref().is_some_and(barred)
    }
}

/// Looks for a device when another backend is wanted, or a renderer has a new device.
pub(super) fn choose_device(
    model: Res<ContactModel>,
    mut backend: ResMut<MoleculeBackend>,
    lender: Lender,
    mut failures: MessageWriter<MoleculeBackendFailed>,
) {
    let renewed = lender.is_new() && backend.slot.may_borrow();
    let decided = backend.tried == Some(backend.wish()) && !backend.again && !renewed;
    if *model != ContactModel::Crowd || decided {
        return;
    }
    let backend = &mut *backend;
    backend.tried = Some(backend.wish());
    backend.again = false;
    backend.choice = backend.choice.wrapping_add(1);
    let chosen = backend.slot.choose(backend.wanted, &lender);
    backend.adapter = match chosen {
        Ok(adapter) => adapter,
        Err(error) if backend.wanted == Backend::Auto => {
            info!("no GPU is used for contacts: {error}");
            None
        }
        Err(error) => {
            warn!("contacts are found by the processor, not by a GPU: {error}");
            failures.write(MoleculeBackendFailed {
                context: None,
                error,
            });
            None
        }
    };
    match &backend.adapter {
        Some(adapter) => info!("contacts are found by {}", adapter.description),
        None => info!("contacts are found by the processor"),
    }
}

/// Gives each context its search.
pub(super) fn assign_searches(
    mut backend: ResMut<MoleculeBackend>,
    mut worlds: Query<(Entity, &mut MoleculeWorld)>,
    mut failures: MessageWriter<MoleculeBackendFailed>,
) {
    for (context, mut world) in &mut worlds {
        let spheres = world.contacts.spheres().len();
        let renewed = world.searcher.choice != backend.choice;
        let searcher = &world.searcher;
        let barred = !renewed && searcher.is_barred(spheres);
        let gpu = !barred && backend.suits(spheres, searcher.on_gpu);
        if !renewed && gpu == searcher.on_gpu {
            continue;
        }
        let world = &mut *world;
        let was_on_gpu = world.searcher.on_gpu;
        world.searcher = Searcher {
            on_gpu: gpu,
            choice: backend.choice,
            gave_up: world.searcher.gave_up.take().filter(|_| !renewed),
        };
        let search_only = backend.search_only;
        let work = gpu.then(|| backend.slot.work(search_only)).flatten();
        match work {
            Some(Ok(DeviceWork::Search(search))) => world.contacts.set_group_search(search),
            Some(Ok(DeviceWork::Contacts(engine))) => {
                world
                    .contacts
                    .set_device_solver(engine, !backend.skip_touches);
            }
            Some(Err(error)) => {
                world.contacts.set_search(Box::new(AutoGrid::new()));
                let failed = MoleculeBackendFailed {
                    context: Some(context),
                    error,
                };
                accept_failure(failed, world, &mut backend, &mut failures);
            }
            None if was_on_gpu => world.contacts.set_search(Box::new(AutoGrid::new())),
            None => {}
        }
    }
}

/// Takes down that the GPU failed in a search, after which the processor did it.
pub(super) fn accept_device_error(
    context: Entity,
    error: DeviceError,
    world: &mut MoleculeWorld,
    backend: &mut MoleculeBackend,
    failures: &mut MessageWriter<MoleculeBackendFailed>,
) {
    let failed = MoleculeBackendFailed {
        context: Some(context),
        error,
    };
    accept_failure(failed, world, backend, failures);
}

/// Says that the GPU failed in the context of `world`, and remembers it.
fn accept_failure(
    mut failed: MoleculeBackendFailed,
    world: &mut MoleculeWorld,
    backend: &mut MoleculeBackend,
    failures: &mut MessageWriter<MoleculeBackendFailed>,
) {
    world
        .searcher
        .give_up(world.contacts.spheres().len(), &failed.error);
    if failed.error.is_lost() {
        // The other contexts had the same device: it is said once for all of them.
        failed.context = None;
        if !backend.lose_device() {
            return;
        }
    }
    let error = &failed.error;
    match failed.context {
        Some(context) => {
            warn!("the processor finds the contacts of context {context} now: {error}");
        }
        None => warn!("the processor finds all contacts now: {error}"),
    }
    failures.write(failed);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_leaves_small_contexts_to_the_processor() {
        let mut backend = MoleculeBackend::default();
        assert!(!backend.suits(usize::MAX, false));
        backend.adapter = Some(MoleculeAdapter::default());
        assert!(!backend.suits(AUTO_SPHERES - 1, false));
        assert!(backend.suits(AUTO_SPHERES, false));
        assert!(backend.suits(AUTO_SPHERES - 1, true));
        assert!(!backend.suits(AUTO_KEPT - 1, true));
        backend.wanted = Backend::Gpu;
        assert!(backend.suits(0, false));
    }

    #[test]
    fn a_context_that_was_too_large_is_tried_again_when_it_is_smaller() {
        let mut searcher = Searcher::default();
        assert!(!searcher.is_barred(1000));
        searcher.give_up(1000, &DeviceError::OutOfMemory);
        assert!(searcher.is_barred(1000));
        assert!(!searcher.is_barred(999));
        let message = String::new();
        searcher.give_up(1000, &DeviceError::Rejected { message });
        assert!(searcher.is_barred(1));
    }
}
