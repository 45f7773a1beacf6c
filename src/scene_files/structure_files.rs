//! [`StructureFiles`]: structure files that a file of placed molecules refers to.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use glam::{DVec3, Vec3};

use super::{ReadSceneOptions, Scene, SceneFormat, SceneReadError, gromacs};
use crate::molecule::{
    AssemblyChoice, Atom, LoadOptions, MoleculeTemplate, Residue, Structure, read_bytes,
};

/// Extensions that are tried for names without one.
const EXTENSIONS: [&str; 8] = [
    "pdb", "cif", "bcif", "ent", "gro", "pdb.gz", "cif.gz", "bcif.gz",
];

/// A structure file as one molecule.
#[derive(Clone, Debug)]
pub(super) struct StructureFile {
    /// The loaded part of the file.
    pub template: Arc<MoleculeTemplate>,
    /// Positions of all atoms of the file in its frame, nm.
    pub positions: Arc<[Vec3]>,
}

impl StructureFile {
    /// Mean of all atoms of the file, nm.
    pub fn mean(&self) -> DVec3 {
        mean(self.positions.iter().map(|position| position.as_dvec3()))
    }
}

/// The unweighted mean of points; zero without any.
pub(super) fn mean(points: impl ExactSizeIterator<Item = DVec3>) -> DVec3 {
    let count = points.len().max(1) as f64;
    points.sum::<DVec3>() / count
}

/// Reads structure files by name, each once.
pub(super) struct StructureFiles<'a> {
    options: &'a ReadSceneOptions,
    /// Folder of the file that refers to them.
    folder: PathBuf,
    /// By path, with or without waters and hydrogens.
    read: HashMap<(PathBuf, bool, bool), StructureFile>,
}

impl<'a> StructureFiles<'a> {
    pub fn new(source: &str, options: &'a ReadSceneOptions) -> Self {
        Self {
            options,
            folder: Path::new(source)
                .parent()
                .map(Path::to_owned)
                .unwrap_or_default(),
            read: HashMap::new(),
        }
    }

    /// The file of this name: a path from the folder of the file that refers to it, else the path
    /// or the bare name in one of the structure folders. None if there is no such file.
    ///
    /// If the number of atoms is known, waters and hydrogens are loaded or not so that it fits, if
    /// possible.
    pub fn find(
        &mut self,
        name: &str,
        atoms: Option<usize>,
    ) -> Result<Option<StructureFile>, SceneReadError> {
        let Some(path) = self.path_of(name) else {
            return Ok(None);
        };
        let LoadOptions {
            waters, hydrogens, ..
        } = self.options.load;
        let first = self.read_once(&path, waters, hydrogens)?;
        let Some(atoms) = atoms else {
            return Ok(Some(first));
        };
        let others = [
            (waters, hydrogens),
            (!waters, hydrogens),
            (waters, !hydrogens),
            (!waters, !hydrogens),
        ];
        for (waters, hydrogens) in others {
            // Without all of its atoms, a file may have none.
            if let Ok(file) = self.read_once(&path, waters, hydrogens)
                && file.template.atom_count() == atoms
            {
                return Ok(Some(file));
            }
        }
        Ok(Some(first))
    }

    fn read_once(
        &mut self,
        path: &Path,
        waters: bool,
        hydrogens: bool,
    ) -> Result<StructureFile, SceneReadError> {
        let key = (path.to_owned(), waters, hydrogens);
        if let Some(known) = self.read.get(&key) {
            return Ok(known.clone());
        }
        let file = path.to_string_lossy().into_owned();
        let bytes = std::fs::read(path).map_err(|source| SceneReadError::Io {
            file: file.clone(),
            source,
        })?;
        let mut options = self.options.clone();
        options.load.waters = waters;
        options.load.hydrogens = hydrogens;
        let read = read_structure_file(&bytes, &file, &options)?;
        self.read.insert(key, read.clone());
        Ok(read)
    }

    /// The error for a file that [`find`](Self::find) did not find.
    pub fn missing(&self, source: &str, place: String, name: &str) -> SceneReadError {
        let own = if self.folder.as_os_str().is_empty() {
            PathBuf::from(".")
        } else {
            self.folder.clone()
        };
        let folders = std::iter::once(own).chain(self.options.structure_folders.iter().cloned());
        SceneReadError::MissingStructure {
            file: source.to_owned(),
            place,
            name: name.to_owned(),
            folders: folders.collect(),
        }
    }

