//! The state of an interactive docking session.
//!
//! A [`Session`] holds everything that determines the poses and conformations of the molecules: the
//! same inputs give bitwise identical ones. A window only displays it and passes
//! [`SessionInput`]s to it.

use std::f32::consts::PI;
use std::f64::consts::TAU;
use std::sync::Arc;

use glam::Vec3;

use super::conservative_advancement::TOUCHING;
use super::docking_group::{DockingGroup, GroupContact};
use super::energy::{EnergyGrid, Interaction};
use super::flexible_molecule::FlexibleMolecule;
use super::session_input::{
    Contact, InputReport, RADIUS_SCALES, SessionConfig, SessionError, SessionInput,
};
use super::turn::BondTurn;
use super::{DockingError, DockingMolecule, ResponseMode, RigidMotion, Role, overlapping_atoms};
use crate::force::Body;
use crate::molecule::{MoleculeTemplate, RotatableBond};
use crate::pose::Pose;

/// Maximum displacement of any atom per guidance step, nm: small compared to user input.
const GUIDANCE_STEP_NM: f32 = 0.004;

/// A receptor and one or more ligands, their poses and torsions, and the settings of their motion.
///
/// Inputs move one molecule, the active one. It collides with all others. Bonds of ligands turn
/// about their axes.
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
///     SessionInput::Place(Role::LIGAND, Pose::from_translation(above)),
///     SessionInput::Response(ResponseMode::Stop),
///     SessionInput::Move(RigidMotion::translation(-10.0 * Vec3::Y)),
/// ] {
///     recorder.record(&input)?;
///     let report = session.apply(&input)?;
///     // Only the motion is stopped, and reports the touching atoms.
///     assert_eq!(report.blocked, matches!(input, SessionInput::Move(_)));
///     assert_eq!(report.blocked, !report.contacts.is_empty());
/// }
/// assert!(session.clashes().is_empty());
/// // Invalid inputs change nothing.
/// let before = session.pose(Role::LIGAND);
/// let error = session.apply(&SessionInput::Radii(100.0)).unwrap_err();
/// assert_eq!(error.to_string(), "the factor on the radii must be from 0.1 to 4, not 100");
/// assert_eq!(session.pose(Role::LIGAND), before);
///
/// // Replaying the log gives the same pose, bit for bit.
/// let text = String::from_utf8(recorder.finish(&session)?)?;
/// let mut replayed = start;
/// SessionLog::parse(&text)?.replay(&mut replayed)?;
/// assert_eq!(replayed.pose(Role::LIGAND), session.pose(Role::LIGAND));
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Debug)]
pub struct Session {
    /// The receptor and the ligands.
    molecules: Vec<FlexibleMolecule>,
    poses: Vec<Pose>,
    config: SessionConfig,
    energy: Option<Arc<EnergyGrid>>,
}

impl Session {
    /// Both molecules at the poses of their files.
    #[must_use]
    pub fn new(receptor: Arc<MoleculeTemplate>, ligand: Arc<MoleculeTemplate>) -> Self {
        let session = Self {
            poses: vec![receptor.file_pose()],
            molecules: vec![FlexibleMolecule::rigid(receptor)],
            config: SessionConfig::default(),
            energy: None,
        };
        session.with_ligand(ligand)
    }

    /// Adds a ligand at the pose of its file. Add all ligands before the first input.
    #[must_use]
    pub fn with_ligand(mut self, ligand: Arc<MoleculeTemplate>) -> Self {
        self.poses.push(ligand.file_pose());
        self.molecules.push(FlexibleMolecule::new(ligand));
        self
    }

    /// Adds an energy, for [`interaction`](Self::interaction) and guidance. The grid must be of the
    /// receptor and of all ligands, in their order.
    #[must_use]
    pub fn with_energy(mut self, energy: Arc<EnergyGrid>) -> Self {
        self.energy = Some(energy);
        self
    }

    /// The roles of all molecules, the receptor first.
    pub fn roles(&self) -> impl DoubleEndedIterator<Item = Role> + use<> {
        (0..self.molecules.len()).map(Role::of)
    }

    /// A molecule with its original radii, in the conformation of its file.
    ///
    /// # Panics
    /// This and the following functions panic if there is no molecule with this role.
    #[must_use]
    pub fn template(&self, role: Role) -> &Arc<MoleculeTemplate> {
        self.molecules[role.index()].template()
    }

