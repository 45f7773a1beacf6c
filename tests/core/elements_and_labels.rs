//! Chemical elements and the labels of atoms.

use bevy_rapier_molecules::molecule::{Atom, AtomLabel, Element, MoleculeTemplate, Residue};
use glam::Vec3;

#[test]
fn constants_match_their_symbols() {
    type E = Element;
    let constants = [
        E::H,
        E::C,
        E::N,
        E::O,
        E::F,
        E::NA,
        E::MG,
        E::P,
        E::S,
        E::CL,
        E::K,
        E::CA,
        E::FE,
        E::ZN,
        E::SE,
        E::BR,
        E::I,
        E::CS,
    ];
    assert_eq!(
        constants.map(Element::symbol).join(" "),
        "H C N O F Na Mg P S Cl K Ca Fe Zn Se Br I Cs"
    );
}

#[test]
fn isotopes_of_hydrogen_are_hydrogen_and_invalid_symbols_are_rejected() {
    assert_eq!(Element::from_symbol("d"), Some(Element::H));
    assert_eq!(Element::from_symbol("T"), Some(Element::H));
    for invalid in ["", " ", "XX", "Zz", "Cax", "ü", "1", "C "] {
        assert_eq!(Element::from_symbol(invalid), None, "{invalid:?}");
    }
}

#[test]
fn elements_serialize_as_symbols() {
    let text = serde_json::to_string(&Element::FE).unwrap();
    assert_eq!(text, "\"Fe\"");
    assert_eq!(serde_json::from_str::<Element>(&text).unwrap(), Element::FE);
    assert!(serde_json::from_str::<Element>("\"Qq\"").is_err());
}

#[test]
fn labels_display_residue_number_chain_and_atom() {
    let label = |insertion_code, chain: &str, index| {
        let atom = Atom {
            position: Vec3::ZERO,
            radius: 0.1,
            element: Element::N,
            name: "ND1".into(),
            residue: 0,
        };
        let residue = Residue {
            name: "HIS".into(),
            number: 68,
            insertion_code,
            chain: chain.into(),
        };
        let template = MoleculeTemplate::new("histidine", vec![atom], vec![residue]).unwrap();
        AtomLabel::new(&template, index).map(|label| label.to_string())
    };
    assert_eq!(label(None, "A", 0).as_deref(), Some("HIS 68 A ND1"));
    assert_eq!(label(Some('B'), "", 0).as_deref(), Some("HIS 68B ND1"));
    assert_eq!(label(None, "A", 1), None);
}
