//! Recording a session.

use std::io::{self, Write};

use super::{MAGIC, VERSION, energy_words, input_text, molecule_digest, pose_digest};
use crate::docking::{Session, SessionConfig, SessionInput};

/// Writes a session down, line by line, as it goes on.
#[derive(Debug)]
pub struct Recorder<W: Write> {
    writer: W,
    inputs: usize,
}

impl<W: Write> Recorder<W> {
    /// Writes the head and how the session is now: where the molecules are, and what is
    /// switched on.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn new(mut writer: W, session: &Session) -> io::Result<Self> {
        writeln!(writer, "{MAGIC} {VERSION}")?;
        for (word, part) in input_text::PARTS {
            let molecule = session.template(part);
            let (digest, atoms) = (molecule_digest(molecule), molecule.atom_count());
            // A name is the rest of its line.
            let name = molecule.name().replace(['\n', '\r'], " ");
            writeln!(writer, "{word} {digest:016x} {atoms} {name}")?;
        }
        let energy = energy_words(session.energy().map(AsRef::as_ref));
        writeln!(writer, "energy {energy}")?;
        let mut recorder = Self { writer, inputs: 0 };
        let config = session.config();
        for (_, part) in input_text::PARTS {
            recorder.record(&SessionInput::Place(part, session.pose(part)))?;
        }
        recorder.record(&SessionInput::Radii(config.radius_scale))?;
        recorder.record(&SessionInput::Response(config.response))?;
        recorder.record(&SessionInput::Collisions(config.collisions))?;
        recorder.record(&SessionInput::Guidance(config.guidance))?;
        if config.moved != SessionConfig::default().moved {
            recorder.record(&SessionInput::SwitchMoved)?;
        }
        Ok(recorder)
    }

    /// Writes an input down, whether the session takes it or refuses it.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn record(&mut self, input: &SessionInput) -> io::Result<()> {
        self.inputs += 1;
        writeln!(self.writer, "{}", input_text::write(input))
    }

    /// Writes the last line, which says where `session` ended, and gives the writer back.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn finish(mut self, session: &Session) -> io::Result<W> {
        writeln!(
            self.writer,
            "end {} {:016x}",
            self.inputs,
            pose_digest(session)
        )?;
        self.writer.flush()?;
        Ok(self.writer)
    }
}
