//! Rotatable bonds, by the distances of atoms.
//!
//! A bond is rotatable if
//! 1. it is in no ring, of any size,
//! 2. both ends have another heavy neighbor: turning a methyl or a hydroxyl group moves hydrogens
//!    only,
//! 3. both ends are C, N, O, P, S or Se,
//! 4. it is a single bond. Between C and N, it is at least as long as the middle between a single
//!    and a double bond. All other bonds between atoms with two heavy neighbors are single bonds: a
//!    double bond of O or S ends there, and P has double bonds to such ends only.
//!
//! Distances do not show everything. Amides count as rigid, because their C–N bond of 0.133 nm is
//! nearer to a double bond. Esters and single bonds of conjugated systems count as rotatable,
//! although they prefer to be planar. In a poorly resolved structure, or a snapshot of a simulation
//! with bonds that vibrate, single lengths may be on the wrong side.

use super::{Element, MoleculeTemplate, bonds};

/// Minimum length of a single bond between C and N, nm: the mean of the single and the double bond
/// (International Tables for Crystallography C, table 9.5.1.1).
const MIN_SINGLE_NM: [(Element, Element, f32); 3] = [
    // 0.153 and 0.134.
    (Element::C, Element::C, 0.1435),
    // 0.147 and 0.128.
    (Element::C, Element::N, 0.1375),
    // 0.142 and 0.125.
    (Element::N, Element::N, 0.1335),
];

/// Elements of rotatable bonds.
const ELEMENTS: [Element; 6] = [
    Element::C,
    Element::N,
    Element::O,
    Element::P,
    Element::S,
    Element::SE,
];

/// A bond that one side of a molecule turns about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RotatableBond {
    /// The two atoms. The side of the second one turns: the one with fewer atoms.
    pub atoms: [u32; 2],
    /// A heavy neighbor of each of the two atoms, which define the dihedral angle.
    pub neighbors: [u32; 2],
    /// The atoms that turn, sorted: the side of the second atom without that atom, which is on the
    /// axis.
    pub turned: Vec<u32>,
}

/// The rotatable bonds of a molecule, sorted by their atoms, the smaller index first.
///
/// Of two bonds, the atoms that turn about one contain all, or none, of those of the other. So
/// turning one bond changes no other dihedral angle, and the angles may be set in any order.
///
/// ```
/// use bevy_rapier_molecules::molecule::rotatable_bonds;
/// use bevy_rapier_molecules::prelude::*;
///
/// let lipid = load("assets/molecules/popc.pdb", &LoadOptions::default())?;
/// let bonds = rotatable_bonds(&lipid);
/// let names = |atom: u32| lipid.atom_names()[atom as usize].as_str();
/// assert!(bonds.iter().any(|bond| bond.atoms.map(names).contains(&"P")));
/// // Methyl groups turn hydrogens only.
/// let xylene = load("assets/molecules/p_xylene.pdb", &LoadOptions::default())?;
/// assert!(rotatable_bonds(&xylene).is_empty());
/// # Ok::<(), bevy_rapier_molecules::molecule::MoleculeError>(())
/// ```
#[must_use]
pub fn rotatable_bonds(molecule: &MoleculeTemplate) -> Vec<RotatableBond> {
    let partners = bonds(molecule);
    let tree = SpanningTree::new(&partners);
    let elements = molecule.elements();
    let heavy_neighbor = |atom: u32, without: u32| {
        let mut others = partners[atom as usize].iter().copied();
        others.find(|&other| other != without && elements[other as usize] != Element::H)
    };
    let mut found = Vec::new();
    for child in 0..partners.len() as u32 {
        let Some(parent) = tree.bridge_to(child) else {
            continue;
        };
        let (below, component) = (tree.below(child), tree.component(child));
        // At most one bond has halves of equal size.
        let turns_below = 2 * below.len() <= component.len();
        let atoms = if turns_below {
            [parent, child]
        } else {
            [child, parent]
        };
        let [a, b] = atoms;
        let neighbors = heavy_neighbor(a, b).zip(heavy_neighbor(b, a));
        let Some((first, second)) = neighbors.filter(|_| is_single(molecule, atoms)) else {
            continue;
        };
        let side = component.filter(|place| below.contains(place) == turns_below);
        let side = side.map(|place| tree.order[place]);
        let mut turned: Vec<u32> = side.filter(|&atom| atom != b).collect();
        turned.sort_unstable();
        found.push(RotatableBond {
            atoms,
            neighbors: [first, second],
            turned,
        });
    }
    found.sort_unstable_by_key(|bond| {
        let [a, b] = bond.atoms;
        [a.min(b), a.max(b)]
    });
    found
}

