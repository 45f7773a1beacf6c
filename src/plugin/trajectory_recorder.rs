//! [`TrajectoryRecorder`]: the molecules of the world as a trajectory in a file.

use std::path::PathBuf;
use std::sync::Arc;

use bevy::asset::LoadState;
use bevy::ecs::entity::EntityHashMap;
use bevy::ecs::system::SystemParam;
use bevy::platform::collections::HashMap;
use bevy::prelude::*;
use bevy_rapier3d::prelude::{RapierContextEntityLink, RapierRigidBodyHandle, RapierRigidBodySet};

use super::components::Molecule;
use super::molecule_world::MoleculeWorld;
use super::prepared_molecule::PreparedMolecule;
use super::rapier_body::finite_body_pose;
use crate::molecule::MoleculeTemplate;
use crate::trajectory::{
    TrajectoryError, TrajectoryKind, TrajectoryMolecule, TrajectoryOptions, TrajectoryWriter,
};

/// Records all molecules in a [trajectory](crate::trajectory) while they move: `.xtc` (feature
/// `xtc`) or `.simularium`. Spawn it on an entity of its own:
///
/// ```
/// # use bevy::prelude::*;
/// # use bevy_rapier_molecules::plugin::{RecordEvery, TrajectoryRecorder};
/// fn record(mut commands: Commands) {
///     commands.spawn(TrajectoryRecorder {
///         every: RecordEvery::Seconds(0.1),
///         ..TrajectoryRecorder::new("run.simularium")
///     });
/// }
/// ```
///
/// The recording begins when there are molecules and none is still being loaded, and ends when the
/// component is removed. The file is complete after every frame; an older one is replaced by the
/// first frame. Another `path` or `pace` starts another file. [`RecordingState`] has the number of
/// frames.
///
/// Molecules that come or go are in a `.simularium` file as long as they exist. They end an `.xtc`
/// file, which has the same atoms in all frames; its first frame is in `NAME.first.pdb` or `.cif`.
/// Colors are those of `MoleculeTint`s in the first frame of a molecule.
///
/// If a frame cannot be written, the recording ends with a [`TrajectoryFailed`]; the app goes on,
/// and the file keeps the frames before.
#[derive(Clone, Debug, PartialEq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[require(RecordingState)]
pub struct TrajectoryRecorder {
    /// The file. Default: `trajectory.simularium`.
    pub path: PathBuf,
    /// How often. Default: every step.
    pub every: RecordEvery,
    /// Time in the file per second of physics time, s. Default: 1e-9, as in
    /// [`BrownianMotionConfig`](super::BrownianMotionConfig).
    pub pace: f64,
}

impl TrajectoryRecorder {
    /// Records every step.
    #[must_use]
    pub fn new(path: impl Into<PathBuf>) -> Self {
        Self {
            path: path.into(),
            ..Self::default()
        }
    }
}

impl Default for TrajectoryRecorder {
    fn default() -> Self {
        Self {
            path: "trajectory.simularium".into(),
            every: RecordEvery::default(),
            pace: 1.0e-9,
        }
    }
}

/// Which steps a [`TrajectoryRecorder`] writes. The first frame is written at once.
#[derive(Clone, Copy, Debug, PartialEq, Reflect)]
#[reflect(Clone, Debug, Default, PartialEq)]
pub enum RecordEvery {
    /// Every n-th update of the physics in which time goes on; zero is one. Default: one.
    Steps(u32),
    /// The first update after every n seconds of physics time.
    Seconds(f64),
}

impl Default for RecordEvery {
    fn default() -> Self {
        Self::Steps(1)
    }
}

/// How far a [`TrajectoryRecorder`] is. Written by the plugin.
#[derive(Clone, Debug, Default, PartialEq, Eq, Component, Reflect)]
#[reflect(Component, Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub enum RecordingState {
    /// There are no molecules yet, or their files are not loaded. Default.
    #[default]
    Waiting,
    /// The file is complete up to now.
    Recording {
        /// Number of frames.
        frames: u64,
    },
    /// A frame could not be written. The file has the frames before.
    Failed {
        /// The reason.
        error: String,
    },
}

