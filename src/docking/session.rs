//! Docking by hand, one input after the other.
//!
//! A [`Session`] is all that matters to where two molecules are: the same inputs lead to the
//! same poses, bit for bit. What a window adds (views, colors, sounds, stereo) looks at it
//! and feeds it [`SessionInput`]s.

use std::sync::Arc;

use glam::Vec3;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::energy::{EnergyGrid, Interaction};
use super::guidance::guide;
use super::{
    AtomPair, DockingError, DockingMolecule, DockingPair, Response, ResponseMode, RigidMotion,
    overlapping_atoms,
};
use crate::molecule::{MoleculeTemplate, TemplateError};
use crate::pose::Pose;

/// Smallest and largest factor of the radii.
const RADII: std::ops::RangeInclusive<f32> = 0.1..=4.0;

/// One of the two molecules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum Role {
    /// The molecule that is docked to.
    Receptor,
    /// The molecule that is docked.
    #[default]
    Ligand,
}

impl Role {
    /// The other one.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Receptor => Self::Ligand,
            Self::Ligand => Self::Receptor,
        }
    }
}

/// What a user does.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SessionInput {
    /// Moves the molecule that is moved, nm and radian in the world frame.
    Move(RigidMotion),
    /// Changes which molecule is moved.
    SwitchMoved,
    /// Turns collisions on or off.
    Collisions(bool),
    /// Changes what happens at a collision.
    Response(ResponseMode),
    /// Sets the radii of all atoms to this factor of what they were at the start, from 0.1
    /// to 4.
    Radii(f32),
    /// Turns the soft pull of the energy after each motion on or off.
    Guidance(bool),
    /// Puts the moved molecule where [`Session::free_pose`] says.
    MoveToFreePose,
    /// Puts a molecule somewhere in the world (nm), whatever is there.
    Place(Role, Pose),
    /// Both molecules are where the bodies of a physics engine have moved: the receptor and
    /// the ligand. So a log needs no physics to be played.
    BodyPoses([Pose; 2]),
}

/// How a session is switched. [`SessionInput`]s change it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SessionConfig {
    /// Which molecule is moved. Default: the ligand.
    pub moved: Role,
    /// Whether molecules meet. Default: yes.
    pub collisions: bool,
    /// What happens when they do. Default: sliding.
    pub response: ResponseMode,
    /// Factor of the radii, from 0.1 to 4. Default: 1.
    pub radius_scale: f32,
    /// Whether the energy pulls. Default: no.
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

/// Why an input does nothing.
#[derive(Clone, Debug, PartialEq, Error)]
#[non_exhaustive]
pub enum SessionError {
    /// The molecules overlap, so that there is no way to move one.
    #[error(
        "'{moved}' and '{other}' overlap, and neither can move: free the first one (its nearest free pose is {distance} nm away), or turn collisions off"
    )]
    Overlapping {
        /// Name of the molecule that is moved.
        moved: String,
        /// Name of the other.
        other: String,
        /// The nearest pose that is free; [`SessionInput::MoveToFreePose`] takes it.
        free: Pose,
        /// How far away that is, nm.
        distance: f32,
    },
    /// A number is not finite.
    #[error(transparent)]
    Docking(DockingError),
    /// The factor of the radii is out of range.
    #[error("radii can be multiplied by {} to {}, and not by {factor}", RADII.start(), RADII.end())]
    BadRadiusScale {
        /// What was given.
        factor: f32,
    },
    /// Atoms cannot have such radii.
    #[error(transparent)]
    Template(#[from] TemplateError),
    /// There is no energy that could pull.
    #[error("the session has no energy, so that nothing can guide: make it with_energy")]
    NoEnergy,
}

/// What an input led to.
#[derive(Clone, Debug, Default, PartialEq)]
#[non_exhaustive]
pub struct InputReport {
    /// Atoms that touch or overlap: the moved molecule's and the other's.
    pub pairs: Vec<AtomPair>,
    /// Whether a motion was stopped before its end.
    pub blocked: bool,
}

/// Two molecules, where they are, and how they are moved.
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
/// let beginning = session.clone();
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
///     // Only the last one is stopped, and tells by which atoms.
///     assert_eq!(report.blocked, matches!(input, SessionInput::Move(_)));
///     assert_eq!(report.blocked, !report.pairs.is_empty());
/// }
/// assert!(session.clashes().is_empty());
/// // What makes no sense is refused, and changes nothing.
/// let before = session.pose(Role::Ligand);
/// let error = session.apply(&SessionInput::Radii(100.0)).unwrap_err();
/// assert_eq!(error.to_string(), "radii can be multiplied by 0.1 to 4, and not by 100");
/// assert_eq!(session.pose(Role::Ligand), before);
///
/// // The log leads to the same pose, bit for bit.
/// let text = String::from_utf8(recorder.finish(&session)?)?;
/// let mut again = beginning;
/// SessionLog::parse(&text)?.replay(&mut again)?;
/// assert_eq!(again.pose(Role::Ligand), session.pose(Role::Ligand));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    /// As they were at the start: receptor and ligand.
    templates: [Arc<MoleculeTemplate>; 2],
    /// With the radii that they have now.
    molecules: [DockingMolecule; 2],
    poses: [Pose; 2],
    config: SessionConfig,
    energy: Option<Arc<EnergyGrid>>,
}

impl Session {
    /// Both molecules where their files had them.
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

    /// The same with an energy, which is shown and can guide.
    #[must_use]
    pub fn with_energy(mut self, energy: Arc<EnergyGrid>) -> Self {
        self.energy = Some(energy);
        self
    }

