//! Writer of the PDB format: rows of 80 columns with fixed fields.

use std::io::Write;
use std::ops::Range;

use glam::DVec3;
use smol_str::SmolStr;

use super::pdb_chain_ids::ChainIds;
use super::text_rows::{TextRows, scale, write_fixed};
use super::{
    ANGSTROM_PER_NM, AngstromPose, ExportError, ExportOptions, ExportSummary, is_standard_residue,
};
use crate::hybrid36;
use crate::molecule::{Element, MoleculeTemplate, Residue};
use crate::periodic_box::PeriodicBox;
use crate::pose::Pose;

// Columns of an atom row from 0; the format specification counts from 1.
const RECORD: Range<usize> = 0..6;
const SERIAL: Range<usize> = 6..11;
const ATOM_NAME: Range<usize> = 12..16;
const RESIDUE_NAME: Range<usize> = 17..21;
const CHAIN: usize = 21;
const NUMBER: Range<usize> = 22..26;
const INSERTION_CODE: usize = 26;
const COORDINATES: [Range<usize>; 3] = [30..38, 38..46, 46..54];
const OCCUPANCY: Range<usize> = 54..60;
const B_FACTOR: Range<usize> = 60..66;
const ELEMENT: Range<usize> = 76..78;

/// Columns of a row.
const WIDTH: usize = 80;
/// Columns of the title in a row.
const TITLE_WIDTH: usize = 70;
/// Decimals of a coordinate.
const DECIMALS: u8 = 3;

/// Largest edge of a periodic box that fits its nine columns, nm.
const MAX_EDGE_NM: f64 = 9_999.999_9;

/// Writes molecules at their poses in the PDB format.
///
/// Serial and residue numbers that exceed their columns are in hybrid-36. Every molecule ends
/// with a `TER` row. Molecules with one residue share a chain and are numbered consecutively. A
/// larger molecule keeps its chain letters and residue numbers if the letters are free, else gets
/// free letters; when all 62 letters are used, its numbers are shifted. A reader recovers
/// all molecules by splitting the file [by molecule](crate::molecule::SplitBy::Molecule), those
/// with one residue also by residue, and up to 62 chains of larger molecules by chain. A periodic
/// box is written as `CRYST1`.
///
/// # Errors
/// [`ExportError`] if the writer fails, a pose is invalid, or a value does not fit the columns.
/// The output is then incomplete.
pub fn write_pdb<'a>(
    writer: impl Write,
    molecules: impl IntoIterator<Item = (&'a MoleculeTemplate, Pose)>,
    options: &ExportOptions,
) -> Result<ExportSummary, ExportError> {
    let mut rows = TextRows::new(writer);
    write_title(&mut rows, &options.title)?;
    if let Some(periodic) = &options.periodic_box {
        write_cell(&mut rows, periodic)?;
    }
    let mut summary = ExportSummary::default();
    let mut chain_ids = ChainIds::new();
    let mut serial = 0;
    for (index, (template, pose)) in molecules.into_iter().enumerate() {
        let pose = AngstromPose::new(index, template, pose, options.wrapping_box())?;
        let full = |what| ExportError::PdbFull {
            what,
            molecule: index,
        };
        let ids = chain_ids.assign(template.residues());
        let ids = ids.ok_or_else(|| full("residues"))?;
        let mut row = Row::blank();
        let mut residue = None;
        for atom in 0..template.atom_count() {
            let current = template.residue_indices()[atom];
            if residue != Some(current) {
                let (letter, number) = ids[current as usize];
                row.set_residue(&template.residues()[current as usize], letter)?;
                hybrid36::encode(number, &mut row.0[NUMBER]).ok_or_else(|| full("residues"))?;
                // Molecules with one residue have new numbers.
                if ids.len() == 1 {
                    row.0[INSERTION_CODE] = b' ';
                }
                residue = Some(current);
            }
            serial += 1;
            hybrid36::encode(serial, &mut row.0[SERIAL]).ok_or_else(|| full("atoms"))?;
            row.set_atom(&template.atom_names()[atom], template.elements()[atom])?;
            let position = pose.angstrom(template.positions()[atom]);
            row.set_position(position)
                .ok_or_else(|| ExportError::OutOfRange {
                    molecule: index,
                    name: template.name().to_owned(),
                    position: position.as_vec3(),
                    range: "PDB (-999.999 to 9999.999 Å); use mmCIF instead",
                })?;
            rows.buffer.extend_from_slice(&row.0);
            rows.end_row()?;
        }
        serial += 1;
        hybrid36::encode(serial, &mut row.0[SERIAL]).ok_or_else(|| full("atoms"))?;
        rows.buffer.extend_from_slice(row.as_ter());
        rows.end_row()?;
        summary.molecules += 1;
        summary.atoms += template.atom_count();
    }
    rows.push("END");
    rows.end_row()?;
    summary.bytes = rows.finish()?;
    Ok(summary)
}

