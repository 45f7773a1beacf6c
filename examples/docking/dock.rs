//! The session with its log, and the result of the last input.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::docking::energy::{EnergyConfig, EnergyGrid, ForceFieldMolecule};
use bevy_rapier_molecules::docking::log::{LogError, Recorder, SessionLog};
use bevy_rapier_molecules::docking::search::{DockingSearch, DockingSearchConfig};
use bevy_rapier_molecules::docking::{Contact, ResponseMode, Role, Session, SessionInput};
use bevy_rapier_molecules::molecule::{LoadOptions, load};
use bevy_rapier_molecules::pose::Pose;
use glam::Vec3;

use super::arguments::{Arguments, Start};
use super::common::{AnyError, print_load_warnings};

/// Gap between the molecules at the start, nm.
const START_GAP_NM: f32 = 0.3;

/// A session with its log.
pub struct Dock {
    pub session: Session,
    recorder: Option<Recorder<BufWriter<File>>>,
    /// Inputs to replay, the next one last.
    pub to_play: Vec<SessionInput>,
    played: Option<SessionLog>,
    /// Overlapping atoms.
    pub clashes: Vec<Contact>,
    /// Atoms that touch after the last motion.
    pub touching: Vec<Contact>,
    /// Whether the last motion ended early.
    pub blocked: bool,
    /// Error of the last input.
    pub message: Option<String>,
    /// Index of the bond of the active ligand that keys turn.
    bond: usize,
    /// Whether a physics engine is available for the response `push`.
    pub has_physics: bool,
}

impl Dock {
    /// Loads the molecules and sets their start poses and torsions.
    pub fn new(arguments: &Arguments) -> Result<Self, AnyError> {
        let options = LoadOptions {
            radius_scale: arguments.radius_scale,
            ..LoadOptions::default()
        };
        let molecule = |file: &Path| {
            let template = load(file, &options)?;
            print_load_warnings(file, template.load_warnings());
            Ok::<_, AnyError>(Arc::new(template))
        };
        let or_bundled = |file: &Option<std::path::PathBuf>, bundled: &str| match file {
            Some(file) => molecule(file),
            None => molecule(&Path::new(env!("CARGO_MANIFEST_DIR")).join(bundled)),
        };
        let receptor = or_bundled(&arguments.receptor, "assets/molecules/t4_lysozyme_l99a.pdb")?;
        let ligand = or_bundled(&arguments.ligand, "assets/molecules/p_xylene.pdb")?;
        let mut session = Session::new(receptor, ligand);
        for file in &arguments.more {
            session = session.with_ligand(molecule(file)?);
        }
        let played = match &arguments.play {
            None => None,
            Some(file) => {
                let text = fs::read_to_string(file)
                    .map_err(|error| format!("cannot read '{}': {error}", file.display()))?;
                Some(SessionLog::parse(&text).map_err(|error| in_file(file, &error))?)
            }
        };
        // Replay a log with or without energy, as it was recorded.
        let without = played.as_ref().map(|log| log.check(&session));
        if !matches!(without, Some(Ok(()))) {
            let molecule = |role| ForceFieldMolecule::new(Arc::clone(session.template(role)));
            let ligands: Vec<_> = session.roles().skip(1).map(molecule).collect();
            let receptor = molecule(Role::Receptor);
            let energy = EnergyGrid::for_ligands(&receptor, &ligands, &EnergyConfig::default())?;
            session = session.with_energy(Arc::new(energy));
        }
        if let (Some(log), Some(file)) = (&played, &arguments.play) {
            log.check(&session).map_err(|error| in_file(file, &error))?;
        }
        session.apply(&SessionInput::Response(arguments.response.into()))?;
        set_torsions(&mut session, &arguments.torsion)?;
        if arguments.start == Start::Outside && !arguments.search {
            for role in session.roles().skip(1) {
                let pose = outside(&session, role);
                session.apply(&SessionInput::Place(role, pose))?;
            }
        }
        let inputs = played.as_ref().map_or(&[][..], SessionLog::inputs);
        let max = arguments.steps.unwrap_or(usize::MAX);
        let mut to_play: Vec<SessionInput> = inputs.iter().take(max).cloned().collect();
        to_play.reverse();
        Ok(Self {
            clashes: session.clashes(),
            session,
            recorder: None,
            to_play,
            played: played.filter(|_| arguments.steps.is_none()),
            touching: Vec::new(),
            blocked: false,
            message: None,
            bond: 0,
            has_physics: false,
        })
    }

