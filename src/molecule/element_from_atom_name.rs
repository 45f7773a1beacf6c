//! Infers elements from atom names, for files without an element column.
//!
//! In PDB the element symbol is right-justified in columns 13–14, so ` CA ` is carbon and `CA  `
//! calcium. Names of four characters do not fit this rule, and many programs left-justify names,
//! so the residue name takes precedence and rare elements are accepted only where they occur.

use super::Element;

/// Residues of H, C, N, O, P, S (and Se in `MSE`) only, whose first letter is the element.
const BIOPOLYMER: [&str; 64] = [
    "ALA", "ARG", "ASN", "ASP", "CYS", "GLN", "GLU", "GLY", "HIS", "ILE", "LEU", "LYS", "MET",
    "PHE", "PRO", "SER", "THR", "TRP", "TYR", "VAL", "ASX", "GLX", "SEC", "PYL", "HID", "HIE",
    "HIP", "HSD", "HSE", "HSP", "CYX", "CYM", "ASH", "GLH", "LYN", "MSE", "ACE", "NME", "NH2",
    "TPO", "SEP", "PTR", "A", "C", "G", "U", "T", "I", "DA", "DC", "DG", "DT", "DU", "DI", "RA",
    "RC", "RG", "RU", "ADE", "CYT", "GUA", "THY", "URA", "HYP",
];

/// Residue names of water in common programs.
const WATER: [&str; 14] = [
    "HOH", "WAT", "DOD", "H2O", "SOL", "TIP", "TIP2", "TIP3", "TIP4", "TIP5", "TP3", "SPC", "TP4",
    "T4P",
];

/// Ions of force-field files whose names are not their symbols.
const NAMED_IONS: [(&str, Element); 6] = [
    ("SOD", Element::NA),
    ("CLA", Element::CL),
    ("POT", Element::K),
    ("CAL", Element::CA),
    ("CES", Element::CS),
    ("CIO", Element::NA),
];

/// Two-letter symbols of elements in ligands that start with the letter of an organic element.
/// Other such names (Ho, Np, Pa, ...) are far more often hydrogen, nitrogen or phosphorus
/// followed by a letter.
const LIGAND_ELEMENTS: [&str; 20] = [
    "CA", "CD", "CE", "CL", "CO", "CR", "CS", "CU", "HG", "NA", "NI", "OS", "PB", "PD", "PT", "SB",
    "SE", "SI", "SN", "SR",
];

/// The same for names of four characters, where the alignment carries no information.
const LIGAND_ELEMENTS_IN_LONG_NAMES: [&str; 4] = ["CL", "SI", "SE", "PT"];

/// Residue name of all ions in some files of GROMACS.
const ION_RESIDUE: &str = "ION";

/// Whether the residue is water.
pub(super) fn is_water(residue_name: &str) -> bool {
    WATER.contains(&residue_name)
}

/// Whether the atom is a massless charge site of a water model with four or more points.
pub(super) fn is_massless_site(name: &str, residue_name: &str) -> bool {
    is_water(residue_name)
        && matches!(
            name,
            "M" | "MW" | "OM" | "EP" | "EPW" | "EP1" | "EP2" | "LP1" | "LP2"
        )
}

/// The element of an atom with these four name columns in a residue, if it can be inferred.
pub(super) fn infer_element(columns: [u8; 4], residue_name: &str) -> Option<Element> {
    let name = std::str::from_utf8(&columns).ok()?.trim();
    if let Some(ion) = ion(name, residue_name) {
        return Some(ion);
    }
    let letters = name.trim_start_matches(|c: char| c.is_ascii_digit());
    let one = known_element(letters.get(..1)?);
    let two = letters.get(..2).and_then(known_element);

    let has_digit_first = columns[0].is_ascii_digit();
    if BIOPOLYMER.contains(&residue_name) || is_water(residue_name) {
        if name == "SE" && matches!(residue_name, "MSE" | "SEC") {
            return two;
        }
        return one;
    }
    if columns[0] == b' ' || has_digit_first {
        return one.or(two);
    }
    let known = match name.len() {
        4 => &LIGAND_ELEMENTS_IN_LONG_NAMES[..],
        _ => &LIGAND_ELEMENTS[..],
    };
    one_or_two_letters(letters, known)
}

/// The element of an atom with this name in a residue, if it can be inferred, in files where names
/// are not aligned, such as those of GROMACS.
pub(super) fn infer_element_of_name(name: &str, residue_name: &str) -> Option<Element> {
    if let Some(ion) = ion(name, residue_name) {
        return Some(ion);
    }
    let letters = name.trim_start_matches(|c: char| c.is_ascii_digit());
    let one = known_element(letters.get(..1)?);
    let two = letters.get(..2).and_then(known_element);
    if BIOPOLYMER.contains(&residue_name) || is_water(residue_name) {
        let is_selenium = name == "SE" && matches!(residue_name, "MSE" | "SEC");
        return if is_selenium { two } else { one };
    }
    if residue_name == ION_RESIDUE || name.ends_with(['+', '-']) {
        return two.or(one);
    }
    one_or_two_letters(letters, &LIGAND_ELEMENTS_IN_LONG_NAMES)
}

