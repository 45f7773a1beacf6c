//! Topologies (`.top`): the molecule types of a scene, and those of a file with its includes.

use std::collections::{HashMap, HashSet};
use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::super::{Scene, SceneReadError};
use crate::export::ExportError;
use crate::molecule::MoleculeRun;

/// Largest file that is read as a topology, bytes. That of a ribosome has 60 MB.
const MAX_BYTES: u64 = 256 << 20;

/// Depth of includes beyond which files are ignored.
const MAX_DEPTH: usize = 16;

/// A molecule type that is written.
pub(super) struct MoleculeType {
    pub name: String,
    /// Number of molecules.
    pub count: usize,
    /// Number of atoms of a molecule.
    pub atoms: usize,
    /// Indices of its kinds.
    pub kinds: Vec<usize>,
}

/// The molecule types of a scene, in the order of their first kinds. Kinds without molecules have
/// none.
///
/// # Errors
/// [`ExportError::MixedMoleculeType`] if kinds of a type differ in their number of atoms.
pub(super) fn molecule_types(scene: &Scene) -> Result<Vec<MoleculeType>, ExportError> {
    let mut types: Vec<MoleculeType> = Vec::new();
    let mut index_of: HashMap<String, usize> = HashMap::new();
    for (index, kind) in scene.kinds.iter().enumerate() {
        if kind.poses.is_empty() {
            continue;
        }
        let name = one_word(kind.molecule_type());
        let atoms = kind.template.atom_count();
        let entry = *index_of.entry(name.clone()).or_insert_with(|| {
            types.push(MoleculeType {
                name: name.clone(),
                count: 0,
                atoms,
                kinds: Vec::new(),
            });
            types.len() - 1
        });
        let of_type = &mut types[entry];
        if of_type.atoms != atoms {
            let atoms = [of_type.atoms, atoms];
            return Err(ExportError::MixedMoleculeType { name, atoms });
        }
        of_type.count += kind.poses.len();
        of_type.kinds.push(index);
    }
    Ok(types)
}

/// A name without blanks and characters that have a meaning in topologies.
fn one_word(name: &str) -> String {
    let replaced = |c: char| {
        c.is_whitespace() || c.is_control() || matches!(c, ';' | '#' | '[' | ']' | '"' | '\\')
    };
    match name.trim() {
        "" => "molecule".to_owned(),
        name => name.replace(replaced, "_"),
    }
}

/// The topology of a scene.
///
/// # Errors
/// [`ExportError::UnsupportedName`] if the name of an included file has quotes or line breaks.
pub(super) fn topology_text(
    title: &str,
    coordinates: &str,
    scene: &Scene,
    types: &[MoleculeType],
) -> Result<String, ExportError> {
    let coordinates = coordinates.replace(char::is_control, " ");
    let mut text = format!("; Topology of {coordinates}: molecules in the order of its atoms.\n\n");
    let mut included = HashSet::new();
    let kinds = types.iter().flat_map(|of_type| &of_type.kinds);
    for file in kinds.flat_map(|&kind| &scene.kinds[kind].topology.includes) {
        if !included.insert(file) {
            continue;
        }
        if file.contains(|c: char| c == '"' || c.is_control()) {
            return Err(ExportError::UnsupportedName {
                name: file.as_str().into(),
                expected: "files that topologies include have no quotes and line breaks in their names",
            });
        }
        text += &format!("#include \"{file}\"\n");
    }
    if included.is_empty() {
        text += "; Include the force field and the molecule types here:\n; #include \"forcefield.itp\"\n";
    }
    text += &format!("\n[ system ]\n{title}\n\n[ molecules ]\n; type and number of molecules\n");
    for of_type in types {
        let MoleculeType {
            name, count, atoms, ..
        } = of_type;
        text += &format!("{name:<20} {count:>9} ; {atoms} atoms each\n");
    }
    Ok(text)
}

/// A row of `[ molecules ]`.
#[derive(Debug, PartialEq)]
pub(super) struct MoleculeCount {
    pub name: String,
    /// Number of molecules.
    pub count: u64,
    /// Number of atoms of a molecule, if known.
    pub atoms: Option<u64>,
}

/// What a topology says about the atoms of a system.
#[derive(Debug, Default)]
pub(super) struct TopologyFile {
    /// Files that it includes itself.
    pub includes: Vec<String>,
    /// The molecules, in the order of their atoms.
    pub molecules: Vec<MoleculeCount>,
}