    /// A molecule with its current radii and torsions.
    #[must_use]
    pub fn molecule(&self, role: Role) -> &DockingMolecule {
        self.molecules[role.index()].molecule()
    }

    /// Pose of a molecule: center of mass in the world, nm, and rotation.
    #[must_use]
    pub fn pose(&self, role: Role) -> Pose {
        self.poses[role.index()]
    }

    /// The rotatable bonds of a molecule. None for the receptor.
    #[must_use]
    pub fn bonds(&self, role: Role) -> &[RotatableBond] {
        self.molecules[role.index()].bonds()
    }

    /// Angles by which the rotatable bonds of a molecule are turned from the conformation of its
    /// file, radian from −π to π.
    #[must_use]
    pub fn torsions(&self, role: Role) -> &[f32] {
        self.molecules[role.index()].angles()
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

    /// The current interaction of the receptor with all ligands, if the session has an energy:
    /// energies are summed; force and torque act on the active molecule.
    #[must_use]
    pub fn interaction(&self) -> Option<Interaction> {
        let energy = self.energy.as_ref()?;
        let (receptor_pose, moved) = (self.pose(Role::Receptor), self.config.moved);
        let mut total = Interaction::default();
        for (role, ligand) in self.roles().skip(1).zip(0..) {
            let pose = self.pose(role);
            let positions = self.molecule(role).template().positions();
            let one = energy.interaction_with(ligand, positions, &pose, &receptor_pose);
            total.lennard_jones += one.lennard_jones;
            total.coulomb += one.coulomb;
            total.solvation += one.solvation;
            if moved == role {
                (total.force, total.torque) = (one.force, one.torque);
            } else if moved == Role::Receptor {
                // The opposite, about the center of the receptor.
                let arm: Vec3 = pose.position - receptor_pose.position;
                total.force -= one.force;
                total.torque -= one.torque + arm.cross(one.force);
            }
        }
        Some(total)
    }

    /// Overlapping atoms of different molecules, and those of a ligand that overlap because bonds
    /// are turned.
    #[must_use]
    pub fn clashes(&self) -> Vec<Contact> {
        let mut clashes = Vec::new();
        for (a, molecule) in self.molecules.iter().enumerate() {
            for b in a..self.molecules.len() {
                let found = if a == b {
                    molecule.own_contacts(0.0)
                } else {
                    let other = self.molecules[b].molecule();
                    overlapping_atoms(molecule.molecule(), &self.poses[a], other, &self.poses[b])
                };
                let molecules = [a, b].map(Role::of);
                let contact = |atoms| Contact { molecules, atoms };
                clashes.extend(found.into_iter().map(contact));
            }
        }
        clashes
    }

    /// The nearest pose of the active molecule without overlaps with others.
    ///
    /// # Errors
    /// [`SessionError::Docking`] if a pose is invalid.
    pub fn free_pose(&self) -> Result<Pose, SessionError> {
        Ok(self.group().nearest_free_pose()?)
    }

    /// Applies an input. A rejected input changes nothing.
    ///
    /// # Errors
    /// [`SessionError`] if the input is rejected.
    pub fn apply(&mut self, input: &SessionInput) -> Result<InputReport, SessionError> {
        match input {
            SessionInput::Move(motion) => return self.move_by(motion),
            SessionInput::Turn { bond, angle } => return self.turn(*bond, *angle),
            SessionInput::SwitchMoved => {
                let next = self.config.moved.index() + 1;
                self.config.moved = Role::of(next % self.molecules.len());
            }
            SessionInput::Collisions(on) => self.config.collisions = *on,
            SessionInput::Response(mode) => self.config.response = *mode,
            SessionInput::Radii(factor) => self.scale_radii(*factor)?,
            SessionInput::Guidance(true) if self.energy.is_none() => {
                return Err(SessionError::NoEnergy);
            }
            SessionInput::Guidance(on) => self.config.guidance = *on,
            SessionInput::MoveToFreePose => {
                let free = self.free_pose()?;
                self.poses[self.config.moved.index()] = free;
            }
            SessionInput::Place(role, pose) => {
                check_pose(pose)?;
                self.check_role(*role)?;
                self.poses[role.index()] = *pose;
            }
            SessionInput::Torsions(role, angles) => self.set_torsions(*role, angles)?,
            SessionInput::BodyPoses(poses) => return self.set_body_poses(poses),
        }
        Ok(InputReport::default())
    }

    fn check_role(&self, role: Role) -> Result<(), SessionError> {
        let molecules = self.molecules.len();
        if role.index() < molecules {
            Ok(())
        } else {
            Err(SessionError::NoSuchMolecule { role, molecules })
        }
    }

    fn scale_radii(&mut self, factor: f32) -> Result<(), SessionError> {
        if !RADIUS_SCALES.contains(&factor) {
            return Err(SessionError::BadRadiusScale { factor });
        }
        let molecules = self.molecules.iter();
        let scaled = molecules.map(|molecule| molecule.with_radius_scale(factor));
        self.molecules = scaled.collect::<Result<_, _>>()?;
        self.config.radius_scale = factor;
        Ok(())
    }

    fn set_body_poses(&mut self, poses: &[Pose]) -> Result<InputReport, SessionError> {
        let (molecules, given) = (self.molecules.len(), poses.len());
        if given != molecules {
            let poses = given;
            return Err(SessionError::PoseCount { molecules, poses });
        }
        poses.iter().try_for_each(check_pose)?;
        self.poses = poses.to_vec();
        // Bodies that push each other overlap slightly.
        Ok(InputReport {
            contacts: self.clashes(),
            blocked: false,
        })
    }

    /// The active molecule and all others.
    fn group(&self) -> DockingGroup<'_> {
        let moved = self.config.moved.index();
        let molecule = |index: usize| (self.molecules[index].molecule(), self.poses[index]);
        let others = (0..self.molecules.len()).filter(|index| *index != moved);
        let (moving, pose) = molecule(moved);
        DockingGroup::new(moving, pose, others.map(molecule).collect())
    }

