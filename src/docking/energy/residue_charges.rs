//! Partial charges of amino acids.
//!
//! Values of CHARMM22 (`MacKerell` et al. 1998); the two hydrogens of an amide get their mean.
//! Residues add up to integer charges. Each entry is a heavy atom with its hydrogens: name,
//! charge, number of hydrogens, charge of each hydrogen. Hydrogens are identified by their bonds,
//! not by their names.

/// A heavy atom with its hydrogens.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Group {
    pub name: &'static str,
    /// Charge of the heavy atom.
    pub charge: f32,
    /// Expected number of hydrogens, and the charge of each.
    pub hydrogens: u8,
    pub hydrogen_charge: f32,
}

const fn group(name: &'static str, charge: f32, hydrogens: u8, hydrogen_charge: f32) -> Group {
    Group {
        name,
        charge,
        hydrogens,
        hydrogen_charge,
    }
}

const fn bare(name: &'static str, charge: f32) -> Group {
    group(name, charge, 0, 0.0)
}

const fn ch1(name: &'static str) -> Group {
    group(name, -0.09, 1, 0.09)
}

const fn ch2(name: &'static str) -> Group {
    group(name, -0.18, 2, 0.09)
}

const fn ch3(name: &'static str) -> Group {
    group(name, -0.27, 3, 0.09)
}

const fn aromatic(name: &'static str) -> Group {
    group(name, -0.115, 1, 0.115)
}

/// Backbone of most residues.
pub(super) const BACKBONE: &[Group] = &[
    group("N", -0.47, 1, 0.31),
    group("CA", 0.07, 1, 0.09),
    bare("C", 0.51),
    bare("O", -0.51),
];

/// Backbone of glycine.
pub(super) const GLYCINE: &[Group] = &[
    group("N", -0.47, 1, 0.31),
    group("CA", -0.02, 2, 0.09),
    bare("C", 0.51),
    bare("O", -0.51),
];

/// Backbone of proline, whose nitrogen has no hydrogen.
pub(super) const PROLINE: &[Group] = &[
    bare("N", -0.29),
    group("CA", 0.02, 1, 0.09),
    bare("C", 0.51),
    bare("O", -0.51),
];

/// Overrides for an N-terminal ammonium.
pub(super) const N_TERMINUS: &[Group] = &[group("N", -0.3, 3, 0.33), group("CA", 0.21, 1, 0.1)];

/// Overrides for an N-terminal glycine.
pub(super) const N_TERMINUS_GLYCINE: &[Group] =
    &[group("N", -0.3, 3, 0.33), group("CA", 0.13, 2, 0.09)];

/// Overrides for an N-terminal proline.
pub(super) const N_TERMINUS_PROLINE: &[Group] = &[
    group("N", -0.07, 2, 0.24),
    group("CA", 0.16, 1, 0.09),
    group("CD", 0.16, 2, 0.09),
];

/// Overrides for a C-terminal carboxylate.
pub(super) const C_TERMINUS: &[Group] = &[bare("C", 0.34), bare("O", -0.67), bare("OXT", -0.67)];

