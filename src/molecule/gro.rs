//! Reader of the GROMACS format `.gro`: fixed columns, lengths in nm.
//!
//! 1. A frame has a title, the number of atoms, a line per atom, and the box. Each frame of a
//!    trajectory is a model.
//! 2. The columns of a coordinate are as wide as the distance between the decimal points of the
//!    first atom. Velocities and atom numbers are ignored: numbers restart after 99,999.
//! 3. A residue is consecutive atoms with the same number and name.
//! 4. The format has no molecules. They are given by a topology, else bonded residues are one
//!    molecule, see [`MAX_BOND_NM`].
//! 5. The format has no elements. They follow from the names.

use glam::DVec3;
use smol_str::SmolStr;

use super::Element;
use super::decimal::parse_decimal;
use super::element_from_atom_name::infer_element_of_name;
use super::error::{FileLocation, ReadError, ReadErrorKind};
use super::structure::Structure;
use super::structure::builder::{AtomRecord, StructureBuilder};
use super::template::{COARSE_ATOM, COARSE_RESIDUE, MAX_COORDINATE_NM};
use super::unit_cell::{InvalidCell, UnitCell};

/// Column (from 0) of the first coordinate.
const FIRST_COORDINATE: usize = 20;

/// Columns of a coordinate besides its decimals: sign, three digits and the point, as the format
/// has it, so that neighbors may touch.
const COLUMNS_BESIDES_DECIMALS: usize = 5;

/// Longest bond between atoms of successive residues, nm: C–S has 0.182, and atoms that are not
/// bonded are at least 0.25 apart.
const MAX_BOND_NM: f64 = 0.2;

/// Largest residue that is tested for a bond with the next one.
const MAX_BONDED_ATOMS: usize = 256;

/// Longest text quoted in an error, characters.
const MAX_QUOTED: usize = 30;

/// Names of the coordinates in errors.
const COORDINATES: [&str; 3] = ["the x coordinate", "the y coordinate", "the z coordinate"];

/// Molecules with the same number of atoms, one after the other.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(
    not(feature = "recipe"),
    allow(dead_code, reason = "topologies are read with scene files")
)]
pub(crate) struct MoleculeRun {
    /// Number of molecules.
    pub count: u64,
    /// Number of atoms of each.
    pub atoms: u64,
}

/// The content of a file.
#[cfg_attr(
    not(feature = "recipe"),
    allow(dead_code, reason = "only scene files need the decimals")
)]
pub(crate) struct GroFile {
    /// Atoms and box.
    pub structure: Structure,
    /// Decimals of the coordinates (nm).
    pub decimals: u8,
}

/// Reads a decompressed file. Its molecules are those of `molecules`, else bonded residues.
pub(super) fn read(
    bytes: &[u8],
    source: &str,
    molecules: Option<&[MoleculeRun]>,
) -> Result<GroFile, ReadError> {
    let mut parser = GroParser {
        builder: StructureBuilder::new(source),
        molecules,
        residue: None,
        previous: Vec::new(),
        decimals: 0,
    };
    let mut lines = Lines {
        rest: bytes,
        number: 0,
    };
    loop {
        let result = parser.frame(&mut lines);
        result.map_err(|kind| ReadError::new(source, FileLocation::Line(lines.number), kind))?;
        if lines.rest.trim_ascii().is_empty() {
            break;
        }
    }
    Ok(GroFile {
        decimals: parser.decimals,
        structure: parser.builder.finish(Vec::new())?,
    })
}

/// The lines of a file.
struct Lines<'a> {
    rest: &'a [u8],
    /// Number of the last line, from 1.
    number: usize,
}

impl<'a> Lines<'a> {
    fn next(&mut self) -> Option<&'a [u8]> {
        if self.rest.is_empty() {
            return None;
        }
        let end = self.rest.iter().position(|&byte| byte == b'\n');
        let line = &self.rest[..end.unwrap_or(self.rest.len())];
        self.rest = end.map_or(&[], |end| &self.rest[end + 1..]);
        self.number += 1;
        Some(line.strip_suffix(b"\r").unwrap_or(line))
    }
}

