//! Recording and replaying sessions as text, bit for bit.
//!
//! ```text
//! docking-log 2
//! receptor 3f0c5a1d9be87244 2603 t4_lysozyme_l99a
//! ligand 9a1be0c4d5526f13 18 p_xylene
//! ligand2 b07d6a7158c2f0e9 134 popc
//! energy none
//! place ligand 4.2 4.5 1.8 0.0 0.0 0.0 1.0
//! response slide
//! move 0.1 0.0 0.0 0.0 0.0 0.0
//! switch
//! turn 3 0.05
//! end 5 5bd0f1e2a3948576
//! ```
//!
//! The head has a digest, the number of atoms and the name of each molecule, and the energy
//! settings. Each following line is a [`SessionInput`]; numbers parse to the same bits. `switch`
//! selects the next molecule, `turn` turns a bond of the selected one, `torsions` sets all bonds of
//! a ligand. Poses of rigid bodies are recorded as `carried` (all molecules in the order of the
//! head), so that a replay needs no physics. The end line has the number of inputs and a digest of
//! the final poses and torsions; a log without it is truncated.
//!
//! Logs of version 1 are played as well: they have one ligand and no torsions.

mod input_text;

use std::io::{self, Write};

use thiserror::Error;

use self::input_text::pose_numbers;
use super::energy::EnergyConfig;
use super::{Role, Session, SessionConfig, SessionInput};
use crate::molecule::MoleculeTemplate;

/// First word of a log.
const MAGIC: &str = "docking-log";

/// The version of the format that is written.
const VERSION: u32 = 2;

/// The versions that are played.
const VERSIONS: [&str; 2] = ["1", "2"];

/// Maximum number of characters of a line in an error message.
const MAX_SHOWN: usize = 60;

/// A log that cannot be parsed or replayed. Line numbers start at one.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[non_exhaustive]
pub enum LogError {
    /// The file is not a docking log.
    #[error("not a docking log: the first line must start with 'docking-log'")]
    NotALog,
    /// The log has an unsupported version.
    #[error("the log has version '{version}'; only versions up to {VERSION} are supported")]
    Version {
        /// The version in the log.
        version: String,
    },
    /// The log has no end line.
    #[error(
        "the log is truncated: it stops at line {line}, after {inputs} complete inputs, without an 'end' line"
    )]
    Truncated {
        /// Number of lines.
        line: usize,
        /// Number of complete inputs.
        inputs: usize,
    },
    /// A line is invalid.
    #[error("line {line} of the log is invalid ({why}): '{text}'")]
    Line {
        /// Line number.
        line: usize,
        /// Description of the problem.
        why: &'static str,
        /// Beginning of the line.
        text: String,
    },
    /// The end line states a different number of inputs.
    #[error("line {line} of the log states {expected} inputs, but there are {found}")]
    Count {
        /// Line number.
        line: usize,
        /// Stated number of inputs.
        expected: usize,
        /// Actual number of inputs.
        found: usize,
    },
    /// The log was recorded with another number of molecules.
    #[error("the log was recorded with {logged} molecules, not {given}")]
    MoleculeCount {
        /// Number of molecules in the log.
        logged: usize,
        /// Number of molecules in the session.
        given: usize,
    },
    /// The log was recorded with another molecule.
    #[error(
        "the log was recorded with another {role}: '{logged}' ({logged_atoms} atoms), not '{given}' ({given_atoms} atoms)"
    )]
    OtherMolecule {
        /// The role of the molecule.
        role: Role,
        /// Name of the molecule in the log.
        logged: String,
        /// Number of its atoms.
        logged_atoms: usize,
        /// Name of the molecule in the session.
        given: String,
        /// Number of its atoms.
        given_atoms: usize,
    },
    /// The log was recorded with another energy.
    #[error("the log was recorded with the energy settings '{logged}', not '{given}'")]
    OtherEnergy {
        /// Energy settings in the log.
        logged: String,
        /// Energy settings of the session.
        given: String,
    },
    /// The replay ended at other poses than the recording.
    #[error(
        "the replay ends at other poses than the recording: other hardware may round differently"
    )]
    DifferentEnd,
}

/// Records a session line by line.
#[derive(Debug)]
pub struct Recorder<W: Write> {
    writer: W,
    inputs: usize,
}