/// A [`TrajectoryRecorder`] cannot write a frame and has ended. A message, and an entity event of
/// the recorder. The error is also logged.
#[derive(Clone, Debug, PartialEq, Eq, Message, EntityEvent, Reflect)]
#[reflect(Clone, Debug, PartialEq)]
pub struct TrajectoryFailed {
    /// The entity with the [`TrajectoryRecorder`].
    #[event_target]
    pub recorder: Entity,
    /// The reason, with the file.
    pub error: String,
}

/// Rounding of the sum of many steps, relative to the time between two frames.
const CLOCK_ROUNDING: f64 = 1.0e-6;

/// Color of a molecule.
#[cfg(feature = "draw")]
type Tint = Option<&'static crate::render::MoleculeTint>;
#[cfg(not(feature = "draw"))]
type Tint = ();

/// Color of a kind, red, green and blue, as bits that can be compared.
type ColorBits = Option<[u32; 3]>;

/// A molecule of a file.
struct KnownMolecule {
    id: u64,
    kind: u32,
    template: Arc<MoleculeTemplate>,
    /// The last frame in which it existed.
    frame: u64,
}

/// A file that is being written.
#[derive(Default)]
pub(super) struct Recording {
    path: PathBuf,
    pace: f64,
    /// None before the first frame, and after an error.
    writer: Option<TrajectoryWriter>,
    has_failed: bool,
    /// Physics time of the last update, s.
    clock: f64,
    /// Updates since the last frame.
    steps: u32,
    /// Physics time of the last frame that was due, s; none before the first.
    due: Option<f64>,
    /// Kinds by the address of their template and their color.
    kinds: HashMap<(usize, ColorBits), u32>,
    known: EntityHashMap<KnownMolecule>,
    next_id: u64,
    molecules: Vec<TrajectoryMolecule>,
}

/// What is recorded of a molecule.
type RecordedMolecule = (
    Entity,
    &'static PreparedMolecule,
    &'static RapierRigidBodyHandle,
    &'static RapierContextEntityLink,
    Tint,
);

/// Molecules without a body.
#[derive(SystemParam)]
pub(super) struct UnpreparedMolecules<'w, 's> {
    molecules: Query<'w, 's, &'static Molecule, Without<PreparedMolecule>>,
    server: Option<Res<'w, AssetServer>>,
}

impl UnpreparedMolecules<'_, '_> {
    /// Whether one of them will have a body, because its file is being loaded.
    fn are_loading(&self) -> bool {
        let Some(server) = &self.server else {
            return false;
        };
        self.molecules.iter().any(|molecule| {
            let state = server.get_load_state(molecule.id());
            state.is_some_and(|state| !matches!(state, LoadState::Failed(_)))
        })
    }
}

/// Writes the frames that are due.
pub(super) fn record_trajectories(
    mut recorders: Query<(Entity, &TrajectoryRecorder, &mut RecordingState)>,
    molecules: Query<RecordedMolecule>,
    unprepared: UnpreparedMolecules,
    contexts: Query<(&RapierRigidBodySet, &MoleculeWorld)>,
    mut recordings: Local<EntityHashMap<Recording>>,
    mut failures: MessageWriter<TrajectoryFailed>,
    mut commands: Commands,
) {
    recordings.retain(|&entity, _| recorders.contains(entity));
    if recorders.is_empty() {
        return;
    }
    let clocks = contexts.iter().map(|(_, world)| world.clock());
    let clock = clocks.fold(0.0, f64::max);
    for (entity, recorder, mut state) in &mut recorders {
        let recording = recordings.entry(entity).or_default();
        let is_same_pace = recording.pace.to_bits() == recorder.pace.to_bits();
        if recording.path != recorder.path || !is_same_pace {
            *recording = Recording {
                path: recorder.path.clone(),
                pace: recorder.pace,
                ..Recording::default()
            };
            state.set_if_neq(RecordingState::Waiting);
        }
        let is_new_step = recording.clock.to_bits() != clock.to_bits();
        recording.clock = clock;
        if recording.has_failed || !is_new_step {
            continue;
        }
        if recording.due.is_none() && (molecules.is_empty() || unprepared.are_loading()) {
            continue;
        }
        if !recording.is_due(recorder.every) {
            continue;
        }
        match recording.write(&molecules, &contexts) {
            Ok(frames) => *state = RecordingState::Recording { frames },
            Err(error) => {
                recording.has_failed = true;
                recording.writer = None;
                let error = error.to_string();
                error!("the recording of {entity} has ended: {error}");
                *state = RecordingState::Failed {
                    error: error.clone(),
                };
                let failed = TrajectoryFailed {
                    recorder: entity,
                    error,
                };
                failures.write(failed.clone());
                commands.trigger(failed);
            }
        }
    }
}