/// Side chains by residue name, in the conventions of PDB, AMBER and CHARMM.
#[rustfmt::skip]
const SIDE_CHAINS: &[(&[&str], &[Group])] = &[
    (&["GLY"], &[]),
    (&["ALA"], &[ch3("CB")]),
    (&["VAL"], &[ch1("CB"), ch3("CG1"), ch3("CG2")]),
    (&["LEU"], &[ch2("CB"), ch1("CG"), ch3("CD1"), ch3("CD2")]),
    (&["ILE"], &[ch1("CB"), ch3("CG2"), ch2("CG1"), ch3("CD1"), ch3("CD")]),
    (&["PRO"], &[ch2("CB"), ch2("CG"), group("CD", 0.0, 2, 0.09)]),
    (&["MET"], &[ch2("CB"), group("CG", -0.14, 2, 0.09), bare("SD", -0.09), group("CE", -0.22, 3, 0.09)]),
    (&["SER"], &[group("CB", 0.05, 2, 0.09), group("OG", -0.66, 1, 0.43)]),
    (&["THR"], &[group("CB", 0.14, 1, 0.09), group("OG1", -0.66, 1, 0.43), ch3("CG2")]),
    (&["CYS"], &[group("CB", -0.11, 2, 0.09), group("SG", -0.23, 1, 0.16)]),
    (&["CYX"], &[group("CB", -0.1, 2, 0.09), bare("SG", -0.08)]),
    (&["ASP"], &[group("CB", -0.28, 2, 0.09), bare("CG", 0.62), bare("OD1", -0.76), bare("OD2", -0.76)]),
    (&["GLU"], &[ch2("CB"), group("CG", -0.28, 2, 0.09), bare("CD", 0.62), bare("OE1", -0.76), bare("OE2", -0.76)]),
    (&["ASN"], &[ch2("CB"), bare("CG", 0.55), bare("OD1", -0.55), group("ND2", -0.62, 2, 0.31)]),
    (&["GLN"], &[ch2("CB"), ch2("CG"), bare("CD", 0.55), bare("OE1", -0.55), group("NE2", -0.62, 2, 0.31)]),
    (&["LYS"], &[ch2("CB"), ch2("CG"), ch2("CD"), group("CE", 0.21, 2, 0.05), group("NZ", -0.3, 3, 0.33)]),
    (&["ARG"], &[
        ch2("CB"), ch2("CG"), group("CD", 0.2, 2, 0.09), group("NE", -0.7, 1, 0.44), bare("CZ", 0.64),
        group("NH1", -0.8, 2, 0.46), group("NH2", -0.8, 2, 0.46),
    ]),
    (&["PHE"], &[
        ch2("CB"), bare("CG", 0.0), aromatic("CD1"), aromatic("CD2"), aromatic("CE1"), aromatic("CE2"),
        aromatic("CZ"),
    ]),
    (&["TYR"], &[
        ch2("CB"), bare("CG", 0.0), aromatic("CD1"), aromatic("CD2"), aromatic("CE1"), aromatic("CE2"),
        bare("CZ", 0.11), group("OH", -0.54, 1, 0.43),
    ]),
    (&["TRP"], &[
        ch2("CB"), bare("CG", -0.03), group("CD1", 0.035, 1, 0.115), group("NE1", -0.61, 1, 0.38),
        bare("CE2", 0.13), bare("CD2", -0.02), aromatic("CE3"), aromatic("CZ3"), aromatic("CZ2"),
        aromatic("CH2"),
    ]),
    // Hydrogen on the outer nitrogen: the default if the file has no hydrogens.
    (&["HIS", "HIE", "HSE"], &[
        group("CB", -0.08, 2, 0.09), bare("ND1", -0.7), bare("CG", 0.22), group("CE1", 0.25, 1, 0.13),
        group("NE2", -0.36, 1, 0.32), group("CD2", -0.05, 1, 0.09),
    ]),
    (&["HID", "HSD"], &[
        group("CB", -0.09, 2, 0.09), group("ND1", -0.36, 1, 0.32), bare("CG", -0.05),
        group("CE1", 0.25, 1, 0.13), bare("NE2", -0.7), group("CD2", 0.22, 1, 0.1),
    ]),
    (&["HIP", "HSP"], &[
        group("CB", -0.05, 2, 0.09), group("ND1", -0.51, 1, 0.44), bare("CG", 0.19),
        group("CE1", 0.32, 1, 0.18), group("NE2", -0.51, 1, 0.44), group("CD2", 0.19, 1, 0.13),
    ]),
];

/// Side chain of an amino acid.
pub(super) fn side_chain(residue: &str) -> Option<&'static [Group]> {
    let mut side_chains = SIDE_CHAINS.iter();
    let found = side_chains.find(|(names, _)| names.contains(&residue));
    found.map(|(_, groups)| *groups)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sum(groups: &[Group]) -> f32 {
        groups
            .iter()
            .map(|group| group.charge + f32::from(group.hydrogens) * group.hydrogen_charge)
            .sum()
    }

    fn close(charge: f32, expected: f32) -> bool {
        (charge - expected).abs() < 1.0e-5
    }

    #[test]
    fn residues_add_up_to_integer_charges() {
        assert!(close(sum(BACKBONE), 0.0) && close(sum(GLYCINE), 0.0));
        assert!(close(sum(C_TERMINUS), -1.0));
        assert!(close(sum(N_TERMINUS), 1.0) && close(sum(N_TERMINUS_GLYCINE), 1.0));
        // The ring of proline includes its backbone: both parts count together.
        assert!(close(sum(PROLINE) + sum(side_chain("PRO").unwrap()), 0.0));
        assert!(close(sum(N_TERMINUS_PROLINE), 1.0));
        let charged = [
            ("ASP", -1.0),
            ("GLU", -1.0),
            ("LYS", 1.0),
            ("ARG", 1.0),
            ("HIP", 1.0),
        ];
        for (name, charge) in charged {
            assert!(close(sum(side_chain(name).unwrap()), charge), "{name}");
        }
        for name in [
            "GLY", "ALA", "VAL", "LEU", "ILE", "MET", "SER", "THR", "CYS", "CYX", "ASN", "GLN",
            "PHE", "TYR", "TRP", "HIS", "HIE", "HID",
        ] {
            assert!(close(sum(side_chain(name).unwrap()), 0.0), "{name}");
        }
        assert!(side_chain("TMP").is_none());
    }
}