impl<W: Write> Recorder<W> {
    /// Writes the head, and the current poses and settings as inputs.
    ///
    /// # Errors
    /// If writing fails.
    pub fn new(mut writer: W, session: &Session) -> io::Result<Self> {
        writeln!(writer, "{MAGIC} {VERSION}")?;
        for role in session.roles() {
            let molecule = session.template(role);
            let (digest, atoms) = (molecule_digest(molecule), molecule.atom_count());
            // The name is the rest of the line.
            let name = molecule.name().replace(['\n', '\r'], " ");
            writeln!(writer, "{role} {digest:016x} {atoms} {name}")?;
        }
        writeln!(writer, "energy {}", energy_settings(session))?;
        let mut recorder = Self { writer, inputs: 0 };
        let config = session.config();
        recorder.record(&SessionInput::Radii(config.radius_scale))?;
        for role in session.roles() {
            // Before the pose, which is that of the center of mass.
            if !session.bonds(role).is_empty() {
                let torsions = session.torsions(role).to_vec();
                recorder.record(&SessionInput::Torsions(role, torsions))?;
            }
            recorder.record(&SessionInput::Place(role, session.pose(role)))?;
        }
        recorder.record(&SessionInput::Response(config.response))?;
        recorder.record(&SessionInput::Collisions(config.collisions))?;
        recorder.record(&SessionInput::Guidance(config.guidance))?;
        // From the default to the active molecule, at most once around.
        let (first, count) = (SessionConfig::default().moved, session.roles().count());
        let switches = config.moved.index() + count - first.index();
        for _ in 0..switches % count {
            recorder.record(&SessionInput::SwitchMoved)?;
        }
        Ok(recorder)
    }

    /// Writes an input, whether the session accepts it or not.
    ///
    /// # Errors
    /// If writing fails.
    pub fn record(&mut self, input: &SessionInput) -> io::Result<()> {
        self.inputs += 1;
        writeln!(self.writer, "{}", input_text::format(input))
    }

    /// Writes the end line with the final poses of `session`, and returns the writer.
    ///
    /// # Errors
    /// If writing fails.
    pub fn finish(mut self, session: &Session) -> io::Result<W> {
        let (inputs, digest) = (self.inputs, state_digest(session));
        writeln!(self.writer, "end {inputs} {digest:016x}")?;
        self.writer.flush()?;
        Ok(self.writer)
    }
}

/// A recorded session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionLog {
    /// The receptor and the ligands.
    molecules: Vec<LoggedMolecule>,
    energy: String,
    inputs: Vec<SessionInput>,
    end: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct LoggedMolecule {
    digest: u64,
    atoms: usize,
    name: String,
}

impl SessionLog {
    /// Parses a log.
    ///
    /// # Errors
    /// [`LogError`] with the line and the problem.
    pub fn parse(text: &str) -> Result<Self, LogError> {
        let mut lines = text.lines().zip(1..);
        let Some((first, _)) = lines.next() else {
            return Err(LogError::NotALog);
        };
        match first.split_once(' ') {
            Some((MAGIC, version)) if VERSIONS.contains(&version) => {}
            Some((MAGIC, version)) => {
                let version = shorten(version);
                return Err(LogError::Version { version });
            }
            _ => return Err(LogError::NotALog),
        }
        let count = text.lines().count();
        let last = text.lines().last().unwrap_or_default();
        let Some((expected, end)) = parse_end(last) else {
            return Err(LogError::Truncated {
                line: count,
                inputs: complete_inputs(text),
            });
        };
        let mut molecules = Vec::new();
        let energy = loop {
            let (text, number) = lines.next().unwrap_or((last, count));
            let (word, rest) = text.split_once(' ').unwrap_or((text, ""));
            let role = Role::of(molecules.len());
            if word == role.to_string() {
                molecules.push(parse_molecule(rest, (text, number))?);
            } else if word == "energy" && role > Role::LIGAND {
                break rest.to_owned();
            } else {
                return Err(invalid_line(text, number, "unexpected line in the head"));
            }
        };
        let inputs = lines
            .filter(|(_, number)| *number < count)
            .map(|(text, number)| {
                input_text::parse(text).map_err(|why| invalid_line(text, number, why))
            })
            .collect::<Result<Vec<SessionInput>, LogError>>()?;
        if inputs.len() != expected {
            return Err(LogError::Count {
                line: count,
                expected,
                found: inputs.len(),
            });
        }
        Ok(Self {
            molecules,
            energy,
            inputs,
            end,
        })
    }

    /// The inputs, in order.
    #[must_use]
    pub fn inputs(&self) -> &[SessionInput] {
        &self.inputs
    }

