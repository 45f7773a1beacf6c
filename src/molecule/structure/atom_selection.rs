//! Selects the atoms of a structure that the load options include.

use std::collections::{HashMap, HashSet};

use super::{Structure, StructureAtom};
use crate::molecule::element_from_atom_name::is_water;
use crate::molecule::error::MoleculeError;
use crate::molecule::load::{LoadOptions, ModelChoice};
use crate::molecule::{Element, Residue};

/// Residue name of the points that mark the membrane in files of the OPM database: not atoms.
const MEMBRANE_MARKER: &str = "DUM";

impl Structure {
    /// Indices of the atoms that the options include, in file order; at least one.
    pub(super) fn selected_atoms(&self, options: &LoadOptions) -> Result<Vec<u32>, MoleculeError> {
        let scale = options.radius_scale;
        if !(scale.is_finite() && scale > 0.0) {
            return Err(MoleculeError::InvalidRadiusScale {
                file: self.source.clone(),
                scale,
            });
        }
        let model = self.selected_model(options.model)?;
        let residues = self.selected_residues(options)?;
        let mut selected: Vec<u32> = self
            .atoms
            .iter()
            .enumerate()
            .filter(|(_, atom)| {
                model.is_none_or(|model| model == atom.model)
                    && residues[atom.residue as usize]
                    && (options.hydrogens || atom.element != Element::H)
            })
            .map(|(index, _)| index as u32)
            .collect();
        self.remove_alternate_locations(&mut selected);
        if selected.is_empty() {
            return Err(self.no_atoms_selected());
        }
        Ok(selected)
    }

    pub(super) fn no_atoms_selected(&self) -> MoleculeError {
        MoleculeError::NoAtomsSelected {
            file: self.source.clone(),
            atoms: self.atoms.len(),
        }
    }

    /// The selected model; `None` means all.
    fn selected_model(&self, choice: ModelChoice) -> Result<Option<i32>, MoleculeError> {
        match choice {
            ModelChoice::All => Ok(None),
            ModelChoice::First => Ok(self.models.first().copied()),
            ModelChoice::Number(number) if self.models.contains(&number) => Ok(Some(number)),
            ModelChoice::Number(number) => Err(self.not_in_file("model", number, &self.models)),
        }
    }

    /// For each residue, whether the options include it.
    fn selected_residues(&self, options: &LoadOptions) -> Result<Vec<bool>, MoleculeError> {
        if let Some(requested) = &options.chains {
            let available = self.chains();
            for chain in requested {
                if !available.iter().any(|name| name == chain) {
                    return Err(self.not_in_file("chain", chain, available));
                }
            }
        }
        let chains: Option<HashSet<&str>> = options
            .chains
            .as_ref()
            .map(|chains| chains.iter().map(String::as_str).collect());
        let is_selected = |residue: &Residue| {
            chains
                .as_ref()
                .is_none_or(|chains| chains.contains(residue.chain.as_str()))
                && (options.waters || !is_water(&residue.name))
                && residue.name != MEMBRANE_MARKER
        };
        Ok(self.residues.iter().map(is_selected).collect())
    }

    /// Keeps one location per atom: the one with the highest occupancy, the first of equals.
    ///
    /// Atoms without alternate locations are kept even if their names repeat: many ligand files
    /// call every carbon `C`.
    fn remove_alternate_locations(&self, selected: &mut Vec<u32>) {
        let atom = |index: u32| &self.atoms[index as usize];
        if selected.iter().all(|&index| atom(index).altloc.is_none()) {
            return;
        }
        let alternates = self.alternate_residues(selected);
        selected.retain(|&index| !alternates.contains(&atom(index).residue));

        let key = |index: u32| (atom(index).residue, atom(index).name.as_str());
        let with_alternates: HashSet<(u32, &str)> = selected
            .iter()
            .filter(|&&index| atom(index).altloc.is_some())
            .map(|&index| key(index))
            .collect();
        let mut best: HashMap<(u32, &str), u32> = HashMap::new();
        for &index in selected.iter() {
            if with_alternates.contains(&key(index)) {
                let best = best.entry(key(index)).or_insert(index);
                if atom(index).occupancy > atom(*best).occupancy {
                    *best = index;
                }
            }
        }
        selected.retain(|&index| best.get(&key(index)).is_none_or(|&best| best == index));
    }

    /// Residues to remove because another residue at the same position has a higher occupancy.
    ///
    /// Some molecules of a crystal may have a serine where others have a threonine: adjacent
    /// residues with the same number, different names, and an alternate location on every atom.
    /// The residue with the higher mean occupancy is kept.
    fn alternate_residues(&self, selected: &[u32]) -> HashSet<u32> {
        struct ResidueOccupancy {
            model: i32,
            atoms: f32,
            occupancy: f32,
            all_alternate: bool,
        }
        let mut occupancies: HashMap<u32, ResidueOccupancy> = HashMap::new();
        for &index in selected {
            let StructureAtom {
                residue,
                model,
                altloc,
                occupancy,
                ..
            } = self.atoms[index as usize];
            let sum = occupancies.entry(residue).or_insert(ResidueOccupancy {
                model,
                atoms: 0.0,
                occupancy: 0.0,
                all_alternate: true,
            });
            sum.atoms += 1.0;
            sum.occupancy += occupancy;
            sum.all_alternate &= altloc.is_some();
        }
        occupancies.retain(|_, sum| sum.all_alternate);

        let mean = |residue: u32| occupancies[&residue].occupancy / occupancies[&residue].atoms;
        let same_position = |a: u32, b: u32| {
            let [first, second] = [a, b].map(|residue| &self.residues[residue as usize]);
            occupancies[&a].model == occupancies[&b].model
                && (&first.chain, first.number, first.insertion_code)
                    == (&second.chain, second.number, second.insertion_code)
                && first.name != second.name
        };
        let mut order: Vec<u32> = occupancies.keys().copied().collect();
        order.sort_unstable();
        let mut removed = HashSet::new();
        let mut kept: Option<u32> = None;
        for residue in order {
            match kept.filter(|&other| same_position(other, residue)) {
                Some(other) if mean(residue) <= mean(other) => {
                    removed.insert(residue);
                }
                other => {
                    removed.extend(other);
                    kept = Some(residue);
                }
            }
        }
        removed
    }
}
