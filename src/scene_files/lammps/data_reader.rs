//! Reads data files: box, masses and atoms. Other sections are skipped.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DMat3, DVec3, Vec3};

use super::super::{ReadSceneOptions, SceneReadError};
use super::atom_types::AtomType;
use crate::export::ANGSTROM_PER_NM;
use crate::molecule::{
    Atom, Element, MAX_COORDINATE_NM, MoleculePart, MoleculeTemplate, Residue, TemplateError,
};
use crate::periodic_box::PeriodicBox;

/// Residue name of all molecules: the format has no names.
const RESIDUE: &str = "MOL";

/// Longest text quoted in an error, characters.
const MAX_QUOTED: usize = 40;

/// The content of a data file.
pub(super) struct Data {
    /// Molecules and their numbers, sorted. Molecules of atoms with number 0 come first.
    pub molecules: Vec<(i64, MoleculePart)>,
    /// The box, unless it is triclinic.
    pub periodic_box: Option<PeriodicBox>,
    /// Corners of the box, nm.
    pub bounds: Option<[Vec3; 2]>,
}

/// An atom, nm.
struct DataAtom {
    id: i64,
    molecule: i64,
    kind: u32,
    position: DVec3,
}

/// Columns of a row of `Atoms`.
#[derive(Clone, Copy, PartialEq)]
struct AtomColumns {
    molecule: Option<usize>,
    atom_type: usize,
    position: usize,
}

impl AtomColumns {
    const ATOMIC: Self = Self::new(None, 1, 2);
    const CHARGE: Self = Self::new(None, 1, 3);
    const MOLECULAR: Self = Self::new(Some(1), 2, 3);
    const FULL: Self = Self::new(Some(1), 2, 4);

    const fn new(molecule: Option<usize>, atom_type: usize, position: usize) -> Self {
        Self {
            molecule,
            atom_type,
            position,
        }
    }

    /// The columns of an atom style.
    fn of_style(style: &str) -> Option<Self> {
        match style {
            "atomic" => Some(Self::ATOMIC),
            "charge" => Some(Self::CHARGE),
            "molecular" | "bond" | "angle" => Some(Self::MOLECULAR),
            "full" => Some(Self::FULL),
            _ => None,
        }
    }

    /// The columns of a row with this number of words; three more are image flags.
    fn of_width(words: usize) -> Option<Self> {
        match words {
            5 | 8 => Some(Self::ATOMIC),
            6 | 9 => Some(Self::MOLECULAR),
            7 | 10 => Some(Self::FULL),
            _ => None,
        }
    }
}

/// The parts of a data file that are read.
#[derive(Clone, Copy, PartialEq)]
enum Section {
    Header,
    Masses,
    Atoms,
    Other,
}

struct Parser<'a> {
    source: &'a str,
    radius_scale: f32,
    section: Section,
    columns: Option<AtomColumns>,
    /// Number of atoms in the header.
    expected: Option<u64>,
    low: DVec3,
    high: DVec3,
    tilt: DVec3,
    types: HashMap<u32, AtomType>,
    atoms: Vec<DataAtom>,
    images: Vec<[i32; 3]>,
}

/// Reads a data file.
pub(super) fn read_data(
    bytes: &[u8],
    source: &str,
    options: &ReadSceneOptions,
) -> Result<Data, SceneReadError> {
    let mut parser = Parser {
        source,
        radius_scale: options.load.radius_scale,
        section: Section::Header,
        columns: None,
        expected: None,
        low: DVec3::ZERO,
        high: DVec3::ZERO,
        tilt: DVec3::ZERO,
        types: HashMap::new(),
        atoms: Vec::new(),
        images: Vec::new(),
    };
    for (index, line) in bytes.split(|&byte| byte == b'\n').enumerate() {
        let result = match index {
            0 => check_title(line),
            _ => parser.line(line),
        };
        result.map_err(|problem| parser.error(format!("line {}", index + 1), problem))?;
    }
    parser.finish()
}

/// Units of lengths other than Å are an error.
fn check_title(line: &[u8]) -> Result<(), String> {
    let text = String::from_utf8_lossy(line);
    let Some((_, units)) = text.split_once("units = ") else {
        return Ok(());
    };
    let units = units.split_ascii_whitespace().next().unwrap_or_default();
    match units.trim_end_matches(',') {
        "real" | "metal" => Ok(()),
        other => Err(format!(
            "the units are '{}', expected real or metal, whose lengths are in Å",
            quote(other)
        )),
    }
}

