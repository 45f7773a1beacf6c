//! Reading a log, and playing it back.

use super::{LogError, MAGIC, VERSION, energy_words, input_text, molecule_digest, pose_digest};
use crate::docking::{Session, SessionInput};

/// Longest part of a line that an error repeats, characters.
const SHOWN: usize = 60;

/// Lines before the first input.
const HEAD_LINES: usize = 4;

/// A recorded session.
#[derive(Clone, Debug, PartialEq)]
pub struct SessionLog {
    /// Receptor and ligand.
    molecules: [Molecule; 2],
    energy: String,
    inputs: Vec<SessionInput>,
    end: u64,
}

#[derive(Clone, Debug, PartialEq)]
struct Molecule {
    digest: u64,
    atoms: usize,
    name: String,
}

impl SessionLog {
    /// Reads a log.
    ///
    /// # Errors
    /// [`LogError`] says what is wrong and in which line.
    pub fn parse(text: &str) -> Result<Self, LogError> {
        let mut lines = text.lines().zip(1..);
        let Some((first, _)) = lines.next() else {
            return Err(LogError::NotALog);
        };
        match first.split_once(' ') {
            Some((MAGIC, version)) if version == VERSION.to_string() => {}
            Some((MAGIC, version)) => {
                let version = shown(version);
                return Err(LogError::Version { version });
            }
            _ => return Err(LogError::NotALog),
        }
        let count = text.lines().count();
        let last = text.lines().last().unwrap_or_default();
        let Some((inputs, end)) = end_line(last) else {
            return Err(LogError::Truncated {
                line: count,
                // The last line may be cut.
                inputs: count.saturating_sub(HEAD_LINES + 1),
            });
        };
        let mut head = |word: &'static str| {
            let (text, number) = lines.next().unwrap_or((last, count));
            let rest = text
                .strip_prefix(word)
                .and_then(|rest| rest.strip_prefix(' '));
            let why = "not what belongs at this place of the head";
            rest.map(|rest| (rest, number))
                .ok_or_else(|| bad(text, number, why))
        };
        let molecules = [molecule(head("receptor")?)?, molecule(head("ligand")?)?];
        let energy = head("energy")?.0.to_owned();
        let found: Result<Vec<SessionInput>, LogError> = lines
            .filter(|(_, number)| *number < count)
            .map(|(text, number)| input_text::read(text).map_err(|why| bad(text, number, why)))
            .collect();
        let found = found?;
        if found.len() != inputs {
            return Err(LogError::Count {
                line: count,
                expected: inputs,
                found: found.len(),
            });
        }
        Ok(Self {
            molecules,
            energy,
            inputs: found,
            end,
        })
    }

    /// The inputs, in their order.
    #[must_use]
    pub fn inputs(&self) -> &[SessionInput] {
        &self.inputs
    }

    /// Whether the session at hand has the molecules and the energy of the log.
    ///
    /// # Errors
    /// [`LogError::OtherMolecule`] or [`LogError::OtherEnergy`].
    pub fn check(&self, session: &Session) -> Result<(), LogError> {
        for ((part, which), logged) in input_text::PARTS.into_iter().zip(&self.molecules) {
            let given = session.template(which);
            if molecule_digest(given) != logged.digest || given.atom_count() != logged.atoms {
                return Err(LogError::OtherMolecule {
                    part,
                    logged: logged.name.clone(),
                    logged_atoms: logged.atoms,
                    given: given.name().to_owned(),
                    given_atoms: given.atom_count(),
                });
            }
        }
        let given = energy_words(session.energy().map(AsRef::as_ref));
        if given != self.energy {
            return Err(LogError::OtherEnergy {
                logged: self.energy.clone(),
                given,
            });
        }
        Ok(())
    }

    /// Plays the log to its end.
    ///
    /// # Errors
    /// As [`check`](Self::check), and [`LogError::DifferentEnd`] if it ends elsewhere than when
    /// it was recorded.
    pub fn replay(&self, session: &mut Session) -> Result<(), LogError> {
        self.check(session)?;
        for input in &self.inputs {
            // What was refused when it was recorded is refused again.
            let _ = session.apply(input);
        }
        if self.ends_like(session) {
            Ok(())
        } else {
            Err(LogError::DifferentEnd)
        }
    }

    /// Whether both molecules are where they were at the end of the log, to the last bit.
    #[must_use]
    pub fn ends_like(&self, session: &Session) -> bool {
        pose_digest(session) == self.end
    }
}

/// Number of inputs and digest of the last line, if it is one.
fn end_line(text: &str) -> Option<(usize, u64)> {
    let (inputs, digest) = text.strip_prefix("end ")?.split_once(' ')?;
    let whole = digest.len() == 16;
    let digest = u64::from_str_radix(digest, 16).ok().filter(|_| whole)?;
    Some((inputs.parse().ok()?, digest))
}

fn molecule((text, number): (&str, usize)) -> Result<Molecule, LogError> {
    let mut words = text.splitn(3, ' ');
    let mut word = || words.next().unwrap_or_default();
    let (digest, atoms, name) = (word(), word(), word());
    match (u64::from_str_radix(digest, 16), atoms.parse()) {
        (Ok(digest), Ok(atoms)) => Ok(Molecule {
            digest,
            atoms,
            name: name.to_owned(),
        }),
        _ => Err(bad(text, number, "not a digest and a number of atoms")),
    }
}

fn bad(text: &str, line: usize, why: &'static str) -> LogError {
    LogError::Line {
        line,
        why,
        text: shown(text),
    }
}

fn shown(text: &str) -> String {
    text.chars().take(SHOWN).collect()
}
