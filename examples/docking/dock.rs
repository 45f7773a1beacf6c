//! The session, and what the window remembers of its last inputs.

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
use super::common::AnyError;

/// Room between the molecules at the start, nm.
const ROOM_NM: f32 = 0.3;

/// A session with its log.
pub struct Dock {
    pub session: Session,
    recorder: Option<Recorder<BufWriter<File>>>,
    /// Inputs that are still to be played, the next one last.
    pub to_play: Vec<SessionInput>,
    played: Option<SessionLog>,
    /// Overlapping atoms of receptor and ligand.
    pub clashes: Vec<AtomPair>,
    /// Atoms of receptor and ligand that touched in the last motion.
    pub touching: Vec<AtomPair>,
    /// Whether the last motion was stopped before its end.
    pub blocked: bool,
    /// What the last input said.
    pub message: Option<String>,
    /// Where the ligand's file has it.
    pub ligand_in_file: Pose,
    /// Whether there is a physics engine for bodies that push each other.
    pub has_physics: bool,
}

impl Dock {
    /// Loads both molecules and puts them where the arguments say.
    pub fn new(arguments: &Arguments) -> Result<Self, AnyError> {
        let options = LoadOptions {
            radius_scale: arguments.radius_scale,
            ..LoadOptions::default()
        };
        let molecule = |file: &Option<std::path::PathBuf>, bundled: &str| {
            let bundled = Path::new(env!("CARGO_MANIFEST_DIR")).join(bundled);
            let template = load(file.as_ref().unwrap_or(&bundled), &options)?;
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
        // A log is played with the energy, or without it, as it was recorded.
        let without = played.as_ref().map(|log| log.check(&session));
        if !matches!(without, Some(Ok(()))) {
            let [receptor, ligand] = [Role::Receptor, Role::Ligand]
                .map(|part| ForceFieldMolecule::new(Arc::clone(session.template(part))));
            let energy = EnergyGrid::new(&receptor, &ligand, &EnergyConfig::default())?;
            session = session.with_energy(Arc::new(energy));
        }
        if let (Some(log), Some(file)) = (&played, &arguments.play) {
            log.check(&session).map_err(|error| in_file(file, &error))?;
        }
        session.apply(&SessionInput::Response(arguments.response.into()))?;
        if arguments.start == Start::Outside && !arguments.search {
            let place = outside(&session);
            session.apply(&SessionInput::Place(Role::Ligand, place))?;
        }
        let inputs = played.as_ref().map_or(&[][..], SessionLog::inputs);
        let most = arguments.steps.unwrap_or(usize::MAX);
        let mut to_play: Vec<SessionInput> = inputs.iter().take(most).copied().collect();
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

    /// Begins to record.
    pub fn record(&mut self, file: &Path) -> Result<(), AnyError> {
        let failed = |error| format!("cannot write '{}': {error}", file.display());
        let writer = BufWriter::new(File::create(file).map_err(failed)?);
        self.recorder = Some(Recorder::new(writer, &self.session).map_err(failed)?);
        Ok(())
    }

    /// Takes an input in; what is refused becomes the message.
    pub fn input(&mut self, input: &SessionInput) {
        if let Some(recorder) = &mut self.recorder
            && let Err(error) = recorder.record(input)
        {
            self.message = Some(format!("the log cannot be written: {error}"));
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

    /// Takes an input of a user in. Bodies that were pressed against each other overlap a
    /// little, so that what comes after them begins with a free pose.
    pub fn change(&mut self, input: &SessionInput) {
        let pressed = self.pushes_bodies() && !self.clashes.is_empty();
        self.input(input);
        let settings = self.session.config();
        let stops = settings.collisions && settings.response != ResponseMode::Cue;
        if pressed && stops && !self.pushes_bodies() {
            self.input(&SessionInput::MoveToFreePose);
        }
    }

    /// Whether the molecules are bodies that push each other.
    pub fn pushes_bodies(&self) -> bool {
        let settings = self.session.config();
        let push = settings.collisions && settings.response == ResponseMode::Push;
        self.has_physics && push && self.to_play.is_empty()
    }

    /// Takes in where bodies have moved.
    pub fn carry(&mut self, poses: [Pose; 2]) {
        self.input(&SessionInput::BodyPoses(poses));
    }

    /// Where both are: receptor and ligand.
    pub fn poses(&self) -> [Pose; 2] {
        [Role::Receptor, Role::Ligand].map(|part| self.session.pose(part))
    }

    /// Plays so many inputs; whether some are left.
    pub fn play(&mut self, most: usize) -> bool {
        for _ in 0..most {
            let Some(input) = self.to_play.pop() else {
                break;
            };
            self.input(&input);
        }
        !self.to_play.is_empty()
    }

    /// Whether a log that was played to its end ended where it was recorded; none if there
    /// is no such log.
    pub fn ended_the_same(&self) -> Option<bool> {
        let log = self.played.as_ref().filter(|_| self.to_play.is_empty())?;
        Some(log.ends_like(&self.session))
    }

    /// Ends the log.
    pub fn finish(&mut self) -> Result<(), AnyError> {
        if let Some(recorder) = self.recorder.take() {
            recorder.finish(&self.session)?;
        }
        Ok(())
    }

    /// Puts the ligand where a search finds the lowest energy, and says which.
    pub fn search(
        &mut self,
        seed: u64,
        progress: &(dyn Fn(u32, u32) + Sync),
    ) -> Result<f64, AnyError> {
        let energy = self.session.energy().ok_or("there is no energy")?;
        let docking = DockingSearch {
            ligand: self.session.molecule(Role::Ligand),
            receptor: self.session.molecule(Role::Receptor),
            receptor_pose: self.session.pose(Role::Receptor),
            energy,
        };
        let config = DockingSearchConfig {
            seed,
            ..DockingSearchConfig::default()
        };
        let found = docking.search(&config, progress)?;
        let best = found.first().ok_or("the search found no pose")?;
        let (pose, energy) = (best.pose, best.energy);
        self.input(&SessionInput::Place(Role::Ligand, pose));
        Ok(energy)
    }

    /// How far the ligand's center is from where its file has it, nm.
    pub fn distance_to_file(&self) -> f32 {
        let place = self.session.pose(Role::Ligand).position;
        place.distance(self.ligand_in_file.position)
    }

    /// Where an atom is in the world, nm.
    pub fn place_of(&self, part: Role, atom: u32) -> Vec3 {
        let template = self.session.molecule(part).template();
        let place = template.positions()[atom as usize];
        self.session.pose(part).transform_point(place)
    }

    /// Times one check with the grid and one by brute force; the latter's overlaps.
    pub fn time_checks(&self) -> (Duration, Duration, usize) {
        let begin = Instant::now();
        std::hint::black_box(self.session.clashes());
        let grid = begin.elapsed();
        let begin = Instant::now();
        let [receptor, ligand] =
            [Role::Receptor, Role::Ligand].map(|part| self.session.molecule(part).template());
        let all = |part: Role, template: &MoleculeTemplate| -> Vec<(Vec3, f32)> {
            let places = (0..template.atom_count() as u32).map(|atom| self.place_of(part, atom));
            places.zip(template.radii().iter().copied()).collect()
        };
        let large = all(Role::Receptor, receptor);
        let mut overlaps = 0;
        for (place, radius) in all(Role::Ligand, ligand) {
            let near = |&&(other, reach): &&(Vec3, f32)| {
                place.distance_squared(other) < (radius + reach) * (radius + reach)
            };
            overlaps += large.iter().filter(near).count();
        }
        (grid, begin.elapsed(), overlaps)
    }
}

fn in_file(file: &Path, error: &LogError) -> String {
    format!("'{}': {error}", file.display())
}

/// Beside the receptor, to the right of who looks along −z.
fn outside(session: &Session) -> Pose {
    let receptor = session.pose(Role::Receptor).position;
    let reach = |part: Role| session.molecule(part).template().bounding_radius();
    let away = reach(Role::Receptor) + reach(Role::Ligand) + ROOM_NM;
    Pose::from_translation(receptor + Vec3::X * away)
}