/// For each atom, all atoms up to `steps` bonds away, sorted, with itself.
pub(crate) fn atoms_within_bonds(molecule: &MoleculeTemplate, steps: usize) -> Vec<Vec<u32>> {
    let partners = bonds(molecule);
    let around = |atom: u32| {
        let mut found = vec![atom];
        for _ in 0..steps {
            let next = found.iter().flat_map(|&from| &partners[from as usize]);
            let next: Vec<u32> = next.copied().collect();
            found.extend(next);
            found.sort_unstable();
            found.dedup();
        }
        found
    };
    (0..partners.len() as u32).map(around).collect()
}

fn is_single(molecule: &MoleculeTemplate, atoms: [u32; 2]) -> bool {
    let [a, b] = atoms.map(|atom| molecule.elements()[atom as usize]);
    let [from, to] = atoms.map(|atom| molecule.positions()[atom as usize]);
    let mut limits = MIN_SINGLE_NM.iter();
    let limit = limits.find(|(one, other, _)| (a, b) == (*one, *other) || (b, a) == (*one, *other));
    let is_known = ELEMENTS.contains(&a) && ELEMENTS.contains(&b);
    is_known && limit.is_none_or(|(.., limit)| from.distance(to) >= *limit)
}

/// Depth-first spanning trees of the bonds, one per component.
struct SpanningTree {
    /// The atoms in the order of the visits. What is below an atom follows it without gaps.
    order: Vec<u32>,
    /// Place of each atom in the order.
    place: Vec<usize>,
    parent: Vec<Option<u32>>,
    /// Number of atoms at and below each atom.
    size: Vec<usize>,
    /// The first place that bonds outside of the tree reach from each atom and those below it.
    lowest: Vec<usize>,
    /// The first atom of the component of each atom.
    root: Vec<u32>,
}

impl SpanningTree {
    fn new(partners: &[Vec<u32>]) -> Self {
        let atoms = partners.len();
        let mut tree = Self {
            order: Vec::with_capacity(atoms),
            place: vec![usize::MAX; atoms],
            parent: vec![None; atoms],
            size: vec![1; atoms],
            lowest: vec![usize::MAX; atoms],
            root: (0..atoms as u32).collect(),
        };
        for root in 0..atoms as u32 {
            if tree.place[root as usize] == usize::MAX {
                tree.visit_from(root, partners);
            }
        }
        tree
    }

    /// Visits the component of an atom. Not recursive, because chains are long.
    fn visit_from(&mut self, root: u32, partners: &[Vec<u32>]) {
        self.enter(root, root);
        // Atoms on the path with their next partner.
        let mut path = vec![(root, 0)];
        while let Some((atom, next)) = path.last_mut() {
            let (a, parent) = (*atom as usize, self.parent[*atom as usize]);
            match partners[a].get(*next).copied() {
                Some(other) => {
                    *next += 1;
                    let there = self.place[other as usize];
                    if there == usize::MAX {
                        self.parent[other as usize] = Some(*atom);
                        self.enter(other, root);
                        path.push((other, 0));
                    } else if Some(other) != parent {
                        self.lowest[a] = self.lowest[a].min(there);
                    }
                }
                None => {
                    path.pop();
                    if let Some(parent) = parent.map(|parent| parent as usize) {
                        self.size[parent] += self.size[a];
                        self.lowest[parent] = self.lowest[parent].min(self.lowest[a]);
                    }
                }
            }
        }
    }

    fn enter(&mut self, atom: u32, root: u32) {
        let place = self.order.len();
        self.order.push(atom);
        self.place[atom as usize] = place;
        self.lowest[atom as usize] = place;
        self.root[atom as usize] = root;
    }

    /// The parent of an atom, if no other path leads from there to the atom.
    fn bridge_to(&self, child: u32) -> Option<u32> {
        let is_bridge = self.lowest[child as usize] == self.place[child as usize];
        self.parent[child as usize].filter(|_| is_bridge)
    }

    /// Places of an atom and all those below it.
    fn below(&self, atom: u32) -> std::ops::Range<usize> {
        let first = self.place[atom as usize];
        first..first + self.size[atom as usize]
    }

    /// Places of all atoms that are connected with an atom.
    fn component(&self, atom: u32) -> std::ops::Range<usize> {
        self.below(self.root[atom as usize])
    }
}