    /// The role of a molecule of [`Self::group`].
    fn role_in_group(&self, index: usize) -> Role {
        let moved = self.config.moved.index();
        match index.checked_sub(1) {
            None => self.config.moved,
            Some(other) => Role::of(other + usize::from(other >= moved)),
        }
    }

    fn contact(&self, found: &GroupContact) -> Contact {
        let [a, b] = found.molecules.map(|index| self.role_in_group(index));
        let mut atoms = found.atoms;
        if a > b {
            std::mem::swap(&mut atoms.a, &mut atoms.b);
        }
        Contact {
            molecules: [a.min(b), a.max(b)],
            atoms,
        }
    }

    fn move_by(&mut self, motion: &RigidMotion) -> Result<InputReport, SessionError> {
        let mut report = self.move_once(motion)?;
        if self.config.guidance
            && let Some(step) = self.guidance_step()
        {
            let energy = |this: &Self| this.interaction().map(|one| one.energy());
            let before = (self.poses.clone(), energy(self));
            match self.move_once(&step) {
                Ok(guided) if energy(self) < before.1 => report.contacts = guided.contacts,
                Ok(_) | Err(_) => self.poses = before.0,
            }
        }
        Ok(report)
    }

    fn move_once(&mut self, motion: &RigidMotion) -> Result<InputReport, SessionError> {
        let group = self.group();
        let moved = if self.config.collisions {
            group.respond(self.config.response, motion)
        } else {
            group.pass_through(motion)
        };
        let report = moved.map_err(|error| self.explain(error))?;
        let contacts = report.contacts.iter().map(|found| self.contact(found));
        let contacts = contacts.collect();
        let poses = [report.pose].into_iter().chain(report.other_poses);
        for (index, pose) in poses.enumerate() {
            let role = self.role_in_group(index);
            self.poses[role.index()] = pose;
        }
        Ok(InputReport {
            contacts,
            blocked: report.blocked,
        })
    }

