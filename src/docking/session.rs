//! The state of an interactive docking session.
//!
//! A [`Session`] holds everything that determines the poses of the two molecules: the same inputs
//! give bitwise identical poses. A window only displays it and passes [`SessionInput`]s to it.

use std::sync::Arc;

use glam::Vec3;
use thiserror::Error;

use super::energy::{EnergyGrid, Interaction};
use super::{
    AtomPair, DockingError, DockingMolecule, DockingPair, ResponseMode, RigidMotion,
    overlapping_atoms,
};
use crate::force::Body;
use crate::molecule::{MoleculeTemplate, TemplateError};
use crate::pose::Pose;

/// Maximum displacement of any atom per guidance step, nm: small compared to user input.
const GUIDANCE_STEP_NM: f32 = 0.004;

/// Valid factors on the radii.
const RADIUS_SCALES: std::ops::RangeInclusive<f32> = 0.1..=4.0;

/// The role of a molecule in a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// The molecule that the ligand binds to. Usually the larger one.
    Receptor,
    /// The molecule that binds to the receptor.
    #[default]
    Ligand,
}

impl Role {
    /// The other role.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Receptor => Self::Ligand,
            Self::Ligand => Self::Receptor,
        }
    }
}

/// An input of a session.
#[derive(Clone, Copy, Debug, PartialEq)]
#[non_exhaustive]
pub enum SessionInput {
    /// Move the active molecule.
    Move(RigidMotion),
    /// Make the other molecule the active one.
    SwitchMoved,
    /// Turn collisions on or off.
    Collisions(bool),
    /// Set the collision response.
    Response(ResponseMode),
    /// Scale the original radii of all atoms by a factor from 0.1 to 4.
    Radii(f32),
    /// Turn guidance by the energy on or off.
    Guidance(bool),
    /// Move the active molecule to [`Session::free_pose`].
    MoveToFreePose,
    /// Set the pose of a molecule (world frame, nm), regardless of overlaps.
    Place(Role, Pose),
    /// Set the poses of receptor and ligand to those of rigid bodies in a physics engine.
    /// Replaying a log then needs no physics.
    BodyPoses([Pose; 2]),
}

/// Settings of a session, changed by [`SessionInput`]s.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SessionConfig {
    /// The active molecule, which inputs move. Default: the ligand.
    pub moved: Role,
    /// Whether the molecules collide. Default: true.
    pub collisions: bool,
    /// Collision response. Default: [`ResponseMode::Slide`].
    pub response: ResponseMode,
    /// Factor on the radii, from 0.1 to 4. Default: 1.
    pub radius_scale: f32,
    /// Whether each motion is followed by a small step down the energy. Default: false.
    pub guidance: bool,
}

impl Default for SessionConfig {
    fn default() -> Self {
        Self {
            moved: Role::Ligand,
            collisions: true,
            response: ResponseMode::default(),
            radius_scale: 1.0,
            guidance: false,
        }
    }
}

/// A rejected input.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The molecules overlap, so that neither can move.
    #[error(
        "'{moved}' and '{other}' overlap and cannot move: free the first one (its nearest free pose is {distance} nm away), or turn collisions off"
    )]
    Overlapping {
        /// Name of the active molecule.
        moved: String,
        /// Name of the other molecule.
        other: String,
        /// The nearest free pose, for [`SessionInput::MoveToFreePose`].
        free: Pose,
        /// Distance to it, nm.
        distance: f32,
    },
    /// A motion or a pose is invalid.
    #[error(transparent)]
    Docking(DockingError),
    /// The factor on the radii is out of range.
    #[error(
        "the factor on the radii must be from {} to {}, not {factor}",
        RADIUS_SCALES.start(),
        RADIUS_SCALES.end()
    )]
    BadRadiusScale {
        /// The invalid factor.
        factor: f32,
    },
    /// The scaled radii are invalid.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// Guidance needs an energy.
    #[error("guidance needs an energy: create the session with `with_energy`")]
    NoEnergy,
}

/// Result of an input.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InputReport {
    /// Atoms of the active and of the other molecule that touch or overlap.
    pub pairs: Vec<AtomPair>,
    /// Whether a motion ended early.
    pub blocked: bool,
}