impl Parser<'_> {
    fn error(&self, place: String, problem: String) -> SceneReadError {
        SceneReadError::Invalid {
            file: self.source.to_owned(),
            place,
            problem,
        }
    }

    fn line(&mut self, line: &[u8]) -> Result<(), String> {
        let text = std::str::from_utf8(line).map_err(|_| "found bytes that are not text")?;
        let (content, comment) = text.split_once('#').unwrap_or((text, ""));
        let content = content.trim();
        if content.is_empty() {
            return Ok(());
        }
        // Names of sections have no digits.
        if content.starts_with(|c: char| c.is_ascii_alphabetic())
            && !content.contains(|c: char| c.is_ascii_digit())
        {
            return self.start_section(content, comment.trim());
        }
        match self.section {
            Section::Header => self.header(content),
            Section::Masses => self.mass(content, comment),
            Section::Atoms => self.atom(content),
            Section::Other => Ok(()),
        }
    }

    fn start_section(&mut self, name: &str, comment: &str) -> Result<(), String> {
        self.section = match name {
            "Masses" => Section::Masses,
            "Atoms" => Section::Atoms,
            _ => Section::Other,
        };
        if self.section == Section::Atoms && !comment.is_empty() {
            let columns = AtomColumns::of_style(comment).ok_or_else(|| {
                format!(
                    "the atom style is '{}', expected atomic, charge, bond, angle, molecular or full",
                    quote(comment)
                )
            })?;
            self.columns = Some(columns);
        }
        Ok(())
    }

    fn header(&mut self, content: &str) -> Result<(), String> {
        let words: Vec<&str> = content.split_ascii_whitespace().take(7).collect();
        match words[..] {
            [count, "atoms"] => {
                let count = count.parse().map_err(|_| not_a_number("atoms", count))?;
                self.expected = Some(count);
            }
            [low, high, name @ ("xlo" | "ylo" | "zlo"), ..] => {
                let axis = usize::from(name.as_bytes()[0] - b'x');
                self.low[axis] = length(low, "the box")?;
                self.high[axis] = length(high, "the box")?;
                if self.low[axis] >= self.high[axis] {
                    return Err(format!(
                        "the box is from {low} to {high} Å, expected a positive edge"
                    ));
                }
            }
            [xy, xz, yz, "xy", ..] => {
                let tilt = [xy, xz, yz].map(|text| length(text, "the tilt of the box"));
                let [xy, xz, yz] = tilt;
                self.tilt = DVec3::new(xy?, xz?, yz?);
            }
            _ => {}
        }
        Ok(())
    }

    fn mass(&mut self, content: &str, comment: &str) -> Result<(), String> {
        let mut words = content.split_ascii_whitespace();
        let (number, mass) = (words.next(), words.next());
        let number = type_number(number.unwrap_or_default())?;
        let mass = mass.unwrap_or_default();
        let value = mass.parse().ok();
        let value = value.filter(|value: &f32| value.is_finite() && *value > 0.0);
        let value = value.ok_or_else(|| {
            format!(
                "the mass of atom type {number} is '{}', expected a positive number",
                quote(mass)
            )
        })?;
        let of_type = AtomType::of_mass(value, comment, self.radius_scale);
        self.types.insert(number, of_type);
        Ok(())
    }

    fn atom(&mut self, content: &str) -> Result<(), String> {
        let mut fields = [""; 11];
        let mut count = 0;
        for word in content.split_ascii_whitespace() {
            if let Some(field) = fields.get_mut(count) {
                *field = word;
            }
            count += 1;
        }
        let columns = match self.columns {
            Some(columns) => columns,
            None => {
                let columns = AtomColumns::of_width(count).ok_or_else(|| {
                    format!("the atom has {count} columns, which no supported atom style has")
                })?;
                *self.columns.insert(columns)
            }
        };
        let needed = columns.position + 3;
        if count != needed && count != needed + 3 {
            return Err(format!(
                "the atom has {count} columns, expected {needed}, or {} with image flags",
                needed + 3
            ));
        }
        let integer = |what: &str, text: &str| -> Result<i64, String> {
            text.parse().map_err(|_| not_a_number(what, text))
        };
        let mut position = [0.0; 3];
        for (value, text) in position.iter_mut().zip(&fields[columns.position..]) {
            *value = length(text, "a coordinate")?;
        }
        let mut image = [0; 3];
        if count > needed {
            for (value, text) in image.iter_mut().zip(&fields[needed..]) {
                *value = text
                    .parse()
                    .map_err(|_| not_a_number("an image flag", text))?;
            }
        }
        self.atoms.push(DataAtom {
            id: integer("the number of an atom", fields[0])?,
            molecule: match columns.molecule {
                Some(column) => integer("the number of a molecule", fields[column])?,
                None => 0,
            },
            kind: type_number(fields[columns.atom_type])?,
            position: DVec3::from_array(position),
        });
        self.images.push(image);
        Ok(())
    }

    fn finish(mut self) -> Result<Data, SceneReadError> {
        let found = self.atoms.len() as u64;
        let in_file = |problem: String| SceneReadError::Invalid {
            file: self.source.to_owned(),
            place: "Atoms".to_owned(),
            problem,
        };
        match self.expected {
            Some(expected) if expected != found => {
                return Err(in_file(format!(
                    "there are {found} atoms, but {expected} in the header"
                )));
            }
            None if found == 0 => {
                return Err(in_file(
                    "no atoms found; check that it is a data file of LAMMPS".to_owned(),
                ));
            }
            _ => {}
        }
        let size = self.high - self.low;
        let vectors = DMat3::from_cols(
            DVec3::new(size.x, 0.0, 0.0),
            DVec3::new(self.tilt.x, size.y, 0.0),
            DVec3::new(self.tilt.y, self.tilt.z, size.z),
        );
        for (atom, image) in self.atoms.iter_mut().zip(&self.images) {
            atom.position += vectors * DVec3::from_array(image.map(f64::from));
        }
        let is_right = self.tilt == DVec3::ZERO && size.min_element() > 0.0;
        let corners = [self.low, self.high].map(DVec3::as_vec3);
        Ok(Data {
            periodic_box: PeriodicBox::new(size.as_vec3()).ok().filter(|_| is_right),
            bounds: is_right.then_some(corners),
            molecules: self.molecules()?,
        })
    }

    /// The molecules, sorted by number; atoms in the order of their numbers.
    fn molecules(mut self) -> Result<Vec<(i64, MoleculePart)>, SceneReadError> {
        self.atoms.sort_by_key(|atom| (atom.molecule, atom.id));
        let mut molecules = Vec::new();
        // Atoms with number 0 are not in a molecule.
        let same = |a: &DataAtom, b: &DataAtom| a.molecule != 0 && a.molecule == b.molecule;
        for atoms in self.atoms.chunk_by(same) {
            let number = atoms[0].molecule;
            let part = self.molecule(atoms)?;
            molecules.push((number, part));
        }
        Ok(molecules)
    }

    fn molecule(&self, atoms: &[DataAtom]) -> Result<MoleculePart, SceneReadError> {
        let mut types = Vec::with_capacity(atoms.len());
        for atom in atoms {
            let of_type = self.types.get(&atom.kind).ok_or_else(|| {
                let place = format!("atom {}", atom.id);
                let problem = format!("its type {} has no mass in the section Masses", atom.kind);
                self.error(place, problem)
            })?;
            types.push(of_type);
        }
        let name = match atoms[0].molecule {
            0 => types[0].element.symbol().to_owned(),
            number => format!("molecule {number}"),
        };
        let is_coarse = types
            .iter()
            .all(|of_type| of_type.element == Element::UNKNOWN);
        let placed = || atoms.iter().zip(&types);
        let template = if is_coarse {
            let balls = placed().map(|(atom, of_type)| (atom.position.as_vec3(), of_type.radius));
            MoleculeTemplate::coarse(name, &balls.collect::<Vec<_>>())
        } else {
            let atoms = placed().map(|(atom, of_type)| Atom {
                position: atom.position.as_vec3(),
                radius: of_type.radius,
                element: of_type.element,
                name: of_type.element.symbol().into(),
                residue: 0,
            });
            let residue = Residue {
                name: RESIDUE.into(),
                number: 1,
                ..Residue::default()
            };
            MoleculeTemplate::new(name, atoms.collect(), vec![residue])
        };
        let template =
            template.map_err(|error: TemplateError| SceneReadError::Molecule(error.into()))?;
        Ok(MoleculePart {
            pose: template.file_pose(),
            template: Arc::new(template),
        })
    }
}

/// A length in Å, as nm.
fn length(text: &str, what: &str) -> Result<f64, String> {
    let value = text
        .parse::<f64>()
        .ok()
        .map(|value| value / ANGSTROM_PER_NM);
    let value = value.filter(|value| value.abs() <= f64::from(MAX_COORDINATE_NM));
    value.ok_or_else(|| {
        format!(
            "{what} is '{}', expected a number of at most {} Å",
            quote(text),
            f64::from(MAX_COORDINATE_NM) * ANGSTROM_PER_NM
        )
    })
}

fn type_number(text: &str) -> Result<u32, String> {
    text.parse()
        .map_err(|_| not_a_number("the type of an atom", text))
}

fn not_a_number(what: &str, text: &str) -> String {
    format!("{what} is '{}', expected a whole number", quote(text))
}

/// The begin of a text, for an error.
fn quote(text: &str) -> String {
    text.chars().take(MAX_QUOTED).collect()
}