    /// Turns a bond of the active molecule.
    fn turn(&mut self, index: u32, angle: f32) -> Result<InputReport, SessionError> {
        let role = self.config.moved;
        let molecule = &self.molecules[role.index()];
        let Some(bond) = molecule.bonds().get(index as usize) else {
            return Err(SessionError::NoSuchBond {
                role,
                name: molecule.template().name().to_owned(),
                bonds: molecule.bonds().len(),
                bond: index,
            });
        };
        if !angle.is_finite() {
            return Err(SessionError::Docking(DockingError::NotFinite));
        }
        let stops = self.config.collisions && self.config.response != ResponseMode::Cue;
        let group = self.group();
        let contact = if stops {
            let turn = BondTurn {
                group: &group,
                bond,
                ignored: molecule.ignored(),
                angle,
            };
            let contact = turn.first_contact();
            contact.map_err(|error| self.explain(error))?
        } else {
            None
        };
        let tolerance = group.tolerance;
        let mut angles = molecule.angles().to_vec();
        let turned = f64::from(angles[index as usize]) + contact.unwrap_or(f64::from(angle));
        angles[index as usize] = wrapped(turned);
        self.set_torsions(role, &angles)?;
        let blocked = contact.is_some();
        let contacts = match (stops, self.config.collisions) {
            (true, _) if blocked => self.contacts_of_turn(index, TOUCHING * tolerance),
            (false, true) => self.contacts_of_turn(index, 0.0),
            _ => Vec::new(),
        };
        Ok(InputReport { contacts, blocked })
    }

    /// Contacts of the active molecule with others and within itself, of atoms that turn about a
    /// bond.
    fn contacts_of_turn(&self, index: u32, margin: f32) -> Vec<Contact> {
        let role = self.config.moved;
        let molecule = &self.molecules[role.index()];
        let turned = &molecule.bonds()[index as usize].turned;
        let turns = |atom: u32| turned.binary_search(&atom).is_ok();
        let own = molecule.own_contacts(margin).into_iter();
        // Atoms on one side do not touch each other by turning.
        let own = own.filter(|pair| turns(pair.a) != turns(pair.b));
        let molecules = [role; 2];
        let own = own.map(|atoms| Contact { molecules, atoms });
        let found = self.group().contacts(margin).into_iter();
        let found = found.filter(|contact| turns(contact.atoms.a));
        let found = found.map(|contact| self.contact(&contact));
        found.chain(own).collect()
    }

    fn set_torsions(&mut self, role: Role, angles: &[f32]) -> Result<(), SessionError> {
        self.check_role(role)?;
        let molecule = &self.molecules[role.index()];
        if angles.len() != molecule.bonds().len() {
            return Err(SessionError::AngleCount {
                role,
                name: molecule.template().name().to_owned(),
                bonds: molecule.bonds().len(),
                angles: angles.len(),
            });
        }
        if !angles.iter().all(|angle| angle.is_finite()) {
            return Err(SessionError::Docking(DockingError::NotFinite));
        }
        let angles = angles.iter().map(|angle| wrapped(f64::from(*angle)));
        let turned = molecule.with_angles(angles.collect())?;
        let pose = &mut self.poses[role.index()];
        *pose = turned.pose_like(molecule, pose);
        self.molecules[role.index()] = turned;
        Ok(())
    }

    /// Adds the nearest free pose to the error of a motion that starts with an overlap.
    fn explain(&self, error: DockingError) -> SessionError {
        let DockingError::StartsOverlapping { .. } = error else {
            return SessionError::Docking(error);
        };
        let moved = self.config.moved;
        let clashes = self.clashes().into_iter();
        // Of the active molecule if it overlaps one, else of two that are pushed.
        let pair = clashes
            .map(|clash| clash.molecules)
            .filter(|[a, b]| a != b)
            .min_by_key(|molecules| !molecules.contains(&moved));
        let [a, b] = pair.unwrap_or([moved; 2]);
        let (one, other) = if b == moved { (b, a) } else { (a, b) };
        match self.free_pose() {
            Ok(free) => SessionError::Overlapping {
                moved: self.template(one).name().to_owned(),
                other: self.template(other).name().to_owned(),
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
        let template = self.molecule(moved).template();
        let body = Body::new(template, &self.pose(moved));
        let motion = RigidMotion {
            translation: interaction.force * body.inverse_mass,
            rotation: body.inverse_inertia * interaction.torque,
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

/// The same angle between −π and π, radian. One in this range stays the same bit for bit.
fn wrapped(angle: f64) -> f32 {
    let turns = if angle.abs() <= f64::from(PI) {
        0.0
    } else {
        (angle / TAU).round()
    };
    (angle - turns * TAU) as f32
}
