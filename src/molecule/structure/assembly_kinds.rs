//! Kinds of molecules and their poses from the operators of an assembly.

use std::collections::HashMap;
use std::sync::Arc;

use glam::{DQuat, DVec3};
use smol_str::SmolStr;

use super::{Assembly, Operator, Structure};
use crate::molecule::error::MoleculeError;
use crate::molecule::load::LoadOptions;
use crate::molecule::template::MoleculeTemplate;
use crate::pose::Pose;

/// Number of atoms of all kinds in any case. Lists of chains that overlap can name the atoms of a
/// file many times.
const BASE_ATOMS: usize = 1_000_000;

/// Additional atoms of all kinds for each atom of the file.
const KIND_ATOMS_PER_ATOM: usize = 4;

/// Method of assemblies whose operators place molecules in a scene.
const SCENE_METHOD: &str = "CELLPACK";

/// Chains that are copied together.
pub(crate) struct AssemblyKind {
    /// The atoms.
    pub template: Arc<MoleculeTemplate>,
    /// Description of the entity of the first atom; empty if unknown.
    pub description: String,
    /// Poses of the copies, in the order of the operators.
    pub poses: Vec<Pose>,
}

/// The operators of one kind.
struct Motions<'a> {
    chains: Option<&'a [SmolStr]>,
    motions: Vec<(DQuat, DVec3)>,
}

impl Structure {
    /// The first assembly that is a scene of placed molecules, as cellPACK writes it.
    pub(crate) fn scene_assembly(&self) -> Option<&str> {
        let mut assemblies = self.assemblies.iter();
        let scene = assemblies.find(|assembly| assembly.method.eq_ignore_ascii_case(SCENE_METHOD));
        scene.map(|assembly| assembly.id.as_str())
    }

    /// The bodies of an assembly with the poses of their copies: the chains that each operator
    /// copies are a body. `name` returns the name of a template for the description of its entity.
    ///
    /// In contrast to [`instances`](Self::instances), which transforms in single precision, poses
    /// are those of the file to the last digit.
    pub(crate) fn assembly_kinds(
        &self,
        id: &str,
        options: &LoadOptions,
        name: impl Fn(&str) -> String,
    ) -> Result<Vec<AssemblyKind>, MoleculeError> {
        let assembly = self.assembly(id)?;
        let selected = self.selected_atoms(options)?;
        let mut atoms_of: HashMap<&SmolStr, Vec<u32>> = HashMap::new();
        for &index in &selected {
            let residue = self.atoms[index as usize].residue as usize;
            atoms_of
                .entry(&self.label_chains[residue])
                .or_default()
                .push(index);
        }
        let limit = BASE_ATOMS.saturating_add(KIND_ATOMS_PER_ATOM.saturating_mul(selected.len()));
        let mut total = 0_usize;
        let mut kinds = Vec::new();
        for Motions { chains, motions } in self.motions_by_chains(assembly)? {
            let atoms = match chains {
                None => selected.clone(),
                Some(chains) => {
                    let lists = || chains.iter().filter_map(|chain| atoms_of.get(chain));
                    let count = lists().map(Vec::len).fold(0, usize::saturating_add);
                    total = total.saturating_add(count);
                    if total > limit {
                        return Err(MoleculeError::AssemblyTooLarge {
                            file: self.source.clone(),
                            assembly: id.to_owned(),
                            limit,
                        });
                    }
                    let mut atoms: Vec<u32> = lists().flatten().copied().collect();
                    atoms.sort_unstable();
                    atoms.dedup();
                    atoms
                }
            };
            let Some(&first) = atoms.first() else {
                continue;
            };
            let description = self.description_of(first).to_owned();
            let template = self.template_of(name(&description), atoms, options.radius_scale)?;
            let center = template.file_pose().position.as_dvec3();
            let pose = |(rotation, translation): (DQuat, DVec3)| {
                let position = rotation * center + translation;
                Pose::new(position.as_vec3(), rotation.as_quat().normalize())
            };
            kinds.push(AssemblyKind {
                poses: motions.into_iter().map(pose).collect(),
                template: Arc::new(template),
                description,
            });
        }
        if kinds.is_empty() {
            return Err(self.no_atoms_selected());
        }
        Ok(kinds)
    }

    /// The operators of an assembly, grouped by the chains that they copy, in the order of the
    /// first operator of each group.
    fn motions_by_chains<'a>(
        &self,
        assembly: &'a Assembly,
    ) -> Result<Vec<Motions<'a>>, MoleculeError> {
        let mut groups: Vec<Motions<'a>> = Vec::new();
        let mut group_of: HashMap<Option<&[SmolStr]>, usize> = HashMap::new();
        // Long lists of chains are shared by consecutive operators, and compared once.
        let same_chains = |a: &Operator, b: &Operator| match (&a.chains, &b.chains) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (a, b) => a.is_none() && b.is_none(),
        };
        for run in assembly.operators.chunk_by(same_chains) {
            let chains = run[0].chains.as_deref();
            let group = *group_of.entry(chains).or_insert_with(|| {
                groups.push(Motions {
                    chains,
                    motions: Vec::new(),
                });
                groups.len() - 1
            });
            let motions = &mut groups[group].motions;
            motions.reserve_exact(run.len());
            for operator in run {
                let rotation = self.operator_rotation(assembly, operator)?;
                motions.push((rotation, operator.translation));
            }
        }
        Ok(groups)
    }

    /// Description of the entity of an atom.
    fn description_of(&self, atom: u32) -> &str {
        let residue = self.atoms[atom as usize].residue as usize;
        let entity = self.entity_of_chain.get(&self.label_chains[residue]);
        let description = entity.and_then(|entity| self.entities.get(entity));
        description.map_or("", String::as_str)
    }
}
