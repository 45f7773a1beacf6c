//! Which atoms of a structure the load options keep, and the template they make.

use std::collections::{HashMap, HashSet};

use super::error::MoleculeError;
use super::options::{LoadOptions, ModelChoice};
use super::pdb_element::is_water;
use super::structure::{Structure, StructureAtom};
use super::template::{Atom, MoleculeTemplate};
use super::{Element, Residue};

impl Structure {
    /// Indices of the atoms that the options keep, in file order; at least one.
    pub(super) fn selected(&self, options: &LoadOptions) -> Result<Vec<u32>, MoleculeError> {
        let scale = options.radius_scale;
        if !(scale.is_finite() && scale > 0.0) {
            return Err(MoleculeError::BadRadiusScale {
                file: self.source.clone(),
                scale,
            });
        }
        let model = self.chosen_model(options.model)?;
        let keep_residue = self.chosen_residues(options)?;
        let mut kept: Vec<u32> = self
            .atoms
            .iter()
            .enumerate()
            .filter(|(_, atom)| {
                model.is_none_or(|model| model == atom.model)
                    && keep_residue[atom.residue as usize]
                    && (options.hydrogens || atom.element != Element::H)
            })
            .map(|(index, _)| index as u32)
            .collect();
        self.drop_alternates(&mut kept);
        if kept.is_empty() {
            return Err(self.nothing_left());
        }
        Ok(kept)
    }

    pub(super) fn nothing_left(&self) -> MoleculeError {
        MoleculeError::NothingLeft {
            file: self.source.clone(),
            atoms: self.atoms.len(),
        }
    }

    /// The one model to keep; `None` means all.
    fn chosen_model(&self, choice: ModelChoice) -> Result<Option<i32>, MoleculeError> {
        match choice {
            ModelChoice::All => Ok(None),
            ModelChoice::First => Ok(self.models.first().copied()),
            ModelChoice::Number(asked) if self.models.contains(&asked) => Ok(Some(asked)),
            ModelChoice::Number(asked) => Err(MoleculeError::UnknownModel {
                file: self.source.clone(),
                asked,
                known: self.models.clone(),
            }),
        }
    }

    /// For each residue, whether its chain and kind are wanted.
    fn chosen_residues(&self, options: &LoadOptions) -> Result<Vec<bool>, MoleculeError> {
        let wanted: Option<HashSet<&str>> = options
            .chains
            .as_ref()
            .map(|chains| chains.iter().map(String::as_str).collect());
        if let Some(asked) = &options.chains {
            let known = self.chains();
            for chain in asked {
                if !known.iter().any(|name| name == chain) {
                    return Err(MoleculeError::UnknownChain {
                        file: self.source.clone(),
                        asked: chain.clone(),
                        known,
                    });
                }
            }
        }
        let keep = |residue: &Residue| {
            wanted
                .as_ref()
                .is_none_or(|chains| chains.contains(residue.chain.as_str()))
                && (options.waters || !is_water(&residue.name))
        };
        Ok(self.residues.iter().map(keep).collect())
    }

    /// Leaves one location of each atom: the highest occupancy, the first of equals.
    ///
    /// Atoms without alternate locations stay, even if their names repeat: many
    /// ligand files call every carbon `C`.
    fn drop_alternates(&self, kept: &mut Vec<u32>) {
        let atom = |index: u32| &self.atoms[index as usize];
        if kept.iter().all(|&index| atom(index).altloc.is_none()) {
            return;
        }
        let losers = self.losing_residues(kept);
        kept.retain(|&index| !losers.contains(&atom(index).residue));

        let key = |index: u32| (atom(index).residue, atom(index).name.as_str());
        let several: HashSet<(u32, &str)> = kept
            .iter()
            .filter(|&&index| atom(index).altloc.is_some())
            .map(|&index| key(index))
            .collect();
        let mut best: HashMap<(u32, &str), u32> = HashMap::new();
        for &index in kept.iter() {
            if several.contains(&key(index)) {
                let winner = best.entry(key(index)).or_insert(index);
                if atom(index).occupancy > atom(*winner).occupancy {
                    *winner = index;
                }
            }
        }
        kept.retain(|&index| best.get(&key(index)).is_none_or(|&winner| winner == index));
    }

