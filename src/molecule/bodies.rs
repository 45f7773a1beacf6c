//! From a structure to rigid bodies: one template, parts of a file, copies of an assembly.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DMat3, DQuat};
use serde::{Deserialize, Serialize};
use smol_str::SmolStr;

use super::error::MoleculeError;
use super::options::{AssemblyChoice, LoadOptions, ModelChoice};
use super::select::TemplateParts;
use super::structure::{Assembly, Operator, Structure};
use super::template::MoleculeTemplate;
use crate::pose::Pose;

/// Most atoms of an assembly as one body or split into parts: a whole virus has some tens of
/// millions.
pub const MAX_ASSEMBLY_ATOMS: usize = 100_000_000;

/// How far `R Rᵀ` may be from the identity: files have five to six decimals.
const ROTATION_TOLERANCE: f64 = 1.0e-3;

/// What makes a part of a file a body of its own; see [`Structure::split_by`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[non_exhaustive]
pub enum SplitBy {
    /// Each chain of each model.
    Chain,
    /// Each residue: for lipids, waters and ligands.
    Residue,
    /// Each model. Takes all models unless the options name one.
    Model,
}

/// One body of a file that was split: its shape, and where the file has it.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MoleculePart {
    /// The shape. Copies by assembly operators share it.
    pub template: Arc<MoleculeTemplate>,
    /// Where it is in the frame of the file.
    pub pose: Pose,
}

/// Copies of one shape; see [`Structure::instances`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MoleculeInstances {
    /// The shape.
    pub template: Arc<MoleculeTemplate>,
    /// Where the copies are in the frame of the file, in the order of the operators.
    pub poses: Vec<Pose>,
}

/// Chains that an operator copies; `None` means all.
type ChainSet<'a> = Option<&'a [SmolStr]>;

/// Atoms that are copied together, and where the copies go.
struct Copies {
    atoms: Vec<u32>,
    motions: Vec<Pose>,
}

impl Structure {
    /// One rigid body of all that the options keep.
    ///
    /// # Errors
    /// [`MoleculeError`] if nothing is left, if something that was asked for is
    /// not there, or if the options ask for the copies of an assembly as bodies.
    pub fn template(&self, options: &LoadOptions) -> Result<MoleculeTemplate, MoleculeError> {
        let name = self.name().to_owned();
        match &options.assembly {
            AssemblyChoice::None => {
                let atoms = self.selected(options)?;
                self.template_of(name, &atoms, options.radius_scale)
            }
            AssemblyChoice::OneBody(id) => self.assembled(name, id, options),
            AssemblyChoice::Instances(id) => Err(MoleculeError::SeveralBodies {
                file: self.source.clone(),
                assembly: id.clone(),
            }),
        }
    }