/// Sizes of the molecules of a frame.
struct Sizes<'a> {
    runs: std::slice::Iter<'a, MoleculeRun>,
    run: MoleculeRun,
    /// Atoms that the molecule still lacks.
    missing: u64,
}

impl Sizes<'_> {
    /// Counts an atom; whether it is the first of a molecule.
    fn starts_molecule(&mut self) -> bool {
        let starts = self.missing == 0;
        while self.missing == 0 {
            if self.run.count == 0 {
                let Some(run) = self.runs.next() else {
                    return starts;
                };
                self.run = *run;
                continue;
            }
            self.run.count -= 1;
            self.missing = self.run.atoms;
        }
        self.missing -= 1;
        starts
    }
}

/// An atom whose residue is not complete yet.
struct ResidueAtom {
    position: [f64; 3],
    name: SmolStr,
    element: Element,
}

/// The residue that is read.
struct CurrentResidue {
    /// The field of the number.
    number: SmolStr,
    name: SmolStr,
    atoms: Vec<ResidueAtom>,
}

struct GroParser<'a> {
    builder: StructureBuilder,
    molecules: Option<&'a [MoleculeRun]>,
    residue: Option<CurrentResidue>,
    /// Positions of the atoms, except hydrogens, of the previous residue.
    previous: Vec<DVec3>,
    decimals: u8,
}

impl GroParser<'_> {
    fn frame(&mut self, lines: &mut Lines<'_>) -> Result<(), ReadErrorKind> {
        lines.next();
        let count = atom_count(lines.next())?;
        let molecules = self.molecules;
        let mut sizes = match molecules {
            Some(runs) => Some(sizes_of(runs, count)?),
            None => None,
        };
        let model = self.builder.next_model();
        let mut width = 0;
        self.previous.clear();
        for read in 0..count {
            let line = lines.next().ok_or_else(|| {
                ReadErrorKind::syntax(format!("the file ends after {read} of {count} atoms"))
            })?;
            let text = std::str::from_utf8(line).map_err(|_| ReadErrorKind::NotText)?;
            if !text.is_ascii() || line.contains(&0) {
                return Err(ReadErrorKind::NotText);
            }
            if read == 0 {
                width = coordinate_width(text)?;
                let decimals = width.saturating_sub(COLUMNS_BESIDES_DECIMALS);
                self.decimals = self.decimals.max(u8::try_from(decimals).unwrap_or(u8::MAX));
            }
            let starts = sizes.as_mut().is_some_and(Sizes::starts_molecule);
            self.atom(text, width, starts, model)?;
        }
        self.end_residue(model)?;
        self.builder.set_unit_cell(unit_cell(lines.next()));
        Ok(())
    }

    /// Reads an atom, which may be the first of a molecule by the topology.
    fn atom(
        &mut self,
        text: &str,
        width: usize,
        starts_molecule: bool,
        model: i32,
    ) -> Result<(), ReadErrorKind> {
        let needed = FIRST_COORDINATE + 3 * width;
        if text.len() < needed {
            return Err(ReadErrorKind::Truncated {
                length: text.len(),
                needed,
            });
        }
        let columns = |from: usize, to: usize| text[from..to].trim();
        let (number, residue_name) = (columns(0, 5), columns(5, 10));
        let mut position = [0.0; 3];
        for (axis, (value, field)) in position.iter_mut().zip(COORDINATES).enumerate() {
            let from = FIRST_COORDINATE + axis * width;
            *value = parse_decimal(columns(from, from + width), 0, field)?;
        }
        let is_same = self
            .residue
            .as_ref()
            .is_some_and(|residue| residue.number == number && residue.name == residue_name);
        if starts_molecule || !is_same {
            self.end_residue(model)?;
        }
        if starts_molecule {
            self.builder.terminate_molecule();
        }
        let name = columns(10, 15);
        let residue = self.residue.get_or_insert_with(|| CurrentResidue {
            number: number.into(),
            name: residue_name.into(),
            atoms: Vec::new(),
        });
        residue.atoms.push(ResidueAtom {
            position,
            name: name.into(),
            element: element_of(name, residue_name),
        });
        Ok(())
    }

    /// Adds the atoms of the residue that is read, if there is one.
    fn end_residue(&mut self, model: i32) -> Result<(), ReadErrorKind> {
        let Some(residue) = self.residue.take() else {
            return Ok(());
        };
        if self.molecules.is_some() {
            self.builder.terminate_chain();
        } else {
            let heavy = residue.atoms.iter();
            let heavy: Vec<DVec3> = heavy
                .filter(|atom| atom.element != Element::H)
                .take(MAX_BONDED_ATOMS)
                .map(|atom| DVec3::from_array(atom.position))
                .collect();
            if is_bonded(&self.previous, &heavy) {
                self.builder.terminate_chain();
            } else {
                self.builder.terminate_molecule();
            }
            self.previous = heavy;
        }
        let number = residue.number.parse::<i32>().map(Some);
        let number = self.builder.valid_number(number).unwrap_or(0);
        for atom in &residue.atoms {
            self.builder.push(&AtomRecord {
                position: atom.position,
                symbol: atom.element.symbol(),
                name_columns: [b' '; 4],
                name: &atom.name,
                residue_name: &residue.name,
                chain: "",
                label_chain: "",
                entity: "",
                radius: None,
                residue_number: number,
                insertion_code: None,
                model,
                altloc: None,
                occupancy: 1.0,
            })?;
        }
        Ok(())
    }
}

