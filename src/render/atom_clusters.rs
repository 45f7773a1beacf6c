//! Fewer and larger spheres in place of atoms, for molecules far away.

use glam::Vec3;

use crate::molecule::MoleculeTemplate;

/// A sphere that stands for a group of atoms.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AtomCluster {
    /// Center in the body frame, nm.
    pub center: Vec3,
    /// Radius, nm.
    pub radius: f32,
    /// The atoms, by index.
    pub atoms: Vec<u32>,
}

/// Groups of at most `most` atoms, each of one residue unless `across` residues, as
/// spheres; and by how much a sphere and what it stands for differ at most, nm: an atom
/// sticks out of it, or it is larger than its smallest atom.
///
/// Groups are halved along their longest side until they are small enough, so that they
/// are about as long as they are wide.
pub(super) fn blobs(
    template: &MoleculeTemplate,
    most: usize,
    across: bool,
) -> (Vec<AtomCluster>, f32) {
    let mut atoms: Vec<u32> = (0..template.atom_count() as u32).collect();
    let residue = |&atom: &u32| template.residue_indices()[atom as usize];
    let mut found = Vec::new();
    if across {
        split(template, &mut atoms, most, &mut found);
    } else {
        atoms.sort_by_key(residue);
        for group in atoms.chunk_by_mut(|one, other| residue(one) == residue(other)) {
            split(template, group, most, &mut found);
        }
    }
    let differs = |blob: &AtomCluster| {
        let atoms = blob.atoms.iter().map(|&atom| atom as usize);
        let difference = atoms.map(|atom| {
            let (place, radius) = (template.positions()[atom], template.radii()[atom]);
            let out = place.distance(blob.center) + radius - blob.radius;
            out.max(blob.radius - radius)
        });
        difference.fold(0.0, f32::max)
    };
    let error = found.iter().map(differs).fold(0.0, f32::max);
    (found, error)
}

/// Halves a group until its parts have at most `most` atoms.
fn split(
    template: &MoleculeTemplate,
    atoms: &mut [u32],
    most: usize,
    found: &mut Vec<AtomCluster>,
) {
    if atoms.len() <= most.max(1) {
        found.push(enclose(template, atoms));
        return;
    }
    let position = |&atom: &u32| template.positions()[atom as usize];
    let low = atoms.iter().map(position).fold(Vec3::INFINITY, Vec3::min);
    let high = atoms
        .iter()
        .map(position)
        .fold(Vec3::NEG_INFINITY, Vec3::max);
    let axis = (high - low).max_position();
    let middle = atoms.len() / 2;
    // By index where places are equal, so that there is one answer.
    atoms.select_nth_unstable_by(middle, |one, other| {
        let (a, b) = (position(one)[axis], position(other)[axis]);
        a.total_cmp(&b).then(one.cmp(other))
    });
    let (first, second) = atoms.split_at_mut(middle);
    split(template, first, most, found);
    split(template, second, most, found);
}

/// The sphere about the middle of a group that has the group's radius of gyration.
///
/// The mean square distance from the center is `3/5 R²` in a solid ball. In a group of
/// balls it is the mean of `|p − c|² + 3/5 r²`, so `R² = mean(5/3 |p − c|² + r²)`: one
/// atom becomes itself.
fn enclose(template: &MoleculeTemplate, atoms: &[u32]) -> AtomCluster {
    let share = 1.0 / atoms.len() as f32;
    let positions = template.positions();
    let center = atoms.iter().map(|&a| positions[a as usize]).sum::<Vec3>() * share;
    let square = |&atom: &u32| {
        let atom = atom as usize;
        5.0 / 3.0 * positions[atom].distance_squared(center) + template.radii()[atom].powi(2)
    };
    let mut atoms = atoms.to_vec();
    atoms.sort_unstable();
    AtomCluster {
        center,
        radius: (atoms.iter().map(square).sum::<f32>() * share).sqrt(),
        atoms,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::molecule::{Atom, Element, LoadOptions, Residue, load};

    fn lipid() -> MoleculeTemplate {
        load("assets/molecules/popc.pdb", &LoadOptions::default()).unwrap()
    }

    #[test]
    fn each_atom_is_in_one_blob_of_its_residue() {
        let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default()).unwrap();
        for most in [1, 8, 64] {
            let (found, error) = blobs(&protein, most, false);
            let mut atoms: Vec<u32> = found.iter().flat_map(|blob| blob.atoms.clone()).collect();
            atoms.sort_unstable();
            let all: Vec<u32> = (0..protein.atom_count() as u32).collect();
            assert_eq!(atoms, all);
            for blob in &found {
                assert!((1..=most).contains(&blob.atoms.len()));
                let residue = |&atom: &u32| protein.residue_indices()[atom as usize];
                let first = residue(&blob.atoms[0]);
                assert!(blob.atoms.iter().all(|atom| residue(atom) == first));
            }
            assert!((0.0..1.0).contains(&error), "{most}: {error}");
        }
    }

    #[test]
    fn blobs_of_one_atom_are_the_atoms() {
        let lipid = lipid();
        let (found, error) = blobs(&lipid, 1, false);
        assert!(error < 1.0e-6);
        for blob in found {
            let atom = blob.atoms[0] as usize;
            assert_eq!(blob.center, lipid.positions()[atom]);
            assert!((blob.radius - lipid.radii()[atom]).abs() < 1.0e-6);
        }
    }

    #[test]
    fn coincident_atoms_are_split_too() {
        let atom = Atom {
            position: Vec3::ONE,
            radius: 0.1,
            element: Element::C,
            name: "C".into(),
            residue: 0,
        };
        let heap =
            MoleculeTemplate::new("heap", vec![atom; 100], vec![Residue::default()]).unwrap();
        let (found, error) = blobs(&heap, 8, true);
        assert!(found.iter().all(|blob| blob.atoms.len() <= 8));
        assert!(found.iter().all(|blob| (blob.radius - 0.1).abs() < 1.0e-6));
        assert!(error < 1.0e-6);
    }

    #[test]
    fn larger_groups_are_fewer_blobs_that_differ_more() {
        let lipid = lipid();
        let (fine, small) = blobs(&lipid, 8, false);
        let (coarse, large) = blobs(&lipid, 64, false);
        assert!(coarse.len() * 4 <= fine.len());
        assert!(large > small && small > 0.0);
    }
}
