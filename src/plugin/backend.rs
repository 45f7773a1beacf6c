//! The backend of the contact solver, and the fallback to the CPU.
//!
//! The backend may change at any substep: contacts keep their accumulated impulses. If a device is
//! lost, the CPU continues from the same bodies without a warm start.

use bevy::prelude::*;

use super::device::{DeviceSlot, RendererDevice};
use super::molecule_world::{ContactModel, MoleculeWorld};
use crate::backend::{Backend, DeviceError};

/// Number of spheres of a context from which [`Backend::Auto`] uses a GPU. Below, the CPU
/// finishes before a GPU responds.
const AUTO_MIN_SPHERES: usize = 20_000;

/// Number of spheres below which [`Backend::Auto`] returns a context to the CPU. It is lower
/// than [`AUTO_MIN_SPHERES`] so that a context near the limit does not alternate.
const AUTO_KEEP_SPHERES: usize = AUTO_MIN_SPHERES / 2;

/// The backend that finds and solves the contacts in [`ContactModel::Crowd`].
///
/// Set [`requested`](Self::requested) at any time. From the next frame on,
/// [`active`](Self::active) returns the backend in use.
#[derive(Debug, Default, Resource, Reflect)]
#[reflect(Resource, Debug, Default)]
pub struct MoleculeBackend {
    /// The requested backend. Default: [`Backend::Auto`].
    pub requested: Backend,
    /// Whether a GPU only finds the pairs, and the CPU solves the contacts. The results are then
    /// bit for bit those of the CPU, but more data is read back. Default: `false`.
    pub search_only: bool,
    /// Whether a GPU that solves contacts does not report which molecules touch. There are then no
    /// contact events, no molecule is [`Colliding`](super::Colliding), and as little as possible is
    /// read back. When a molecule is despawned, all sleeping molecules of its context wake, since
    /// its neighbors are unknown. Default: `false`.
    pub skip_touches: bool,
    /// Description of the adapter in use.
    adapter: Option<String>,
    /// Whether to choose a device again even if nothing has changed.
    retry: bool,
    /// The settings that a device was last chosen with.
    #[reflect(ignore)]
    chosen_with: Option<(Backend, [bool; 2])>,
    /// Number of times that a device was chosen, so that contexts notice.
    generation: u32,
    #[reflect(ignore)]
    pub(super) slot: DeviceSlot,
}

/// A GPU failed, and the CPU replaces it. The CPU solves the same substep, so nothing is
/// lost. The error is also logged.
#[derive(Clone, Debug, PartialEq, Eq, Message, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct MoleculeBackendFailed {
    /// The Rapier context, or `None` if all contexts are affected.
    pub context: Option<Entity>,
    /// Why the GPU failed.
    pub error: DeviceError,
}

/// The backend of a context.
#[derive(Debug, Default)]
pub(super) struct ContextBackend {
    pub is_gpu: bool,
    /// The [`MoleculeBackend::generation`] in use.
    generation: u32,
    /// Number of spheres from which a GPU that has failed would fail again.
    fails_from: Option<usize>,
}

impl MoleculeBackend {
    /// Requests a backend, with the defaults for the rest.
    #[must_use]
    pub fn new(requested: Backend) -> Self {
        Self {
            requested,
            ..Self::default()
        }
    }

    /// The backend in use: [`Backend::Cpu`] or [`Backend::Gpu`].
    ///
    /// Contexts that are too large for the GPU, too small to benefit from it, or with molecules that
    /// have `ActiveHooks`, use the CPU: see [`MoleculeWorld::backend`].
    #[must_use]
    pub fn active(&self) -> Backend {
        match self.adapter {
            Some(_) => Backend::Gpu,
            None => Backend::Cpu,
        }
    }

    /// Description of the GPU adapter in use: name, kind, graphics API and driver.
    #[must_use]
    pub fn adapter(&self) -> Option<&str> {
        self.adapter.as_deref()
    }

    /// Chooses a device again in the next frame, after one was lost or too small.
    pub fn retry(&mut self) {
        self.retry = true;
    }

    fn settings(&self) -> (Backend, [bool; 2]) {
        (self.requested, [self.search_only, self.skip_touches])
    }

    /// Whether a context of this many spheres uses the GPU.
    fn prefers_gpu(&self, spheres: usize, is_on_gpu: bool) -> bool {
        let min_spheres = match (self.requested, is_on_gpu) {
            (Backend::Auto, false) => AUTO_MIN_SPHERES,
            (Backend::Auto, true) => AUTO_KEEP_SPHERES,
            _ => 0,
        };
        self.adapter.is_some() && spheres >= min_spheres
    }

    /// Drops a lost device. Returns whether there was one.
    fn drop_device(&mut self) -> bool {
        self.slot.clear();
        self.adapter.take().is_some()
    }
}