    /// Starts recording.
    pub fn record(&mut self, file: &Path) -> Result<(), AnyError> {
        let failed = |error| format!("cannot write '{}': {error}", file.display());
        let writer = BufWriter::new(File::create(file).map_err(failed)?);
        self.recorder = Some(Recorder::new(writer, &self.session).map_err(failed)?);
        Ok(())
    }

    /// Applies an input. The error of a rejected input becomes the message.
    pub fn input(&mut self, input: &SessionInput) {
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = recorder.record(input)
        {
            self.message = Some(format!("cannot write the log: {error}"));
            self.recorder = None;
        }
        match self.session.apply(input) {
            Ok(report) => {
                self.message = None;
                self.blocked = report.blocked;
                self.touching = report.contacts;
            }
            Err(error) => self.message = Some(error.to_string()),
        }
        self.clashes = self.session.clashes();
    }

    /// Applies a setting of the user. Bodies that are pressed together overlap slightly, so a
    /// following mode starts from a free pose.
    pub fn change(&mut self, input: &SessionInput) {
        let are_pressed = self.pushes_bodies() && !self.clashes.is_empty();
        self.input(input);
        let settings = self.session.config();
        let needs_free_pose = settings.collisions && settings.response != ResponseMode::Cue;
        if are_pressed && needs_free_pose && !self.pushes_bodies() {
            self.input(&SessionInput::MoveToFreePose);
        }
    }

    /// Whether the molecules are rigid bodies that push each other.
    pub fn pushes_bodies(&self) -> bool {
        let settings = self.session.config();
        let push = settings.collisions && settings.response == ResponseMode::Push;
        self.has_physics && push && self.to_play.is_empty()
    }

    /// Poses of all molecules.
    pub fn poses(&self) -> Vec<Pose> {
        let poses = self.session.roles().map(|role| self.session.pose(role));
        poses.collect()
    }

    /// Index of the selected bond of the active molecule, if it has rotatable bonds.
    pub fn selected_bond(&self) -> Option<usize> {
        let bonds = self.session.bonds(self.session.config().moved);
        (!bonds.is_empty()).then(|| self.bond.min(bonds.len() - 1))
    }

    /// Selects the next bond of the active molecule, or the previous one.
    pub fn select_bond(&mut self, previous: bool) {
        let bonds = self.session.bonds(self.session.config().moved).len();
        if let Some(bond) = self.selected_bond() {
            self.bond = (bond + if previous { bonds - 1 } else { 1 }) % bonds;
        }
    }

    /// Names of the atoms of a bond, with their residue if the molecule has several.
    pub fn bond_name(&self, role: Role, bond: usize) -> String {
        let template = self.session.template(role);
        let names = self.session.bonds(role)[bond].atoms.map(|atom| {
            let name = &template.atom_names()[atom as usize];
            if template.residues().len() == 1 {
                return name.to_string();
            }
            let residue = template.residue_of(atom as usize);
            format!("{}{}:{name}", residue.name, residue.number)
        });
        names.join("-")
    }

    /// The dihedral angle of a bond, degrees.
    pub fn dihedral(&self, role: Role, bond: usize) -> f64 {
        let template = self.session.molecule(role).template();
        self.session.bonds(role)[bond]
            .dihedral(template)
            .to_degrees()
    }

    /// Replays up to `max` inputs. Returns whether some are left.
    pub fn play(&mut self, max: usize) -> bool {
        for _ in 0..max {
            let Some(input) = self.to_play.pop() else {
                break;
            };
            self.input(&input);
        }
        !self.to_play.is_empty()
    }

    /// Whether the replay of a complete log ended at the recorded poses; none without such a log.
    pub fn ended_the_same(&self) -> Option<bool> {
        let log = self.played.as_ref().filter(|_| self.to_play.is_empty())?;
        Some(log.ends_like(&self.session))
    }

    /// Finishes the log.
    pub fn finish(&mut self) -> Result<(), AnyError> {
        if let Some(recorder) = self.recorder.take() {
            recorder.finish(&self.session)?;
        }
        Ok(())
    }