impl TopologyFile {
    /// Reads a topology and the files that it includes, as far as they are found; none if there is
    /// no such file.
    ///
    /// # Errors
    /// [`SceneReadError`] if a file cannot be read, or a row of `[ molecules ]` is invalid.
    pub fn read(path: &Path) -> Result<Option<Self>, SceneReadError> {
        if !path.is_file() {
            return Ok(None);
        }
        let mut parser = TopologyParser::default();
        parser.file(path, 0)?;
        let TopologyParser {
            mut topology,
            atom_counts,
            ..
        } = parser;
        for molecule in &mut topology.molecules {
            // GROMACS ignores the case.
            let known = atom_counts.get(&molecule.name.to_lowercase()).copied();
            molecule.atoms = known.or(molecule.atoms);
        }
        Ok(Some(topology))
    }

    /// Sizes of all molecules, if all are known.
    pub fn runs(&self) -> Option<Vec<MoleculeRun>> {
        let runs = self.molecules.iter().map(|molecule| {
            Some(MoleculeRun {
                count: molecule.count,
                atoms: molecule.atoms?,
            })
        });
        runs.collect()
    }
}

#[derive(Default)]
struct TopologyParser {
    topology: TopologyFile,
    /// Number of atoms by the lowercase name of the molecule type.
    atom_counts: HashMap<String, u64>,
    /// The molecule type that atoms belong to.
    current_type: Option<String>,
    section: String,
    defined: HashSet<String>,
    /// For each open condition, whether its lines count.
    conditions: Vec<bool>,
    /// Files that were read.
    files: HashSet<PathBuf>,
}

impl TopologyParser {
    fn file(&mut self, path: &Path, depth: usize) -> Result<(), SceneReadError> {
        self.files.insert(path.to_owned());
        let text = read_text(path).map_err(|source| SceneReadError::Io {
            file: path.display().to_string(),
            source,
        })?;
        for (index, line) in text.lines().enumerate() {
            let (content, comment) = line.split_once(';').unwrap_or((line, ""));
            let content = content.trim();
            if let Some(directive) = content.strip_prefix('#') {
                self.directive(directive, path, depth)?;
            } else if content.is_empty() || self.conditions.contains(&false) {
                continue;
            } else if let Some(section) = content.strip_prefix('[') {
                self.section = section.trim_end_matches(']').trim().to_lowercase();
            } else {
                self.row(content, comment)
                    .map_err(|problem| SceneReadError::Invalid {
                        file: path.display().to_string(),
                        place: format!("line {}", index + 1),
                        problem,
                    })?;
            }
        }
        Ok(())
    }

    fn directive(
        &mut self,
        directive: &str,
        path: &Path,
        depth: usize,
    ) -> Result<(), SceneReadError> {
        let mut words = directive.split_ascii_whitespace();
        let command = words.next().unwrap_or_default();
        let name = words.next().unwrap_or_default();
        match command {
            "ifdef" => self.conditions.push(self.defined.contains(name)),
            "ifndef" => self.conditions.push(!self.defined.contains(name)),
            "else" => {
                if let Some(condition) = self.conditions.last_mut() {
                    *condition = !*condition;
                }
            }
            "endif" => {
                self.conditions.pop();
            }
            _ if self.conditions.contains(&false) => {}
            "define" => {
                self.defined.insert(name.to_owned());
            }
            "include" => {
                let file = directive["include".len()..].trim();
                let file = file.trim_matches(['"', '<', '>']);
                if depth == 0 {
                    self.topology.includes.push(file.to_owned());
                }
                let included = path.with_file_name(file);
                let is_new = !self.files.contains(&included);
                if depth < MAX_DEPTH && is_new && included.is_file() {
                    self.file(&included, depth + 1)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// A row of a section.
    fn row(&mut self, content: &str, comment: &str) -> Result<(), String> {
        let mut words = content.split_ascii_whitespace();
        match self.section.as_str() {
            "moleculetype" => {
                let name = words.next().unwrap_or_default().to_lowercase();
                self.atom_counts.insert(name.clone(), 0);
                self.current_type = Some(name);
            }
            "atoms" => {
                let current = self.current_type.as_ref();
                let count = current.and_then(|name| self.atom_counts.get_mut(name));
                if let Some(count) = count {
                    *count += 1;
                }
            }
            "molecules" => {
                let name = words.next().unwrap_or_default();
                let count = words.next().unwrap_or_default();
                let count = count.parse().map_err(|_| {
                    format!(
                        "expected a molecule type and the number of its molecules, not '{content}'"
                    )
                })?;
                self.topology.molecules.push(MoleculeCount {
                    name: name.to_owned(),
                    count,
                    atoms: atoms_of_comment(comment),
                });
            }
            _ => {}
        }
        Ok(())
    }
}

/// The number in our comment `; 134 atoms each`.
fn atoms_of_comment(comment: &str) -> Option<u64> {
    let number = comment.trim().strip_suffix("atoms each")?;
    number.trim().parse().ok()
}

/// The text of a file, with replacements for invalid characters.
fn read_text(path: &Path) -> io::Result<String> {
    let mut bytes = Vec::new();
    File::open(path)?.take(MAX_BYTES).read_to_end(&mut bytes)?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}