    /// A molecule as it was at the start.
    #[must_use]
    pub fn template(&self, part: Role) -> &Arc<MoleculeTemplate> {
        &self.templates[part as usize]
    }

    /// A molecule with the radii that it has now.
    #[must_use]
    pub fn molecule(&self, part: Role) -> &DockingMolecule {
        &self.molecules[part as usize]
    }

    /// Where a molecule is: its center of mass in the world, nm, and its rotation.
    #[must_use]
    pub fn pose(&self, part: Role) -> Pose {
        self.poses[part as usize]
    }

    /// How it is switched.
    #[must_use]
    pub fn config(&self) -> &SessionConfig {
        &self.config
    }

    /// The energy around the receptor, if the session has one.
    #[must_use]
    pub fn energy(&self) -> Option<&Arc<EnergyGrid>> {
        self.energy.as_ref()
    }

    /// What the receptor does to the ligand now, if the session has an energy.
    #[must_use]
    pub fn interaction(&self) -> Option<Interaction> {
        let energy = self.energy.as_ref()?;
        Some(energy.interaction(&self.pose(Role::Ligand), &self.pose(Role::Receptor)))
    }

    /// Atoms of the receptor and the ligand that overlap now.
    #[must_use]
    pub fn clashes(&self) -> Vec<AtomPair> {
        let [receptor, ligand] = &self.molecules;
        overlapping_atoms(receptor, &self.poses[0], ligand, &self.poses[1])
    }

    /// Nearest pose of the moved molecule in which it overlaps nothing.
    ///
    /// # Errors
    /// [`SessionError::Docking`] if a pose is not finite.
    pub fn free_pose(&self) -> Result<Pose, SessionError> {
        let free = self.encounter().nearest_free_pose();
        free.map_err(SessionError::Docking)
    }

    /// Takes an input in. An input that fails changes nothing.
    ///
    /// # Errors
    /// [`SessionError`] says why the input does nothing.
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
            SessionInput::Place(part, pose) => {
                rigid(&pose)?;
                self.poses[part as usize] = pose;
            }
            SessionInput::BodyPoses(poses) => return self.carry(poses),
        }
        Ok(InputReport::default())
    }

    /// Bodies that push each other overlap a little while they do: those are the pairs.
    fn carry(&mut self, poses: [Pose; 2]) -> Result<InputReport, SessionError> {
        poses.iter().try_for_each(rigid)?;
        self.poses = poses;
        let encounter = self.encounter();
        let (pose, other) = (&encounter.pose, &encounter.other_pose);
        let pairs = overlapping_atoms(encounter.moving, pose, encounter.other, other);
        Ok(InputReport {
            pairs,
            blocked: false,
        })
    }

    fn scale_radii(&mut self, factor: f32) -> Result<(), SessionError> {
        if !RADII.contains(&factor) {
            return Err(SessionError::BadRadiusScale { factor });
        }
        let scaled = |part: usize| {
            let template = MoleculeTemplate::clone(&self.templates[part]);
            let template = template.with_scaled_radii(factor)?;
            Ok::<_, SessionError>(DockingMolecule::new(Arc::new(template)))
        };
        self.molecules = [scaled(0)?, scaled(1)?];
        self.config.radius_scale = factor;
        Ok(())
    }

    fn encounter(&self) -> DockingPair<'_> {
        let (moved, other) = (self.config.moved, self.config.moved.other());
        DockingPair::new(
            self.molecule(moved),
            self.pose(moved),
            self.molecule(other),
            self.pose(other),
        )
    }

    fn move_by(&mut self, motion: &RigidMotion) -> Result<InputReport, SessionError> {
        let mut report = self.step(motion)?;
        if self.config.guidance
            && let Some(pull) = self.pull()
        {
            let before = (self.poses, self.interaction().map(|now| now.energy()));
            match self.step(&pull) {
                Ok(pulled) if self.interaction().map(|now| now.energy()) < before.1 => {
                    report.pairs = pulled.pairs;
                }
                // Nothing is gained, or it cannot be pulled.
                Ok(_) | Err(_) => self.poses = before.0,
            }
        }
        Ok(report)
    }

    /// One motion and the answer to it.
    fn step(&mut self, motion: &RigidMotion) -> Result<InputReport, SessionError> {
        let encounter = self.encounter();
        let response = if self.config.collisions {
            encounter.respond(self.config.response, motion)
        } else {
            encounter.through(motion).map(|pose| Response {
                pose,
                other_pose: encounter.other_pose,
                pairs: Vec::new(),
                blocked: false,
            })
        };
        let response = response.map_err(|error| self.explain(error))?;
        let moved = self.config.moved;
        self.poses[moved as usize] = response.pose;
        self.poses[moved.other() as usize] = response.other_pose;
        Ok(InputReport {
            pairs: response.pairs,
            blocked: response.blocked,
        })
    }

    /// What to tell a user instead of that a motion begins inside.
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

    /// The motion along which the energy pulls the moved molecule.
    fn pull(&self) -> Option<RigidMotion> {
        let now = self.interaction()?;
        let moved = self.config.moved;
        let (force, torque) = match moved {
            Role::Ligand => (now.force, now.torque),
            Role::Receptor => {
                // The opposite, about the receptor's own center.
                let arm: Vec3 = self.pose(Role::Ligand).position - self.pose(moved).position;
                (-now.force, -now.torque - arm.cross(now.force))
            }
        };
        guide(self.molecule(moved), &self.pose(moved), force, torque)
    }
}

fn rigid(pose: &Pose) -> Result<(), SessionError> {
    if pose.is_rigid() {
        return Ok(());
    }
    let what = "pose";
    Err(SessionError::Docking(DockingError::BadPose { what }))
}