/// The element whose symbol starts a name: `known` are symbols of two letters that are preferred to
/// organic elements.
fn one_or_two_letters(letters: &str, known: &[&str]) -> Option<Element> {
    let one = known_element(letters.get(..1)?);
    let two = letters.get(..2).and_then(known_element);
    let symbol = letters.get(..2).unwrap_or_default().to_ascii_uppercase();
    let organic = matches!(
        letters.as_bytes()[0].to_ascii_uppercase(),
        b'C' | b'H' | b'N' | b'O' | b'P' | b'S'
    );
    if !organic || known.contains(&symbol.as_str()) {
        two.or(one)
    } else {
        one.or(two)
    }
}

/// The element of a residue that is a single ion: atom and residue have the same name.
fn ion(name: &str, residue_name: &str) -> Option<Element> {
    let letters = |text: &str| {
        text.trim_end_matches(|c: char| !c.is_ascii_alphabetic())
            .to_ascii_uppercase()
    };
    let (atom, residue) = (letters(name), letters(residue_name));
    if atom.is_empty() || atom != residue {
        return None;
    }
    NAMED_IONS
        .iter()
        .find(|(known, _)| *known == atom)
        .map(|(_, element)| *element)
        .or_else(|| known_element(&atom))
}

fn known_element(symbol: &str) -> Option<Element> {
    Element::from_symbol(symbol).filter(|element| *element != Element::UNKNOWN)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn symbol(columns: &str, residue: &str) -> String {
        let columns: [u8; 4] = columns.as_bytes().try_into().unwrap();
        infer_element(columns, residue).map_or_else(String::new, |element| element.to_string())
    }

    #[test]
    fn alignment_distinguishes_carbon_from_calcium() {
        assert_eq!(symbol(" CA ", "ALA"), "C");
        assert_eq!(symbol("CA  ", "ALA"), "C");
        assert_eq!(symbol("CA  ", "CA"), "Ca");
        assert_eq!(symbol(" CA ", "CA"), "Ca");
        assert_eq!(symbol(" CA ", "LIG"), "C");
        assert_eq!(symbol("CA  ", "LIG"), "Ca");
    }

    #[test]
    fn long_hydrogen_names_are_not_mercury() {
        for name in ["HG11", "HD21", "1HG1", " HG ", "HE22", "2HA "] {
            assert_eq!(symbol(name, "VAL"), "H", "{name}");
        }
        for name in ["H12A", "HO5'", "HG1A", "HE  "] {
            assert_eq!(symbol(name, "LIG"), "H", "{name}");
        }
        assert_eq!(symbol("HG  ", "HG"), "Hg");
    }

    #[test]
    fn ligands_ions_and_metals_are_inferred() {
        assert_eq!(symbol("FE  ", "HEM"), "Fe");
        assert_eq!(symbol("CL1 ", "LIG"), "Cl");
        assert_eq!(symbol("BR12", "LIG"), "Br");
        assert_eq!(symbol("C210", "POPC"), "C");
        assert_eq!(symbol("SOD ", "SOD"), "Na");
        assert_eq!(symbol(" CLA", "CLA"), "Cl");
        assert_eq!(symbol("CL- ", "CL-"), "Cl");
        assert_eq!(symbol("ZN  ", "ZN2"), "Zn");
        assert_eq!(symbol("SE  ", "MSE"), "Se");
        assert_eq!(symbol(" PA ", "ATP"), "P");
        assert_eq!(symbol(" D  ", "DOD"), "H");
    }

    #[test]
    fn names_without_alignment_are_inferred() {
        let symbol = |name: &str, residue: &str| {
            infer_element_of_name(name, residue).map_or_else(String::new, |e| e.to_string())
        };
        for (name, residue, expected) in [
            ("CA", "ALA", "C"),
            ("CA", "CA", "Ca"),
            ("CAB", "LIG", "C"),
            ("HG11", "VAL", "H"),
            ("1HB", "LYSH", "H"),
            ("CL1", "LIG", "Cl"),
            ("FE", "HEME", "Fe"),
            ("NA", "HEME", "N"),
            ("NA", "ION", "Na"),
            ("NA+", "IONS", "Na"),
            ("OW", "SOL", "O"),
            ("C210", "POPC", "C"),
            ("BR", "LIG", "Br"),
            ("", "LIG", ""),
            ("12", "LIG", ""),
        ] {
            assert_eq!(symbol(name, residue), expected, "{name} {residue}");
        }
    }

    #[test]
    fn names_without_an_element_are_not_inferred() {
        assert_eq!(symbol("    ", "LIG"), "");
        assert_eq!(symbol("12  ", "LIG"), "");
        assert_eq!(symbol(" X1 ", "LIG"), "");
        assert_eq!(symbol(" XE ", "LIG"), "Xe");
        assert_eq!(symbol("é  ", "LIG"), "");
    }
}