/// Two molecules, their poses, and the settings of their motion.
///
/// ```
/// use std::sync::Arc;
/// use bevy_rapier_molecules::docking::log::{Recorder, SessionLog};
/// use bevy_rapier_molecules::docking::{SessionInput, RigidMotion, Role, ResponseMode, Session};
/// use bevy_rapier_molecules::prelude::*;
/// use glam::Vec3;
///
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// let file = |name: &str| load(format!("assets/molecules/{name}"), &LoadOptions::default());
/// let (receptor, ligand) = (file("popc.pdb")?, file("p_xylene.pdb")?);
/// let mut session = Session::new(Arc::new(receptor), Arc::new(ligand));
/// let start = session.clone();
/// let mut recorder = Recorder::new(Vec::new(), &session)?;
///
/// let above = session.pose(Role::Receptor).position + 5.0 * Vec3::Y;
/// for input in [
///     SessionInput::Place(Role::Ligand, Pose::from_translation(above)),
///     SessionInput::Response(ResponseMode::Stop),
///     SessionInput::Move(RigidMotion::translation(-10.0 * Vec3::Y)),
/// ] {
///     recorder.record(&input)?;
///     let report = session.apply(&input)?;
///     // Only the motion is stopped, and reports the touching atoms.
///     assert_eq!(report.blocked, matches!(input, SessionInput::Move(_)));
///     assert_eq!(report.blocked, !report.pairs.is_empty());
/// }
/// assert!(session.clashes().is_empty());
/// // Invalid inputs change nothing.
/// let before = session.pose(Role::Ligand);
/// let error = session.apply(&SessionInput::Radii(100.0)).unwrap_err();
/// assert_eq!(error.to_string(), "the factor on the radii must be from 0.1 to 4, not 100");
/// assert_eq!(session.pose(Role::Ligand), before);
///
/// // Replaying the log gives the same pose, bit for bit.
/// let text = String::from_utf8(recorder.finish(&session)?)?;
/// let mut replayed = start;
/// SessionLog::parse(&text)?.replay(&mut replayed)?;
/// assert_eq!(replayed.pose(Role::Ligand), session.pose(Role::Ligand));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    /// Receptor and ligand with their original radii.
    templates: [Arc<MoleculeTemplate>; 2],
    /// Receptor and ligand with their current radii.
    molecules: [DockingMolecule; 2],
    poses: [Pose; 2],
    config: SessionConfig,
    energy: Option<Arc<EnergyGrid>>,
}

impl Session {
    /// Both molecules at the poses of their files.
    #[must_use]
    pub fn new(receptor: Arc<MoleculeTemplate>, ligand: Arc<MoleculeTemplate>) -> Self {
        let templates = [receptor, ligand];
        Self {
            molecules: templates.clone().map(DockingMolecule::new),
            poses: [0, 1].map(|k: usize| templates[k].file_pose()),
            templates,
            config: SessionConfig::default(),
            energy: None,
        }
    }

    /// Adds an energy, for [`interaction`](Self::interaction) and guidance.
    #[must_use]
    pub fn with_energy(mut self, energy: Arc<EnergyGrid>) -> Self {
        self.energy = Some(energy);
        self
    }

    /// A molecule with its original radii.
    #[must_use]
    pub fn template(&self, role: Role) -> &Arc<MoleculeTemplate> {
        &self.templates[role as usize]
    }

    /// A molecule with its current radii.
    #[must_use]
    pub fn molecule(&self, role: Role) -> &DockingMolecule {
        &self.molecules[role as usize]
    }