/// Writes `TITLE` rows of 70 characters; other characters than ASCII become `?` or a space.
fn write_title(rows: &mut TextRows<impl Write>, title: &str) -> Result<(), ExportError> {
    // The continuation number has two columns.
    const MAX_ROWS: usize = 99;
    let text: Vec<u8> = title.trim().chars().map(printable).collect();
    if text.is_empty() {
        return Ok(());
    }
    // Continuation rows start with a space.
    let (first, rest) = text.split_at(text.len().min(TITLE_WIDTH));
    rows.push("TITLE     ");
    rows.buffer.extend_from_slice(first);
    rows.end_row()?;
    for (k, part) in rest.chunks(TITLE_WIDTH - 1).take(MAX_ROWS - 1).enumerate() {
        rows.push(&format!("TITLE   {:2} ", k + 2));
        rows.buffer.extend_from_slice(part);
        rows.end_row()?;
    }
    Ok(())
}

/// Writes the `CRYST1` row of a box with right angles.
fn write_cell(rows: &mut TextRows<impl Write>, periodic: &PeriodicBox) -> Result<(), ExportError> {
    const EDGES: [Range<usize>; 3] = [6..15, 15..24, 24..33];
    let mut row = *b"CRYST1                             90.00  90.00  90.00 P 1           1";
    let error = || ExportError::BoxOutOfRange {
        size: periodic.size(),
        format: "PDB",
        max: MAX_EDGE_NM,
        alternative: ", or mmCIF",
    };
    for (columns, edge) in EDGES.into_iter().zip(periodic.size().to_array()) {
        let scaled = scale(f64::from(edge) * ANGSTROM_PER_NM, DECIMALS);
        if scaled <= 0 {
            return Err(error());
        }
        write_fixed(&mut row[columns], scaled, DECIMALS).ok_or_else(error)?;
    }
    rows.buffer.extend_from_slice(&row);
    rows.end_row()?;
    Ok(())
}

fn printable(character: char) -> u8 {
    if character.is_whitespace() || character.is_control() {
        b' '
    } else if character.is_ascii() {
        character as u8
    } else {
        b'?'
    }
}

/// An atom row whose fields are overwritten for each atom.
struct Row([u8; WIDTH]);

impl Row {
    fn blank() -> Self {
        let mut row = [b' '; WIDTH];
        row[OCCUPANCY].copy_from_slice(b"  1.00");
        row[B_FACTOR].copy_from_slice(b"  0.00");
        Self(row)
    }

    /// Sets the fields shared by the atoms of a residue. Names of up to three characters are
    /// right-justified in three columns; a fourth character uses the blank column after them.
    fn set_residue(&mut self, residue: &Residue, letter: u8) -> Result<(), ExportError> {
        let name = &residue.name;
        let field = &mut self.0[RESIDUE_NAME];
        field.fill(b' ');
        let start = 3_usize.saturating_sub(name.len());
        copy_name(&mut field[start..], name)?;
        let record = if is_standard_residue(name) {
            b"ATOM  "
        } else {
            b"HETATM"
        };
        self.0[RECORD].copy_from_slice(record);
        self.0[CHAIN] = letter;
        self.0[INSERTION_CODE] = match residue.insertion_code {
            Some(code) if code.is_ascii_graphic() => code as u8,
            _ => b' ',
        };
        Ok(())
    }

    /// Sets name and element. The element symbol in the name ends in the second column: `CA` of
    /// an alanine is ` CA `, calcium is `CA  `. Names of four characters fill the field.
    fn set_atom(&mut self, name: &SmolStr, element: Element) -> Result<(), ExportError> {
        let symbol = element.symbol().as_bytes();
        let field = &mut self.0[ATOM_NAME];
        field.fill(b' ');
        let has_long_symbol = symbol.len() == 2
            && name.len() >= 2
            && name.as_bytes()[..2].eq_ignore_ascii_case(symbol);
        let start = usize::from(name.len() < 4 && !has_long_symbol);
        copy_name(&mut field[start..], name)?;
        let field = &mut self.0[ELEMENT];
        field.fill(b' ');
        let start = 2 - symbol.len();
        field[start..].copy_from_slice(symbol);
        field.make_ascii_uppercase();
        Ok(())
    }

    /// Sets the world position in ångström; `None` if it does not fit the columns.
    fn set_position(&mut self, position: DVec3) -> Option<()> {
        for (columns, value) in COORDINATES.into_iter().zip(position.to_array()) {
            let field = &mut self.0[columns];
            let start = write_fixed(field, scale(value, DECIMALS), DECIMALS)?;
            field[..start].fill(b' ');
        }
        Some(())
    }

    /// The row as the `TER` record of its chain, without atom name and coordinates.
    fn as_ter(&mut self) -> &[u8] {
        self.0[RECORD].copy_from_slice(b"TER   ");
        self.0[ATOM_NAME].fill(b' ');
        &self.0[..=INSERTION_CODE]
    }
}

fn copy_name(field: &mut [u8], name: &SmolStr) -> Result<(), ExportError> {
    let printable = name
        .bytes()
        .all(|byte| byte == b' ' || byte.is_ascii_graphic());
    if name.len() > field.len() || !printable {
        return Err(ExportError::UnsupportedName {
            name: name.clone(),
            expected: "PDB allows at most four printable ASCII characters; use mmCIF instead",
        });
    }
    field[..name.len()].copy_from_slice(name.as_bytes());
    Ok(())
}