    /// One body for each chain, residue or model, each where the file has it.
    ///
    /// With an assembly in the options, each part is copied by the operators
    /// that apply to it; the copies share their template.
    ///
    /// ```
    /// use bevy_rapier_molecules::prelude::*;
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
        let all = self.copies(&options)?;
        if let AssemblyChoice::OneBody(id) | AssemblyChoice::Instances(id) = &options.assembly {
            self.check_size(id, &all)?;
        }
        let mut parts = Vec::new();
        for copies in all {
            for atoms in self.groups(by, &copies.atoms) {
                let name = self.part_name(by, atoms[0]);
                let template = Arc::new(self.template_of(name, &atoms, options.radius_scale)?);
                parts.extend(copies.motions.iter().map(|motion| MoleculePart {
                    pose: *motion * template.file_pose(),
                    template: Arc::clone(&template),
                }));
            }
        }
        Ok(parts)
    }

    /// The copies of an assembly: one template and one pose for each operator.
    ///
    /// Operators that copy different chains give several entries, one for each
    /// set of chains. Without an assembly in the options, or with one as one
    /// body, there is one entry with one pose.
    ///
    /// # Errors
    /// [`MoleculeError`] as for [`template`](Self::template), and if an operator
    /// is not a rotation.
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
                let template = self.template_of(name, &copies.atoms, options.radius_scale)?;
                let place = |motion: &Pose| *motion * template.file_pose();
                Ok(MoleculeInstances {
                    poses: copies.motions.iter().map(place).collect(),
                    template: Arc::new(template),
                })
            })
            .collect()
    }

    /// The atoms to copy, grouped by the operators that copy them; at least one group.
    fn copies(&self, options: &LoadOptions) -> Result<Vec<Copies>, MoleculeError> {
        let selected = self.selected(options)?;
        let (AssemblyChoice::OneBody(id) | AssemblyChoice::Instances(id)) = &options.assembly
        else {
            return Ok(vec![Copies {
                atoms: selected,
                motions: vec![Pose::IDENTITY],
            }]);
        };
        let assembly = self.assembly(id)?;
        let mut groups: Vec<(ChainSet<'_>, Vec<Pose>)> = Vec::new();
        let mut group_of: HashMap<ChainSet<'_>, usize> = HashMap::new();
        for operator in &assembly.operators {
            let motion = self.motion(assembly, operator)?;
            let chains = operator.chains.as_deref();
            let group = *group_of.entry(chains).or_insert_with(|| {
                groups.push((chains, Vec::new()));
                groups.len() - 1
            });
            groups[group].1.push(motion);
        }
        let mut all = Vec::new();
        for (chains, motions) in groups {
            let atoms = self.in_chains(&selected, chains);
            if !atoms.is_empty() {
                all.push(Copies { atoms, motions });
            }
        }
        if all.is_empty() {
            return Err(self.nothing_left());
        }
        Ok(all)
    }

    /// An assembly as one body.
    fn assembled(
        &self,
        name: String,
        id: &str,
        options: &LoadOptions,
    ) -> Result<MoleculeTemplate, MoleculeError> {
        let all = self.copies(options)?;
        self.check_size(id, &all)?;
        let mut parts = TemplateParts::default();
        for copies in &all {
            for motion in &copies.motions {
                parts.append(self, &copies.atoms, options.radius_scale, |position| {
                    motion.transform_point(position)
                });
            }
        }
        Ok(parts.finish(name)?)
    }

    /// Fails if the copies together have more atoms than are allowed.
    fn check_size(&self, id: &str, all: &[Copies]) -> Result<(), MoleculeError> {
        let atoms: usize = all
            .iter()
            .map(|copies| copies.atoms.len().saturating_mul(copies.motions.len()))
            .fold(0, usize::saturating_add);
        if atoms > MAX_ASSEMBLY_ATOMS {
            return Err(MoleculeError::AssemblyTooLarge {
                file: self.source.clone(),
                assembly: id.to_owned(),
                limit: MAX_ASSEMBLY_ATOMS,
            });
        }
        Ok(())
    }

    fn assembly(&self, id: &str) -> Result<&Assembly, MoleculeError> {
        let found = self.assemblies.iter().find(|assembly| assembly.id == id);
        found.ok_or_else(|| MoleculeError::UnknownAssembly {
            file: self.source.clone(),
            asked: id.to_owned(),
            known: self
                .assemblies
                .iter()
                .map(|assembly| assembly.id.clone())
                .collect(),
        })
    }

    /// Those of `atoms` that are in one of the (label) chains.
    fn in_chains(&self, atoms: &[u32], chains: ChainSet<'_>) -> Vec<u32> {
        let Some(chains) = chains else {
            return atoms.to_vec();
        };
        let chains: std::collections::HashSet<&SmolStr> = chains.iter().collect();
        let wanted: Vec<bool> = self
            .label_chains
            .iter()
            .map(|chain| chains.contains(chain))
            .collect();
        let is_in = |index: &u32| wanted[self.atoms[*index as usize].residue as usize];
        atoms.iter().copied().filter(is_in).collect()
    }

    /// The rigid motion of an operator, if it is one.
    fn motion(&self, assembly: &Assembly, operator: &Operator) -> Result<Pose, MoleculeError> {
        let rotation = proper_rotation(operator.rotation);
        let rotation = rotation.map_err(|why| MoleculeError::NotARotation {
            file: self.source.clone(),
            assembly: assembly.id.clone(),
            operator: operator.id.clone(),
            why,
        })?;
        Ok(Pose::new(
            operator.translation.as_vec3(),
            rotation.as_quat(),
        ))
    }

    /// The parts of `atoms`, in the order of their first atoms.
    fn groups(&self, by: SplitBy, atoms: &[u32]) -> Vec<Vec<u32>> {
        let mut groups: Vec<Vec<u32>> = Vec::new();
        let mut group_of: HashMap<(i32, u32, &str), usize> = HashMap::new();
        for &index in atoms {
            let atom = &self.atoms[index as usize];
            let key = match by {
                SplitBy::Chain => {
                    let chain = self.residues[atom.residue as usize].chain.as_str();
                    (atom.model, 0, chain)
                }
                SplitBy::Residue => (0, atom.residue, ""),
                SplitBy::Model => (atom.model, 0, ""),
            };
            let group = *group_of.entry(key).or_insert_with(|| {
                groups.push(Vec::new());
                groups.len() - 1
            });
            groups[group].push(index);
        }
        groups
    }

    fn part_name(&self, by: SplitBy, first_atom: u32) -> String {
        let atom = &self.atoms[first_atom as usize];
        let residue = &self.residues[atom.residue as usize];
        let name = self.name();
        match by {
            SplitBy::Chain => format!("{name} {}", residue.chain),
            SplitBy::Residue => format!(
                "{name} {} {}{}",
                residue.name, residue.chain, residue.number
            ),
            SplitBy::Model => format!("{name} {}", atom.model),
        }
    }
}

/// The rotation that a matrix is, or what else it does.
fn proper_rotation(matrix: DMat3) -> Result<DQuat, &'static str> {
    let error = matrix * matrix.transpose() - DMat3::IDENTITY;
    let largest = error
        .to_cols_array()
        .into_iter()
        .fold(0.0, |a: f64, b| a.max(b.abs()));
    if !matrix.is_finite() || largest > ROTATION_TOLERANCE {
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
    fn only_rotations_are_rotations() {
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