/// The number in the second line of a frame.
fn atom_count(line: Option<&[u8]>) -> Result<u64, ReadErrorKind> {
    let line = line.unwrap_or_default();
    let text = std::str::from_utf8(line).map_err(|_| ReadErrorKind::NotText)?;
    text.trim().parse().map_err(|_| {
        let text: String = text.trim().chars().take(MAX_QUOTED).collect();
        ReadErrorKind::syntax(format!(
            "'{text}' is not a number of atoms, which the second line of a .gro file has to be"
        ))
    })
}

/// The sizes of the molecules of a frame with `count` atoms.
fn sizes_of(runs: &[MoleculeRun], count: u64) -> Result<Sizes<'_>, ReadErrorKind> {
    let total = runs.iter().try_fold(0_u64, |total, run| {
        total.checked_add(run.count.checked_mul(run.atoms)?)
    });
    if total != Some(count) {
        let total = total.map_or("too many".to_owned(), |total| total.to_string());
        return Err(ReadErrorKind::syntax(format!(
            "there are {count} atoms, but {total} in the molecules of the topology; correct or remove the .top file"
        )));
    }
    Ok(Sizes {
        runs: runs.iter(),
        run: MoleculeRun { count: 0, atoms: 0 },
        missing: 0,
    })
}

/// Columns of a coordinate, by the decimal points of an atom.
fn coordinate_width(text: &str) -> Result<usize, ReadErrorKind> {
    let coordinates = text.get(FIRST_COORDINATE..).unwrap_or_default();
    let mut points = coordinates.match_indices('.').map(|(index, _)| index);
    match (points.next(), points.next(), points.next()) {
        (Some(x), Some(y), Some(z)) if y - x == z - y && x < y - x => Ok(y - x),
        _ => Err(ReadErrorKind::syntax(
            "the atom has no three coordinates with equally spaced decimal points from column 21 on",
        )),
    }
}

/// Whether an atom of one residue is bonded to one of the other.
fn is_bonded(previous: &[DVec3], next: &[DVec3]) -> bool {
    let is_near = |a: &DVec3, b: &DVec3| a.distance_squared(*b) <= MAX_BOND_NM * MAX_BOND_NM;
    previous.iter().any(|a| next.iter().any(|b| is_near(a, b)))
}

/// The element of an atom. Balls of coarse molecules have none.
fn element_of(name: &str, residue_name: &str) -> Element {
    if name == COARSE_ATOM && residue_name == COARSE_RESIDUE {
        return Element::UNKNOWN;
    }
    infer_element_of_name(name, residue_name).unwrap_or(Element::UNKNOWN)
}

