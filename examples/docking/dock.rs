//! The session with its log, and the result of the last input.

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bevy_rapier_molecules::docking::energy::{EnergyConfig, EnergyGrid, ForceFieldMolecule};
use bevy_rapier_molecules::docking::log::{LogError, Recorder, SessionLog};
use bevy_rapier_molecules::docking::search::{DockingSearch, DockingSearchConfig};
use bevy_rapier_molecules::docking::{AtomPair, ResponseMode, Role, Session, SessionInput};
use bevy_rapier_molecules::molecule::{LoadOptions, MoleculeTemplate, load};
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
    /// Overlapping atoms of receptor and ligand.
    pub clashes: Vec<AtomPair>,
    /// Atoms of receptor and ligand that touch after the last motion.
    pub touching: Vec<AtomPair>,
    /// Whether the last motion ended early.
    pub blocked: bool,
    /// Error of the last input.
    pub message: Option<String>,
    /// Pose of the ligand in its file.
    pub ligand_in_file: Pose,
    /// Whether a physics engine is available for the response `push`.
    pub has_physics: bool,
}

impl Dock {
    /// Loads both molecules and sets their start poses.
    pub fn new(arguments: &Arguments) -> Result<Self, AnyError> {
        let options = LoadOptions {
            radius_scale: arguments.radius_scale,
            ..LoadOptions::default()
        };
        let molecule = |file: &Option<std::path::PathBuf>, bundled: &str| {
            let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join(bundled);
            let file = file.as_ref().unwrap_or(&bundled);
            let template = load(file, &options)?;
            print_load_warnings(file, template.load_warnings());
            Ok::<_, AnyError>(Arc::new(template))
        };
        let receptor = molecule(&arguments.receptor, "assets/molecules/t4_lysozyme_l99a.pdb")?;
        let ligand = molecule(&arguments.ligand, "assets/molecules/p_xylene.pdb")?;
        let ligand_in_file = ligand.file_pose();
        let mut session = Session::new(receptor, ligand);
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
            let [receptor, ligand] = [Role::Receptor, Role::Ligand]
                .map(|role| ForceFieldMolecule::new(Arc::clone(session.template(role))));
            let energy = EnergyGrid::new(&receptor, &ligand, &EnergyConfig::default())?;
            session = session.with_energy(Arc::new(energy));
        }
        if let (Some(log), Some(file)) = (&played, &arguments.play) {
            log.check(&session).map_err(|error| in_file(file, &error))?;
        }
        session.apply(&SessionInput::Response(arguments.response.into()))?;
        if arguments.start == Start::Outside && !arguments.search {
            let pose = outside(&session);
            session.apply(&SessionInput::Place(Role::Ligand, pose))?;
        }
        let inputs = played.as_ref().map_or(&[][..], SessionLog::inputs);
        let max = arguments.steps.unwrap_or(usize::MAX);
        let mut to_play: Vec<SessionInput> = inputs.iter().take(max).copied().collect();
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
            ligand_in_file,
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
                let moved = self.session.config().moved;
                self.touching = report.pairs;
                if moved == Role::Ligand {
                    for pair in &mut self.touching {
                        std::mem::swap(&mut pair.a, &mut pair.b);
                    }
                }
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

    /// Poses of receptor and ligand.
    pub fn poses(&self) -> [Pose; 2] {
        [Role::Receptor, Role::Ligand].map(|role| self.session.pose(role))
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

    /// Moves the ligand to the pose of lowest energy, and returns the energy.
    pub fn search(
        &mut self,
        seed: u64,
        progress: &(dyn Fn(u32, u32) + Sync),
    ) -> Result<f64, AnyError> {
        let energy = self.session.energy().ok_or("the session has no energy")?;
        let search = DockingSearch {
            ligand: self.session.molecule(Role::Ligand),
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
        self.input(&SessionInput::Place(Role::Ligand, pose));
        Ok(energy)
    }

    /// Distance of the ligand from its pose in the file, nm.
    pub fn distance_to_file(&self) -> f32 {
        let position = self.session.pose(Role::Ligand).position;
        position.distance(self.ligand_in_file.position)
    }

    /// Position of an atom in the world, nm.
    pub fn atom_position(&self, role: Role, atom: u32) -> Vec3 {
        let template = self.session.molecule(role).template();
        let position = template.positions()[atom as usize];
        self.session.pose(role).transform_point(position)
    }

    /// Durations of an overlap check with the grid and by brute force, and the number of overlaps
    /// by brute force.
    pub fn time_checks(&self) -> (Duration, Duration, usize) {
        let begin = Instant::now();
        std::hint::black_box(self.session.clashes());
        let grid = begin.elapsed();
        let begin = Instant::now();
        let [receptor, ligand] =
            [Role::Receptor, Role::Ligand].map(|role| self.session.molecule(role).template());
        let all = |role: Role, template: &MoleculeTemplate| -> Vec<(Vec3, f32)> {
            let atoms = 0..template.atom_count() as u32;
            let positions = atoms.map(|atom| self.atom_position(role, atom));
            positions.zip(template.radii().iter().copied()).collect()
        };
        let large = all(Role::Receptor, receptor);
        let mut overlaps = 0;
        for (position, radius) in all(Role::Ligand, ligand) {
            let overlaps_atom = |&&(other, reach): &&(Vec3, f32)| {
                position.distance_squared(other) < (radius + reach) * (radius + reach)
            };
            overlaps += large.iter().filter(overlaps_atom).count();
        }
        (grid, begin.elapsed(), overlaps)
    }
}

fn in_file(file: &Path, error: &LogError) -> String {
    format!("'{}': {error}", file.display())
}

/// A pose beside the receptor, at +x.
fn outside(session: &Session) -> Pose {
    let receptor = session.pose(Role::Receptor).position;
    let radius = |role: Role| session.molecule(role).template().bounding_radius();
    let distance = radius(Role::Receptor) + radius(Role::Ligand) + START_GAP_NM;
    Pose::from_translation(receptor + Vec3::X * distance)
}
