//! Reader of the PDB format: fixed columns, one record per line.
//!
//! 1. `MODEL`, `ENDMDL` and `END` set the model. Atoms after `END` or `ENDMDL` without a new
//!    `MODEL` start a new model, as in trajectory files.
//! 2. `ATOM` and `HETATM` are atoms. Columns after the coordinates are optional.
//! 3. `TER` ends a chain and a molecule: the next atom starts a new residue, even with the same number.
//! 4. `REMARK 350` contains the assemblies, see [`biomt`].
//! 5. `REMARK      1/2 of bilayer thickness:` is the membrane of a file of the OPM database.
//! 6. `CRYST1` is the unit cell.
//! 7. Other records are ignored.

mod biomt;
mod residue_number;

use std::ops::Range;

use self::biomt::BiomtParser;
use self::residue_number::ResidueNumbers;
use super::decimal::{ANGSTROM_DIGITS, parse_decimal};
use super::error::{FileLocation, ReadError, ReadErrorKind};
use super::structure::Structure;
use super::structure::builder::{AtomRecord, StructureBuilder};
use super::template::MAX_COORDINATE_NM;
use super::unit_cell::{InvalidCell, UnitCell};

/// Last column of the coordinates, the minimum length of an atom record.
const NEEDED_COLUMNS: usize = 54;

/// First columns (from 1) of the three coordinates, each eight wide, and their names in errors.
const COORDINATES: [(usize, &str); 3] = [
    (31, "the x coordinate in columns 31-38"),
    (39, "the y coordinate in columns 39-46"),
    (47, "the z coordinate in columns 47-54"),
];

/// Columns (from 0) of the edges and angles in `CRYST1`.
const CELL_COLUMNS: [Range<usize>; 6] = [6..15, 15..24, 24..33, 33..40, 40..47, 47..54];

/// The remark of the OPM database before the half thickness of the membrane in ångström.
const HALF_THICKNESS: &str = "1/2 of bilayer thickness:";

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
            b"TER" => self.builder.terminate_molecule(),
            b"CRYST1" => self.builder.set_unit_cell(unit_cell(line)),
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
            b"REMARK" => {
                if let Some(half_thickness) = bilayer_half_thickness(&line[tag.len()..]) {
                    self.builder.set_bilayer_half_thickness(half_thickness);
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
            entity: "",
            radius: None,
        };
        self.builder.push(&record)
    }
}

/// The unit cell of a `CRYST1` record.
fn unit_cell(line: &[u8]) -> Result<Option<UnitCell>, InvalidCell> {
    let text = std::str::from_utf8(line).map_err(|_| InvalidCell)?;
    UnitCell::parse(CELL_COLUMNS.map(|columns| {
        let field = text.get(columns.start..columns.end.min(text.len()))?.trim();
        (!field.is_empty()).then_some(field)
    }))
}

/// The half thickness (nm) in a remark, if it contains a valid one.
fn bilayer_half_thickness(remark: &[u8]) -> Option<f32> {
    let text = std::str::from_utf8(remark).ok()?;
    let number = text.trim().strip_prefix(HALF_THICKNESS)?;
    let number = number.split_ascii_whitespace().next()?;
    let value = parse_decimal(number, ANGSTROM_DIGITS, "the half thickness").ok()? as f32;
    (value > 0.0 && value <= MAX_COORDINATE_NM).then_some(value)
}
