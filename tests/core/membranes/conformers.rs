//! The bundled conformers: formulas, stereochemistry of their chains, bond lengths and distances.

use std::collections::{BTreeMap, BTreeSet};

use bevy_rapier_molecules::molecule::{Element, MoleculeTemplate};

use super::fixtures::lipid;

/// Lipids made from their chemical formulas: residue, numbers of C, H, N, O and P.
const FORMULAS: [(&str, &str, [usize; 5]); 3] = [
    // d18:1/18:0, a zwitterion.
    ("ssm", "SSM", [41, 83, 2, 6, 1]),
    // 16:0/18:1, without the proton of its phosphate.
    ("popg", "POPG", [40, 76, 0, 10, 1]),
    // Four chains 18:1, without the protons of its phosphates.
    ("cardiolipin", "CDL", [81, 148, 0, 17, 2]),
];

/// Range of the length of a bond of two elements, nm; none if they have no bonds here.
fn bond_range(pair: [Element; 2]) -> Option<[f64; 2]> {
    let is = |one: Element, other: Element| pair == [one, other] || pair == [other, one];
    let [h, c, n, o, p] = [Element::H, Element::C, Element::N, Element::O, Element::P];
    [
        ([c, c], [0.130, 0.158]),
        ([c, h], [0.105, 0.113]),
        ([c, o], [0.119, 0.148]),
        ([c, n], [0.132, 0.156]),
        ([o, p], [0.144, 0.166]),
        ([h, o], [0.094, 0.102]),
        ([h, n], [0.098, 0.105]),
    ]
    .into_iter()
    .find_map(|([one, other], range)| is(one, other).then_some(range))
}

fn distance(template: &MoleculeTemplate, a: usize, b: usize) -> f64 {
    let [a, b] = [a, b].map(|index| template.positions()[index].as_dvec3());
    a.distance(b)
}

/// Bonded atoms of each atom: those closer than a bond may be long.
fn bonds(template: &MoleculeTemplate) -> Vec<BTreeSet<usize>> {
    let elements = template.elements();
    let is_bonded = |a: usize, b: usize| {
        let longest = bond_range([elements[a], elements[b]]).map_or(0.0, |range| range[1]);
        a != b && distance(template, a, b) < longest + 0.005
    };
    let count = template.atom_count();
    let of = |a: usize| (0..count).filter(|b| is_bonded(a, *b)).collect();
    (0..count).map(of).collect()
}

#[test]
fn formulas_and_names_are_right() {
    for (name, residue, formula) in FORMULAS {
        let species = lipid(name, 1.0);
        assert_eq!(species.conformers().len(), 8, "{name}");
        for conformer in species.conformers() {
            let template = &conformer.template;
            let mut counts = BTreeMap::new();
            for element in template.elements() {
                *counts.entry(element.symbol()).or_insert(0) += 1;
            }
            let found =
                ["C", "H", "N", "O", "P"].map(|symbol| counts.remove(symbol).unwrap_or_default());
            assert_eq!(found, formula, "{name}");
            assert!(counts.is_empty(), "{counts:?}");
            assert_eq!(template.residues()[0].name, residue);
            let names: BTreeSet<&str> = template.atom_names().iter().map(|n| &**n).collect();
            assert_eq!(names.len(), template.atom_count(), "names are unique");
        }
    }
}

#[test]
fn bonds_have_usual_lengths_and_the_same_atoms_in_all_conformers() {
    for (name, ..) in FORMULAS {
        let species = lipid(name, 1.0);
        let first = bonds(&species.conformers()[0].template);
        // A molecule without rings.
        let number: usize = first.iter().map(BTreeSet::len).sum();
        assert_eq!(number / 2, first.len() - 1, "{name}");
        for conformer in species.conformers() {
            let template = &conformer.template;
            let elements = template.elements();
            assert_eq!(bonds(template), first, "{name}");
            for (a, partners) in first.iter().enumerate() {
                let valence = match elements[a].symbol() {
                    "H" => 1..=1,
                    "C" | "N" => 3..=4,
                    "P" => 4..=4,
                    _ => 1..=2,
                };
                assert!(valence.contains(&partners.len()), "{name}: atom {a}");
                for &b in partners {
                    let [low, high] = bond_range([elements[a], elements[b]]).unwrap();
                    let length = distance(template, a, b);
                    assert!(
                        (low..=high).contains(&length),
                        "{name} {a}-{b}: {length} nm"
                    );
                }
            }
        }
    }
}

#[test]
fn atoms_without_bonds_keep_their_distance() {
    for (name, ..) in FORMULAS {
        // As they are, and as recipes use them.
        let species = lipid(
            name,
            bevy_rapier_molecules::membrane::known_area(name).unwrap(),
        );
        let slim = species.clone().slimmed().unwrap();
        for conformer in species.conformers().iter().chain(slim.conformers()) {
            let template = &conformer.template;
            let partners = bonds(template);
            let elements = template.elements();
            for a in 0..template.atom_count() {
                let near: BTreeSet<usize> = partners[a]
                    .iter()
                    .flat_map(|b| &partners[*b])
                    .copied()
                    .collect();
                for b in (0..a).filter(|b| !near.contains(b) && !partners[a].contains(b)) {
                    let are_hydrogens = elements[a] == Element::H && elements[b] == Element::H;
                    let least = if are_hydrogens { 0.17 } else { 0.19 };
                    let apart = distance(template, a, b);
                    assert!(apart > least, "{name} {a}-{b}: {apart} nm");
                }
            }
        }
    }
}
