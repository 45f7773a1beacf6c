//! Reader of the PDB format: fixed columns, one record per line.
//!
//! 1. `MODEL`, `ENDMDL` and `END` set the model. Atoms after `END` or `ENDMDL` without a new
//!    `MODEL` start a new model, as in trajectory files.
//! 2. `ATOM` and `HETATM` are atoms. Columns after the coordinates are optional.
//! 3. `TER` ends a chain: the next atom starts a new residue, even with the same number.
//! 4. `REMARK 350` contains the assemblies, see [`biomt`].
//! 5. Other records are ignored.

mod biomt;
mod residue_number;

use self::biomt::BiomtParser;
use self::residue_number::ResidueNumbers;
use super::decimal::{ANGSTROM_DIGITS, parse_decimal};
use super::error::{FileLocation, ReadError, ReadErrorKind};
use super::structure::Structure;
use super::structure::builder::{AtomRecord, StructureBuilder};

/// Last column of the coordinates, the minimum length of an atom record.
const NEEDED_COLUMNS: usize = 54;

/// First columns (from 1) of the three coordinates, each eight wide, and their names in errors.
const COORDINATES: [(usize, &str); 3] = [
    (31, "the x coordinate in columns 31-38"),
    (39, "the y coordinate in columns 39-46"),
    (47, "the z coordinate in columns 47-54"),
];

/// Reads a decompressed PDB file.
pub(super) fn read(bytes: &[u8], source: &str) -> Result<Structure, ReadError> {
    let mut parser = PdbParser {
        builder: StructureBuilder::new(source),
        biomt: BiomtParser::default(),
        residue_numbers: ResidueNumbers::default(),
        model: None,
    };
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        parser
            .record(line)
            .map_err(|kind| ReadError::new(source, FileLocation::Line(index + 1), kind))?;
    }
    parser.builder.finish(parser.biomt.finish())
}

struct PdbParser {
    builder: StructureBuilder,
    biomt: BiomtParser,
    residue_numbers: ResidueNumbers,
    /// The model of the next atom, if already known.
    model: Option<i32>,
}