    fn path_of(&self, name: &str) -> Option<PathBuf> {
        // Paths of other systems have other separators.
        let bare = name.rsplit(['/', '\\']).next().unwrap_or(name);
        if bare.is_empty() {
            return None;
        }
        let others = self.options.structure_folders.iter();
        let others = others.flat_map(|folder| [folder.join(name), folder.join(bare)]);
        let own = [self.folder.join(name), self.folder.join(bare)];
        own.into_iter().chain(others).find_map(|path| {
            let extended = EXTENSIONS.iter().map(|extension| {
                let mut path = path.clone().into_os_string();
                path.push(format!(".{extension}"));
                PathBuf::from(path)
            });
            // Devices and pipes may have no end.
            let mut candidates = std::iter::once(path.clone()).chain(extended);
            candidates.find(|path| path.is_file())
        })
    }
}

/// Reads the content of a structure file of any supported format as one molecule.
pub(super) fn read_structure_file(
    bytes: &[u8],
    source: &str,
    options: &ReadSceneOptions,
) -> Result<StructureFile, SceneReadError> {
    if SceneFormat::from_name(source) == Some(SceneFormat::Gro) {
        let scene = gromacs::read(bytes, source, options)?;
        return Ok(of_template(merged(source, &scene)?));
    }
    let structure = read_bytes(bytes, source, &options.load)?;
    of_structure(&structure, &options.load)
}

/// All atoms of a structure as one molecule.
pub(super) fn of_structure(
    structure: &Structure,
    load: &LoadOptions,
) -> Result<StructureFile, SceneReadError> {
    let load = LoadOptions {
        assembly: AssemblyChoice::None,
        ..load.clone()
    };
    let atoms = structure.atoms().iter();
    Ok(StructureFile {
        template: Arc::new(structure.template(&load)?),
        positions: atoms.map(|atom| atom.position).collect(),
    })
}

fn of_template(template: MoleculeTemplate) -> StructureFile {
    let center = template.file_pose().position;
    let positions = template.positions().iter().map(|p| *p + center).collect();
    StructureFile {
        template: Arc::new(template),
        positions,
    }
}

/// All molecules of a scene as one.
fn merged(source: &str, scene: &Scene) -> Result<MoleculeTemplate, SceneReadError> {
    let mut atoms = Vec::new();
    let mut residues: Vec<Residue> = Vec::new();
    for (template, pose) in scene.instances() {
        let first = residues.len() as u32;
        residues.extend_from_slice(template.residues());
        atoms.extend((0..template.atom_count()).map(|atom| Atom {
            position: pose.transform_point(template.positions()[atom]),
            radius: template.radii()[atom],
            element: template.elements()[atom],
            name: template.atom_names()[atom].clone(),
            residue: first + template.residue_indices()[atom],
        }));
    }
    let name = Path::new(source).file_stem().unwrap_or_default();
    let template = MoleculeTemplate::new(name.to_string_lossy(), atoms, residues);
    template.map_err(|error| SceneReadError::Molecule(error.into()))
}

/// The template of balls (x, y, z, radius, nm), shared with earlier ones.
#[derive(Default)]
pub(super) struct CoarseTemplates {
    known: Vec<(Vec<[f32; 4]>, Arc<MoleculeTemplate>)>,
}

impl CoarseTemplates {
    /// # Errors
    /// A sentence if a ball is invalid.
    pub fn get(&mut self, name: &str, balls: &[[f32; 4]]) -> Result<Arc<MoleculeTemplate>, String> {
        let known = self.known.iter().find(|(other, _)| other == balls);
        if let Some((_, template)) = known {
            return Ok(Arc::clone(template));
        }
        let spheres: Vec<(Vec3, f32)> = balls
            .iter()
            .map(|&[x, y, z, radius]| (Vec3::new(x, y, z), radius))
            .collect();
        let template = MoleculeTemplate::coarse(name, &spheres);
        let template = Arc::new(template.map_err(|error| error.to_string())?);
        self.known.push((balls.to_vec(), Arc::clone(&template)));
        Ok(template)
    }
}
