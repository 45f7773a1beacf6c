//! Turns a structure into rigid bodies: one template, one per part, or copies of an assembly.

use std::collections::{HashMap, HashSet};
use std::hash::Hash;
use std::sync::Arc;

use glam::{DMat3, DQuat, Vec3};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::{Assembly, Operator, Structure};
use crate::molecule::Residue;
use crate::molecule::error::MoleculeError;
use crate::molecule::load::{AssemblyChoice, LoadOptions, ModelChoice};
use crate::molecule::template::{Atom, MoleculeTemplate};
use crate::pose::Pose;

/// Maximum number of atoms of an assembly as one body or split into parts. A complete virus has
/// some tens of millions.
const MAX_ASSEMBLY_ATOMS: usize = 100_000_000;

/// Tolerance of `R Rᵀ - 1`: files have five to six decimals.
const ROTATION_TOLERANCE: f64 = 1.0e-3;

/// The parts of a file that become separate bodies; see [`Structure::split_by`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SplitBy {
    /// Each chain of each model.
    Chain,
    /// Each residue: for lipids, waters and ligands.
    Residue,
    /// Each molecule of a file that [`export`](crate::export) wrote: in PDB files the atoms up to a
    /// `TER` row, in the other formats, and in files without such rows, each chain.
    Molecule,
    /// Each model. Loads all models unless the options name one.
    Model,
}

/// A part of a file as a body.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MoleculePart {
    /// The shape, shared with the copies made by assembly operators.
    pub template: Arc<MoleculeTemplate>,
    /// Pose in the frame of the file.
    pub pose: Pose,
}

/// Copies of one shape; see [`Structure::instances`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MoleculeInstances {
    /// The shape.
    pub template: Arc<MoleculeTemplate>,
    /// Poses of the copies in the frame of the file, in the order of the operators.
    pub poses: Vec<Pose>,
}

/// Atoms that are copied together, and the motions that copy them.
struct Copies {
    atoms: Vec<u32>,
    motions: Vec<Pose>,
}

impl Structure {
    /// One rigid body of all atoms that the options select.
    ///
    /// # Errors
    /// [`MoleculeError`] if no atom is selected, if the file lacks something that the options
    /// select, or if the options ask for the copies of an assembly as separate bodies.
    pub fn template(&self, options: &LoadOptions) -> Result<MoleculeTemplate, MoleculeError> {
        if let AssemblyChoice::Instances(id) = &options.assembly {
            return Err(MoleculeError::SeveralBodies {
                file: self.source.clone(),
                assembly: id.clone(),
            });
        }
        let copies = self.copies(options)?;
        self.check_assembly_size(options, &copies)?;
        self.template_of_copies(self.name().to_owned(), &copies, options.radius_scale)
    }

    /// One body per chain, residue, molecule or model, at its pose in the file.
    ///
    /// With an assembly in the options, each part is copied by the operators that apply to it;
    /// the copies share their template.
    ///
    /// ```
    /// use bevy_rapier_molecules::prelude::*;
    /// use bevy_rapier_molecules::molecule::{SplitBy, load_structure};
    ///
    /// let options = LoadOptions::default();
    /// let membrane = load_structure("assets/molecules/popc_bilayer.pdb", &options)?;
    /// let lipids = membrane.split_by(SplitBy::Residue, &options)?;
    /// assert_eq!(lipids.len(), 128);
    /// assert!(lipids.iter().all(|lipid| lipid.template.atom_count() == 134));
    /// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
    /// ```
    ///
    /// # Errors
    /// [`MoleculeError`] as for [`template`](Self::template).
    pub fn split_by(
        &self,
        by: SplitBy,
        options: &LoadOptions,
    ) -> Result<Vec<MoleculePart>, MoleculeError> {
        let mut options = options.clone();
        if by == SplitBy::Model && options.model == ModelChoice::First {
            options.model = ModelChoice::All;
        }
        let all_copies = self.copies(&options)?;
        self.check_assembly_size(&options, &all_copies)?;
        let mut parts = Vec::new();
        for copies in all_copies {
            for atoms in self.groups(by, &copies.atoms) {
                let name = self.part_name(by, atoms[0]);
                let template = Arc::new(self.template_of(name, atoms, options.radius_scale)?);
                parts.extend(copies.motions.iter().map(|motion| MoleculePart {
                    pose: *motion * template.file_pose(),
                    template: Arc::clone(&template),
                }));
            }
        }
        Ok(parts)
    }