impl Recording {
    /// Counts an update of the physics, and returns whether it is written.
    fn is_due(&mut self, every: RecordEvery) -> bool {
        self.steps = self.steps.saturating_add(1);
        let Some(due) = self.due else {
            self.due = Some(self.clock);
            self.steps = 0;
            return true;
        };
        let elapsed = self.clock - due;
        let is_due = match every {
            RecordEvery::Steps(steps) => self.steps >= steps,
            // At once if the clock was set back.
            RecordEvery::Seconds(seconds) => {
                elapsed < 0.0 || elapsed >= seconds.max(0.0) * (1.0 - CLOCK_ROUNDING)
            }
        };
        if is_due {
            self.steps = 0;
            self.due = Some(match every {
                // The next frame is not late because this one is.
                RecordEvery::Seconds(seconds) if (0.0..2.0 * seconds).contains(&elapsed) => {
                    due + seconds
                }
                _ => self.clock,
            });
        }
        is_due
    }

    /// Writes a frame, and returns the number of frames.
    fn write(
        &mut self,
        molecules: &Query<RecordedMolecule>,
        contexts: &Query<(&RapierRigidBodySet, &MoleculeWorld)>,
    ) -> Result<u64, TrajectoryError> {
        let writer = match &mut self.writer {
            Some(writer) => writer,
            none => none.insert(TrajectoryWriter::create(
                &self.path,
                [],
                TrajectoryOptions::default(),
            )?),
        };
        let frame = writer.frames();
        let mut new: Vec<Entity> = molecules
            .iter()
            .filter(|(entity, prepared, ..)| {
                let known = self.known.get(entity);
                known.is_none_or(|known| !Arc::ptr_eq(&known.template, prepared.template()))
            })
            .map(|(entity, ..)| entity)
            .collect();
        // The order of entities does not depend on their components.
        new.sort_unstable();
        for (entity, prepared, _, _, tint) in molecules.iter_many(&new) {
            let template = prepared.template();
            let color = color_of(tint);
            let bits = color.map(|color| color.map(f32::to_bits));
            let key = (Arc::as_ptr(template) as usize, bits);
            let kind = *self.kinds.entry(key).or_insert_with(|| {
                writer.add_kind(TrajectoryKind {
                    color,
                    ..TrajectoryKind::from(template)
                })
            });
            let id = self
                .known
                .get(&entity)
                .map_or(self.next_id, |known| known.id);
            self.next_id = self.next_id.max(id + 1);
            let template = Arc::clone(template);
            self.known.insert(
                entity,
                KnownMolecule {
                    id,
                    kind,
                    template,
                    frame,
                },
            );
        }
        self.molecules.clear();
        for (entity, _, body, context, _) in molecules {
            let Some(known) = self.known.get_mut(&entity) else {
                continue;
            };
            known.frame = frame;
            let bodies = contexts.get(context.0).ok();
            let body = bodies.and_then(|(bodies, _)| bodies.bodies.get(body.0));
            self.molecules.push(TrajectoryMolecule {
                id: known.id,
                kind: known.kind,
                pose: finite_body_pose(body).unwrap_or_default(),
            });
        }
        self.known.retain(|_, known| known.frame == frame);
        self.molecules.sort_unstable_by_key(|molecule| molecule.id);
        writer.write(self.clock * self.pace, self.molecules.iter().copied())?;
        Ok(writer.frames())
    }
}

/// The color that is painted over a molecule.
#[cfg(feature = "draw")]
fn color_of(tint: Option<&crate::render::MoleculeTint>) -> Option<[f32; 3]> {
    let color = tint?.color.to_srgba();
    (color.alpha > 0.0).then_some([color.red, color.green, color.blue])
}

/// Without the feature `draw`, there are no colors.
#[cfg(not(feature = "draw"))]
fn color_of((): ()) -> Option<[f32; 3]> {
    None
}
