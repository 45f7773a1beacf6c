//! Reader of PDB files: fixed columns, one record a line.
//!
//! 1. `MODEL`, `ENDMDL`, `END` choose the model. Atoms after an `END` or `ENDMDL`
//!    without a new `MODEL` are a new model, as trajectory files have them.
//! 2. `ATOM` and `HETATM` are atoms. Columns after the coordinates may be missing.
//! 3. `TER` ends a chain: what follows is a new residue, whatever its number.
//! 4. `REMARK 350` is handed to `pdb_biomt.rs`.
//! 5. Everything else is ignored.

use super::builder::{AXES, RawAtom, StructureBuilder};
use super::error::{Place, ReadCause, ReadError};
use super::number::{ANGSTROM_DIGITS, Counter, parse_decimal};
use super::pdb_biomt::BiomtParser;
use super::reader::{StructureReader, inflate};
use super::structure::Structure;

/// Reads PDB files, plain or gzipped.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct PdbReader;

/// Last column of the coordinates: what an atom record must have at least.
const NEEDED_COLUMNS: usize = 54;

/// First columns (from 1) of the three coordinates, each eight wide.
const COORDINATE_COLUMNS: [usize; 3] = [31, 39, 47];

impl StructureReader for PdbReader {
    fn read(&self, bytes: &[u8], source: &str) -> Result<Structure, ReadError> {
        let bytes = inflate(bytes, source)?;
        let mut parser = PdbParser::new(source);
        for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
            parser
                .record(line)
                .map_err(|cause| ReadError::new(source, Place::Line(index + 1), cause))?;
        }
        let assemblies = parser.biomt.finish();
        parser.builder.finish(assemblies)
    }
}

struct PdbParser {
    builder: StructureBuilder,
    biomt: BiomtParser,
    serial: Counter,
    number: Counter,
    /// The model of the next atom, if a record has said so.
    model: Option<i32>,
}

impl PdbParser {
    fn new(source: &str) -> Self {
        Self {
            builder: StructureBuilder::new(source),
            biomt: BiomtParser::default(),
            serial: Counter::new(5),
            number: Counter::new(4),
            model: None,
        }
    }

    fn record(&mut self, line: &[u8]) -> Result<(), ReadCause> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.contains(&0) {
            return Err(ReadCause::NotText);
        }
        let tag = line.get(..6).unwrap_or(line).trim_ascii_end();
        match tag {
            b"ATOM" | b"HETATM" => self.atom(text_of(line)?, tag == b"HETATM"),
            b"TER" => {
                self.builder.terminate_chain();
                Ok(())
            }
            b"MODEL" => {
                self.model = Some(self.model_number(&line[tag.len()..]));
                Ok(())
            }
            b"ENDMDL" | b"END" => {
                self.builder.terminate_chain();
                self.model = None;
                Ok(())
            }
            b"REMARK" if line.get(6..10) == Some(b" 350") => match std::str::from_utf8(&line[10..])
            {
                Ok(text) => self.biomt.line(text),
                Err(_) => Ok(()),
            },
            _ => Ok(()),
        }
    }

    /// The number a `MODEL` record gives, or the next free one if it gives none or a used one.
    fn model_number(&self, rest: &[u8]) -> i32 {
        let given = std::str::from_utf8(rest)
            .ok()
            .and_then(|text| text.trim().parse::<i32>().ok());
        match given {
            Some(number) if !self.builder.has_model(number) => number,
            _ => self.builder.next_model(),
        }
    }

    fn atom(&mut self, line: &str, hetero: bool) -> Result<(), ReadCause> {
        if line.len() < NEEDED_COLUMNS {
            return Err(ReadCause::Truncated {
                length: line.len(),
                needed: NEEDED_COLUMNS,
            });
        }
        // Some programs let a sixth digit run into column 12.
        self.serial.read(columns(line, 7, 12), "serial number")?;
        let number = match self.number.read(columns(line, 23, 26), "residue number")? {
            Some(number) => i32::try_from(number).unwrap_or(i32::MAX),
            // Blank means that there is only one residue; asterisks that 9999 was passed.
            None if columns(line, 23, 26).is_empty() => 0,
            None => 10_000,
        };
        let mut position = [0.0; 3];
        for ((value, from), field) in position.iter_mut().zip(COORDINATE_COLUMNS).zip(AXES) {
            *value = parse_decimal(columns(line, from, from + 7), ANGSTROM_DIGITS, field)?;
        }
        let occupancy = match columns(line, 55, 60) {
            "" => 1.0,
            text => parse_decimal(text, 0, "occupancy")? as f32,
        };
        let model = match self.model {
            Some(model) => model,
            None => *self.model.insert(self.builder.next_model()),
        };
        let bytes = line.as_bytes();
        let chain = columns(line, 22, 22);
        self.builder.push(&RawAtom {
            position,
            symbol: columns(line, 77, 78),
            name_columns: [bytes[12], bytes[13], bytes[14], bytes[15]],
            name: columns(line, 13, 16),
            // The standard ends at column 20; lipid names such as POPC need 21.
            residue_name: columns(line, 18, 21),
            chain,
            label_chain: chain,
            number,
            insertion_code: character(bytes[26]),
            model,
            altloc: character(bytes[16]),
            occupancy,
            hetero,
        })
    }
}