    /// The copies of an assembly: one template, and one pose per operator.
    ///
    /// Operators that copy different chains give several entries, one per set of chains. Without
    /// an assembly in the options, or with one as one body, there is one entry with one pose.
    ///
    /// # Errors
    /// [`MoleculeError`] as for [`template`](Self::template), and if an operator is not a
    /// rotation.
    pub fn instances(
        &self,
        options: &LoadOptions,
    ) -> Result<Vec<MoleculeInstances>, MoleculeError> {
        if !matches!(options.assembly, AssemblyChoice::Instances(_)) {
            let template = Arc::new(self.template(options)?);
            let poses = vec![template.file_pose()];
            return Ok(vec![MoleculeInstances { template, poses }]);
        }
        self.copies(options)?
            .into_iter()
            .map(|copies| {
                let name = self.name().to_owned();
                let template = self.template_of(name, copies.atoms, options.radius_scale)?;
                let pose = |motion: &Pose| *motion * template.file_pose();
                Ok(MoleculeInstances {
                    poses: copies.motions.iter().map(pose).collect(),
                    template: Arc::new(template),
                })
            })
            .collect()
    }

    /// The selected atoms, grouped by the operators that copy them; at least one group.
    fn copies(&self, options: &LoadOptions) -> Result<Vec<Copies>, MoleculeError> {
        let selected = self.selected_atoms(options)?;
        let (AssemblyChoice::OneBody(id) | AssemblyChoice::Instances(id)) = &options.assembly
        else {
            return Ok(vec![Copies {
                atoms: selected,
                motions: vec![Pose::IDENTITY],
            }]);
        };
        let assembly = self.assembly(id)?;
        let mut motions = Vec::new();
        for operator in &assembly.operators {
            let motion = self.rigid_motion(assembly, operator)?;
            motions.push((operator.chains.as_deref(), motion));
        }
        let mut all_copies = Vec::new();
        for (chains, motions) in group_by_key(motions) {
            let atoms = self.atoms_in_chains(&selected, chains);
            if !atoms.is_empty() {
                all_copies.push(Copies { atoms, motions });
            }
        }
        if all_copies.is_empty() {
            return Err(self.no_atoms_selected());
        }
        Ok(all_copies)
    }

    /// Returns an error if the copies of an assembly have more than [`MAX_ASSEMBLY_ATOMS`].
    fn check_assembly_size(
        &self,
        options: &LoadOptions,
        all_copies: &[Copies],
    ) -> Result<(), MoleculeError> {
        let (AssemblyChoice::OneBody(id) | AssemblyChoice::Instances(id)) = &options.assembly
        else {
            return Ok(());
        };
        let atoms: usize = all_copies
            .iter()
            .map(|copies| copies.atoms.len().saturating_mul(copies.motions.len()))
            .fold(0, usize::saturating_add);
        if atoms > MAX_ASSEMBLY_ATOMS {
            return Err(MoleculeError::AssemblyTooLarge {
                file: self.source.clone(),
                assembly: id.clone(),
                limit: MAX_ASSEMBLY_ATOMS,
            });
        }
        Ok(())
    }

    pub(super) fn assembly(&self, id: &str) -> Result<&Assembly, MoleculeError> {
        let found = self.assemblies.iter().find(|assembly| assembly.id == id);
        let ids = self.assemblies.iter().map(|assembly| &assembly.id);
        found.ok_or_else(|| self.not_in_file("assembly", id, ids))
    }

    /// The `atoms` in these (label) chains; `None` means all.
    fn atoms_in_chains(&self, atoms: &[u32], chains: Option<&[SmolStr]>) -> Vec<u32> {
        let Some(chains) = chains else {
            return atoms.to_vec();
        };
        let chains: HashSet<&SmolStr> = chains.iter().collect();
        let in_chains: Vec<bool> = self
            .label_chains
            .iter()
            .map(|chain| chains.contains(chain))
            .collect();
        let is_in = |index: &u32| in_chains[self.atoms[*index as usize].residue as usize];
        atoms.iter().copied().filter(is_in).collect()
    }

    /// The motion of an operator.
    fn rigid_motion(
        &self,
        assembly: &Assembly,
        operator: &Operator,
    ) -> Result<Pose, MoleculeError> {
        let rotation = self.operator_rotation(assembly, operator)?;
        Ok(Pose::new(
            operator.translation.as_vec3(),
            rotation.as_quat(),
        ))
    }

    /// The rotation of an operator.
    pub(super) fn operator_rotation(
        &self,
        assembly: &Assembly,
        operator: &Operator,
    ) -> Result<DQuat, MoleculeError> {
        let rotation = proper_rotation(operator.rotation);
        rotation.map_err(|reason| MoleculeError::NotARotation {
            file: self.source.clone(),
            assembly: assembly.id.clone(),
            operator: operator.id.to_string(),
            reason,
        })
    }

    /// The parts of `atoms`, in the order of their first atoms.
    fn groups(&self, by: SplitBy, atoms: &[u32]) -> Vec<Vec<u32>> {
        let keyed = atoms.iter().map(|&index| {
            let atom = &self.atoms[index as usize];
            let key = match by {
                SplitBy::Molecule if self.is_terminated => {
                    (atom.model, self.terminators[atom.residue as usize], "")
                }
                SplitBy::Chain | SplitBy::Molecule => {
                    let chain = self.residues[atom.residue as usize].chain.as_str();
                    (atom.model, 0, chain)
                }
                SplitBy::Residue => (0, atom.residue, ""),
                SplitBy::Model => (atom.model, 0, ""),
            };
            (key, index)
        });
        let groups = group_by_key(keyed).into_iter();
        groups.map(|(_, atoms)| atoms).collect()
    }