/// The cell of the box line: the diagonal of a matrix of three vectors, and its other components
/// unless they are zero. A box of zeros stands for none.
fn unit_cell(line: Option<&[u8]>) -> Result<Option<UnitCell>, InvalidCell> {
    let text = std::str::from_utf8(line.unwrap_or_default()).map_err(|_| InvalidCell)?;
    let mut values = [0.0; 9];
    let mut count = 0;
    for field in text.split_ascii_whitespace() {
        let value = values.get_mut(count).ok_or(InvalidCell)?;
        *value = parse_decimal(field, 0, "").map_err(|_| InvalidCell)?;
        count += 1;
    }
    if values == [0.0; 9] {
        return Ok(None);
    }
    let [ax, by, cz, ay, az, bx, bz, cx, cy] = values;
    let [a, b, c] = [[ax, ay, az], [bx, by, bz], [cx, cy, cz]].map(DVec3::from_array);
    let lengths = DVec3::new(a.length(), b.length(), c.length());
    let is_length = |length: f64| length > 0.0 && length <= f64::from(MAX_COORDINATE_NM);
    let is_valid = matches!(count, 3 | 9) && lengths.to_array().into_iter().all(is_length);
    let is_diagonal = values[3..] == [0.0; 6];
    if !is_valid || (is_diagonal && [ax, by, cz].iter().any(|&edge| edge < 0.0)) {
        return Err(InvalidCell);
    }
    let angle = |u: DVec3, v: DVec3| u.angle_between(v).to_degrees();
    let angles = match is_diagonal {
        true => DVec3::splat(90.0),
        false => DVec3::new(angle(b, c), angle(a, c), angle(a, b)),
    };
    Ok(Some(UnitCell { lengths, angles }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_of_molecules_start_where_their_sizes_say() {
        let run = |count, atoms| MoleculeRun { count, atoms };
        let runs = [run(2, 3), run(0, 7), run(4, 0), run(1, 2)];
        let mut sizes = sizes_of(&runs, 8).unwrap();
        let starts: Vec<bool> = (0..8).map(|_| sizes.starts_molecule()).collect();
        let expected = [true, false, false, true, false, false, true, false];
        assert_eq!(starts, expected);
        assert!(sizes_of(&runs, 9).is_err());
        assert!(sizes_of(&[run(u64::MAX, 2)], 9).is_err());
    }

    #[test]
    fn boxes_are_edges_and_angles() {
        let cell = |text: &str| unit_cell(Some(text.as_bytes()));
        let right = cell("  3.0 4.0   5.5").unwrap().unwrap();
        assert_eq!(right.lengths, DVec3::new(3.0, 4.0, 5.5));
        assert!(right.orthorhombic().is_some());
        // A rhombic dodecahedron.
        let tilted = "5 5 3.53553 0 0 0 0 2.5 2.5";
        let tilted = cell(tilted).unwrap().unwrap();
        assert!(
            tilted
                .angles
                .abs_diff_eq(DVec3::new(60.0, 60.0, 90.0), 1.0e-3)
        );
        assert!(tilted.orthorhombic().is_none());
        assert_eq!(cell("0 0 0"), Ok(None));
        assert_eq!(unit_cell(None), Ok(None));
        for text in [
            "1 2",
            "1 2 3 4",
            "1 2 x",
            "1 -2 3",
            "1 2 1e9",
            "1 2 3 4 5 6 7 8 9 10",
        ] {
            assert_eq!(cell(text), Err(InvalidCell), "{text}");
        }
    }

    #[test]
    fn widths_follow_from_decimal_points() {
        let at = |coordinates: &str| coordinate_width(&format!("{:20}{coordinates}", ""));
        assert_eq!(at("   1.000   2.000   3.000"), Ok(8));
        assert_eq!(at("-999.123456-999.123456-999.123456 0.1"), Ok(11));
        assert!(at("   1.000   2.00   3.000").is_err());
        assert!(at("1 2 3").is_err());
        assert!(coordinate_width("").is_err());
    }
}