    /// Pose of a molecule: center of mass in the world, nm, and rotation.
    #[must_use]
    pub fn pose(&self, role: Role) -> Pose {
        self.poses[role as usize]
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// The energy, if the session has one.
    #[must_use]
    pub fn energy(&self) -> Option<&Arc<EnergyGrid>> {
        self.energy.as_ref()
    }

    /// The current interaction of receptor and ligand, if the session has an energy.
    #[must_use]
    pub fn interaction(&self) -> Option<Interaction> {
        let energy = self.energy.as_ref()?;
        Some(energy.interaction(&self.pose(Role::Ligand), &self.pose(Role::Receptor)))
    }

    /// Overlapping atoms of receptor and ligand.
    #[must_use]
    pub fn clashes(&self) -> Vec<AtomPair> {
        let [receptor, ligand] = &self.molecules;
        overlapping_atoms(receptor, &self.poses[0], ligand, &self.poses[1])
    }

    /// The nearest pose of the active molecule without overlaps.
    ///
    /// # Errors
    /// [`SessionError::Docking`] if a pose is invalid.
    pub fn free_pose(&self) -> Result<Pose, SessionError> {
        let free = self.docking_pair().nearest_free_pose();
        free.map_err(SessionError::Docking)
    }

    /// Applies an input. A rejected input changes nothing.
    ///
    /// # Errors
    /// [`SessionError`] if the input is rejected.
    pub fn apply(&mut self, input: &SessionInput) -> Result<InputReport, SessionError> {
        match *input {
            SessionInput::Move(motion) => return self.move_by(&motion),
            SessionInput::SwitchMoved => self.config.moved = self.config.moved.other(),
            SessionInput::Collisions(on) => self.config.collisions = on,
            SessionInput::Response(mode) => self.config.response = mode,
            SessionInput::Radii(factor) => self.scale_radii(factor)?,
            SessionInput::Guidance(true) if self.energy.is_none() => {
                return Err(SessionError::NoEnergy);
            }
            SessionInput::Guidance(on) => self.config.guidance = on,
            SessionInput::MoveToFreePose => {
                self.poses[self.config.moved as usize] = self.free_pose()?;
            }
            SessionInput::Place(role, pose) => {
                check_pose(&pose)?;
                self.poses[role as usize] = pose;
            }
            SessionInput::BodyPoses(poses) => {
                poses.iter().try_for_each(check_pose)?;
                self.poses = poses;
                // Bodies that push each other overlap slightly.
                let pairs = self.docking_pair().atoms_within(0.0);
                let blocked = false;
                return Ok(InputReport { pairs, blocked });
            }
        }
        Ok(InputReport::default())
    }

    fn scale_radii(&mut self, factor: f32) -> Result<(), SessionError> {
        if !RADIUS_SCALES.contains(&factor) {
            return Err(SessionError::BadRadiusScale { factor });
        }
        let scaled = |role: usize| {
            let template = MoleculeTemplate::clone(&self.templates[role]);
            let template = template.with_scaled_radii(factor)?;
            Ok::<_, SessionError>(DockingMolecule::new(Arc::new(template)))
        };
        self.molecules = [scaled(0)?, scaled(1)?];
        self.config.radius_scale = factor;
        Ok(())
    }

    /// The active molecule and the other one.
    fn docking_pair(&self) -> DockingPair<'_> {
        let (moved, other) = (self.config.moved, self.config.moved.other());
        DockingPair::new(
            self.molecule(moved),
            self.pose(moved),
            self.molecule(other),
            self.pose(other),
        )
    }

    fn move_by(&mut self, motion: &RigidMotion) -> Result<InputReport, SessionError> {
        let mut report = self.move_once(motion)?;
        if self.config.guidance
            && let Some(step) = self.guidance_step()
        {
            let energy = |this: &Self| this.interaction().map(|one| one.energy());
            let before = (self.poses, energy(self));
            match self.move_once(&step) {
                Ok(guided) if energy(self) < before.1 => report.pairs = guided.pairs,
                Ok(_) | Err(_) => self.poses = before.0,
            }
        }
        Ok(report)
    }

    fn move_once(&mut self, motion: &RigidMotion) -> Result<InputReport, SessionError> {
        let pair = self.docking_pair();
        let moved = if self.config.collisions {
            pair.respond(self.config.response, motion)
        } else {
            pair.respond(ResponseMode::Cue, motion)
        };
        let report = moved.map_err(|error| self.explain(error))?;
        let role = self.config.moved;
        self.poses[role as usize] = report.pose;
        self.poses[role.other() as usize] = report.other_pose;
        Ok(InputReport {
            pairs: report.pairs,
            blocked: report.blocked,
        })
    }

    /// Adds the nearest free pose to the error of a motion that starts with an overlap.
    fn explain(&self, error: DockingError) -> SessionError {
        let DockingError::StartsOverlapping { .. } = error else {
            return SessionError::Docking(error);
        };
        let moved = self.config.moved;
        match self.free_pose() {
            Ok(free) => SessionError::Overlapping {
                moved: self.template(moved).name().to_owned(),
                other: self.template(moved.other()).name().to_owned(),
                free,
                distance: free.position.distance(self.pose(moved).position),
            },
            Err(error) => error,
        }
    }

    /// A small motion of the active molecule along the force and torque of the energy.
    fn guidance_step(&self) -> Option<RigidMotion> {
        let interaction = self.interaction()?;
        let moved = self.config.moved;
        let (force, torque) = match moved {
            Role::Ligand => (interaction.force, interaction.torque),
            Role::Receptor => {
                // The opposite, about the center of the receptor.
                let arm: Vec3 = self.pose(Role::Ligand).position - self.pose(moved).position;
                (
                    -interaction.force,
                    -interaction.torque - arm.cross(interaction.force),
                )
            }
        };
        let template = self.molecule(moved).template();
        let body = Body::new(template, &self.pose(moved));
        let motion = RigidMotion {
            translation: force * body.inverse_mass,
            rotation: body.inverse_inertia * torque,
        };
        let size = motion.max_displacement(template.bounding_radius());
        let factor = GUIDANCE_STEP_NM / size;
        (size > 0.0 && factor.is_finite()).then(|| motion.scaled(factor))
    }
}

fn check_pose(pose: &Pose) -> Result<(), SessionError> {
    if pose.is_rigid() {
        return Ok(());
    }
    let what = "pose";
    Err(SessionError::Docking(DockingError::BadPose { what }))
}
