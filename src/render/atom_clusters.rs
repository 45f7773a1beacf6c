//! Clusters of atoms, drawn as single spheres for distant molecules.

use glam::Vec3;

use crate::molecule::MoleculeTemplate;

/// A sphere that replaces a group of atoms.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct AtomCluster {
    /// Center in the body frame, nm.
    pub center: Vec3,
    /// Radius, nm.
    pub radius: f32,
    /// Indices of the atoms.
    pub atoms: Vec<u32>,
}

/// Clusters of at most `max_atoms` atoms, each of one residue unless `across_residues`, and the
/// largest error of a sphere, nm: how far an atom sticks out of it, or how much larger it is
/// than its smallest atom.
///
/// Groups are halved along their longest side until they are small enough, so that they are
/// about as long as they are wide.
pub(super) fn cluster_atoms(
    template: &MoleculeTemplate,
    max_atoms: usize,
    across_residues: bool,
) -> (Vec<AtomCluster>, f32) {
    let mut atoms: Vec<u32> = (0..template.atom_count() as u32).collect();
    let residue = |&atom: &u32| template.residue_indices()[atom as usize];
    let mut clusters = Vec::new();
    if across_residues {
        split(template, &mut atoms, max_atoms, &mut clusters);
    } else {
        atoms.sort_by_key(residue);
        for group in atoms.chunk_by_mut(|one, other| residue(one) == residue(other)) {
            split(template, group, max_atoms, &mut clusters);
        }
    }
    let cluster_error = |cluster: &AtomCluster| {
        let atoms = cluster.atoms.iter().map(|&atom| atom as usize);
        let errors = atoms.map(|atom| {
            let (position, radius) = (template.positions()[atom], template.radii()[atom]);
            let out = position.distance(cluster.center) + radius - cluster.radius;
            out.max(cluster.radius - radius)
        });
        errors.fold(0.0, f32::max)
    };
    let error = clusters.iter().map(cluster_error).fold(0.0, f32::max);
    (clusters, error)
}

/// Halves a group until its parts have at most `max_atoms` atoms.
fn split(
    template: &MoleculeTemplate,
    atoms: &mut [u32],
    max_atoms: usize,
    clusters: &mut Vec<AtomCluster>,
) {
    if atoms.len() <= max_atoms.max(1) {
        clusters.push(enclose(template, atoms));
        return;
    }
    let position = |&atom: &u32| template.positions()[atom as usize];
    let (low, high) = atoms.iter().map(position).fold(
        (Vec3::INFINITY, Vec3::NEG_INFINITY),
        |(low, high), position| (low.min(position), high.max(position)),
    );
    let axis = (high - low).max_position();
    let middle = atoms.len() / 2;
    // Ties are broken by index, so that the result is unique.
    atoms.select_nth_unstable_by(middle, |one, other| {
        let (a, b) = (position(one)[axis], position(other)[axis]);
        a.total_cmp(&b).then(one.cmp(other))
    });
    let (first, second) = atoms.split_at_mut(middle);
    split(template, first, max_atoms, clusters);
    split(template, second, max_atoms, clusters);
}

/// The sphere around the centroid of a group that has the group's radius of gyration.
///
/// The mean square distance from the center is `3/5 R²` in a solid ball. In a group of balls it is
/// the mean of `|p − c|² + 3/5 r²`, so `R² = mean(5/3 |p − c|² + r²)`. A single atom gives itself.
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
    fn each_atom_is_in_one_cluster_of_its_residue() {
        let protein = load("assets/molecules/1ubq.cif", &LoadOptions::default()).unwrap();
        for max_atoms in [1, 8, 64] {
            let (clusters, error) = cluster_atoms(&protein, max_atoms, false);
            let mut atoms: Vec<u32> = clusters.iter().flat_map(|c| c.atoms.clone()).collect();
            atoms.sort_unstable();
            let all: Vec<u32> = (0..protein.atom_count() as u32).collect();
            assert_eq!(atoms, all);
            for cluster in &clusters {
                assert!((1..=max_atoms).contains(&cluster.atoms.len()));
                let residue = |&atom: &u32| protein.residue_indices()[atom as usize];
                let first = residue(&cluster.atoms[0]);
                assert!(cluster.atoms.iter().all(|atom| residue(atom) == first));
            }
            assert!((0.0..1.0).contains(&error), "{max_atoms}: {error}");
        }
    }

    #[test]
    fn clusters_of_one_atom_are_the_atoms() {
        let lipid = lipid();
        let (clusters, error) = cluster_atoms(&lipid, 1, false);
        assert!(error < 1.0e-6);
        for cluster in clusters {
            let atom = cluster.atoms[0] as usize;
            assert_eq!(cluster.center, lipid.positions()[atom]);
            assert!((cluster.radius - lipid.radii()[atom]).abs() < 1.0e-6);
        }
    }

    #[test]
    fn coincident_atoms_are_split() {
        let atom = Atom {
            position: Vec3::ONE,
            radius: 0.1,
            element: Element::C,
            name: "C".into(),
            residue: 0,
        };
        let heap =
            MoleculeTemplate::new("heap", vec![atom; 100], vec![Residue::default()]).unwrap();
        let (clusters, error) = cluster_atoms(&heap, 8, true);
        assert!(clusters.iter().all(|cluster| cluster.atoms.len() <= 8));
        assert!(clusters.iter().all(|c| (c.radius - 0.1).abs() < 1.0e-6));
        assert!(error < 1.0e-6);
    }

    #[test]
    fn larger_clusters_are_fewer_and_have_larger_errors() {
        let lipid = lipid();
        let (fine, small) = cluster_atoms(&lipid, 8, false);
        let (coarse, large) = cluster_atoms(&lipid, 64, false);
        assert!(coarse.len() * 4 <= fine.len());
        assert!(large > small && small > 0.0);
    }
}