    /// Moves the first ligand to the pose of lowest energy, and returns the energy.
    pub fn search(
        &mut self,
        seed: u64,
        progress: &(dyn Fn(u32, u32) + Sync),
    ) -> Result<f64, AnyError> {
        let energy = self.session.energy().ok_or("the session has no energy")?;
        if self.session.roles().count() > 2 {
            return Err("--search docks one ligand: give no more files".into());
        }
        if self
            .session
            .torsions(Role::LIGAND)
            .iter()
            .any(|angle| *angle != 0.0)
        {
            return Err(
                "--search docks the ligand as it is in its file: leave out --torsion".into(),
            );
        }
        let search = DockingSearch {
            ligand: self.session.molecule(Role::LIGAND),
            receptor: self.session.molecule(Role::Receptor),
            receptor_pose: self.session.pose(Role::Receptor),
            energy,
        };
        let config = DockingSearchConfig {
            seed,
            ..DockingSearchConfig::default()
        };
        let found = search.run(&config, progress)?;
        let best = found.first().ok_or("the search found no pose")?;
        let (pose, energy) = (best.pose, best.energy);
        self.input(&SessionInput::Place(Role::LIGAND, pose));
        Ok(energy)
    }

    /// Distance of the first ligand from its pose in the file, nm.
    pub fn distance_to_file(&self) -> f32 {
        let position = self.session.pose(Role::LIGAND).position;
        let in_file = self.session.template(Role::LIGAND).file_pose();
        position.distance(in_file.position)
    }

    /// Position of an atom in the world, nm.
    pub fn atom_position(&self, role: Role, atom: u32) -> Vec3 {
        let template = self.session.molecule(role).template();
        let position = template.positions()[atom as usize];
        self.session.pose(role).transform_point(position)
    }

    /// Durations of an overlap check with the grid and by brute force, and the number of overlaps
    /// of different molecules by brute force.
    pub fn time_checks(&self) -> (Duration, Duration, usize) {
        let begin = Instant::now();
        std::hint::black_box(self.session.clashes());
        let grid = begin.elapsed();
        let begin = Instant::now();
        let all = |role: Role| -> Vec<(Vec3, f32)> {
            let template = self.session.molecule(role).template();
            let atoms = 0..template.atom_count() as u32;
            let positions = atoms.map(|atom| self.atom_position(role, atom));
            positions.zip(template.radii().iter().copied()).collect()
        };
        let molecules: Vec<_> = self.session.roles().map(all).collect();
        let mut overlaps = 0;
        for (index, one) in molecules.iter().enumerate() {
            for other in molecules[index + 1..].iter().flatten() {
                let overlaps_atom = |&&(position, radius): &&(Vec3, f32)| {
                    let reach = radius + other.1;
                    position.distance_squared(other.0) < reach * reach
                };
                overlaps += one.iter().filter(overlaps_atom).count();
            }
        }
        (grid, begin.elapsed(), overlaps)
    }
}

fn in_file(file: &Path, error: &LogError) -> String {
    format!("'{}': {error}", file.display())
}

/// A pose of a ligand beside the receptor: the first at +x, others along +y.
fn outside(session: &Session, role: Role) -> Pose {
    let receptor = session.pose(Role::Receptor).position;
    let radius = |role: Role| session.molecule(role).template().bounding_radius();
    let distance = radius(Role::Receptor) + radius(role) + START_GAP_NM;
    // Bounding spheres of ligands before this one, and half of the first.
    let before = session.roles().skip(1).take_while(|other| *other != role);
    let before: f32 = before.map(|other| 2.0 * radius(other) + START_GAP_NM).sum();
    let up = if role == Role::LIGAND {
        0.0
    } else {
        before - radius(Role::LIGAND) + radius(role)
    };
    Pose::from_translation(receptor + Vec3::X * distance + Vec3::Y * up)
}

/// Turns bonds of the first ligand, by degrees.
fn set_torsions(session: &mut Session, torsions: &[(usize, f32)]) -> Result<(), AnyError> {
    let mut angles = session.torsions(Role::LIGAND).to_vec();
    let (name, bonds) = (session.template(Role::LIGAND).name(), angles.len());
    for (bond, angle) in torsions {
        let place = angles.get_mut(*bond).ok_or_else(|| {
            format!("'{name}' has {bonds} rotatable bonds, so none with index {bond}")
        })?;
        *place = angle.to_radians();
    }
    session.apply(&SessionInput::Torsions(Role::LIGAND, angles))?;
    Ok(())
}