    /// Checks that a session has the molecules and the energy of the log.
    ///
    /// # Errors
    /// [`LogError::MoleculeCount`], [`LogError::OtherMolecule`] or [`LogError::OtherEnergy`].
    pub fn check(&self, session: &Session) -> Result<(), LogError> {
        let (logged, given) = (self.molecules.len(), session.roles().count());
        if logged != given {
            return Err(LogError::MoleculeCount { logged, given });
        }
        for (role, logged) in session.roles().zip(&self.molecules) {
            let given = session.template(role);
            if molecule_digest(given) != logged.digest || given.atom_count() != logged.atoms {
                return Err(LogError::OtherMolecule {
                    role,
                    logged: logged.name.clone(),
                    logged_atoms: logged.atoms,
                    given: given.name().to_owned(),
                    given_atoms: given.atom_count(),
                });
            }
        }
        let given = energy_settings(session);
        if given != self.energy {
            return Err(LogError::OtherEnergy {
                logged: self.energy.clone(),
                given,
            });
        }
        Ok(())
    }

    /// Replays the log to its end.
    ///
    /// # Errors
    /// As [`check`](Self::check), and [`LogError::DifferentEnd`] if the final poses differ from
    /// the recorded ones.
    pub fn replay(&self, session: &mut Session) -> Result<(), LogError> {
        self.check(session)?;
        for input in &self.inputs {
            // Inputs that were rejected in the recording are rejected again.
            let _ = session.apply(input);
        }
        if self.ends_like(session) {
            Ok(())
        } else {
            Err(LogError::DifferentEnd)
        }
    }

    /// Whether the poses and torsions of a session are bitwise identical to the end of the log.
    #[must_use]
    pub fn ends_like(&self, session: &Session) -> bool {
        state_digest(session) == self.end
    }
}

/// Parses the number of inputs and the digest of an end line.
fn parse_end(text: &str) -> Option<(usize, u64)> {
    let (inputs, digest) = text.strip_prefix("end ")?.split_once(' ')?;
    let is_complete = digest.len() == 16;
    let digest = u64::from_str_radix(digest, 16)
        .ok()
        .filter(|_| is_complete)?;
    Some((inputs.parse().ok()?, digest))
}

/// Number of complete inputs of a truncated log.
fn complete_inputs(text: &str) -> usize {
    let mut lines = text.lines();
    // The head ends with the energy.
    let _ = lines.find(|line| line.starts_with("energy "));
    // The last line may be incomplete.
    lines.count().saturating_sub(1)
}

/// Parses a molecule from the `rest` of a line after its role.
fn parse_molecule(rest: &str, (text, number): (&str, usize)) -> Result<LoggedMolecule, LogError> {
    let mut words = rest.splitn(3, ' ');
    let mut word = || words.next().unwrap_or_default();
    let (digest, atoms, name) = (word(), word(), word());
    match (u64::from_str_radix(digest, 16), atoms.parse()) {
        (Ok(digest), Ok(atoms)) => Ok(LoggedMolecule {
            digest,
            atoms,
            name: name.to_owned(),
        }),
        _ => {
            let why = "expected a digest and a number of atoms";
            Err(invalid_line(text, number, why))
        }
    }
}

fn invalid_line(text: &str, line: usize, why: &'static str) -> LogError {
    LogError::Line {
        line,
        why,
        text: shorten(text),
    }
}

fn shorten(text: &str) -> String {
    text.chars().take(MAX_SHOWN).collect()
}

/// FNV-1a with 64 bits.
fn digest(bytes: impl Iterator<Item = u8>) -> u64 {
    bytes.fold(0xcbf2_9ce4_8422_2325, |digest, byte| {
        (digest ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    })
}

/// Digest of the properties that affect the motion of a molecule.
fn molecule_digest(molecule: &MoleculeTemplate) -> u64 {
    let atoms = molecule.positions().iter().zip(molecule.radii());
    let numbers = atoms.flat_map(|(position, &radius)| position.extend(radius).to_array());
    let elements = molecule.elements().iter();
    let numbers = numbers.flat_map(f32::to_le_bytes);
    digest(numbers.chain(elements.map(|element| element.atomic_number())))
}

/// Digest of the poses of all molecules, and of the torsions if any bond is turned.
fn state_digest(session: &Session) -> u64 {
    let poses = session
        .roles()
        .flat_map(|role| pose_numbers(&session.pose(role)));
    let torsions = || session.roles().flat_map(|role| session.torsions(role));
    let is_turned = torsions().any(|angle| *angle != 0.0);
    let torsions = torsions().copied().filter(|_| is_turned);
    digest(poses.chain(torsions).flat_map(f32::to_le_bytes))
}

/// The energy settings in the head of a log.
fn energy_settings(session: &Session) -> String {
    let Some(grid) = session.energy() else {
        return "none".to_owned();
    };
    let EnergyConfig {
        spacing,
        switch,
        cutoff,
        soft,
        ..
    } = grid.config();
    format!("{spacing:?} {switch:?} {cutoff:?} {soft:?}")
}