    fn part_name(&self, by: SplitBy, first_atom: u32) -> String {
        let atom = &self.atoms[first_atom as usize];
        let residue = &self.residues[atom.residue as usize];
        let name = self.name();
        match by {
            SplitBy::Chain => format!("{name} {}", residue.chain),
            SplitBy::Residue | SplitBy::Molecule => format!(
                "{name} {} {}{}",
                residue.name, residue.chain, residue.number
            ),
            SplitBy::Model => format!("{name} {}", atom.model),
        }
    }

    /// The template of atoms at their positions in the file.
    pub(super) fn template_of(
        &self,
        name: String,
        atoms: Vec<u32>,
        radius_scale: f32,
    ) -> Result<MoleculeTemplate, MoleculeError> {
        let motions = vec![Pose::IDENTITY];
        self.template_of_copies(name, &[Copies { atoms, motions }], radius_scale)
    }

    /// The template of all copies together. Each copy has its own residues.
    fn template_of_copies(
        &self,
        name: String,
        all_copies: &[Copies],
        radius_scale: f32,
    ) -> Result<MoleculeTemplate, MoleculeError> {
        let mut atoms = Vec::new();
        let mut residues: Vec<Residue> = Vec::new();
        let mut has_radii = true;
        for copies in all_copies {
            for motion in &copies.motions {
                atoms.reserve(copies.atoms.len());
                let mut new_indices: HashMap<u32, u32> = HashMap::new();
                let mut last = None;
                for &index in &copies.atoms {
                    let atom = &self.atoms[index as usize];
                    let residue = match last {
                        Some((old, new)) if old == atom.residue => new,
                        _ => *new_indices.entry(atom.residue).or_insert_with(|| {
                            residues.push(self.residues[atom.residue as usize].clone());
                            residues.len() as u32 - 1
                        }),
                    };
                    last = Some((atom.residue, residue));
                    let radius = self.radii.get(index as usize).copied().flatten();
                    has_radii &= radius.is_some();
                    atoms.push(Atom {
                        position: moved(motion, atom.position),
                        radius: radius.unwrap_or(atom.element.vdw_radius() * radius_scale),
                        element: atom.element,
                        name: atom.name.clone(),
                        residue,
                    });
                }
            }
        }
        let mut template = if has_radii {
            MoleculeTemplate::new_maybe_coarse(name, atoms, residues)?
        } else {
            MoleculeTemplate::new(name, atoms, residues)?
        };
        template.set_load_warnings(self.warnings);
        Ok(template)
    }
}

/// Groups values by key, in the order of the first value of each group.
fn group_by_key<K: Copy + Eq + Hash, T>(
    values: impl IntoIterator<Item = (K, T)>,
) -> Vec<(K, Vec<T>)> {
    let mut groups: Vec<(K, Vec<T>)> = Vec::new();
    let mut group_of = HashMap::new();
    for (key, value) in values {
        let group = *group_of.entry(key).or_insert_with(|| {
            groups.push((key, Vec::new()));
            groups.len() - 1
        });
        groups[group].1.push(value);
    }
    groups
}

/// `point` moved by `motion`; exact, including the sign of zeros, if the motion is the identity.
fn moved(motion: &Pose, point: Vec3) -> Vec3 {
    if *motion == Pose::IDENTITY {
        point
    } else {
        motion.transform_point(point)
    }
}

/// The rotation of a matrix, or the reason why it is none.
pub(crate) fn proper_rotation(matrix: DMat3) -> Result<DQuat, &'static str> {
    let error = matrix * matrix.transpose() - DMat3::IDENTITY;
    let max_error = error
        .to_cols_array()
        .into_iter()
        .fold(0.0, |a: f64, b| a.max(b.abs()));
    if !matrix.is_finite() || max_error > ROTATION_TOLERANCE {
        return Err("it scales or shears");
    }
    if matrix.determinant() < 0.0 {
        return Err("it reflects");
    }
    Ok(DQuat::from_mat3(&matrix).normalize())
}

#[cfg(test)]
mod tests {
    use super::*;
    use glam::DVec3;

    #[test]
    fn scaling_shearing_and_reflecting_operators_are_rejected() {
        let turn = DMat3::from_rotation_z(0.3);
        assert!(
            proper_rotation(turn)
                .unwrap()
                .abs_diff_eq(DQuat::from_rotation_z(0.3), 1e-12)
        );
        assert!(proper_rotation(turn * 1.01).is_err());
        assert!(proper_rotation(DMat3::from_diagonal(DVec3::new(1.0, 1.0, -1.0))).is_err());
        assert!(proper_rotation(DMat3::ZERO).is_err());
        assert!(proper_rotation(DMat3::NAN).is_err());
    }
}