impl ContextBackend {
    fn record_failure(&mut self, spheres: usize, error: &DeviceError) {
        self.is_gpu = false;
        // Fewer spheres might fit.
        self.fails_from = Some(if error.is_out_of_space() { spheres } else { 0 });
    }

    /// Whether a GPU that has failed would fail again.
    fn would_fail(&self, spheres: usize) -> bool {
        self.fails_from.is_some_and(|limit| spheres >= limit)
    }
}

/// Chooses a device after the request has changed or the renderer has a new device.
pub(super) fn choose_device(
    model: Res<ContactModel>,
    mut backend: ResMut<MoleculeBackend>,
    renderer: RendererDevice,
    mut failures: MessageWriter<MoleculeBackendFailed>,
) {
    let renewed = renderer.is_new() && backend.slot.uses_renderer();
    let unchanged = backend.chosen_with == Some(backend.settings()) && !backend.retry && !renewed;
    if unchanged || *model != ContactModel::Crowd {
        return;
    }
    let backend = &mut *backend;
    backend.chosen_with = Some(backend.settings());
    backend.retry = false;
    backend.generation = backend.generation.wrapping_add(1);
    backend.adapter = match backend.slot.choose(backend.requested, &renderer) {
        Ok(adapter) => adapter,
        Err(error) if backend.requested == Backend::Auto => {
            info!("no GPU for contacts: {error}");
            None
        }
        Err(error) => {
            warn!("the CPU replaces the requested GPU: {error}");
            let context = None;
            failures.write(MoleculeBackendFailed { context, error });
            None
        }
    };
    let name = backend.adapter.as_deref().unwrap_or("the CPU");
    info!("contacts are computed on {name}");
}

/// Assigns a backend to each context.
pub(super) fn assign_backends(
    mut backend: ResMut<MoleculeBackend>,
    mut worlds: Query<(Entity, &mut MoleculeWorld)>,
    mut failures: MessageWriter<MoleculeBackendFailed>,
) {
    for (context, mut world) in &mut worlds {
        let spheres = world.contacts.sphere_count();
        let renewed = world.backend.generation != backend.generation;
        let was_gpu = world.backend.is_gpu;
        let would_fail = !renewed && world.backend.would_fail(spheres);
        // A GPU does not call hooks, unless it only searches.
        let can_filter = backend.search_only || !world.has_hooks;
        let is_gpu = can_filter && !would_fail && backend.prefers_gpu(spheres, was_gpu);
        if !renewed && is_gpu == was_gpu {
            continue;
        }
        let world = &mut *world;
        world.backend = ContextBackend {
            is_gpu,
            generation: backend.generation,
            fails_from: world.backend.fails_from.filter(|_| !renewed),
        };
        let installed = if is_gpu {
            backend.install_device(&mut world.contacts)
        } else {
            Ok(false)
        };
        if was_gpu && matches!(installed, Ok(false)) || installed.is_err() {
            world.contacts.use_cpu();
        }
        if let Err(error) = installed {
            report_device_error(context, error, world, &mut backend, &mut failures);
        }
    }
}

/// Reports that the GPU failed in a context, after which the CPU replaced it.
pub(super) fn report_device_error(
    context: Entity,
    error: DeviceError,
    world: &mut MoleculeWorld,
    backend: &mut MoleculeBackend,
    failures: &mut MessageWriter<MoleculeBackendFailed>,
) {
    let spheres = world.contacts.sphere_count();
    world.backend.record_failure(spheres, &error);
    let context = (!error.is_lost()).then_some(context);
    match context {
        Some(context) => warn!("the CPU replaces the GPU in context {context}: {error}"),
        None if backend.drop_device() => {
            warn!("the CPU replaces the GPU in all contexts: {error}");
        }
        // Another context uses the same device and has already reported it for all of them.
        None => return,
    }
    failures.write(MoleculeBackendFailed { context, error });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn auto_keeps_small_contexts_on_the_cpu() {
        let mut backend = MoleculeBackend::default();
        assert!(!backend.prefers_gpu(usize::MAX, false));
        backend.adapter = Some(String::new());
        assert!(!backend.prefers_gpu(AUTO_MIN_SPHERES - 1, false));
        assert!(backend.prefers_gpu(AUTO_MIN_SPHERES, false));
        assert!(backend.prefers_gpu(AUTO_MIN_SPHERES - 1, true));
        assert!(!backend.prefers_gpu(AUTO_KEEP_SPHERES - 1, true));
        backend.requested = Backend::Gpu;
        assert!(backend.prefers_gpu(0, false));
    }

    #[test]
    fn a_context_that_was_too_large_is_retried_when_it_shrinks() {
        let mut context = ContextBackend::default();
        assert!(!context.would_fail(1000));
        context.record_failure(1000, &DeviceError::OutOfMemory);
        assert!(context.would_fail(1000));
        assert!(!context.would_fail(999));
        let message = String::new();
        context.record_failure(1000, &DeviceError::Rejected { message });
        assert!(context.would_fail(1));
    }
}