    /// Residues that lose against another kind of residue at the same place.
    ///
    /// A crystal may hold a serine in some molecules where others have a
    /// threonine: neighboring residues with the same number, different names,
    /// and an alternate location on every atom. The higher mean occupancy wins.
    fn losing_residues(&self, kept: &[u32]) -> HashSet<u32> {
        struct Tally {
            model: i32,
            atoms: f32,
            occupancy: f32,
            all_alternate: bool,
        }
        let mut tallies: HashMap<u32, Tally> = HashMap::new();
        for &index in kept {
            let StructureAtom {
                residue,
                model,
                altloc,
                occupancy,
                ..
            } = self.atoms[index as usize];
            let tally = tallies.entry(residue).or_insert(Tally {
                model,
                atoms: 0.0,
                occupancy: 0.0,
                all_alternate: true,
            });
            tally.atoms += 1.0;
            tally.occupancy += occupancy;
            tally.all_alternate &= altloc.is_some();
        }
        tallies.retain(|_, tally| tally.all_alternate);

        let mut losers = HashSet::new();
        let mut order: Vec<u32> = tallies.keys().copied().collect();
        order.sort_unstable();
        let mut champion: Option<u32> = None;
        for pair in order {
            let rival = champion.filter(|&other| {
                let (a, b) = (
                    &self.residues[other as usize],
                    &self.residues[pair as usize],
                );
                tallies[&other].model == tallies[&pair].model
                    && (&a.chain, a.number, a.insertion_code)
                        == (&b.chain, b.number, b.insertion_code)
                    && a.name != b.name
            });
            champion = Some(pair);
            if let Some(other) = rival {
                let mean = |residue: u32| tallies[&residue].occupancy / tallies[&residue].atoms;
                if mean(pair) > mean(other) {
                    losers.insert(other);
                } else {
                    losers.insert(pair);
                    champion = Some(other);
                }
            }
        }
        losers
    }

    /// The template of some atoms, placed where the file has them.
    pub(super) fn template_of(
        &self,
        name: String,
        indices: &[u32],
        radius_scale: f32,
    ) -> Result<MoleculeTemplate, MoleculeError> {
        let mut parts = TemplateParts::default();
        parts.append(self, indices, radius_scale, |position| position);
        Ok(parts.finish(name)?)
    }
}

/// Atoms and residues on their way into a template.
#[derive(Default)]
pub(super) struct TemplateParts {
    atoms: Vec<Atom>,
    residues: Vec<Residue>,
}

impl TemplateParts {
    /// Adds a copy of some atoms, with residues of their own, moved by `place`.
    pub(super) fn append(
        &mut self,
        structure: &Structure,
        indices: &[u32],
        radius_scale: f32,
        place: impl Fn(glam::Vec3) -> glam::Vec3,
    ) {
        let mut numbers: HashMap<u32, u32> = HashMap::new();
        let mut last = None;
        self.atoms.reserve(indices.len());
        for &index in indices {
            let atom = &structure.atoms[index as usize];
            let residue = match last {
                Some((old, new)) if old == atom.residue => new,
                _ => *numbers.entry(atom.residue).or_insert_with(|| {
                    self.residues
                        .push(structure.residues[atom.residue as usize].clone());
                    self.residues.len() as u32 - 1
                }),
            };
            last = Some((atom.residue, residue));
            self.atoms.push(Atom {
                position: place(atom.position),
                radius: atom.element.vdw_radius() * radius_scale,
                element: atom.element,
                name: atom.name.clone(),
                residue,
            });
        }
    }

    pub(super) fn finish(self, name: String) -> Result<MoleculeTemplate, super::TemplateError> {
        MoleculeTemplate::new(name, self.atoms, self.residues)
    }
}