impl PdbParser {
    fn record(&mut self, line: &[u8]) -> Result<(), ReadErrorKind> {
        let line = line.strip_suffix(b"\r").unwrap_or(line);
        if line.contains(&0) {
            return Err(ReadErrorKind::NotText);
        }
        let tag = line.get(..6).unwrap_or(line).trim_ascii_end();
        match tag {
            b"ATOM" | b"HETATM" => self.atom(line)?,
            b"TER" => self.builder.terminate_chain(),
            b"MODEL" => self.model = Some(self.model_number(&line[tag.len()..])),
            b"ENDMDL" | b"END" => {
                self.builder.terminate_chain();
                self.model = None;
            }
            b"REMARK" if line.get(6..10) == Some(b" 350") => {
                if let Ok(text) = std::str::from_utf8(&line[10..]) {
                    self.biomt.line(text)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// The number of a `MODEL` record, or the next free one if it is missing or already used.
    fn model_number(&self, rest: &[u8]) -> i32 {
        let given = std::str::from_utf8(rest)
            .ok()
            .and_then(|text| text.trim().parse::<i32>().ok());
        match given {
            Some(number) if !self.builder.has_model(number) => number,
            _ => self.builder.next_model(),
        }
    }

    fn atom(&mut self, line: &[u8]) -> Result<(), ReadErrorKind> {
        let text = std::str::from_utf8(line).map_err(|_| ReadErrorKind::NotText)?;
        if !text.is_ascii() {
            return Err(ReadErrorKind::NotText);
        }
        if line.len() < NEEDED_COLUMNS {
            return Err(ReadErrorKind::Truncated {
                length: line.len(),
                needed: NEEDED_COLUMNS,
            });
        }
        // Columns from 1, both included, without blanks; empty if the line is shorter.
        let columns = |from: usize, to: usize| {
            let field = text.get(from - 1..to.min(text.len()));
            field.unwrap_or("").trim()
        };
        let character = |column: usize| {
            let byte = line[column - 1];
            (byte != b' ').then_some(char::from(byte))
        };
        let mut position = [0.0; 3];
        for (value, (from, field)) in position.iter_mut().zip(COORDINATES) {
            *value = parse_decimal(columns(from, from + 7), ANGSTROM_DIGITS, field)?;
        }
        let residue_number = self
            .residue_numbers
            .parse(columns(23, 26))
            .map(Some)
            .ok_or(());
        let occupancy = match columns(55, 60) {
            "" => Ok(None),
            text => parse_decimal(text, 0, "occupancy").map(Some),
        };
        let model = match self.model {
            Some(model) => model,
            None => *self.model.insert(self.builder.next_model()),
        };
        let chain = columns(22, 22);
        let record = AtomRecord {
            position,
            symbol: columns(77, 78),
            name_columns: [line[12], line[13], line[14], line[15]],
            name: columns(13, 16),
            // The standard ends at column 20; lipid names such as POPC need 21.
            residue_name: columns(18, 21),
            chain,
            label_chain: chain,
            residue_number: self.builder.valid_number(residue_number).unwrap_or(0),
            insertion_code: character(27),
            model,
            altloc: character(17),
            occupancy: self.builder.valid_occupancy(occupancy),
        };
        self.builder.push(&record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::molecule::Element;

    fn read(text: &str) -> Result<Structure, ReadError> {
        super::read(text.as_bytes(), "test.pdb")
    }

    const ATOM: &str = "ATOM      1  CA  ALA A   1      10.000  20.000 -30.500";

    #[test]
    fn columns_after_the_coordinates_are_optional() {
        let structure = read(ATOM).unwrap();
        let atom = &structure.atoms()[0];
        assert_eq!(atom.position, glam::Vec3::new(1.0, 2.0, -3.05));
        assert_eq!(atom.element, Element::C);
        assert_eq!((atom.name.as_str(), atom.occupancy), ("CA", 1.0));
        assert_eq!((atom.altloc, atom.model), (None, 1));
    }

    #[test]
    fn errors_contain_the_line() {
        let bad = |line: &str| read(&format!("REMARK\n{ATOM}\n{line}\n")).unwrap_err();
        let truncated = bad(&ATOM[..50]);
        assert_eq!(truncated.location, FileLocation::Line(3));
        assert!(matches!(
            truncated.kind,
            ReadErrorKind::Truncated {
                length: 50,
                needed: 54
            }
        ));
        assert!(matches!(
            bad("ATOM").kind,
            ReadErrorKind::Truncated { length: 4, .. }
        ));
        assert!(matches!(
            bad(&ATOM.replace(" 10.000", "    NaN")).kind,
            ReadErrorKind::InvalidNumber { .. }
        ));
        assert!(matches!(
            bad(&ATOM.replace(" 10.000", " 10,000")).kind,
            ReadErrorKind::InvalidNumber { .. }
        ));
        assert!(matches!(
            bad(&ATOM.replace(" 10.000", "9999999")).kind,
            ReadErrorKind::TooFar { .. }
        ));
        assert!(matches!(bad("\0\u{1}").kind, ReadErrorKind::NotText));
    }

    #[test]
    fn the_element_column_takes_precedence_over_the_name() {
        let line = format!("{ATOM}  1.00  0.00          ZN");
        assert_eq!(read(&line).unwrap().atoms()[0].element, Element::ZN);
        let old = format!("{ATOM}  1.00  0.00      1ABC 123");
        assert_eq!(read(&old).unwrap().atoms()[0].element, Element::C);
    }

    #[test]
    fn terminators_and_decreasing_numbers_start_new_residues() {
        let residues = |text: String| read(&text).unwrap().residues().len();
        let other = ATOM.replace("A   1 ", "A   2 ");
        assert_eq!(residues(format!("{ATOM}\n{ATOM}")), 1);
        assert_eq!(residues(format!("{ATOM}\nTER\n{ATOM}")), 2);
        // Back to residue 1 after residue 2: the numbers have wrapped.
        assert_eq!(residues(format!("{ATOM}\n{other}\n{ATOM}")), 3);
        // Interleaved residues with the same number are two, not four.
        let mutant = ATOM.replace("ALA", "SER");
        assert_eq!(residues(format!("{ATOM}\n{mutant}\n{ATOM}\n{mutant}")), 2);
    }

    #[test]
    fn atoms_after_end_start_a_new_model() {
        let structure = read(&format!("{ATOM}\nEND\n{ATOM}\nEND\n")).unwrap();
        assert_eq!(structure.models(), [1, 2]);
        let structure = read(&format!("MODEL 7\n{ATOM}\nENDMDL\nMODEL 7\n{ATOM}\n")).unwrap();
        assert_eq!(structure.models(), [7, 8]);
    }

    #[test]
    fn windows_line_endings_and_long_residue_names_are_supported() {
        let wide = ATOM.replace("ALA A", "POPCA");
        let structure = read(&format!("{wide}\r\nEND\r\n")).unwrap();
        assert_eq!(structure.residues()[0].name, "POPC");
        assert_eq!(structure.residues()[0].chain, "A");
    }
}