fn text_of(line: &[u8]) -> Result<&str, ReadCause> {
    if !line.is_ascii() {
        return Err(ReadCause::NotText);
    }
    std::str::from_utf8(line).map_err(|_| ReadCause::NotText)
}

/// Columns `from` to `to` (from 1, both included) without blanks; empty if the line is shorter.
fn columns(line: &str, from: usize, to: usize) -> &str {
    line.get(from - 1..to.min(line.len())).unwrap_or("").trim()
}

fn character(byte: u8) -> Option<char> {
    (byte != b' ').then_some(char::from(byte))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::molecule::Element;

    fn read(text: &str) -> Result<Structure, ReadError> {
        PdbReader.read(text.as_bytes(), "test.pdb")
    }

    const ATOM: &str = "ATOM      1  CA  ALA A   1      10.000  20.000 -30.500";

    #[test]
    fn short_lines_need_only_coordinates() {
        let structure = read(ATOM).unwrap();
        let atom = &structure.atoms()[0];
        assert_eq!(atom.position, glam::Vec3::new(1.0, 2.0, -3.05));
        assert_eq!(atom.element, Element::C);
        assert_eq!((atom.name.as_str(), atom.occupancy), ("CA", 1.0));
        assert_eq!((atom.altloc, atom.hetero, atom.model), (None, false, 1));
    }

    #[test]
    fn errors_name_the_line() {
        let bad = |line: &str| read(&format!("REMARK\n{ATOM}\n{line}\n")).unwrap_err();
        let truncated = bad(&ATOM[..50]);
        assert_eq!(truncated.place, Place::Line(3));
        assert!(matches!(
            truncated.cause,
            ReadCause::Truncated {
                length: 50,
                needed: 54
            }
        ));
        assert!(matches!(
            bad("ATOM").cause,
            ReadCause::Truncated { length: 4, .. }
        ));
        assert!(matches!(
            bad(&ATOM.replace(" 10.000", "    NaN")).cause,
            ReadCause::NotFinite { .. }
        ));
        assert!(matches!(
            bad(&ATOM.replace(" 10.000", " 10,000")).cause,
            ReadCause::BadNumber { .. }
        ));
        assert!(matches!(
            bad(&ATOM.replace(" 10.000", "9999999")).cause,
            ReadCause::TooFar { .. }
        ));
        assert!(matches!(
            bad(&ATOM.replace("ALA A   1", "ALA A   x")).cause,
            ReadCause::BadNumber { .. }
        ));
        assert!(matches!(
            bad(&ATOM.replace(" CA  ALA", " X   LIG")).cause,
            ReadCause::UnknownElement { .. }
        ));
        assert!(matches!(bad("\0\u{1}").cause, ReadCause::NotText));
    }

    #[test]
    fn the_element_column_wins_over_the_name() {
        let line = format!("{ATOM}  1.00  0.00          ZN");
        assert_eq!(read(&line).unwrap().atoms()[0].element, Element::ZN);
        let old = format!("{ATOM}  1.00  0.00      1ABC 123");
        assert_eq!(read(&old).unwrap().atoms()[0].element, Element::C);
    }

    #[test]
    fn terminators_and_falling_numbers_start_new_residues() {
        let residues = |text: String| read(&text).unwrap().residues().len();
        let other = ATOM.replace("A   1 ", "A   2 ");
        assert_eq!(residues(format!("{ATOM}\n{ATOM}")), 1);
        assert_eq!(residues(format!("{ATOM}\nTER\n{ATOM}")), 2);
        // Back to residue 1 after residue 2: the numbers have wrapped.
        assert_eq!(residues(format!("{ATOM}\n{other}\n{ATOM}")), 3);
        // Interleaved residues of the same number are two, not four.
        let mutant = ATOM.replace("ALA", "SER");
        assert_eq!(residues(format!("{ATOM}\n{mutant}\n{ATOM}\n{mutant}")), 2);
    }

    #[test]
    fn atoms_after_an_end_are_a_new_model() {
        let structure = read(&format!("{ATOM}\nEND\n{ATOM}\nEND\n")).unwrap();
        assert_eq!(structure.models(), [1, 2]);
        let structure = read(&format!("MODEL 7\n{ATOM}\nENDMDL\nMODEL 7\n{ATOM}\n")).unwrap();
        assert_eq!(structure.models(), [7, 8]);
    }

    #[test]
    fn windows_line_ends_and_wide_names_are_read() {
        let wide = ATOM.replace("ALA A", "POPCA");
        let structure = read(&format!("{wide}\r\nEND\r\n")).unwrap();
        assert_eq!(structure.residues()[0].name, "POPC");
        assert_eq!(structure.residues()[0].chain, "A");
    }
}
